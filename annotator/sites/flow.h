/*
 * Where control is when a statement or an expression is visited.
 */
#ifndef GPUSIM_ANNOTATOR_SITES_FLOW_H
#define GPUSIM_ANNOTATOR_SITES_FLOW_H

#include "annotator/annotator.h"

enum value_use { USE_LOAD, USE_STORE, USE_LOAD_AND_STORE, USE_ADDRESS };

struct place_in_flow {
	unsigned block; /* the block that control is in */
	int loop;       /* the innermost loop, or -1 */
	bool exact;     /* what is visited runs once for each execution of the block */
	bool quiet;     /* no markers: it is not evaluated, or not once per work-item */
	enum value_use use;     /* what is done with the value of the visited expression */
	enum block_bound bound; /* bound of the blocks that begin here */
	bool between_barriers;  /* the loop has a barrier */
};

#endif
