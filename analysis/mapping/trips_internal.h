/* What the files that look for equations of trips share. */
#ifndef GPUSIM_ANALYSIS_MAPPING_TRIPS_INTERNAL_H
#define GPUSIM_ANALYSIS_MAPPING_TRIPS_INTERNAL_H

#include "analysis/mapping/internal.h"

/* first, first + step, first + 2 step, ...; step 0: only first */
struct numbers {
	bool any; /* false: never reached */
	uint32_t first, step;
};

/* A place of copies of one block: an edge or a block, with the numbers of a copy after it. */
struct item {
	uint32_t variable;
	struct numbers numbers;
};

/* Probes in a block or on an edge. */
struct tracked_place {
	uint32_t copies, resets; /* probes of the block; probes of the blocks before and after the loop */
	uint32_t copies_after;   /* copies after the last reset */
};

struct tracker {
	const struct mapping *m;
	uint32_t loop, block;
	uint32_t parent, next; /* blocks before and after the loop */
	struct numbers *in, *out; /* per block of all functions: the numbers at its begin and at its end */
	struct tracked_place *blocks, *edges; /* of all functions */
	struct item *items;
	uint32_t item_count, item_room;
	struct trip_equations *result;
};

uint32_t tracked_block(const struct tracker *t, uint32_t function, uint32_t block);
struct numbers numbers_on_edge(const struct tracker *t, uint32_t function, uint32_t edge);
struct numbers numbers_join(struct numbers a, struct numbers b);

/* The numbers of every copy of a probe in the loop around its block. A copy without such a loop has none. False: out of memory. */
bool number_copies(const struct mapping *m, const struct mapping_source *source, struct numbers *out);

/* trip_equations.c */
struct trip_equation *new_equation(struct tracker *t);
void drop_equation(struct tracker *t); /* the last one */
void add_left(struct tracker *t, struct trip_equation *e, uint32_t variable, int32_t factor);
/* Adds `times` the number of trips whose number is in the set. False: this would take too many counters, or none. */
bool add_set(struct tracker *t, struct trip_equation *e, struct numbers set, int32_t times);

/* unrolled.c */
void find_unrolled(struct tracker *t);

#endif
