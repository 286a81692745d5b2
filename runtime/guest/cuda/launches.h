/* launches: one launch of a lifted kernel. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_LAUNCHES_H
#define GPUSIM_RUNTIME_GUEST_CUDA_LAUNCHES_H

#include "runtime/guest/cuda/modules.h"
#include "runtime/guest/cuda/streams.h"

struct launch;

struct launch_command {
	struct cuda_command command;
	struct cuda_kernel *kernel; /* its module is retained */
	struct launch *launch;      /* the worker's once the command has run; NULL: it is not modelled */
	struct lifted_launch words;
	struct lifted_fault fault;
	uint64_t groups;
	bool cooperative;
	bool together;              /* one work-item runs all groups in turn, so many at a time: */
	uint64_t held;
	uint64_t mixed;             /* groups run in an order as a GPU that holds so many of them may have it; 0: in that of their numbers */
	uint32_t workspace[4];      /* that they meet with */
	uint64_t *bases;            /* pairs; in the same allocation */
	struct lifted_image *images; /* likewise */
	uint8_t *parameters;        /* likewise, aligned to 16 bytes */
};

/* The record of what is launched: sizes, and arguments as the models see them. Fills `bases` and `images` of the command as well. NULL: out of memory. */
struct launch *launch_record_new(struct launch_command *c, const uint32_t block[3], uint64_t dynamic_shared);
/* Pairs, and as many images, that launch_record_new may need. */
size_t launch_most_bases(const struct cuda_kernel *k);

#endif
