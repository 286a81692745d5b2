/*
 * Occupancy vector: groups of asynchronous copies (struct code_register).
 *
 * A warp counts the copies of each group that are under way. The register of a group is pending while there are some. Copies end in the order
 * of their groups: NVIDIA's assembler counts groups with one scoreboard (LDGDEPBAR, DEPBAR.LE), which waits for a count.
 */
#ifndef GPUSIM_MODELS_SM_COPIES_H
#define GPUSIM_MODELS_SM_COPIES_H

#include "models/sm/variant.h"

static void mark_group(const struct ov_sm *sm, struct ov_warp *w, uint32_t slot, uint32_t group)
{
	uint32_t reg = sm->m->first_copies + group;
	uint64_t bit = 1ULL << reg % 64;
	bool pending = w->copies[group] != 0;
	if (ov_masks(sm->m)) {
		w->unwritten = pending ? w->unwritten | bit : w->unwritten & ~bit;
		w->loading = pending ? w->loading | bit : w->loading & ~bit;
		return;
	}
	uint16_t *state = &sm->registers[(size_t)slot * sm->m->register_count + reg];
	w->pending += (uint32_t)pending - (*state != OV_WRITTEN);
	w->unwritten |= pending ? bit : 0;
	*state = pending ? OV_LOADING : OV_WRITTEN;
}

/* A copy or a commit has issued. */
static __attribute__((noinline)) void ov_copies_issued(const struct ov_sm *sm, struct ov_warp *w, uint32_t slot, const struct ov_op *op)
{
	uint32_t last = sm->m->copy_groups - 1;
	if (op->copies == OV_COPY) {
		w->copies[0]++;
		mark_group(sm, w, slot, 0);
		return;
	}
	w->copies[last] = (uint16_t)(w->copies[last] + w->copies[last - 1]);
	for (uint32_t g = last - 1; g > 0; g--)
		w->copies[g] = w->copies[g - 1];
	w->copies[0] = 0;
	for (uint32_t g = 0; g <= last; g++)
		mark_group(sm, w, slot, g);
}

/* A copy has ended: one of the oldest group. */
static __attribute__((noinline)) void ov_copy_ended(const struct ov_sm *sm, struct ov_warp *w, uint32_t slot)
{
	uint32_t group = sm->m->copy_groups;
	while (group--)
		if (w->copies[group]) {
			w->copies[group]--;
			mark_group(sm, w, slot, group);
			return;
		}
}

#endif
