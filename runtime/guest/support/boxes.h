/*
 * boxes: which work-groups of a launch are traced, and in which boxes of groups it is launched for that
 * (runtime/format/traces.h). The choice depends only on the shape of the launch, and on groups that earlier launches needed.
 */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_BOXES_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_BOXES_H

#include "models/trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_BOXES = 64 };

struct box {
	uint64_t first[3], count[3]; /* groups */
	bool traced;
};

struct boxes {
	struct box list[MOST_BOXES]; /* the first box has the first group, the last box has the last group */
	size_t count;
	uint64_t traced_groups;
};

uint64_t box_groups(const struct box *b);
/*
 * Divides a launch into boxes, so that every group is in one box. At most `most` groups are traced, but at least one. If there
 * are not more groups, all are traced. Otherwise runs of neighbouring groups are: neighbours in x, or whole rows or planes
 * where these are short. There is a run of the first groups, a run of the last ones, and one or two runs in each quarter of the
 * grid between them, at positions that `seed` decides. If `needed` is not NULL, runs between the first and the last are moved
 * to its groups.
 */
void boxes_choose(const uint64_t groups[3], uint64_t most, uint64_t seed, const struct needed_groups *needed, struct boxes *out);

#endif
