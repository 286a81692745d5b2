/* What the files of observed code share. */
#ifndef GPUSIM_ANALYSIS_SASS_INTERNAL_H
#define GPUSIM_ANALYSIS_SASS_INTERNAL_H

#include "analysis/sass/observed.h"

struct seen_instruction {
	uint64_t pc, times;
	struct sass_opcode what;
	uint32_t opcode; /* offset in the strings */
	int16_t result, sources[OBSERVED_SOURCES];
	uint8_t source_count;
	uint8_t spaces;  /* of generic accesses: 1 shared, 2 local, 4 global */
	bool addresses, off, parts; /* parts: lanes that executed it together went on apart */
	uint32_t first, votes; /* first: 1 + what the first of them did; 0: they did not part */
	uint32_t next;   /* 1 + what followed it last; 0: nothing yet, or the end */
	uint32_t place;  /* in the code */
	uint32_t block;  /* that it is in */
	uint32_t site;
	bool leads;      /* it begins its block */
};

/* A way from one instruction to the next. from is OBSERVED_NONE at the begin of a lane, to at its end. */
struct seen_edge {
	uint32_t from, to;
};

/* A way between blocks. */
struct block_edge {
	uint32_t from, to;
	uint32_t counter; /* of its own, or OBSERVED_NONE */
	bool falls;       /* to what stands behind it */
	bool first;       /* lanes that part go this way before the others */
};

struct observed_code {
	struct seen_instruction *seen;
	uint32_t count;
	size_t room;
	uint32_t *slots; /* of a hash of places; OBSERVED_NONE: free */
	size_t slot_count;
	struct seen_edge *edges;
	size_t edge_count, edge_room;
	uint32_t *edge_slots;
	size_t edge_slot_count;
	struct gs_buf strings;
	/* Once it is finished: */
	struct block_edge *block_edges; /* by block */
	uint32_t *first_edge;           /* of each block, and one more */
	uint32_t block_count, entry_block;
};

#endif
