/*
 * The probabilistic model: optimistic time -> register accesses per cycle -> conflicts -> longer use of collectors and
 * write-back, longer latencies -> time, until it changes by less than 0.1%.
 *
 * The next time to assume is the one found, as in the paper, unless the search has shown it to be on the wrong side:
 * then the middle of what is left, so that it always converges.
 * Source: Gerum et al., probabilistic resource model, IV-B, Fig. 6.
 */
#include "models/fixed_point.h"

#include <math.h>

enum { DEFAULT_ITERATIONS = 20 };
static const double default_tolerance = 0.001;

struct resource_extra conflicts_at(const struct gpu *gpu, const struct launch_costs *costs, double share,
                                   double resident_warps, double cycles, double *conflicts)
{
	const struct usage *u = &costs->total;
	double by_chance = u->reads - u->own_conflicts, readers = 0;
	/* A warp's own instructions come one after the other: it meets the others'. */
	double others = resident_warps > 1 ? 1 - 1 / resident_warps : 0;
	*conflicts = u->own_conflicts;
	if (!(cycles > 0) || isinf(cycles))
		return (struct resource_extra){0, 0};
	struct bank_traffic t = {.reads = share * by_chance / cycles,
	                         .writes = share * u->writes / cycles,
	                         .read_width = gpu->schedulers_per_sm * gpu->issue_per_scheduler,
	                         .write_width = gpu->result_buses,
	                         .banks = gpu->register_banks};
	struct bank_queue q = bank_queue(&t);
	if (t.reads > 0)
		*conflicts += others * q.conflicts / t.reads * by_chance;
	for (int r = 0; r < RESOURCE_COUNT; r++)
		readers += u->readers[r];
	return (struct resource_extra){
		.read_cycles = readers > 0 ? others * bank_collect_delay(&q, u->reads / readers) : 0,
		.write_cycles = others * q.write_delay,
	};
}

void search_start(struct search *s, const struct fixed_point_options *options, double start, struct fixed_point *log)
{
	*s = (struct search){.low = 0,
	                     .high = INFINITY,
	                     .tolerance = options && options->tolerance > 0 ? options->tolerance : default_tolerance,
	                     .iterations = options && options->iterations ? options->iterations : DEFAULT_ITERATIONS,
	                     .log = log};
	*log = (struct fixed_point){.history = {start}, .count = 1};
}

bool search_next(struct search *s, double *assumed, double found)
{
	struct fixed_point *log = s->log;
	if (log->count < FIXED_POINT_HISTORY)
		log->history[log->count] = found;
	log->count++;
	log->converged = fabs(found - *assumed) <= s->tolerance * fabs(found);
	if (found > *assumed)
		s->low = *assumed;
	else
		s->high = *assumed;
	double next = found;
	if (next < s->low || next > s->high)
		next = isinf(s->high) ? 2 * s->low : (s->low + s->high) / 2;
	*assumed = next;
	return !log->converged && log->count <= s->iterations;
}

int model_probabilistic(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                        const struct fixed_point_options *options, struct probabilistic_timing *out)
{
	struct launch_costs costs;
	struct search search;
	int rc = launch_costs(gpu, warps, &costs);
	*out = (struct probabilistic_timing){.timing.limiter = LIMIT_none, .fixed_point.converged = !rc};
	if (!rc) {
		optimistic_time(gpu, warps, &costs, blocks_per_sm, NULL, MEETING_planned, &out->timing);
		out->optimistic_cycles = out->timing.cycles;
	}
	if (!rc && out->timing.cycles > 0) {
		double share = out->timing.sm_groups / (double)warps->groups;
		double resident = (double)out->timing.resident_groups * warps->warps_per_group;
		double cycles = options && options->start_cycles > 0 ? options->start_cycles : out->timing.cycles;
		search_start(&search, options, cycles, &out->fixed_point);
		do {
			out->extra = conflicts_at(gpu, &costs, share, resident, cycles, &out->register_bank_conflicts);
			optimistic_time(gpu, warps, &costs, blocks_per_sm, &out->extra, MEETING_by_chance, &out->timing);
		} while (search_next(&search, &cycles, out->timing.cycles));
	}
	launch_costs_free(&costs);
	return rc;
}
