/* Remarks about a kernel as a whole: occupancy, a summary, notes; see explain.h. */
#include "runtime/cmd/explain/explain.h"

#include "analysis/builtins/builtins.h"
#include "models/warps/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint32_t explain_local_sizes[] = {32, 64, 128, 192, 256, 384, 512, 768, 1024, 0};

struct occupancy explain_occupancy(const struct explain *e, const struct explain_kernel *k, uint64_t threads)
{
	return gpu_occupancy(&e->gpu, threads, k->code->registers, k->code->shared_bytes + e->dynamic_shared);
}

static const char *plural(uint32_t count)
{
	return count == 1 ? "" : "s";
}

void explain_summary(const struct explain *e, const struct explain_kernel *k, struct gs_buf *out)
{
	const struct kernel_code *c = k->code;
	uint64_t threads = e->local_threads ? e->local_threads : 256;
	struct occupancy o = explain_occupancy(e, k, threads);
	gs_buf_printf(out, "%u instruction%s", k->all.instructions, plural(k->all.instructions));
	if (machine_has(c))
		gs_buf_printf(out, " of the machine's (%u of PTX)", c->code_count);
	gs_buf_printf(out, ", %u block%s, ", c->block_count, plural(c->block_count));
	if (c->loop_count)
		gs_buf_printf(out, "%u loop%s", c->loop_count, plural(c->loop_count));
	else
		gs_buf_puts(out, "no loop");
	gs_buf_printf(out, "; %u register%s, %llu bytes of local memory; ", c->registers, plural(c->registers),
	              (unsigned long long)(c->shared_bytes + e->dynamic_shared));
	if (o.blocks_per_sm)
		gs_buf_printf(out, "%.0f%% occupancy with %llu work-items", 100 * o.fraction,
			      (unsigned long long)threads);
	else
		gs_buf_printf(out, "does not fit with %llu work-items", (unsigned long long)threads);
}

/* The name of the function that an instruction calls, or NULL. */
static const char *called_by(const struct ptx_instruction *i)
{
	for (uint32_t o = 0; o < i->operand_count && !strncmp(i->opcode, "call", 4); o++)
		if (i->operands[o].kind == PTX_SYMBOL && !i->operands[o].write)
			return i->operands[o].text;
	return NULL;
}

/* Notes every library function once. */
static void note_call(const char *function, struct gs_buf *out)
{
	char name[128], line[256];
	bool known = builtin_find(function) != NULL;
	builtin_name(function, name, sizeof name);
	snprintf(line, sizeof line, "%s %s\n", known ? name : function,
		 known ? "is costed from the table of library functions" : "is called, but nobody knows its cost");
	if (!out->data || !strstr(out->data, line))
		gs_buf_puts(out, line);
}

/* Notes the calls of a function and of the functions that it calls. `seen` has one flag per function of the module. */
static void note_calls(const struct ptx_module *m, const struct ptx_function *f, bool *seen, struct gs_buf *out)
{
	seen[f - m->functions] = true;
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		const char *name = called_by(&f->instructions[i]);
		const struct ptx_function *callee = name ? ptx_find(m, name) : NULL;
		if (name && (!callee || callee->external))
			note_call(name, out);
		else if (callee && !seen[callee - m->functions])
			note_calls(m, callee, seen, out);
	}
}

static void note_library(const struct explain *e, const struct explain_kernel *k, struct gs_buf *out)
{
	bool *seen = calloc(e->module->function_count, sizeof *seen);
	if (seen)
		note_calls(e->module, k->function, seen, out);
	free(seen);
}

/* Notes what the machine's assembler does besides single instructions. */
static void note_machine(const struct kernel_code *c, struct gs_buf *out)
{
	uint32_t merged = 0, unrolled = 0;
	if (!machine_has(c))
		return;
	for (uint32_t b = 0; b < c->block_count; b++)
		merged += c->machine_blocks[b].merged >= 0;
	for (uint32_t b = c->block_count; b < c->machine_block_count; b++)
		if (c->machine_blocks[b].times > unrolled && c->machine_blocks[b].times <= CODE_MOST_TIMES)
			unrolled = c->machine_blocks[b].times;
	if (merged)
		gs_buf_printf(out, "%u block%s no branch: instructions under predicates, in the block before\n", merged,
		              merged == 1 ? " has" : "s have");
	if (unrolled)
		gs_buf_printf(out, "a loop is unrolled by %u on the way to the machine's code; it is shown once\n", unrolled);
}

void explain_notes(const struct explain *e, const struct explain_kernel *k, struct gs_buf *out)
{
	const struct ptx_module *m = e->module;
	if (k->spilled)
		gs_buf_printf(out, "%u registers more than a thread can have: they are spilled to private memory\n",
			      k->spilled);
	if (k->code->local_bytes)
		gs_buf_printf(out, "%u bytes of private memory per work-item, which lie in global memory\n",
		              k->code->local_bytes);
	if (k->local_pointers && !e->dynamic_shared)
		gs_buf_printf(out, "%u argument%s local memory, which counts too: tell its size with --shared BYTES\n",
		              k->local_pointers, k->local_pointers == 1 ? " is" : "s are");
	if (k->function->reqntid[0])
		gs_buf_printf(out, "the source fixes the work-group size: %u x %u x %u\n", k->function->reqntid[0],
		              k->function->reqntid[1] ? k->function->reqntid[1] : 1,
		              k->function->reqntid[2] ? k->function->reqntid[2] : 1);
	for (uint32_t i = 0; i < m->unknown_count; i++)
		gs_buf_printf(out, "unknown opcode %s, %u time%s, from PTX line %u: costed as its class's default\n",
			      m->unknown[i].opcode, m->unknown[i].count, plural(m->unknown[i].count),
			      m->unknown[i].ptx_line);
	note_library(e, k, out);
	note_machine(k->code, out);
	if (k->elsewhere.instructions)
		gs_buf_printf(out, "%u instruction%s outside all source lines: the compiler's own\n", k->elsewhere.instructions,
		              plural(k->elsewhere.instructions));
}
