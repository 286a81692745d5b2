/*
 * Instructions that become sequences, above all divisions of integers.
 *
 * A division of integers computes the reciprocal of its divisor first. Others by the same divisor, which the first one dominates, take it
 * from there: a % n and b % n are one reciprocal and two short sequences.
 *
 * Source: ptxas 13.0, sm_90, on NVIDIA's PTX of a stencil with wrapped indices: 6 remainders by two divisors have 6 instructions of the
 * special function unit, not 18. The H200 counts the same.
 */
#include "analysis/machine/machine.h"

#include <stdio.h>

static bool is_division(const struct ptx_instruction *i)
{
	return (machine_is(i, "div") || machine_is(i, "rem")) && !machine_is_real(i) && machine_bits(i) == 32;
}

/* Whether an earlier division has computed the reciprocal of this one's divisor. */
static bool is_divided_by_before(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct ptx_operand *divisor = machine_source(i, 1);
	uint32_t at = machine_index(f, i);
	if (!is_division(i) || !divisor || divisor->kind != PTX_REGISTER || divisor->reg < 0 || f->values[divisor->reg].def < 0)
		return false;
	const struct machine_value *v = &f->values[divisor->reg];
	for (uint32_t u = 0; u < v->uses; u++) {
		uint32_t other = f->use_list[v->first_use + u];
		const struct ptx_instruction *by = &f->ptx->instructions[other];
		const struct ptx_operand *same = machine_source(by, 1);
		if (other < at && is_division(by) && by->guard < 0 && machine_has_word(by, "s32") == machine_has_word(i, "s32") && same &&
		    same->kind == PTX_REGISTER && same->reg == divisor->reg &&
		    graph_dominates(f->graph, (uint32_t)f->block_of[other], (uint32_t)f->block_of[at]))
			return true;
	}
	return false;
}

const struct builtin_cost *machine_sequence(const struct machine_function *f, const struct ptx_instruction *i)
{
	char again[32];
	if (!is_divided_by_before(f, i))
		return builtin_find_opcode(i->opcode);
	snprintf(again, sizeof again, "%s again", i->opcode);
	return builtin_find_opcode(again);
}
