/*
 * For every path, times the warps that take it:  requests = executed loads;  sectors = sum over parts of sectors touched;
 * conflicts = sum over instructions on shared memory of (accesses - those that it needs without conflicts), which is one for each 4 bytes of a lane.
 */
#include "models/warps/access_counts.h"

#include "models/code/costs.h"
#include "models/warps/executions.h"

#include <math.h>

/* A bank gives 4 bytes in an access, so that 32 lanes with 8 bytes each need two. Few lanes may need less. */
static double conflicts(const struct code_instruction *in, double warps, double turns)
{
	double least = warps * (in->bytes > 4 ? in->bytes / 4 : 1);
	return turns > least ? turns - least : 0;
}

/* An access of a trace whose predicate is off in all lanes. All others are instructions of the PTX, or stand for one. */
static bool is_off(const struct code_instruction *in)
{
	return in->flags & CODE_EXPANDED && in->flags & CODE_GUARDED;
}

/* Executions of an instruction: their turns in shared memory, and the sectors that they touch, NAN where addresses are not known. */
static void add_executions(const struct code_instruction *in, double warps, double turns, double sectors, struct access_counts *out)
{
	bool global = in->space == SPACE_global || in->space == SPACE_generic;
	if (is_off(in))
		return;
	if (in->space == SPACE_shared) {
		out->shared_requests += warps;
		out->shared_conflicts += conflicts(in, warps, turns);
	} else if (in->class == CODE_texture) {
		out->texture_requests += warps;
	} else if (in->space == SPACE_local) {
		out->private_requests += warps;
	} else if (global && in->class == CODE_atomic) {
		out->atomic_requests += warps;
	} else if (global && in->class == CODE_load) {
		out->load_requests += warps;
		out->load_sectors += sectors;
	} else if (global && in->class == CODE_store) {
		out->store_requests += warps;
		out->store_sectors += sectors;
	}
}

static void count_access(const struct launch_warps *w, const struct warp_path *path, size_t n, uint32_t i, double times,
                         void *data)
{
	const struct code_instruction *in = &w->code->code[i];
	if (!code_has_accesses(in->class))
		return;
	double turns = in->space == SPACE_shared ? path_accesses(w, path, n, i) : 0;
	double sectors = in->space == SPACE_shared ? 0 : path->requests && n < path->access_count ? path_sectors(path, n) : NAN;
	add_executions(in, times, times * turns, times * sectors, data);
}

void sum_accesses(const struct kernel_code *code, const struct instruction_count *counts, struct access_counts *out)
{
	*out = (struct access_counts){0};
	for (uint32_t i = 0; i < code->code_count; i++)
		if (code_has_accesses(code->code[i].class))
			add_executions(&code->code[i], counts[i].warps, counts[i].transactions, counts[i].requests < counts[i].warps ? NAN : counts[i].sectors, out);
}

int count_accesses(const struct launch_warps *w, double times, struct access_counts *out)
{
	*out = (struct access_counts){0};
	return each_execution(w, times, count_access, out);
}
