/*
 * mapping: how often every edge of the target's code runs, as sums of the source's block counts.
 *
 * Unknowns are the edges of all functions that a kernel reaches. Equations: what flows into a block flows out of it; a
 * function is entered as often as it is called; the copies of a probe together ran as often as its source block did;
 * and what unrolled and guarded loops leave open, from counts of trips (struct trip_count). They are solved exactly,
 * once, with the source counts as symbols; a launch then only evaluates the sums (models/code/code.h).
 */
#ifndef GPUSIM_ANALYSIS_MAPPING_MAPPING_H
#define GPUSIM_ANALYSIS_MAPPING_MAPPING_H

#include "analysis/graph/graph.h"
#include "models/trace/trace.h"

/* The source side, from the annotator's tables. Counter i is the count of source block i; rows of kind "trips" too. */
struct source_loop {
	uint32_t parent, body; /* blocks */
	uint32_t next;         /* block that runs after it, as often as the parent; UINT32_MAX: none */
	bool has_trips;
};

/*
 * What a "trips" counter counts. `every`: how often the trips of a loop, numbered anew at each entry, were congruent to
 * residue modulo factor; with residue 0, the sum of floor(trips / factor), with residue 1, of ceil(trips / factor), so
 * that their difference is the number of entries that leave a remainder. `reached`: how often the trips reached exactly
 * factor: the entries with at least that many.
 */
enum trip_kind { TRIPS_EVERY, TRIPS_REACHED };
struct trip_count {
	uint32_t loop;
	uint32_t block; /* whose executions are numbered: mostly the loop's body, else a block inside of it */
	uint32_t factor, residue;
	uint8_t kind;     /* enum trip_kind */
	uint32_t counter; /* where it is counted; filled by the caller before mapping_solve */
};

/* A place of the source that accesses memory; site.file is not used. */
struct source_site {
	struct trace_site site;
	const char *file; /* as line markers name it */
};

struct mapping_source {
	uint32_t counter_count; /* source blocks and trips counters */
	uint32_t entry;         /* the kernel's entry block; counter_count or more: not known */
	const bool *solid;      /* per counter: no copy of its probe can have been lost while others were kept; NULL: all */
	const int32_t *parent_of; /* per counter: the block around it, or -1; NULL: not known */
	const int32_t *loop_of; /* per counter: the innermost loop around the block, or -1; NULL: only bodies are looked at */
	const struct source_loop *loops;
	uint32_t loop_count;
	const struct trip_count *trips; /* those that are counted */
	uint32_t trip_count;
	const struct source_site *sites; /* of the whole program */
	uint32_t site_count;
};

/* One kernel with the functions that it reaches. */
struct mapping;
int mapping_create(const struct ptx_module *module, const struct ptx_function *kernel, struct mapping **out,
                   struct gs_error *err);
void mapping_free(struct mapping *m);
/* The trip counts that would determine what is left open; the caller frees *out. `counter` is not filled. */
int mapping_wants(const struct mapping *m, const struct mapping_source *source, struct trip_count **out, uint32_t *count,
                  struct gs_error *err);
/* The kernel's code with the sums of all its edges. The caller frees *out with code_free. */
int mapping_solve(const struct mapping *m, const struct mapping_source *source, const char *arch,
                  struct kernel_code **out, struct gs_error *err);

#endif
