/* The report on stderr, in three lengths: the time on each GPU, a table of kernels, and details of each row. */
#include "runtime/report/text.h"

#include "runtime/config/accuracy.h"
#include "runtime/config/log.h"
#include "runtime/format/protocol.h"
#include "runtime/model/simulation.h"
#include "runtime/report/cost.h"
#include "runtime/report/formats.h"
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

/* Where memory is not modelled from a trace of a launch like it. */
static void add_memory_of(struct text *t, const struct kernel_stats *k)
{
	const struct memory_source *m = &k->memory;
	struct gs_buf name = {0};
	show_name(&name, k->name, 60);
	const char *text = name.data ? name.data : "";
	if (m->drawn)
		text_line(t, 2, "memory of %s: addresses assumed for %u of %u instructions, because they depend on data and %s (%llu of %llu launches)",
		          text, m->drawn, m->accessing, m->reason, (unsigned long long)m->computed, (unsigned long long)k->launches);
	else if (m->computed && t->verbose)
		text_line(t, 2, "memory of %s: addresses of all %u instructions computed from the code, because %s (%llu of %llu launches)", text,
		          m->accessing, m->reason, (unsigned long long)m->computed, (unsigned long long)k->launches);
	if (m->other)
		text_line(t, 2, "memory of %s: addresses from the trace of another launch, with %llux%llux%llu groups of %llux%llux%llu work-items "
		          "(%llu of %llu launches)", text, (unsigned long long)m->other_groups[0], (unsigned long long)m->other_groups[1],
		          (unsigned long long)m->other_groups[2], (unsigned long long)m->other_local[0], (unsigned long long)m->other_local[1],
		          (unsigned long long)m->other_local[2], (unsigned long long)m->other, (unsigned long long)k->launches);
	gs_buf_free(&name);
}

/* Where the program left the local size to the driver. */
static void add_unsized(struct text *t, const struct kernel_stats *const *kernels, size_t count)
{
	enum { MOST_LINES = 6 };
	for (size_t i = 0, shown = 0; i < count && (t->verbose || shown < MOST_LINES); i++) {
		const struct kernel_stats *k = kernels[i];
		struct gs_buf name = {0};
		if (!k->unsized)
			continue;
		show_name(&name, k->name, 60);
		text_line(t, 2, "local size of %s: the program gives none; modelled with %llux%llux%llu, as the GPU's driver would choose (%llu of %llu launches)",
		          name.data ? name.data : "", (unsigned long long)k->unsized_local[0], (unsigned long long)k->unsized_local[1],
		          (unsigned long long)k->unsized_local[2], (unsigned long long)k->unsized, (unsigned long long)k->launches);
		gs_buf_free(&name);
		shown++;
	}
}

static void add_memory(struct text *t, const struct kernel_stats *const *kernels, size_t count)
{
	enum { MOST_LINES = 12 };
	size_t most = t->verbose ? count : MOST_LINES, shown = 0, left = 0;
	for (size_t i = 0; i < count; i++) {
		if (!kernels[i]->memory.computed && !kernels[i]->memory.other)
			continue;
		if (shown < most) {
			size_t before = t->out.len;
			add_memory_of(t, kernels[i]);
			shown += t->out.len > before;
		} else {
			left += kernels[i]->memory.drawn || kernels[i]->memory.other;
		}
	}
	if (left)
		text_line(t, 2, "memory of %zu more kernels: likewise (GPUSIM_TEXT=verbose shows all)", left);
}

/* Twins that do not do what their kernels do; the program's results are the kernels' own. */
static void add_twins(struct text *t)
{
	for (const struct kernel_stats *k = t->sim->stats.kernels; k; k = k->next) {
		struct gs_buf name = {0};
		show_name(&name, k->name, 60);
		if (k->comparisons[TWIN_DIFFERS])
			text_line(t, 2, "twin differs: what the annotated twin of %s wrote differs from what the kernel wrote: the kernel itself "
			          "computed the program's results, and its counts may be wrong", name.data ? name.data : "");
		else if (k->comparisons[TWIN_RACY] && t->verbose)
			text_line(t, 2, "racy: %s does not write the same twice, so its annotated twin runs on copies only", name.data ? name.data : "");
		gs_buf_free(&name);
	}
}

static void add_new_names(struct gs_buf *list, const char *lines)
{
	for (const char *end; lines && (end = strchr(lines, '\n')); lines = end + 1) {
		char name[128];
		bool guessed = *lines == '?'; /* protocol.h: the table does not have it */
		if (!strncmp(lines + guessed, "__", 2))
			continue; /* the compiler's own, which no user wrote */
		snprintf(name, sizeof name, "%.*s%s, ", (int)(end - lines) - guessed, lines + guessed, guessed ? " (guessed)" : "");
		const char *at = list->data ? strstr(list->data, name) : NULL;
		if (!at || (at > list->data && at[-1] != ' '))
			gs_buf_puts(list, name);
	}
}

/* Library functions whose code the targets' own compilers have and ours has not. */
static void add_library(struct text *t)
{
	struct gs_buf list = {0};
	for (const struct kernel_stats *k = t->sim->stats.kernels; k; k = k->next)
		for (size_t g = 0; g < t->sim->target_count; g++)
			add_new_names(&list, k->by_target[g].library);
	if (list.len > 2)
		text_line(t, 2, "cost taken from a table: %.*s", (int)(list.len < 602 ? list.len - 2 : 600), list.data);
	gs_buf_free(&list);
}

static struct sampling_stats sampling_of(const struct stats *stats, size_t target)
{
	struct sampling_stats all = {0};
	for (const struct kernel_stats *k = stats->kernels; k; k = k->next) {
		const struct sampling_stats *s = &k->by_target[target].sampling;
		all.sampled += s->sampled;
		all.instructions += s->instructions;
		all.simulated += s->simulated;
		all.checks += s->checks;
		all.error_sum += s->error_sum;
		all.error_most = s->error_most > all.error_most ? s->error_most : all.error_most;
	}
	return all;
}

static void add_sampling(struct text *t)
{
	for (size_t g = 0; g < t->sim->target_count; g++) {
		struct sampling_stats all = sampling_of(&t->sim->stats, g);
		struct gs_buf line = {0};
		if (!all.sampled && !all.checks)
			continue;
		gs_buf_printf(&line, "sampling on %s: %.2f%% of the warp instructions were simulated; %llu of %llu launches were not simulated, "
		              "but estimated from similar ones", t->sim->targets[g].gpu.name,
		              all.instructions > 0 ? 100 * all.simulated / all.instructions : 0, (unsigned long long)all.sampled,
		              (unsigned long long)t->sim->stats.launches);
		if (all.checks)
			gs_buf_printf(&line, "; %llu launches were checked by full simulation: the error is %.1f%% on average, %.1f%% at most",
			              (unsigned long long)all.checks, 100 * all.error_sum / (double)all.checks, 100 * all.error_most);
		if (!line.failed)
			text_line(t, 2, "%s", line.data);
		gs_buf_free(&line);
	}
}

static void add_not_counted(struct text *t)
{
	const char *why = t->sim->options.cuda_host.number == CUDA_HOST_GPU
	                          ? "on a real GPU only some launches of a size are counted, and only where that is safe (GPUSIM_LOG=info)"
	                          : "there was no room for these, or no time to copy memory (GPUSIM_COUNTER_MEMORY)";
	if (t->sim->cost.not_counted)
		text_line(t, 2, "not counted: %llu launches ran without counters, because %s; their counts and times follow from other launches of their kernels",
		          (unsigned long long)t->sim->cost.not_counted, why);
}

static void add_budget(struct text *t)
{
	if (t->sim->cost.over_budget)
		text_line(t, 2, "over budget: %llu launches were not simulated, because the %s s of GPUSIM_BUDGET were spent; their times are rough",
		          (unsigned long long)t->sim->cost.over_budget, t->sim->options.budget.text);
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
		add_overlap(t);
		add_trust(t);
		add_transfers(t);
		text_advice(t);
		add_not_modelled(t);
		add_unsized(t, kernels, count);
		add_memory(t, kernels, count);
		add_twins(t);
		add_library(t);
		add_sampling(t);
		add_not_counted(t);
		add_budget(t);
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
