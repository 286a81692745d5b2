/* See needs.h. */
#include "models/sm/state/needs.h"

#include "models/code/costs.h"

enum { HALF_BYTES = 2, WIDE_BYTES = 8 }; /* of a machine's instruction that is no access: what it computes with, where that is not 4 */

bool needs_are_known(const struct gpu *gpu, const struct kernel_code *code)
{
	return gpu->fp32_halves || (code_has_control(code) && (gpu->operands_in_turn || gpu->sync_cycles));
}

/* Of selected code, a register says what a product has: two words. */
static bool is_wide(const struct kernel_code *code, const struct code_instruction *i)
{
	if (i->class != CODE_int_mad)
		return false;
	if (code->origin != CODE_SELECTED)
		return i->bytes == WIDE_BYTES;
	return i->writes && code->register_table[code->operands[i->first_operand]].words > 1;
}

static bool reads_in_turn(const struct kernel_code *code, const struct code_instruction *i)
{
	return code_has_accesses(i->class) || i->class == CODE_sfu || i->class == CODE_conv || i->class == CODE_shuffle || is_wide(code, i);
}

static void find_turns(const struct kernel_code *code, const struct code_instruction *i, uint32_t banks, struct ov_needs *needs)
{
	const uint16_t *reads = &code->operands[i->first_operand + i->writes];
	for (uint32_t r = 0; r < i->reads && r < OV_MOST_IN_TURN; r++) {
		needs->banks |= (uint32_t)code->register_table[reads[r]].number % banks << OV_BANK_BITS * r;
		needs->in_turn++;
	}
}

static enum ov_half half_of(const struct code_instruction *i)
{
	switch (i->class) {
	case CODE_int_mad:
	case CODE_int_mul:
		return OV_HEAVY;
	case CODE_fp32:
	case CODE_fp32_fma:
		return i->bytes == HALF_BYTES ? OV_LITE : OV_EITHER;
	default:
		return OV_NO_HALF;
	}
}

struct ov_needs needs_of(const struct gpu *gpu, const struct kernel_code *code, const struct code_instruction *i, uint32_t banks)
{
	struct ov_needs needs = {0};
	if (code_has_control(code) && gpu->operands_in_turn && banks && reads_in_turn(code, i))
		find_turns(code, i, banks, &needs);
	if (gpu->fp32_halves) {
		needs.half = (uint8_t)half_of(i);
		needs.cycles = is_wide(code, i) ? OV_WIDE_CYCLES : OV_HALF_CYCLES;
		needs.held = is_wide(code, i) ? OV_WIDE_HELD : 0;
	}
	if (code_has_control(code) && i->class == CODE_branch && i->flags & CODE_EXPANDED)
		needs.sync = (uint8_t)gpu->sync_cycles;
	return needs;
}
