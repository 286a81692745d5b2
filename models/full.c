/*
 * All models, each from the others: the probabilistic model's time -> conflicts -> occupancy vector with longer operand
 * collection and write-back -> its time -> conflicts, until it changes by less than 0.1%.
 *
 * Where the occupancy vector resolves banks itself, it runs once: its time already has them.
 * Source: Gerum et al., probabilistic resource model, IV-B; Punniyamurthy et al., GATSim, Algorithm 1.
 */
#include "models/full.h"

#include "models/analytical/fixed_point.h"
#include "models/models.h"

#include <string.h>

/* The kind that takes most of the time, in the words that resources have. */
static const char *largest_kind(const double by[CYCLE_KIND_COUNT])
{
	static const char prefix[] = "unit_";
	int most = 0;
	for (int k = 1; k < CYCLE_KIND_COUNT; k++)
		if (by[k] > by[most])
			most = k;
	if (!(by[most] > 0))
		return limit_name(LIMIT_none);
	if (most == CYCLES_dependency)
		return limit_name(LIMIT_latency);
	const char *name = cycle_kind_name((enum cycle_kind)most);
	return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : name;
}

static void take_probabilistic(struct full_timing *out)
{
	const struct optimistic_timing *t = &out->probabilistic.timing;
	out->cycles = t->cycles;
	out->warp_instructions = t->warp_instructions;
	out->register_bank_conflicts = out->probabilistic.register_bank_conflicts;
	out->limiter = limit_name(t->limiter);
	out->fixed_point = out->probabilistic.fixed_point;
	memcpy(out->by, t->by, sizeof out->by);
}

static void take_occupancy(struct full_timing *out)
{
	const struct warp_timing *t = &out->occupancy;
	out->cycles = t->cycles;
	out->warp_instructions = (double)t->warp_instructions;
	out->limiter = largest_kind(t->by);
	memcpy(out->by, t->by, sizeof out->by);
}

static int iterate(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                   const struct full_options *options, const struct launch_costs *costs, struct full_timing *out, struct gs_error *err)
{
	struct warp_options w = options->warps;
	struct search search;
	const struct optimistic_timing *t = &out->probabilistic.timing;
	double cycles = out->cycles, share = t->sm_groups / (double)warps->groups;
	double resident = (double)t->resident_groups * warps->warps_per_group;
	int rc = 0;
	if (options->fixed_point.start_cycles > 0)
		cycles = options->fixed_point.start_cycles;
	out->fixed_point = (struct fixed_point){.start = "probabilistic", .model = "occupancy"};
	search_start(&search, &options->fixed_point, cycles, &out->fixed_point);
	do {
		struct resource_extra extra =
			conflicts_at(gpu, costs, share, resident, cycles, &out->register_bank_conflicts);
		if (w.resolve_banks)
			extra = (struct resource_extra){0, 0};
		/* The same delays take the same time. */
		if (out->fixed_point.count > 1 && extra.read_cycles == w.extra_read_cycles &&
		    extra.write_cycles == w.extra_write_cycles) {
			out->fixed_point.converged = true;
			break;
		}
		w.extra_read_cycles = extra.read_cycles;
		w.extra_write_cycles = extra.write_cycles;
		rc = options->occupancy(gpu, warps, blocks_per_sm, &w, &out->occupancy, err);
	} while (!rc && search_next(&search, &cycles, out->occupancy.cycles));
	if (w.resolve_banks || gpu->read_window)
		out->register_bank_conflicts = out->occupancy.bank_conflicts;
	return rc;
}

int model_full(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
               const struct full_options *options, struct full_timing *out, struct gs_error *err)
{
	struct launch_costs costs = {0};
	memset(out, 0, sizeof *out);
	out->limiter = limit_name(LIMIT_none);
	int rc = model_probabilistic(gpu, warps, blocks_per_sm, &options->fixed_point, &out->probabilistic, err);
	if (!rc)
		take_probabilistic(out);
	if (!rc && options->occupancy && out->cycles > 0) {
		rc = launch_costs(gpu, warps, &costs, err);
		if (!rc)
			rc = iterate(gpu, warps, blocks_per_sm, options, &costs, out, err);
		if (!rc)
			take_occupancy(out);
		launch_costs_free(&costs);
	}
	if (rc) {
		memset(out, 0, sizeof *out);
		out->limiter = limit_name(LIMIT_none);
	}
	return rc;
}

static bool is_wait(int kind)
{
	return kind != CYCLES_issue && kind != CYCLES_launch && kind != CYCLES_tail;
}

void give_issue_to_unit(double by[CYCLE_KIND_COUNT], const double limits[LIMIT_COUNT])
{
	static const struct {
		enum pipeline_resource resource;
		enum cycle_kind kind;
	} units[] = {{RESOURCE_fp32, CYCLES_unit_fp32}, {RESOURCE_int, CYCLES_unit_int}, {RESOURCE_fp64, CYCLES_unit_fp64}, {RESOURCE_sfu, CYCLES_unit_sfu},
	             {RESOURCE_tensor, CYCLES_unit_tensor}};
	enum cycle_kind kind = CYCLES_issue;
	double most = limits[RESOURCE_issue];
	for (size_t i = 0; i < GS_ARRAY_LEN(units); i++)
		if (limits[units[i].resource] > most) {
			most = limits[units[i].resource];
			kind = units[i].kind;
		}
	if (kind == CYCLES_issue)
		return;
	by[kind] += by[CYCLES_issue];
	by[CYCLES_issue] = 0;
}

void divide_issue(double by[CYCLE_KIND_COUNT], double needed)
{
	double waited = 0, rest = by[CYCLES_issue] - needed;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		waited += is_wait(k) ? by[k] : 0;
	if (!(rest > 0) || !(waited > 0))
		return;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		by[k] *= is_wait(k) ? 1 + rest / waited : 1;
	by[CYCLES_issue] = needed;
}
