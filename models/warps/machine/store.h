/* What machine.h keeps of a launch while its paths are written anew, and who writes them. */
#ifndef GPUSIM_MODELS_WARPS_MACHINE_STORE_H
#define GPUSIM_MODELS_WARPS_MACHINE_STORE_H

#include "models/warps/machine/machine.h"

/* Where an access of a machine block comes from: the n-th of a PTX block, in which of the executions that the machine block stands for. */
struct access_place {
	uint32_t block, rank, copy;
	bool moved; /* another block makes it than that of the PTX, which is executed before or after it */
	uint16_t least; /* turns that it takes at least, because it is wider than that of the PTX */
};

/* An execution of a block of a path: where, and its first access there. */
struct execution {
	size_t at, first;
};

/* One path, being written. */
struct written {
	uint32_t *blocks;
	uint16_t *accesses, *waits;
	uint32_t *first; /* of requests */
	struct path_requests requests;
	/* Of code with another order of accesses (machine_store.reordered): the parts in their new order. NULL: as they were */
	struct memory_part *parts;
	size_t part_count, part_room;
	bool failed; /* out of memory */
	/* Of a path with gaps: */
	struct path_gap *gaps;
	struct round_shift *shifts; /* of all gaps, one after the other */
	double *weights;
};

struct machine_store {
	struct kernel_code view; /* what the models see: its arrays are the machine's */
	struct code_block *blocks;
	struct warp_path *paths;
	struct written *written;
	struct access_place *places; /* of all machine blocks */
	uint32_t *first_place;       /* by machine block, and one more */
	bool reordered;              /* some block has its accesses in another order than the PTX */
	uint32_t *block_accesses;    /* by PTX block: those of the PTX */
	uint32_t *most_accesses;     /* by PTX block: the most that an execution of it has in the machine's code */
	bool *coded;                 /* by PTX block: it has instructions, or pieces of its loop have */
	uint32_t *entries;           /* by PTX block: the machine block that is executed when its loop is entered; 0: none */
	uint32_t *rests;             /* by PTX block: that of CODE_REST; 0: none */
	uint32_t *rest_accesses;     /* by PTX block: those of its CODE_REST */
	uint32_t *longest;           /* by PTX block: most executions that a machine block stands for */
	uint32_t *arrivals;          /* by PTX block: the machine block of CODE_ARRIVES; 0: none */
	uint32_t *ways;              /* by PTX block: that of CODE_GOES_AGAIN; 0: none */
	uint32_t *way_of;            /* by PTX block: 1 + the one with ways whose table leads to it; 0: none */
	struct execution *executions; /* room for as many as a machine block stands for */
	uint16_t *usual_accesses, *usual_waits;
	struct address_shift *shifts;
	uint32_t path_count;
};

/* write.c. Writes path p of a launch into the store. Returns 0 or a negative errno value. */
int machine_write_path(const struct launch_warps *in, struct machine_store *s, uint32_t p);

#endif
