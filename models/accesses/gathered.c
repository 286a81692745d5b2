/*
 * NVIDIA's assembler looks for atomic operations on an address that it knows to be the same in all lanes of a warp. Of these one lane is chosen
 * (VOTE), which adds what all have: their number times a value that is the same (POPC), or a sum of the lanes' values (REDUX, or shuffles where
 * results are needed). So a list that is appended to with atomic_inc takes one operation of a warp, and not 32 that follow one another.
 *
 *   add, 32-bit integers                          always
 *   min, max, and, or, xor, 32-bit integers       where nobody reads the result
 *   inc, dec, exch, cas; reals; 64 bits           never (sums of 64 bits of a value that is the same are gathered, too, but nothing here says so)
 *
 * That is what ptxas 13 makes of 26 kernels, the same for sm_75, sm_80, sm_86, sm_89 and sm_90. Simulators execute PTX as it is. What the instructions
 * around it take (some eight) is not added to selected code.
 */
#include "models/accesses/gathered.h"

#include <string.h>
#include <strings.h>

enum { WORD = 4, DEEPEST = 32 };

/* The address has the same value in all lanes: no id, and nothing that was loaded by one. */
static bool is_same(const struct kernel_code *code, int32_t node, int depth)
{
	const struct code_node *n = &code->nodes[node];
	const int32_t operands[] = {n->a, n->b, n->c};
	if (depth == DEEPEST || n->op == NODE_tid || n->op == NODE_varying || n->op == NODE_loaded || n->op == NODE_list || n->op == NODE_mix ||
	    n->op == NODE_content)
		return false;
	for (size_t i = 0; i < 3; i++)
		if (operands[i] >= 0 && !is_same(code, operands[i], depth + 1))
			return false;
	return true;
}

/* Whether one of the parts of an opcode, between dots, is among these words. */
static bool has_part(const char *opcode, const char *const *words)
{
	for (; *words; words++)
		for (const char *at = opcode; *at; at += strcspn(at, "."), at += *at == '.') {
			size_t length = strcspn(at, ".");
			if (length == strlen(*words) && !strncasecmp(at, *words, length))
				return true;
		}
	return false;
}

static bool is_read(const struct kernel_code *code, uint32_t reg)
{
	for (uint32_t i = 0; i < code->code_count; i++) {
		const struct code_instruction *in = &code->code[i];
		for (uint32_t o = in->writes; o < (uint32_t)in->writes + in->reads + in->waits; o++)
			if (code->operands[in->first_operand + o] == reg)
				return true;
	}
	return false;
}

bool is_gathered(const struct gpu *gpu, const struct kernel_code *code, const struct code_instruction *in)
{
	static const char *const reals[] = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64", NULL};
	static const char *const sums[] = {"add", NULL}, *const others[] = {"min", "max", "and", "or", "xor", NULL};
	if (!gpu->atomics_gathered || in->class != CODE_atomic || code->origin == CODE_OF_TRACE || in->bytes != WORD || in->address < 0 || !code->strings)
		return false;
	const char *opcode = code->strings + in->opcode;
	if (has_part(opcode, reals) || !is_same(code, in->address, 0))
		return false;
	return has_part(opcode, sums) || (has_part(opcode, others) && !(in->writes && is_read(code, code->operands[in->first_operand])));
}
