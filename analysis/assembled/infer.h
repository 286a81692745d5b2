/*
 * infer: what the files share that find out where instructions come from without a table of lines (assembled_infer).
 *
 *   analysis/assembled/infer.c    both texts in order, and which arm comes first
 *   analysis/assembled/pieces.c   loops that the assembler has unrolled
 *   analysis/assembled/order.c    the order of blocks
 *   analysis/assembled/align.c    the alignment of two texts
 *   analysis/assembled/alike.c    which instructions look like which
 */
#ifndef GPUSIM_ANALYSIS_ASSEMBLED_INFER_H
#define GPUSIM_ANALYSIS_ASSEMBLED_INFER_H

#include "analysis/assembled/assembled.h"
#include "analysis/assembled/order.h"

/* One of two texts that are aligned. */
struct aligned {
	uint32_t *of;     /* instructions, in the order that they are executed in */
	uint32_t *depths; /* loops around each */
	uint32_t count;
};

struct inference {
	struct assembled_kernel *k;
	struct flow_graph machine_flow, ptx_flow;
	struct aligned machine, ptx;
	uint8_t *alike;       /* of each instruction of the machine with each of the PTX */
	bool *machine_done;   /* by block: a part of an unrolled loop, whose instructions have their origins */
	bool *ptx_done;       /* by block: in a loop that is unrolled */
};

/* How much an instruction of the machine looks like one of the PTX, 255 at most; 0: it cannot come from there. */
int assembled_alike(const struct assembled_kernel *k, uint32_t machine, uint32_t ptx);
/* Gives instructions of the machine to those of the PTX in the same order, so that they are as much alike as can be. row: how many the PTX has, in `alike`. Writes
 * origins, if it is not NULL. Returns how much they are alike, or -ENOMEM. */
int assembled_align(const uint8_t *alike, uint32_t row, const struct aligned *machine, const struct aligned *ptx, int32_t *origins);
/* Finds pieces of unrolled loops and what chooses between them, and gives their instructions origins. 0 or -ENOMEM. */
int assembled_find_pieces(struct inference *f);

#endif
