/* The report on stderr: a table, longest time first, and what surrounds it. */
#include "state.h"

#include "runtime/cc/protocol.h"
#include "runtime/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 24 };

/* Three digits that matter and a unit: "12.3 us". */
static const char *show_time(char cell[CELL], double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t u = 0;
	while (ns >= 999.5 && u + 1 < GS_ARRAY_LEN(units)) {
		ns /= 1000;
		u++;
	}
	snprintf(cell, CELL, "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns, units[u]);
	return cell;
}

static const char *show_bytes(char cell[CELL], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double n = (double)bytes;
	size_t u = 0;
	while (n >= 1023.5 && u + 1 < GS_ARRAY_LEN(units)) {
		n /= 1024;
		u++;
	}
	snprintf(cell, CELL, "%.*f %s", u && n < 99.95 ? 1 : 0, n, units[u]);
	return cell;
}

/* User text on a terminal: no control characters, not endless. */
static void add_name(struct gs_buf *b, const char *name, size_t most)
{
	for (size_t i = 0; name[i] && i < most; i++)
		gs_buf_printf(b, "%c", (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i]);
	if (strlen(name) > most)
		gs_buf_puts(b, "...");
}

static void add_row(struct gs_buf *b, const struct kernel_stats *k, size_t t, double target_total_ns)
{
	const struct target_stats *s = &k->by_target[t];
	char total[CELL], average[CELL], least[CELL], most[CELL];
	if (!s->launches)
		return;
	gs_buf_printf(b, "gpusim: %9s %5.1f%% %8llu %9s %9s..%-9s %-10s %4.0f%%  ", show_time(total, s->total_ns),
	              target_total_ns > 0 ? 100 * s->total_ns / target_total_ns : 0, (unsigned long long)s->launches,
	              show_time(average, s->total_ns / (double)s->launches), show_time(least, s->min_ns),
	              show_time(most, s->max_ns), main_limiter(s), 100 * s->occupancy_sum / (double)s->launches);
	if (runtime.target_count > 1)
		gs_buf_printf(b, "%-10.16s ", runtime.targets[t].gpu.name);
	add_name(b, k->name, 60);
	gs_buf_puts(b, "\n");
}

static double kernels_total_ns(size_t t)
{
	double sum = 0;
	for (const struct kernel_stats *k = stats.kernels; k; k = k->next)
		sum += k->by_target[t].total_ns;
	return sum;
}

static void add_table(struct gs_buf *b)
{
	size_t count;
	const struct kernel_stats **kernels = stats_sorted(&count);
	double all_ns = 0;
	for (size_t t = 0; t < runtime.target_count; t++)
		all_ns += kernels_total_ns(t);
	if (all_ns > 0)
		gs_buf_printf(b, "gpusim: %9s %6s %8s %9s %9s..%-9s %-10s %5s  %skernel\n", "total", "share", "launches",
		              "average", "min", "max", "limiter", "occup", runtime.target_count > 1 ? "GPU        " : "");
	for (size_t i = 0; i < count; i++)
		for (size_t t = 0; t < runtime.target_count; t++)
			add_row(b, kernels[i], t, kernels_total_ns(t));
	free(kernels);
}

static void add_totals(struct gs_buf *b)
{
	for (size_t t = 0; t < runtime.target_count; t++) {
		const struct gpu *g = &runtime.targets[t].gpu;
		char kernels[CELL], copies[CELL];
		double copies_ns = 0;
		for (int k = 0; k < TRANSFER_KINDS; k++)
			copies_ns += transfer_time_ns(g, k, &stats.transfers[k]);
		gs_buf_printf(b, "gpusim: %s (%s, %u SMs, %.0f MHz): kernels %s, copies %s\n", g->name, g->title, g->sm_count,
		              g->clock_mhz, show_time(kernels, kernels_total_ns(t)), show_time(copies, copies_ns));
	}
}

static void add_transfers(struct gs_buf *b)
{
	bool any = false;
	for (int k = 0; k < TRANSFER_KINDS; k++) {
		const struct transfer_stats *s = &stats.transfers[k];
		char size[CELL];
		if (!s->commands)
			continue;
		gs_buf_printf(b, "%s%s %llux %s", any ? ", " : "gpusim: copies: ", transfer_name(k),
		              (unsigned long long)s->commands, show_bytes(size, s->size_bytes));
		any = true;
	}
	if (any)
		gs_buf_puts(b, "\n");
}

static void add_not_modelled(struct gs_buf *b)
{
	for (const struct not_modelled *n = stats.not_modelled; n; n = n->next) {
		gs_buf_printf(b, "gpusim: not modelled: %llu launch%s of ", (unsigned long long)n->launches,
		              n->launches == 1 ? "" : "es");
		add_name(b, n->kernel, 60);
		gs_buf_puts(b, ": ");
		add_name(b, n->reason, 300);
		gs_buf_puts(b, "\n");
	}
}

static void add_new_names(struct gs_buf *list, const char *lines)
{
	for (const char *end; lines && (end = strchr(lines, '\n')); lines = end + 1) {
		char name[128];
		snprintf(name, sizeof name, "%.*s, ", (int)(end - lines), lines);
		const char *at = list->data ? strstr(list->data, name) : NULL;
		if (!at || (at > list->data && at[-1] != ' '))
			gs_buf_puts(list, name);
	}
}

/* Library functions whose code the targets' own compilers have and ours has not. */
static void add_library(struct gs_buf *b)
{
	struct gs_buf list = {0};
	for (const struct kernel_stats *k = stats.kernels; k; k = k->next)
		for (size_t t = 0; t < runtime.target_count; t++)
			add_new_names(&list, k->by_target[t].library);
	if (list.len > 2) {
		gs_buf_puts(b, "gpusim: costed by table: ");
		list.data[list.len - 2] = 0;
		add_name(b, list.data, 600);
		gs_buf_puts(b, "\n");
	}
	gs_buf_free(&list);
}

/* What the application's threads waited for because of us, and what ran beside them. The slow-down leaves out what
 * counting costs inside kernels: nobody ran them without. */
static void add_cost(struct gs_buf *b)
{
	char wall[CELL], wait[CELL], launch[CELL], compile[CELL], build[CELL], model[CELL], slower[CELL] = "";
	uint64_t launches = tool_cost.launches ? tool_cost.launches : 1;
	double wall_ns = (double)(clock_ns() - runtime.start_ns), ours_ns = (double)(tool_cost.wait_ns + tool_cost.launch_ns);
	if (ours_ns < wall_ns) /* else many threads waited at once, and a sum says nothing */
		snprintf(slower, sizeof slower, " (%.2fx)", wall_ns / (wall_ns - ours_ns));
	gs_buf_printf(b, "gpusim: cost: threads waited %s for annotated kernels and %s per launch, in a run of %s%s\n",
	              show_time(wait, (double)tool_cost.wait_ns),
	              show_time(launch, (double)tool_cost.launch_ns / (double)launches), show_time(wall, wall_ns), slower);
	gs_buf_printf(b, "gpusim: beside it: gpusim-cc %s (%llu programs, %llu from the cache), builds %s, modelling %s\n",
	              show_time(compile, (double)tool_cost.compile_ns), (unsigned long long)tool_cost.compiles,
	              (unsigned long long)tool_cost.cache_hits, show_time(build, (double)tool_cost.twin_build_ns),
	              show_time(model, (double)tool_cost.model_ns));
}

void report_text(void)
{
	struct gs_buf b = {0};
	pthread_mutex_lock(&stats.lock);
	bool transfers = false;
	for (int k = 0; k < TRANSFER_KINDS; k++)
		transfers |= stats.transfers[k].commands != 0;
	if (stats.launches || stats.not_modelled || transfers) {
		gs_buf_printf(&b, "gpusim: ---- gpusim " GPUSIM_VERSION ", model %s ----\n",
		              runtime.options.model.text);
		add_table(&b);
		add_totals(&b);
		add_transfers(&b);
		add_not_modelled(&b);
		add_library(&b);
		add_cost(&b);
	}
	pthread_mutex_unlock(&stats.lock);
	if (b.len && !b.failed)
		log_raw(b.data, b.len);
	gs_buf_free(&b);
}
