/*
 * segments: runs of instructions that become one loop over the lanes, so that the compiler can vectorise them.
 *
 * A part of a block is a list of items. Instructions that each lane executes by itself are one item, as many as follow one another: a loop
 * that loads what it needs of the arrays of registers, computes with scalars, and stores what is still needed afterwards. Uniform
 * instructions are executed once, before such a loop where that changes nothing. Other instructions are items of their own.
 */
#ifndef GPUSIM_ANNOTATOR_LIFT_SEGMENTS_H
#define GPUSIM_ANNOTATOR_LIFT_SEGMENTS_H

#include "annotator/lift/plan.h"

enum item_kind { ITEM_UNIFORM, ITEM_LANES, ITEM_ORDERED, ITEM_WARP };
struct text_item {
	enum item_kind kind;
	uint32_t first, count; /* of the list's instructions */
	bool takes_mask;       /* finds the lanes in which the guard of the part's last instruction is true */
	bool traced;           /* its only instruction accesses memory, and traced text records that */
};

struct item_list {
	struct text_item *items;
	uint32_t *instructions;
	uint32_t count, instruction_count;
};

/* Writes text of one kernel. */
struct kernel_writer {
	const struct kernel_plan *plan;
	enum lift_form form;
	struct gs_buf *out;
	struct gs_error *err;
	const struct planned_function *f; /* the function that is being written */
	bool in_lanes;                    /* registers are scalars of the lane */
	bool *targets;                    /* per pc: lanes may be kept to go on there */
	bool splits;                      /* some branch separates lanes */
};

void write_here(struct kernel_writer *w, const struct kernel_part *part); /* meetings.c: names the place of an instruction that waits */

int list_items(const struct planned_function *f, const struct kernel_part *part, bool tracing, struct item_list *out); /* 0 or -ENOMEM */
void free_items(struct item_list *list);
int mark_arrays(struct planned_function *f); /* 0 or -ENOMEM */

/* The instruction of control flow that a part ends with, or NULL. */
const struct ptx_instruction *last_flow(const struct planned_function *f, const struct kernel_part *part);
/* Whether lanes may differ in its guard. */
bool guard_varies(const struct planned_function *f, const struct ptx_instruction *i);

/* Writes all items of a part. A mask that it takes is in the variable t. */
int write_items(struct kernel_writer *w, const struct kernel_part *part);
struct lift_scope scope_of(struct kernel_writer *w);
/* Declares x, the lanes in which the guard is true. */
int write_guard_mask(struct kernel_writer *w, const struct ptx_instruction *i);
/* Writes the guard as an expression that is 0 or 1. */
int write_guard(struct kernel_writer *w, const struct ptx_instruction *i);

/* tracing.c: records the addresses of an access. */
int write_traced_access(struct kernel_writer *w, uint32_t instruction);
/* sites.c: the site of an instruction, or -1. */
int32_t site_of(const struct lifted *l, uint32_t function, uint32_t instruction);
bool has_site(const struct ptx_instruction *i);

#endif
