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

/* Registers of one item that are not uniform, each once, and whether its loop loads and stores their arrays. */
struct item_uses {
	struct item_use {
		int32_t reg;
		bool written, load, store;
	} *list;
	uint32_t count;
};

/* Writes text of one kernel. */
struct kernel_writer {
	const struct kernel_plan *plan;
	enum lift_form form;
	struct gs_buf *out;
	struct gs_buf pieces;             /* functions, of a kernel in pieces */
	uint32_t piece_count;
	struct gs_error *err;
	const struct planned_function *f; /* the function that is being written */
	bool in_lanes;                    /* registers are scalars of the lane */
	bool checks;                      /* text of the item notes low bits of addresses */
	bool in_first;                    /* registers are those of the first lane of a row, before a loop of straight.c */
	struct straight_access {
		bool straight;
		uint32_t number; /* of the variable that has the address in the first lane of a row */
		int64_t stride;
	} access;                         /* that is being written */
	bool *targets;                    /* per pc: lanes may be kept to go on there */
	bool splits, barriers;            /* some branch separates lanes; lanes wait at some barrier */
};

void write_here(struct kernel_writer *w, const struct kernel_part *part); /* meetings.c: names the place of an instruction that waits */

/* Accesses to memory: like other instructions, items of their own (traced), or in loops that keep what they access (pieces.c). */
enum item_use_of_sites { SITES_PLAIN, SITES_APART, SITES_IN_LOOPS };
/* 0 or -ENOMEM */
int list_items(const struct planned_function *f, const struct kernel_part *part, enum item_use_of_sites sites, struct item_list *out);
void free_items(struct item_list *list);
int mark_arrays(struct planned_function *f); /* 0 or -ENOMEM */

/* The instruction of control flow that a part ends with, or NULL. */
const struct ptx_instruction *last_flow(const struct planned_function *f, const struct kernel_part *part);
/* Whether lanes may differ in its guard. */
bool guard_varies(const struct planned_function *f, const struct ptx_instruction *i);

/* Writes all items of a part. A mask that it takes is in the variable t. */
int write_items(struct kernel_writer *w, const struct kernel_part *part);
/* Pieces of a loop: the begin of a register, an instruction, what is stored at the end and the mask. */
void write_load(struct kernel_writer *w, const struct item_use *use);
int write_lane_statement(struct kernel_writer *w, const struct ptx_instruction *i, bool partial);
int write_loop_end(struct kernel_writer *w, const struct kernel_part *part, const struct text_item *item, const struct item_uses *uses,
                   bool partial);
struct lift_scope scope_of(struct kernel_writer *w);
/* Declares x, the lanes in which the guard is true. */
int write_guard_mask(struct kernel_writer *w, const struct ptx_instruction *i);
/* Writes the guard as an expression that is 0 or 1. */
int write_guard(struct kernel_writer *w, const struct ptx_instruction *i);

/* pieces.c: such a list in functions of its own. */
int write_pieces(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list);
int write_item(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, const struct text_item *item);
/* What functions of a kernel declare: values of the group, and what is in the state of the warp. */
void write_common_values(struct kernel_writer *w);

/* straight.c: whether a loop for straight warps is worth its text, and that loop. Afterwards `done` says how many lanes it has run. */
bool is_straight_item(const struct kernel_writer *w, const struct item_list *list, const struct text_item *item);
int write_straight(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, const struct text_item *item,
                   const struct item_uses *uses);

/* pieces.c: whether the text goes through lanes one after the other, and the loop that does so. */
bool in_single_lanes(const struct kernel_writer *w);
int write_single_lanes(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, const struct text_item *item,
                       const struct item_uses *uses);

/* tracing.c: records the addresses of an access; or that in steps: the address in a lane, and what is recorded. */
int write_traced_access(struct kernel_writer *w, uint32_t instruction);
int write_traced_address(struct kernel_writer *w, const struct ptx_instruction *i);
void write_record(struct kernel_writer *w, uint32_t instruction, const char *lanes, const char *addresses);
/* sites.c: the site of an instruction, or -1. */
int32_t site_of(const struct lifted *l, uint32_t function, uint32_t instruction);
bool has_site(const struct ptx_instruction *i);

#endif
