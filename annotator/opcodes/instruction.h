/*
 * instruction: the OpenCL C of a single PTX instruction. What surrounds it (lanes, masks, control flow) is the structure's (structure.c).
 *
 * Names that the text may use, which the structure defines:
 *   l            the lane, 0 to 31; only in statements of lanes
 *   x            the lanes that execute the instruction, as bits of a uint; only in statements of warps
 *   GS_TID_X _Y _Z, GS_NTID_X ..., GS_CTAID_X ..., GS_NCTAID_X ...   special registers, uint; GS_TID_* are those of lane l
 *   GS_CLUSTER_X _Y _Z   groups of a cluster, uint; 1 where there are none; GS_CLUSTERED: whether the launch has any
 *   GS_TO_PEER(rank)     ulong: what leads from an address in the group's shared memory to that of another of the cluster; GS_RANK_OF(address): whose it is;
 *                GS_IN_CLUSTER(address): whether it is in that of any of them
 *   GS_WARP, GS_WARPS   the warp's number in its group, and how many there are
 *   GS_GROUP     the group's number in the launch, ulong
 *   GS_SHARED    ulong: address of the group's shared memory
 *   GS_SHARED_BYTES     ulong: its size, with what the launch adds; GS_DYNAMIC_SHARED: that part
 *   GS_LOCAL     ulong: address of the local memory of lane l; GS_LOCAL_BYTES: its size
 *   GS_CC        the carry flag of lane l: a uint that can be assigned, 0 or 1; like a register, but no instruction names it
 *   GS_PARAMETERS, GS_VARIABLES   ulong: addresses
 *   GS_WORKSPACE ulong: what groups of a cooperative launch meet with, which %envreg1 and %envreg2 hold; 0: it is none
 *   GS_CLOCK     ulong: something that grows
 *   GS_FAULT(kind, line, a, b, c, d)   notes a fault (lifted.h) and ends the group
 *   GS_TOGETHER(named, what, mask, keep, take)   lanes of x wait until the lanes `named` are at an instruction of the same kind (`what`) with
 *                the same mask. keep: what lane l brings, take: assigns what lane l has brought, gs_k, a ulong. It may leave the statement
 *                and execute it again later
 *   GS_LANES     begins a loop over all 32 lanes l, which are on or off
 *   GS_THERE     the lanes that are there then, x among them; GS_KEPT_MASK(l): the mask of one, in `take`
 *   GS_ELSEWHERE(lanes, line)   notes a fault if some of these lanes have not ended, and ends the group
 *   GS_LAUNCH    __global struct gs_launch *, with the members of struct lifted_launch
 * Types that hold registers, by their bits: 1 uint (0 or 1), 8 and 16 ushort, 32 uint, or float if the register is real, 64 ulong, or
 * double if real, 128 ulong2. A value narrower than its register is extended as PTX says (ld.s8 into a 32-bit register: by its sign).
 * Names that begin with gs_ or GS_ belong to the text and to the structure. Statements are complete, and may stand in any block.
 */
#ifndef GPUSIM_ANNOTATOR_OPCODES_INSTRUCTION_H
#define GPUSIM_ANNOTATOR_OPCODES_INSTRUCTION_H

#include "analysis/ptx/ptx.h"

/* Where a symbol is. */
enum lift_place_kind { LIFT_SHARED, LIFT_LOCAL, LIFT_PARAMETER, LIFT_VARIABLE, LIFT_FUNCTION };
struct lift_place {
	enum lift_place_kind kind;
	uint64_t offset; /* in its memory; of a function: the number by which calls know it */
};

/* What an instruction may name. The structure fills it. */
struct lift_scope {
	const struct ptx_module *module;
	const struct ptx_function *function;
	void (*spell)(const struct lift_scope *s, int32_t reg, struct gs_buf *out); /* a register of lane l as a C lvalue: "r7[l]", or "r7" */
	bool (*find)(const struct lift_scope *s, const char *symbol, struct lift_place *out);
	void *user;
	/* Of a load or store in statements of lanes: the variable a<first> has its address in the first lane of a row, and that in the lane n of
	 * it is n * stride more. */
	bool straight;
	uint32_t first;
	int64_t stride; /* a multiple of the bytes of its elements */
	bool checks;    /* the text may note low bits of addresses (lift_low_bits) in the uint `bad` */
};

enum lift_kind {
	LIFT_LANE,    /* each lane by itself: the statement is executed for every lane that is on, in any order */
	LIFT_ORDERED, /* the same, but all lanes execute it before any of them goes on: volatile and atomic accesses, fences */
	LIFT_WARP,    /* lanes together: shuffles, votes. One statement, which has its own loops over the lanes of x */
	LIFT_FLOW,    /* branches, calls, barriers, exit, ret, trap: the structure's */
	LIFT_NOTHING, /* no text: prefetches, hints */
};
enum lift_kind lift_kind(const struct ptx_instruction *i);

/* Writes the statements of a LANE, ORDERED or WARP instruction. Its guard is not part of it. -ENOTSUP: the instruction cannot be lifted,
 * and *err says "line N: OPCODE: why". */
int lift_statement(const struct lift_scope *s, const struct ptx_instruction *i, struct gs_buf *out, struct gs_error *err);
/* Of an instruction that accesses memory: an expression of type ulong, the address in lane l: of the process in global, const, param and
 * generic space; an offset in shared and local. */
int lift_address(const struct lift_scope *s, const struct ptx_instruction *i, struct gs_buf *out, struct gs_error *err);
/* Of an instruction of textures or surfaces: an expression of type ulong, the object in lane l. */
int lift_object(const struct lift_scope *s, const struct ptx_instruction *i, struct gs_buf *out, struct gs_error *err);
/* The low bits that the address of a load, a store or an atomic operation must not have, such as 15 for 16 bytes; 0: there are none, or no register
 * has the address. */
uint32_t lift_low_bits(const struct ptx_instruction *i);
/* The value of an operand as a C expression of the type that holds a PTX type ("u32", "f64", "pred"). For the structure: guards, branch
 * indices, and what calls pass. */
int lift_value(const struct lift_scope *s, const struct ptx_operand *o, const char *type, struct gs_buf *out, struct gs_error *err);
/* The name of the C type that holds a register. */
const char *lift_storage(const struct ptx_register *r);
/* Functions that statements call, as text: once per program, before everything else. */
extern const char *const lift_prelude;

#endif
