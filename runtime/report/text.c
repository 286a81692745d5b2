/* The report on stderr, in three lengths: the time on each GPU, a table of kernels, and details of each row. */
#include "runtime/report/text.h"

#include "runtime/config/accuracy.h"
#include "runtime/config/log.h"
#include "runtime/format/protocol.h"
#include "runtime/model/simulation.h"
#include "runtime/report/cost.h"
#include "runtime/report/formats.h"
#include "runtime/report/notes.h"
#include "runtime/timeline/totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void text_line(struct text *t, int indent, const char *fmt, ...)
{
	struct gs_buf line = {0};
	va_list ap;
	va_start(ap, fmt);
	gs_buf_vprintf(&line, fmt, ap);
	va_end(ap);
	if (line.len && !line.failed)
		show_wrapped(&t->out, "gpusim: ", line.data, indent);
	gs_buf_free(&line);
}

/* ---- the table ---- */

/* Columns of a row before its GPU and kernel, and the most that the GPU takes of the others. */
enum { BEFORE_NAMES = 71, GPU_MOST = 17 };

static void add_header(struct text *t)
{
	gs_buf_printf(&t->out, "gpusim: %s%9s %6s %8s %9s ", show_style(t->colours, SHOW_DIM), "total", "share", "launches",
	              "average");
	gs_buf_printf(&t->out, "%-14s %5s %4s  %*s", "limited by", "occup", "SMs", -t->gpu_width, t->gpu_width ? "GPU" : "");
	gs_buf_printf(&t->out, "kernel%s\n", show_style(t->colours, SHOW_PLAIN));
}

static void add_row(struct text *t, const struct kernel_stats *k, size_t target)
{
	const struct target_stats *s = &k->by_target[target];
	double all = kernels_total_ns(&t->sim->stats, target), share = all > 0 ? s->total_ns / all : 0;
	char total[SHOW_CELL], average[SHOW_CELL];
	if (!s->launches)
		return;
	gs_buf_printf(&t->out, "gpusim: %9s %s%5.1f%%%s %8llu %9s ", show_time(total, s->total_ns),
	              show_style(t->colours, share >= 0.5 ? SHOW_HOT : share >= 0.1 ? SHOW_WARM : SHOW_PLAIN), 100 * share,
	              show_style(t->colours, SHOW_PLAIN), (unsigned long long)s->launches,
	              show_time(average, s->total_ns / (double)s->launches));
	gs_buf_printf(&t->out, "%-14s %4.0f%% %3.0f%%  ", main_limiter(s), 100 * s->occupancy_sum / (double)s->launches,
	              100 * s->sm_use_sum / (double)s->launches);
	if (t->gpu_width)
		gs_buf_printf(&t->out, "%-*.*s", t->gpu_width, t->gpu_width - 1, t->sim->targets[target].gpu.name);
	enum { LEAST_NAME = 8 };
	int room = (int)show_width(STDERR_FILENO) - BEFORE_NAMES - t->gpu_width;
	show_name(&t->out, k->name, (size_t)(room > LEAST_NAME ? room : LEAST_NAME));
	gs_buf_puts(&t->out, "\n");
}

/* Many kernels: those that matter; the files have them all. */
static void add_table(struct text *t, const struct kernel_stats *const *kernels, size_t count)
{
	enum { MOST_ROWS = 40 };
	size_t most = t->verbose ? count : MOST_ROWS / t->sim->target_count;
	bool any = false;
	for (size_t i = 0; i < count; i++)
		for (size_t g = 0; g < t->sim->target_count; g++)
			any |= kernels[i]->by_target[g].launches != 0;
	if (any)
		add_header(t);
	for (size_t i = 0; i < count && i < most; i++)
		for (size_t g = 0; g < t->sim->target_count; g++)
			add_row(t, kernels[i], g);
	if (any && count > most)
		text_line(t, 2, "and %zu more kernels (GPUSIM_TEXT=verbose shows all)", count - most);
}

/* ---- around it ---- */

/* " (1.2 ms to 1.4 ms by sampling)", where parts that were simulated differed by more than one percent of the time. */
static void add_range(struct gs_buf *out, const struct stats *stats, size_t target)
{
	char low[SHOW_CELL], high[SHOW_CELL];
	double low_ns = 0, high_ns = 0;
	for (const struct kernel_stats *k = stats->kernels; k; k = k->next) {
		low_ns += k->by_target[target].low_ns;
		high_ns += k->by_target[target].high_ns;
	}
	if (high_ns - low_ns > 0.01 * high_ns)
		gs_buf_printf(out, " (%s to %s by sampling)", show_time(low, low_ns), show_time(high, high_ns));
}

static void add_totals(struct text *t)
{
	for (size_t g = 0; g < t->sim->target_count; g++) {
		const struct gpu *gpu = &t->sim->targets[g].gpu;
		char kernels[SHOW_CELL], copies[SHOW_CELL];
		struct gs_buf range = {0};
		add_range(&range, &t->sim->stats, g);
		text_line(t, 2, "%s (%s, %u SMs, %.0f MHz): kernels %s%s, copies %s", gpu->name, gpu->title, gpu->sm_count,
		          gpu->clock_mhz, show_time(kernels, kernels_total_ns(&t->sim->stats, g)), range.data ? range.data : "",
		          show_time(copies, transfers_total_ns(t->sim, g)));
		gs_buf_free(&range);
	}
}

/* Of GPUs whose descriptions have energies. */
static void add_energy(struct text *t)
{
	for (size_t g = 0; g < t->sim->target_count; g++) {
		const struct gpu *gpu = &t->sim->targets[g].gpu;
		struct energy e = kernels_energy(&t->sim->stats, g);
		char joules[SHOW_CELL];
		if (e.total > 0)
			text_line(t, 2, "%s: kernels take %s, %.0f W on average%s", gpu->name, show_energy(joules, e.total),
			          e.total / kernels_total_ns(&t->sim->stats, g) * 1e9, gpu->energy_validated ? "" : " (energy is not validated)");
	}
}

/* Where there is a timeline, and the time of the GPU is less than the sum of all that runs on it. */
static void add_overlap(struct text *t)
{
	struct timeline *timeline = &t->sim->timeline;
	pthread_mutex_lock(&timeline->lock);
	for (size_t g = 0; g < timeline->schedule.target_count; g++) {
		struct schedule_totals totals = schedule_totals(&timeline->schedule, g);
		char busy[SHOW_CELL], all[SHOW_CELL];
		if (totals.busy < 0.999 * totals.commands)
			text_line(t, 2, "%s: launches and copies overlap: busy for %s, not %s", t->sim->targets[g].gpu.name,
			          show_time(busy, totals.busy), show_time(all, totals.commands));
		for (uint32_t d = 0; d < timeline->schedule.device_count && timeline->schedule.device_count > 1; d++) {
			struct schedule_totals one = schedule_device_totals(&timeline->schedule, g, d);
			text_line(t, 2, "%s, GPU %u of %u: busy for %s of %s", t->sim->targets[g].gpu.name, d, timeline->schedule.device_count, show_time(busy, one.busy),
			          show_time(all, one.program));
		}
	}
	pthread_mutex_unlock(&timeline->lock);
}

static void add_transfers(struct text *t)
{
	struct gs_buf line = {0};
	for (int k = 0; k < TRANSFER_KINDS; k++) {
		const struct transfer_stats *s = &t->sim->stats.transfers[k];
		char size[SHOW_CELL];
		if (s->commands)
			gs_buf_printf(&line, "%s%s %llux %s", line.len ? ", " : "copies: ", transfer_name(k),
			              (unsigned long long)s->commands, show_bytes(size, (double)s->size_bytes));
	}
	if (line.len && !line.failed)
		text_line(t, 2, "%s", line.data);
	gs_buf_free(&line);
}

static void add_not_modelled(struct text *t)
{
	for (const struct not_modelled *n = t->sim->stats.not_modelled; n; n = n->next) {
		struct gs_buf name = {0};
		char mean[SHOW_CELL], times[SHOW_CELL + 32] = "";
		show_name(&name, n->kernel, 60);
		if (n->measured)
			snprintf(times, sizeof times, " (measured: mean %s)", show_time(mean, n->measured_ns / (double)n->measured));
		gs_buf_puts(&t->out, show_style(t->colours, SHOW_WARM));
		text_line(t, 2, "not modelled: %llu launch%s of %s%s: %.300s", (unsigned long long)n->launches,
		          n->launches == 1 ? "" : "es", name.data ? name.data : "", times, n->reason);
		gs_buf_puts(&t->out, show_style(t->colours, SHOW_PLAIN));
		gs_buf_free(&name);
	}
}

/* Why twins run on copies only. */
static void add_racy(struct text *t)
{
	for (const struct kernel_stats *k = t->sim->stats.kernels; k; k = k->next) {
		struct gs_buf name = {0};
		if (!k->comparisons[TWIN_RACY] || k->comparisons[TWIN_DIFFERS])
			continue;
		show_name(&name, k->name, 60);
		text_line(t, 2, "racy: %s does not write the same twice, so its annotated twin runs on copies only", name.data ? name.data : "");
		gs_buf_free(&name);
	}
}

/* Of GPUs that are not validated, the lines about accuracy say it. */
static void add_note(const char *about, const char *text, void *data)
{
	if (strcmp(about, "not_validated"))
		text_line(data, 2, "%s", text);
}

static void add_notes(struct text *t)
{
	enum { MOST_LINES = 6 };
	notes_tell(t->sim, t->verbose ? SIZE_MAX : MOST_LINES, add_note, t);
}

static void add_cost(struct text *t)
{
	char wall[SHOW_CELL], cell[SHOW_CELL], build[SHOW_CELL], count[SHOW_CELL], trace[SHOW_CELL], model[SHOW_CELL], without[100] = "";
	struct run_cost c = cost_now(t->sim);
	if (c.without_ns > 0) /* else many threads waited at once, and a difference says nothing */
		snprintf(without, sizeof without, ", about %s without gpusim (%.1fx)", show_time(cell, c.without_ns), c.wall_ns / c.without_ns);
	text_line(t, 2, "cost: %s in all%s: building %s, counting %s, tracing %s, modelling %s", show_time(wall, c.wall_ns), without,
	          show_time(build, c.building_ns), show_time(count, c.counting_ns), show_time(trace, c.tracing_ns),
	          show_time(model, c.modelling_ns));
	text_line(t, 2, "in the background: gpusim-cc %s (%llu programs, %llu from the cache), builds %s, modelling %s",
	          show_time(wall, (double)t->sim->cost.compile_ns), (unsigned long long)t->sim->cost.compiles,
	          (unsigned long long)t->sim->cost.cache_hits, show_time(build, (double)t->sim->cost.twin_build_ns),
	          show_time(model, (double)t->sim->cost.model_ns));
	if (t->sim->cost.untraced)
		text_line(t, 2, "not traced: %llu launches found no room for a trace (GPUSIM_TRACE_MEMORY)",
		          (unsigned long long)t->sim->cost.untraced);
}

static void add_trust_line(const char *text, void *data)
{
	text_line(data, 2, "accuracy: %s", text);
}

static void add_trust(struct text *t)
{
	struct accuracy_target list[MAX_TARGETS];
	for (size_t g = 0; g < t->sim->target_count; g++)
		list[g] = (struct accuracy_target){t->sim->targets[g].gpu.name, t->sim->options.memory.text};
	accuracy_tell(list, t->sim->target_count, add_trust_line, t);
}

/* ---- the whole ---- */

static void add_quiet(struct text *t, const struct kernel_stats *const *kernels, size_t count)
{
	uint64_t not_modelled = 0;
	for (size_t g = 0; g < t->sim->target_count; g++) {
		char kernels_ns[SHOW_CELL], copies[SHOW_CELL];
		struct gs_buf most = {0};
		double all = kernels_total_ns(&t->sim->stats, g);
		for (size_t i = 0; i < count && all > 0 && !most.len; i++)
			if (kernels[i]->by_target[g].total_ns >= all / 2) {
				gs_buf_printf(&most, "; %.0f%% ", 100 * kernels[i]->by_target[g].total_ns / all);
				show_name(&most, kernels[i]->name, 30);
				gs_buf_printf(&most, ", limited by %s", main_limiter(&kernels[i]->by_target[g]));
			}
		text_line(t, 2, "%s: %llu launches of %zu kernels %s, copies %s%s", t->sim->targets[g].gpu.name,
		          (unsigned long long)t->sim->stats.launches, count, show_time(kernels_ns, all),
		          show_time(copies, transfers_total_ns(t->sim, g)), most.data ? most.data : "");
		gs_buf_free(&most);
	}
	for (const struct not_modelled *n = t->sim->stats.not_modelled; n; n = n->next)
		not_modelled += n->launches;
	if (not_modelled)
		text_line(t, 2, "not modelled: %llu launches", (unsigned long long)not_modelled);
}

static void add_all(struct text *t)
{
	size_t count;
	const struct kernel_stats **kernels = stats_sorted(t->sim, &count);
	if (t->sim->options.text.number == TEXT_QUIET) {
		add_quiet(t, kernels, count);
	} else {
		gs_buf_printf(&t->out, "gpusim: %s---- gpusim " GPUSIM_VERSION ", model %s, memory %s ----%s\n",
		              show_style(t->colours, SHOW_BOLD), t->sim->options.model.text, t->sim->options.memory.text,
		              show_style(t->colours, SHOW_PLAIN));
		add_table(t, kernels, count);
		for (size_t i = 0; i < count && t->verbose; i++)
			text_kernel(t, kernels[i]);
		add_totals(t);
		add_energy(t);
		add_overlap(t);
		add_trust(t);
		add_transfers(t);
		text_advice(t);
		add_not_modelled(t);
		add_notes(t);
		if (t->verbose)
			add_racy(t);
		if (t->sim->cost.launches) /* a replay launches nothing */
			add_cost(t);
	}
	free(kernels);
}

static int widest_gpu(const struct simulation *sim)
{
	size_t width = 0;
	for (size_t g = 0; g < sim->target_count; g++) {
		size_t length = strlen(sim->targets[g].gpu.name);
		width = length > width ? length : width;
	}
	return width < GPU_MOST ? (int)width + 1 : GPU_MOST;
}

void report_text(struct simulation *sim)
{
	struct text t = {.sim = sim, .colours = show_colours(STDERR_FILENO), .verbose = sim->options.text.number == TEXT_VERBOSE};
	t.gpu_width = sim->target_count > 1 ? widest_gpu(sim) : 0;
	pthread_mutex_lock(&sim->stats.lock);
	bool transfers = false;
	for (int k = 0; k < TRANSFER_KINDS; k++)
		transfers |= sim->stats.transfers[k].commands != 0;
	if (sim->stats.launches || sim->stats.not_modelled || transfers)
		add_all(&t);
	pthread_mutex_unlock(&sim->stats.lock);
	if (t.out.len && !t.out.failed)
		log_report(t.out.data, t.out.len);
	gs_buf_free(&t.out);
}
