/*
 * The pipeline execution graph of a block as DOT text: a row per instruction, a column per stage (probabilistic resource
 * model, Fig. 4). Bold edges are tight: a longest path runs along them.
 */
#include "models/analytical/pipeline.h"

#include <errno.h>
#include <stdlib.h>

static const char *const stages[] = {"fetch", "issue", "collect", "execute", "done"};

static double stage_time(const struct pipeline_times *t, size_t stage)
{
	const double times[] = {t->fetch, t->issue, t->collect, t->execute, t->done};
	return times[stage];
}

static void write_row(const struct kernel_code *code, const struct pipeline_instruction *d,
                      const struct code_instruction *i, const struct pipeline_times *t, uint32_t row, struct gs_buf *out)
{
	const char *name = code->strings ? code->strings + i->opcode : "";
	gs_buf_printf(out, "\tsubgraph row%u { rank = same;\n\t\tn%u [shape = plaintext, label = ", row, row);
	gs_buf_json(out, name);
	gs_buf_puts(out, "];\n");
	for (size_t s = 0; s < GS_ARRAY_LEN(stages); s++) {
		const char *what = s == 3 ? resource_name(d->cost.unit) : stages[s];
		gs_buf_printf(out, "\t\t%s%u [label = \"%s\\n%.0f\"];\n", stages[s], row, what, stage_time(t, s));
	}
	gs_buf_puts(out, "\t}\n");
	for (size_t s = 0; s + 1 < GS_ARRAY_LEN(stages); s++)
		gs_buf_printf(out, "\t%s%u -> %s%u [label = %.0f];\n", stages[s], row, stages[s + 1], row,
		              stage_time(t, s + 1) - stage_time(t, s));
}

static bool writes(const struct kernel_code *code, const struct code_instruction *i, uint16_t reg)
{
	for (uint32_t k = 0; k < i->writes; k++)
		if (code->operands[i->first_operand + k] == reg)
			return true;
	return false;
}

/* From the last writer of everything that the row needs, once for each of them. */
static void write_dependences(const struct kernel_code *code, const struct code_block *b,
                              const struct pipeline_times *times, uint32_t row, struct gs_buf *out)
{
	const struct code_instruction *i = &code->code[b->first + row];
	for (uint32_t w = row; w-- > 0;) {
		bool needed = false;
		for (uint32_t k = 0; k < (uint32_t)i->writes + i->reads + i->waits && !needed; k++)
			needed = writes(code, &code->code[b->first + w], code->operands[i->first_operand + k]);
		if (needed)
			gs_buf_printf(out, "\tdone%u -> issue%u [color = red%s];\n", w, row,
			              times[w].done == times[row].issue ? ", style = bold" : "");
	}
}

static void write_order(const struct pipeline_times *times, uint32_t row, struct gs_buf *out)
{
	if (row)
		gs_buf_printf(out, "\tissue%u -> issue%u [label = %.0f];\n", row - 1, row,
		              times[row].issue - times[row - 1].issue);
}

int pipeline_dot(const struct gpu *gpu, const struct kernel_code *code, uint32_t block, struct gs_buf *out)
{
	struct pipeline p;
	const struct code_block *b = &code->blocks[block];
	struct pipeline_times *times = calloc(b->count + 1, sizeof *times);
	int rc = pipeline_setup(&p, gpu, code, NULL);
	if (!times)
		rc = -ENOMEM;
	if (!rc) {
		gs_buf_printf(out, "digraph block%u {\n\trankdir = TB;\n\tnode [shape = box];\n", block);
		for (uint32_t i = 0; i < b->count; i++) {
			times[i] = pipeline_step(&p, b->first + i);
			write_row(code, &p.instructions[b->first + i], &code->code[b->first + i], &times[i], i, out);
			write_dependences(code, b, times, i, out);
			write_order(times, i, out);
		}
		gs_buf_printf(out, "\tlabel = \"block %u: %.0f cycles\";\n}\n", block, p.done);
		rc = out->failed ? -ENOMEM : 0;
	}
	pipeline_finish(&p);
	free(times);
	return rc;
}
