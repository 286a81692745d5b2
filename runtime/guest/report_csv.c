/* CSV: a line per launch and target, appended as launches complete. */
#include "state.h"

#include <string.h>
#include <unistd.h>

static struct gs_buf pending;
static int fd = -1;
static bool opened;

static const char header[] =
	"seq,kernel,global_x,global_y,global_z,local_x,local_y,local_z,groups,warps,measured_ns,target,model,cycles,time_ns,"
	"low_ns,high_ns,limiter,thread_instructions,warp_instructions,registers_per_thread,occupancy,blocks_per_sm,"
	"lane_efficiency\n";

static void add_text(const char *s)
{
	gs_buf_puts(&pending, "\"");
	for (; *s; s++) {
		if (*s == '"')
			gs_buf_puts(&pending, "\"");
		gs_buf_add(&pending, s, 1);
	}
	gs_buf_puts(&pending, "\"");
}

void report_csv_launch(const struct launch_result *r)
{
	const struct launch_profile *p = &r->profile;
	for (size_t t = 0; t < runtime.target_count; t++) {
		const struct estimate *e = &r->estimates[t];
		const struct gpu *gpu = &runtime.targets[t].gpu;
		if (!r->estimated[t])
			continue;
		gs_buf_printf(&pending, "%llu,", (unsigned long long)r->launch->seq);
		add_text(r->launch->kernel_name);
		for (int d = 0; d < 3; d++)
			gs_buf_printf(&pending, ",%llu", (unsigned long long)p->global[d]);
		for (int d = 0; d < 3; d++)
			gs_buf_printf(&pending, ",%llu", (unsigned long long)p->local[d]);
		gs_buf_printf(&pending, ",%llu,%llu,", (unsigned long long)(p->groups[0] * p->groups[1] * p->groups[2]),
		              (unsigned long long)e->warps);
		if (r->launch->measured_ns)
			gs_buf_printf(&pending, "%llu", (unsigned long long)r->launch->measured_ns);
		gs_buf_puts(&pending, ",");
		add_text(gpu->name);
		gs_buf_printf(&pending, ",%s,%.1f,%.1f,%.1f,%.1f,%s,%llu,%llu,", e->model, e->cycles, e->time_ns, e->low_ns,
		              e->high_ns, e->limiter, (unsigned long long)e->thread_instructions,
		              (unsigned long long)e->warp_instructions);
		uint32_t registers = r->launch->facts->code[runtime.targets[t].arch].registers;
		if (registers)
			gs_buf_printf(&pending, "%u", registers);
		gs_buf_printf(&pending, ",%.4f,%u,%.4f\n", e->occupancy.fraction, e->occupancy.blocks_per_sm,
		              e->lane_efficiency);
	}
}

void report_csv_flush(void)
{
	if (!opened) {
		opened = true;
		fd = report_open(".csv");
		if (fd >= 0 && write(fd, header, sizeof header - 1) < 0)
			fd = -1;
	}
	const char *at = pending.data;
	for (size_t left = pending.len; fd >= 0 && left;) {
		ssize_t n = write(fd, at, left);
		if (n <= 0)
			break;
		at += n;
		left -= (size_t)n;
	}
	gs_buf_free(&pending);
}
