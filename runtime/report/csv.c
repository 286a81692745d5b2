/* CSV: a line per launch and target, as launches complete. */
#include "runtime/report/formats.h"

#include "runtime/model/simulation.h"
#include "runtime/report/file.h"

static struct gs_buf pending; /* not written yet */
static struct report_file file = {.ending = ".csv", .fd = -1};
static uint64_t written;

static const char header[] =
	"seq,kernel,global_x,global_y,global_z,local_x,local_y,local_z,groups,warps,measured_ns,target,model,cycles,time_ns,"
	"low_ns,high_ns,limiter,thread_instructions,warp_instructions,registers_per_thread,occupancy,blocks_per_sm,"
	"lane_efficiency,sm_use,waves,energy_j\n";

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
	uint64_t groups = launch_group_count(r);
	for (size_t t = 0; t < r->sim->target_count; t++) {
		const struct estimate *e = &r->estimates[t];
		const struct gpu *gpu = &r->sim->targets[t].gpu;
		if (!r->estimated[t])
			continue;
		gs_buf_printf(&pending, "%llu,", (unsigned long long)r->launch->seq);
		add_text(r->launch->kernel_name);
		for (int d = 0; d < 3; d++)
			gs_buf_printf(&pending, ",%llu", (unsigned long long)p->global[d]);
		for (int d = 0; d < 3; d++)
			gs_buf_printf(&pending, ",%llu", (unsigned long long)p->local[d]);
		gs_buf_printf(&pending, ",%llu,%llu,", (unsigned long long)groups,
		              (unsigned long long)e->warps);
		if (r->launch->measured_ns)
			gs_buf_printf(&pending, "%llu", (unsigned long long)r->launch->measured_ns);
		gs_buf_puts(&pending, ",");
		add_text(gpu->name);
		gs_buf_printf(&pending, ",%s,%.1f,%.1f,%.1f,%.1f,%s,%llu,%llu,", e->model, e->cycles, e->time_ns, e->low_ns,
		              e->high_ns, e->limiter, (unsigned long long)e->thread_instructions,
		              (unsigned long long)e->warp_instructions);
		uint32_t registers = launch_registers(r, t);
		if (registers)
			gs_buf_printf(&pending, "%u", registers);
		gs_buf_printf(&pending, ",%.4f,%u,%.4f,%.4f,%.4f,", e->occupancy.fraction, e->occupancy.blocks_per_sm,
		              e->lane_efficiency, gpu_sm_use(gpu, &e->occupancy, groups), gpu_waves(gpu, &e->occupancy, groups));
		if (energy_known(gpu))
			gs_buf_printf(&pending, "%.6g", energy_of_launch(gpu, e, groups).total);
		gs_buf_puts(&pending, "\n");
	}
}

void report_csv_flush(const struct simulation *sim)
{
	struct gs_buf out = {0};
	file.prefix = sim->options.output.text;
	if (!written)
		gs_buf_puts(&out, header);
	gs_buf_add(&out, pending.data, pending.len);
	/* What could not be written is tried again with what comes next. */
	if (!out.failed && !report_write(&file, out.data, out.len, written)) {
		written += out.len;
		pending.len = 0;
	}
	gs_buf_free(&out);
}
