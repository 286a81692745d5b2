/*
 * Which pipe executes a sum of two integers.
 *
 * IADD3 is executed by the integer pipe; VIADD and IMAD.IADD, which add two operands, by the multipliers: Nsight Compute counts them as
 * fma. Both pipes take a warp in two cycles. Of two instructions for the integer pipe in a row, the assembler gives the second to the
 * multipliers if it is such a sum.
 *
 * Source: ptxas 13.0, sm_90, and an H200's counters: a trip of a binary search is LEA.HI, SHF, ISETP, SEL, ISETP (5 of alu) and IMAD.IADD,
 * IMAD.WIDE, VIADD (3 of fma). Of 621 sums of two operands in the suite's code, 229 are VIADD or IMAD.IADD.
 */
#include "analysis/machine/machine.h"

static bool is_integer_pipe(enum code_class class)
{
	return class == CODE_int || class == CODE_int_minmax || class == CODE_logic || class == CODE_fp32_minmax || class == CODE_move;
}

/* Whether one of its operands is computed by the instruction itself: then it has three operands. */
static bool has_part(const struct machine_function *f, const struct ptx_instruction *i)
{
	for (uint32_t n = 0; n < 2; n++) {
		const struct ptx_instruction *def = machine_def(f, machine_source(i, n));
		const struct machine_plan *p = def ? &f->plans[machine_index(f, def)] : NULL;
		if (p && !p->count && !p->kept && !p->cost && !p->wider && !machine_is(def, "mov") && !machine_is(def, "cvt"))
			return true;
	}
	return false;
}

static bool is_either(const struct machine_function *f, const struct ptx_instruction *i, const struct machine_plan *p)
{
	return p->count == 1 && p->classes[0] == CODE_int && (machine_is(i, "add") || machine_is(i, "sub")) && !has_part(f, i);
}

void machine_balance_pipes(struct machine_function *f)
{
	bool busy = false;
	for (uint32_t i = 0; i < f->ptx->instruction_count; i++) {
		struct machine_plan *p = &f->plans[i];
		if (i && f->block_of[i] != f->block_of[i - 1])
			busy = false;
		if (busy && is_either(f, &f->ptx->instructions[i], p))
			p->classes[0] = CODE_int_mad;
		if (p->count || p->kept || p->cost)
			busy = p->count && is_integer_pipe((enum code_class)p->classes[p->count - 1]);
	}
}
