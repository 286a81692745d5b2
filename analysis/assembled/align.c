/*
 * Needleman and Wunsch's alignment: the best way through a table whose cells say how much the two texts up to there are alike. Nothing is lost by
 * instructions without a partner.
 */
#include "analysis/assembled/infer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WAY_MACHINE, WAY_PTX, WAY_BOTH }; /* which of the two a cell's way ends with */

static void take_way(const struct aligned *machine, const struct aligned *ptx, const uint8_t *ways, int32_t *origins)
{
	for (uint32_t m = machine->count, p = ptx->count; m && p;) {
		uint8_t way = ways[(size_t)(m - 1) * ptx->count + p - 1];
		if (way == WAY_BOTH)
			origins[machine->of[m - 1]] = (int32_t)ptx->of[p - 1];
		m -= way != WAY_PTX;
		p -= way != WAY_MACHINE;
	}
}

int assembled_align(const uint8_t *alike, uint32_t row, const struct aligned *machine, const struct aligned *ptx, int32_t *origins)
{
	uint8_t *ways = origins ? calloc((size_t)machine->count * ptx->count + 1u, 1) : NULL;
	int *scores = calloc(ptx->count + 1u, sizeof *scores), best = -ENOMEM;
	for (uint32_t m = 0; m < machine->count && scores && (ways || !origins); m++) {
		const uint8_t *with = alike + (size_t)machine->of[m] * row;
		int before = 0; /* of the cell to the upper left */
		for (uint32_t p = 0; p < ptx->count; p++) {
			int score = machine->depths[m] == ptx->depths[p] ? with[ptx->of[p]] : 0, up = scores[p + 1], left = scores[p];
			int both = score ? before + score : -1;
			uint8_t way = both > up && both > left ? WAY_BOTH : up >= left ? WAY_MACHINE : WAY_PTX;
			if (ways)
				ways[(size_t)m * ptx->count + p] = way;
			before = up;
			scores[p + 1] = way == WAY_BOTH ? both : way == WAY_MACHINE ? up : left;
		}
	}
	if (scores && (ways || !origins)) {
		best = scores[ptx->count];
		if (origins)
			take_way(machine, ptx, ways, origins);
	}
	free(ways);
	free(scores);
	return best;
}
