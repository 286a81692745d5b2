/*
 * boxes: which work-groups of a launch are traced, and the boxes of groups that it is launched in for that
 * (runtime/format/traces.h). A pure function of the launch's shape, and of what launches before it needed.
 */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_BOXES_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_BOXES_H

#include "models/trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_BOXES = 32 };

struct box {
	uint64_t first[3], count[3]; /* groups */
	bool traced;
};

struct boxes {
	struct box list[MOST_BOXES]; /* the first group is in the first, the last one in the last */
	size_t count;
	uint64_t traced_groups;
};

uint64_t box_groups(const struct box *b);
/*
 * Every group of a launch is in one box. At most `most` groups, but at least one, are traced: all if they are not more,
 * else runs of groups that are neighbours in x, or of whole rows or planes where these are short: the first groups, the last ones
 * and one run or two from each quarter of the grid in between, where `seed` says. The groups in `needed`, unless it is NULL, draw the
 * runs in between to themselves.
 */
void boxes_choose(const uint64_t groups[3], uint64_t most, uint64_t seed, const struct needed_groups *needed, struct boxes *out);

#endif
