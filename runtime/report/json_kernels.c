/* The kernels of the JSON report: sums over launches on every target, the lines of their sources, and the sources. */
#include "runtime/report/json.h"

#include "runtime/model/lines.h"
#include "runtime/model/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sources ---- */

/* A text that kernels are from: a unit of a program, or a file that it includes. */
struct named_source {
	const struct artifact *artifact; /* of a unit; else NULL */
	unsigned unit;
	const char *file;
};

struct source_list {
	struct named_source *list;
	size_t count;
};

static bool is_source(const struct named_source *s, const struct artifact *a, unsigned unit, const char *file)
{
	if (!is_own_source(file))
		return !s->artifact && !strcmp(s->file, file);
	/* The same text may be built many times. */
	return s->artifact && ((s->artifact == a && s->unit == unit) || (a->sources && a->sources[unit] && s->artifact->sources &&
	                       s->artifact->sources[s->unit] && !strcmp(a->sources[unit], s->artifact->sources[s->unit])));
}

static size_t source_index(struct source_list *sources, const struct artifact *a, unsigned unit, const char *file)
{
	for (size_t i = 0; i < sources->count; i++)
		if (is_source(&sources->list[i], a, unit, file))
			return i;
	struct named_source *grown = realloc(sources->list, (sources->count + 1) * sizeof *grown);
	if (!grown)
		return 0;
	sources->list = grown;
	grown[sources->count] = (struct named_source){is_own_source(file) ? a : NULL, unit, file};
	return sources->count++;
}

static void add_sources(struct gs_buf *b, const struct source_list *sources)
{
	enum { MOST_BYTES = 4 << 20 };
	gs_buf_puts(b, "\"sources\":[");
	for (size_t i = 0; i < sources->count; i++) {
		const struct named_source *s = &sources->list[i];
		struct gs_buf file = {0};
		const char *text = s->artifact && s->artifact->sources ? s->artifact->sources[s->unit] : NULL;
		char name[64];
		snprintf(name, sizeof name, "program %zu", i + 1);
		if (!s->artifact && !gs_read_file(s->file, &file, NULL))
			text = file.data;
		gs_buf_puts(b, "{");
		json_add_string(b, "name", s->artifact ? name : s->file);
		if (text && strlen(text) < MOST_BYTES)
			json_add_string(b, "text", text);
		else
			gs_buf_puts(b, "\"text\":null,");
		json_end(b, "},\n");
		gs_buf_free(&file);
	}
	while (b->len && (b->data[b->len - 1] == '\n' || b->data[b->len - 1] == ','))
		b->len--;
	gs_buf_puts(b, "],\n");
}

/* ---- energy ---- */

void json_energy(struct gs_buf *b, const struct gpu *gpu, const struct energy *energy, double time_ns)
{
	if (!energy_known(gpu)) {
		gs_buf_puts(b, "\"energy\":null,");
		return;
	}
	gs_buf_puts(b, "\"energy\":{");
	json_add_number(b, "joules", energy->total);
	json_add_number(b, "watts", time_ns > 0 ? energy->total / time_ns * 1e9 : 0);
	gs_buf_printf(b, "\"validated\":%s,", gpu->energy_validated ? "true" : "false");
	gs_buf_puts(b, "\"joules_by\":{");
	for (int p = 0; p < ENERGY_PART_COUNT; p++)
		json_add_number(b, energy_part_name((enum energy_part)p), energy->by[p]);
	json_end(b, "}},");
}

/* ---- a kernel on a target ---- */

/* What the line's cycles are waited or issued for; kinds that it has none of are left out. */
static void add_stalls(struct gs_buf *b, const struct line_sum *l)
{
	gs_buf_puts(b, "\"cycles_by\":{");
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		if (l->by[k] > 0)
			json_add_number(b, cycle_kind_name((enum cycle_kind)k), l->by[k]);
	json_end(b, "},");
}

static void add_line(struct gs_buf *b, const struct line_sum *l, size_t source, uint32_t warp_size)
{
	gs_buf_puts(b, "{");
	if (l->line)
		json_add_count(b, "source", source);
	else
		gs_buf_puts(b, "\"source\":null,");
	json_add_count(b, "line", l->line);
	json_add_number(b, "executions", l->executions);
	json_add_number(b, "instructions", l->instructions);
	json_add_number(b, "warp_instructions", l->warps);
	json_add_number(b, "cycles", l->cycles);
	json_add_number(b, "lane_efficiency", l->warps > 0 ? fmin(1, l->instructions / (l->warps * warp_size)) : 1);
	if (l->accesses_memory)
		json_add_number(b, "transactions", l->transactions);
	else
		gs_buf_puts(b, "\"transactions\":null,");
	json_add_number(b, "active_lanes", l->warps > 0 ? fmin(warp_size, l->instructions / l->warps) : warp_size);
	json_add_number_or_null(b, "sectors_per_request", l->requests > 0 ? l->sectors / l->requests : NAN);
	json_add_number_or_null(b, "bank_conflicts_per_access", l->shared_requests > 0 ? l->bank_conflicts / l->shared_requests : NAN);
	if (l->requests > 0) {
		json_add_number(b, "requests", l->requests);
		json_add_number(b, "sectors", l->sectors);
	}
	if (l->shared_requests > 0) {
		json_add_number(b, "shared_requests", l->shared_requests);
		json_add_number(b, "bank_conflicts", l->bank_conflicts);
	}
	add_stalls(b, l);
	json_end(b, "},");
}

static void add_lines(struct gs_buf *b, const struct simulation *sim, const struct kernel_stats *k, size_t t, struct source_list *sources)
{
	gs_buf_puts(b, "\"lines\":[");
	for (const struct kernel_lines *p = k->lines; p; p = p->next) {
		size_t count;
		struct line_sum *lines = lines_of(sim, p, t, &count);
		unsigned unit = p->facts->entry_block >= 0 ? p->artifact->blocks[p->facts->entry_block].unit : 0;
		for (size_t i = 0; i < count; i++)
			if (lines[i].instructions > 0)
				add_line(b, &lines[i], lines[i].line ? source_index(sources, p->artifact, unit, lines[i].file) : 0,
				         sim->targets[t].gpu.warp_size);
		free(lines);
	}
	json_end(b, "],");
}

/* Operations and bytes of work-items, for the roofline. */
static void add_work(struct gs_buf *b, const struct simulation *sim, const struct kernel_stats *k, size_t t)
{
	double flops[2] = {0, 0}, loaded = 0, stored = 0;
	for (const struct kernel_lines *p = k->lines; p; p = p->next) {
		const struct kernel_code *code = p->facts->code[sim->targets[t].arch];
		for (uint32_t i = 0; code && p->sums[t] && i < code->code_count; i++) {
			const struct code_instruction *in = &code->code[i];
			bool global = in->space == SPACE_global || in->space == SPACE_generic || in->space == SPACE_texture;
			double threads = p->sums[t][i].threads;
			flops[0] += threads * instruction_flops(in, 32);
			flops[1] += threads * instruction_flops(in, 64);
			loaded += global && in->writes ? threads * in->bytes : 0;
			stored += global && !in->writes ? threads * in->bytes : 0;
		}
	}
	json_add_number(b, "fp32_flops", flops[0]);
	json_add_number(b, "fp64_flops", flops[1]);
	json_add_number(b, "loaded_bytes", loaded);
	json_add_number(b, "stored_bytes", stored);
}

/* What occupancy other local sizes would have, with the same registers and the same local memory per group. */
static void add_occupancy_curve(struct gs_buf *b, const struct gpu *gpu, const struct target_stats *s)
{
	gs_buf_puts(b, "\"occupancy_by_local_size\":[");
	for (uint32_t size = gpu->warp_size; size <= gpu->max_threads_per_block; size += gpu->warp_size) {
		struct occupancy o = gpu_occupancy(gpu, size, s->registers, s->shared_bytes + s->longest_local_bytes);
		gs_buf_printf(b, "[%u,%.4g,\"%s\"],", size, o.fraction, occupancy_limit_name(o.limit));
	}
	json_end(b, "],");
}

/* The lines of a text as strings. */
static void add_texts(struct gs_buf *b, const char *key, const char *text)
{
	gs_buf_printf(b, "\"%s\":[", key);
	for (const char *end; text && (end = strchr(text, '\n')); text = end + 1) {
		char line[128];
		snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
		gs_buf_json(b, line);
		gs_buf_puts(b, ",");
	}
	json_end(b, "],");
}

/* How many groups each limit of an SM would allow alone; null where it is none. */
static void add_limits(struct gs_buf *b, const struct occupancy *o)
{
	gs_buf_puts(b, "\"blocks_allowed\":{");
	for (enum occupancy_limit i = 0; i < OCCUPANCY_GRID; i++)
		json_add_number_or_null(b, occupancy_limit_name(i), o->allowed[i] == UINT32_MAX ? NAN : o->allowed[i]);
	json_end(b, "},");
}

/* The launch that takes longest, as an example of all. */
static void add_longest(struct gs_buf *b, const struct gpu *gpu, const struct target_stats *s)
{
	const struct estimate *e = &s->longest;
	gs_buf_puts(b, "\"longest\":{");
	json_add_sizes(b, "global", s->longest_global);
	json_add_sizes(b, "local", s->longest_local);
	json_add_number(b, "time_ns", e->time_ns);
	json_add_number(b, "occupancy", e->occupancy.fraction);
	json_add_string(b, "occupancy_limit", occupancy_limit_name(e->occupancy.limit));
	json_add_count(b, "blocks_per_sm", e->occupancy.blocks_per_sm);
	json_add_count(b, "warps_per_block", e->occupancy.warps_per_block);
	json_add_count(b, "groups", s->longest_groups);
	json_add_number(b, "sm_use", gpu_sm_use(gpu, &e->occupancy, s->longest_groups));
	json_add_number(b, "waves", gpu_waves(gpu, &e->occupancy, s->longest_groups));
	add_limits(b, &e->occupancy);
	json_add_count(b, "iterations", e->iterations);
	json_add_number(b, "simulated_fraction", e->simulated_fraction);
	json_memory(b, e);
	json_end(b, "},");
}

static void add_times(struct gs_buf *b, const struct gpu *gpu, const struct target_stats *s)
{
	json_add_count(b, "launches", s->launches);
	json_add_number(b, "total_ns", s->total_ns);
	json_add_number(b, "average_ns", s->total_ns / (double)s->launches);
	json_add_number(b, "min_ns", s->min_ns);
	json_add_number(b, "max_ns", s->max_ns);
	json_add_number(b, "low_ns", s->low_ns);
	json_add_number(b, "high_ns", s->high_ns);
	json_add_number(b, "cycles", s->cycles);
	json_add_string(b, "limiter", main_limiter(s));
	json_cycles_by(b, s->by);
	json_add_number(b, "occupancy", s->occupancy_sum / (double)s->launches);
	json_add_number(b, "sm_use", s->sm_use_sum / (double)s->launches);
	json_unit_use(b, s->unit_cycles, s->cycles);
	json_energy(b, gpu, &s->energy, s->total_ns);
}

static void add_estimate(struct gs_buf *b, const struct simulation *sim, const struct kernel_stats *k, size_t t, struct source_list *sources)
{
	const struct target_stats *s = &k->by_target[t];
	gs_buf_puts(b, "{");
	json_add_string(b, "target", sim->targets[t].gpu.name);
	add_times(b, &sim->targets[t].gpu, s);
	json_add_number(b, "thread_instructions", s->thread_instructions);
	json_add_number(b, "warp_instructions", s->warp_instructions);
	json_add_number(b, "lane_efficiency", s->warp_instructions > 0 ? s->active_lanes / s->warp_instructions : 1);
	json_add_number(b, "register_bank_conflicts", s->register_bank_conflicts);
	if (s->registers)
		json_add_count(b, "registers_per_thread", s->registers);
	else
		gs_buf_puts(b, "\"registers_per_thread\":null,");
	if (s->code)
		json_add_string(b, "code", s->code);
	if (s->selected)
		json_add_string(b, "selected_because", s->selected);
	json_add_count(b, "local_memory_bytes", s->shared_bytes + s->longest_local_bytes);
	json_flags(b, s->flags);
	add_texts(b, "library", s->library);
	if (sources) {
		add_longest(b, &sim->targets[t].gpu, s);
		add_work(b, sim, k, t);
		add_occupancy_curve(b, &sim->targets[t].gpu, s);
		add_lines(b, sim, k, t, sources);
	}
	json_end(b, "},");
}

static void add_kernel(struct gs_buf *b, const struct simulation *sim, const struct kernel_stats *k, struct source_list *sources)
{
	gs_buf_puts(b, "{");
	json_add_string(b, "name", k->name);
	json_add_count(b, "launches", k->launches);
	if (k->measured)
		json_add_number(b, "measured_ns", k->measured_ns);
	else
		gs_buf_puts(b, "\"measured_ns\":null,");
	gs_buf_puts(b, "\"twin\":{");
	json_add_count(b, "in_shadow", k->in_shadow);
	json_add_count(b, "same", k->comparisons[TWIN_SAME]);
	json_add_count(b, "differs", k->comparisons[TWIN_DIFFERS]);
	json_add_count(b, "racy", k->comparisons[TWIN_RACY]);
	json_end(b, "},");
	gs_buf_puts(b, "\"estimates\":[");
	for (size_t t = 0; t < sim->target_count; t++)
		if (k->by_target[t].launches)
			add_estimate(b, sim, k, t, sources);
	json_end(b, "]},");
}

void json_kernels(struct gs_buf *b, const struct simulation *sim, bool whole)
{
	size_t count;
	struct source_list sources = {0};
	const struct kernel_stats **kernels = stats_sorted(sim, &count);
	gs_buf_puts(b, "\"kernels\":[");
	for (size_t i = 0; i < count; i++)
		add_kernel(b, sim, kernels[i], whole ? &sources : NULL);
	json_end(b, "],\n");
	if (whole)
		add_sources(b, &sources);
	free(sources.list);
	free(kernels);
}
