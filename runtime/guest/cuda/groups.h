/* groups: which groups of a launch run traced text, as lists of their numbers (order of runtime/format/lifted.h). */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_GROUPS_H
#define GPUSIM_RUNTIME_GUEST_CUDA_GROUPS_H

#include "runtime/guest/support/boxes.h"

/* Every group is in one of the two. */
struct group_lists {
	uint32_t *traced, *others; /* one allocation, of `traced` */
	size_t traced_count, other_count;
};

/* False: out of memory, or the launch has too many groups. */
bool groups_divide(const struct boxes *boxes, const uint64_t grid[3], struct group_lists *out);
/* For groups that run together: all in ascending order, in `traced`, those that are traced with LIFTED_TRACED (lifted.h). */
bool groups_mark(const struct boxes *boxes, const uint64_t grid[3], struct group_lists *out);
/* All groups in one list, that of those which are traced, or the other. */
bool groups_list(const uint64_t grid[3], bool traced, struct group_lists *out);
/* Puts groups, which are in ascending order, in one in which a GPU may come to an instruction of them. `resident`: how many it holds at once.
 * False: out of memory; nothing is changed. */
bool groups_mix(uint32_t *list, size_t count, uint64_t resident);

#endif
