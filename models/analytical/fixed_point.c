/*
 * The probabilistic model: optimistic time -> register accesses per cycle -> conflicts -> longer use of collectors and
 * write-back, longer latencies -> time, until it changes by less than 0.1%.
 *
 * The next time to assume is the one found, as in the paper, until there is one on either side; then, by the Illinois
 * variant of false position, one in between, so that it converges also where time falls steeply with time.
 * Source: Gerum et al., probabilistic resource model, IV-B, Fig. 6.
 */
#include "models/analytical/fixed_point.h"

#include <math.h>

enum { DEFAULT_ITERATIONS = 20 };
/* Of 324 times (tests/oracle/analytical), half of it changes 36, by 1.2% at most; the mean change of all is 0.03%. */
static const double default_tolerance = 0.001;

struct resource_extra conflicts_at(const struct gpu *gpu, const struct launch_costs *costs, double share,
                                   double resident_warps, double cycles, double *conflicts)
{
	const struct usage *u = &costs->total;
	double by_chance = u->reads - u->own_conflicts, readers = 0;
	/* A warp's own instructions come one after the other: it meets the others'. */
	double others = resident_warps > 1 ? 1 - 1 / resident_warps : 0;
	*conflicts = u->own_conflicts;
	if (!(cycles > 0) || isinf(cycles) || gpu->banks_without_conflicts)
		return (struct resource_extra){0, 0};
	struct bank_traffic t = {.reads = share * by_chance / cycles,
	                         .writes = share * u->writes / cycles,
	                         .read_width = (gpu->sub_cores ? 1 : gpu->schedulers_per_sm) * gpu->issue_per_scheduler,
	                         .write_width = gpu->result_buses,
	                         .banks = gpu->register_banks};
	struct bank_queue q = bank_queue(&t);
	if (t.reads > 0)
		*conflicts += others * q.conflicts / t.reads * by_chance;
	if (costs->late_loads > 0)
		*conflicts += others * costs->late_loads *
		              bank_conflicts_held(t.reads / t.banks * costs->late_accesses / costs->late_loads);
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
	log->history[0] = start;
	log->count = 1;
	log->converged = false;
}

/* The end that stays is pulled towards the other, or it would stay for ever. */
static double next_assumed(struct search *s, double assumed, double found)
{
	if (found > assumed) {
		s->high_gain /= s->low == s->last ? 2 : 1;
		s->low = assumed;
		s->low_gain = found - assumed;
	} else {
		s->low_gain /= s->high == s->last ? 2 : 1;
		s->high = assumed;
		s->high_gain = found - assumed;
	}
	s->last = assumed;
	if (isinf(s->high) || !(s->low > 0) || !(s->low_gain - s->high_gain > 0))
		return found;
	return s->low + (s->high - s->low) * s->low_gain / (s->low_gain - s->high_gain);
}

bool search_next(struct search *s, double *assumed, double found)
{
	struct fixed_point *log = s->log;
	if (log->count < FIXED_POINT_HISTORY)
		log->history[log->count] = found;
	log->count++;
	log->converged = fabs(found - *assumed) <= s->tolerance * fabs(found);
	*assumed = next_assumed(s, *assumed, found);
	/* Nothing is left in between, though what comes out there jumps. */
	log->converged = log->converged || s->high - s->low <= s->tolerance * s->low;
	return !log->converged && log->count <= s->iterations;
}

int model_probabilistic(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                        const struct fixed_point_options *options, struct probabilistic_timing *out, struct gs_error *err)
{
	struct launch_costs costs;
	struct search search;
	int rc = launch_costs(gpu, warps, &costs, err);
	*out = (struct probabilistic_timing){.timing.limiter = LIMIT_none,
	                                     .fixed_point = {.converged = !rc, .start = "optimistic", .model = "probabilistic"}};
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
