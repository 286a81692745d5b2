/* What the verbose report says of a kernel on each GPU, beyond its row of the table. */
#include "runtime/report/text.h"

#include "runtime/model/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_times(struct text *t, const struct target_stats *s)
{
	char least[SHOW_CELL], most[SHOW_CELL];
	if (s->launches > 1)
		text_line(t, 4, "  %llu launches of %s to %s", (unsigned long long)s->launches, show_time(least, s->min_ns),
		          show_time(most, s->max_ns));
}

static void add_cycles(struct text *t, const struct target_stats *s)
{
	struct gs_buf line = {0};
	bool shown[CYCLE_KIND_COUNT] = {false};
	/* Largest first; what is less than half a percent is not worth a reader's eye. */
	for (int n = 0; n < CYCLE_KIND_COUNT; n++) {
		int most = -1;
		for (int k = 0; k < CYCLE_KIND_COUNT; k++)
			if (!shown[k] && s->by[k] >= 0.005 * s->cycles && s->by[k] > 0 && (most < 0 || s->by[k] > s->by[most]))
				most = k;
		if (most < 0)
			break;
		shown[most] = true;
		gs_buf_printf(&line, "%s%s %.1f%%", line.len ? ", " : "", cycle_kind_name((enum cycle_kind)most),
		              100 * s->by[most] / s->cycles);
	}
	char cycles[SHOW_CELL];
	if (line.len && !line.failed)
		text_line(t, 4, "  %s cycles: %s", show_count(cycles, s->cycles), line.data);
	gs_buf_free(&line);
}

static void add_units(struct text *t, const struct target_stats *s)
{
	struct gs_buf line = {0};
	for (int u = 0; u < RESOURCE_COUNT; u++) {
		bool unit = u == RESOURCE_issue || (u >= RESOURCE_fp32 && u <= RESOURCE_ldst);
		if (unit && s->unit_cycles[u] >= 0.005 * s->cycles && s->cycles > 0)
			gs_buf_printf(&line, "%s%s %.0f%%", line.len ? ", " : "", resource_name((enum pipeline_resource)u),
			              fmin(100, 100 * s->unit_cycles[u] / s->cycles));
	}
	if (line.len && !line.failed)
		text_line(t, 4, "  units busy: %s", line.data);
	gs_buf_free(&line);
}

static void add_instructions(struct text *t, const struct target_stats *s)
{
	char threads[SHOW_CELL], warps[SHOW_CELL], conflicts[SHOW_CELL];
	text_line(t, 4, "  instructions: %s by threads, %s by warps, %.0f%% of lanes active, %s register bank conflicts",
	          show_count(threads, s->thread_instructions), show_count(warps, s->warp_instructions),
	          s->warp_instructions > 0 ? 100 * s->active_lanes / s->warp_instructions : 100,
	          show_count(conflicts, s->register_bank_conflicts));
}

static void add_occupancy(struct text *t, const struct gpu *gpu, const struct target_stats *s)
{
	const struct occupancy *o = &s->longest.occupancy;
	char groups[SHOW_CELL];
	char shared[SHOW_CELL], registers[48] = "registers not known";
	if (s->registers)
		snprintf(registers, sizeof registers, "%u registers%s", s->registers, s->code && (!strcmp(s->code, "machine") || !strcmp(s->code, "program")) ? " (machine code)" : "");
	text_line(t, 4, "  occupancy: %.0f%%, by %s: %u groups of %llux%llux%llu per SM, %s, %s local",
	          100 * o->fraction, occupancy_limit_name(o->limit), o->blocks_per_sm,
	          (unsigned long long)s->longest_local[0], (unsigned long long)s->longest_local[1],
	          (unsigned long long)s->longest_local[2], registers,
	          show_bytes(shared, (double)(s->shared_bytes + s->longest_local_bytes)));
	text_line(t, 4, "  SMs: %.0f%% have work: %s groups, %.3g times what all SMs hold", 100 * gpu_sm_use(gpu, o, s->longest_groups),
	          show_count(groups, (double)s->longest_groups), gpu_waves(gpu, o, s->longest_groups));
}

static void add_rate(struct gs_buf *line, const char *what, double rate)
{
	if (rate > 0)
		gs_buf_printf(line, ", %s %.0f%%", what, 100 * rate);
}

/* Of the longest launch; nothing where memory is perfect. */
static void add_memory(struct text *t, const struct memory_statistics *m)
{
	char requests[SHOW_CELL], parts[SHOW_CELL], bytes[SHOW_CELL];
	struct gs_buf line = {0};
	if (!(m->requests > 0))
		return;
	gs_buf_printf(&line, "  memory, longest launch: %s requests in %s transactions", show_count(requests, m->requests),
	              show_count(parts, m->transactions));
	add_rate(&line, "L1 hits", m->l1_hit);
	add_rate(&line, "L2 hits", m->l2_hit);
	gs_buf_printf(&line, ", %s to and from DRAM", show_bytes(bytes, m->dram_read_bytes + m->dram_written_bytes));
	add_rate(&line, "DRAM busy", m->dram_share);
	add_rate(&line, "L2 busy", m->l2_share);
	if (m->shared_factor > 1)
		gs_buf_printf(&line, ", %.2f accesses per local memory instruction", m->shared_factor);
	if (!line.failed)
		text_line(t, 4, "%s", line.data);
	gs_buf_free(&line);
}

/* Joules of all launches, and the parts that have most of them. */
static void add_energy(struct text *t, const struct gpu *gpu, const struct target_stats *s)
{
	static const double least = 0.02; /* of the whole, for a part to be named */
	struct gs_buf line = {0};
	char joules[SHOW_CELL];
	if (!energy_known(gpu) || s->energy.total <= 0)
		return;
	gs_buf_printf(&line, "  energy: %s, %.0f W%s", show_energy(joules, s->energy.total), s->energy.total / s->total_ns * 1e9,
	              gpu->energy_validated ? "" : " (not validated)");
	const char *before = ": ";
	for (int p = 0; p < ENERGY_PART_COUNT; p++)
		if (s->energy.by[p] >= least * s->energy.total) {
			gs_buf_printf(&line, "%s%s %.0f%%", before, energy_part_name((enum energy_part)p), 100 * s->energy.by[p] / s->energy.total);
			before = ", ";
		}
	if (!line.failed)
		text_line(t, 4, "%s", line.data);
	gs_buf_free(&line);
}

/* The cycles of each step, of the longest launch. */
static void add_convergence(struct gs_buf *line, const struct fixed_point *f)
{
	uint32_t kept = fixed_point_kept(f);
	for (uint32_t i = 0; i < kept; i++) {
		char cycles[SHOW_CELL];
		gs_buf_printf(line, "%s%s", i ? ", " : " (", show_count(cycles, f->history[i]));
	}
	if (kept)
		gs_buf_printf(line, " cycles%s)", f->converged ? "" : ", not converged");
}

static void add_model(struct text *t, const struct target_stats *s)
{
	char low[SHOW_CELL], high[SHOW_CELL];
	struct gs_buf line = {0};
	gs_buf_printf(&line, "  model: %s, %u steps to the fixed point", s->longest.model, s->longest.iterations);
	add_convergence(&line, &s->longest.fixed_point);
	if (s->longest.simulated_fraction < 0.9995)
		gs_buf_printf(&line, ", %.1f%% simulated", 100 * s->longest.simulated_fraction);
	if (s->low_ns < s->high_ns)
		gs_buf_printf(&line, ", between %s and %s in all", show_time(low, s->low_ns), show_time(high, s->high_ns));
	flag_set flags = s->flags;
	const char *before = "; flags: ";
	for (const char *name; (name = flag_take(&flags)); before = ", ")
		gs_buf_printf(&line, "%s%s", before, name);
	if (!line.failed)
		text_line(t, 4, "%s", line.data);
	gs_buf_free(&line);
}

void text_kernel(struct text *t, const struct kernel_stats *k)
{
	for (size_t g = 0; g < t->sim->target_count; g++) {
		const struct target_stats *s = &k->by_target[g];
		struct gs_buf name = {0};
		if (!s->launches)
			continue;
		show_name(&name, k->name, 60);
		text_line(t, 2, "%s on %s:", name.data ? name.data : "", t->sim->targets[g].gpu.name);
		add_times(t, s);
		add_cycles(t, s);
		add_instructions(t, s);
		add_units(t, s);
		add_occupancy(t, &t->sim->targets[g].gpu, s);
		add_memory(t, &s->longest.memory);
		add_energy(t, &t->sim->targets[g].gpu, s);
		add_model(t, s);
		gs_buf_free(&name);
	}
}
