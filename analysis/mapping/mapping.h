/*
 * mapping: how often every edge of the target's code runs, as sums of the source's block counts.
 *
 * The unknowns are the edges of all functions that a kernel reaches. The equations are:
 *   - What flows into a block flows out of it.
 *   - A function is entered as often as it is called.
 *   - All copies of a probe together ran as often as its source block.
 *   - Counts of trips (struct trip_count) determine what unrolled and guarded loops leave open.
 * They are solved exactly, once, with the source counts as symbols. A launch then only evaluates the sums (models/code/code.h).
 */
#ifndef GPUSIM_ANALYSIS_MAPPING_MAPPING_H
#define GPUSIM_ANALYSIS_MAPPING_MAPPING_H

#include "analysis/graph/graph.h"
#include "models/trace/trace.h"

/* The source, from the annotator's tables. Counter i is the count of source block i. Some counters are rows of kind "trips". */
struct source_loop {
	uint32_t parent, body; /* blocks */
	uint32_t next;         /* the block that runs after it, as often as the parent; UINT32_MAX: none */
	bool has_trips;
};

/*
 * What a "trips" counter counts. The trips of a loop are numbered anew at each entry.
 *   TRIPS_EVERY    How often the number of a trip was congruent to residue modulo factor. With residue 0, this is the sum of
 *                  floor(trips / factor). With residue 1, it is the sum of ceil(trips / factor). Their difference is the number of
 *                  entries that leave a remainder.
 *   TRIPS_REACHED  How often the trips reached exactly factor. This is the number of entries with at least that many trips.
 */
enum trip_kind { TRIPS_EVERY, TRIPS_REACHED };
struct trip_count {
	uint32_t loop;
	uint32_t block; /* the block whose executions are numbered: mostly the loop's body, else a block inside it */
	uint32_t factor, residue;
	uint8_t kind;     /* enum trip_kind */
	uint32_t counter; /* index of the counter; the caller fills it before mapping_solve */
};

/* A place of the source that accesses memory; site.file is not used. */
struct source_site {
	struct trace_site site;
	const char *file; /* as line markers name it */
};

struct mapping_source {
	uint32_t counter_count; /* source blocks and trips counters */
	uint32_t entry;         /* the kernel's entry block; counter_count or more: not known */
	const bool *solid;      /* per counter: no copy of its probe can be lost while others are kept; NULL: all */
	const int32_t *parent_of; /* per counter: the block around it, or -1; NULL: not known */
	const int32_t *loop_of; /* per counter: the innermost loop around the block, or -1; NULL: only loop bodies are used */
	const struct source_loop *loops;
	uint32_t loop_count;
	const struct trip_count *trips; /* the counted trips */
	uint32_t trip_count;
	const struct source_site *sites; /* of the whole program */
	uint32_t site_count;
};

/* One kernel with the functions that it reaches. */
struct mapping;
int mapping_create(const struct ptx_module *module, const struct ptx_function *kernel, struct mapping **out,
                   struct gs_error *err);
void mapping_free(struct mapping *m);
/* The trip counts that would determine what is still open. The caller frees *out. `counter` is not filled. */
int mapping_wants(const struct mapping *m, const struct mapping_source *source, struct trip_count **out, uint32_t *count,
                  struct gs_error *err);
/* The kernel's code with the sums of all its edges. The caller frees *out with code_free. */
int mapping_solve(const struct mapping *m, const struct mapping_source *source, const char *arch,
                  struct kernel_code **out, struct gs_error *err);

/* Rows: what was counted of the PTX itself, where the host executed it (annotator/lift/lift.h). Counter i is the count of row i. */
struct mapping_row_term {
	uint32_t row;
	int32_t factor;
};
struct mapping_row_span {
	uint32_t first, count; /* of terms */
};
struct mapping_row_table {
	const uint32_t *block_rows;                /* per block of the function's graph; NULL: it was not counted */
	const struct mapping_row_span *edge_terms; /* per edge: its count as a sum of rows */
	const int32_t *sites;                      /* per instruction: its site, or -1; NULL: none has one */
};
struct mapping_rows {
	uint32_t row_count, site_count;
	const struct mapping_row_table *functions; /* per function of the module */
	const struct mapping_row_term *terms;
};
/* The kernel's code with the sums of all its edges: nothing is left open. The caller frees *out with code_free. */
int mapping_counted(const struct ptx_module *module, const struct ptx_function *kernel, const struct mapping_rows *rows, const char *arch,
                    struct kernel_code **out, struct gs_error *err);

#endif
