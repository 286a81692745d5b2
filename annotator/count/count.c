/*
 * The text is copied, and lines of ours are inserted before lines of it. A row of a block is counted before the block's first instruction. A row of
 * an edge is counted before the branch that it leaves, under the same predicate or its opposite. So no label and no branch changes.
 */
#include "annotator/count/count.h"

#include "runtime/format/counted.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 4, WARP = COUNTED_WARP };

/* A text before a line. Of several for one line, the earlier comes first. */
struct insertion {
	uint32_t line, order;
	char *text;
};

struct count_writer {
	const struct lifted *lifted;
	const char **lines; /* of the text; lines[n] begins line n + 1, and there is one more */
	uint32_t line_count;
	struct insertion *insertions;
	size_t count, room;
	bool failed; /* out of memory */
};

/* ---- lines ---- */

static bool find_lines(struct count_writer *w, const char *ptx, size_t length)
{
	size_t room = 0;
	const char *end = ptx + length;
	for (const char *at = ptx; at; w->line_count++) {
		if (!gs_reserve(&w->lines, w->line_count + 1u, &room, sizeof *w->lines))
			return false;
		w->lines[w->line_count] = at;
		const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
		at = newline ? newline + 1 : NULL;
	}
	w->lines[w->line_count] = end;
	return true;
}

/* The line begins with this instruction. */
static bool begins_line(const struct count_writer *w, const struct ptx_function *f, uint32_t instruction)
{
	const struct ptx_instruction *i = &f->instructions[instruction];
	if (!i->ptx_line || i->ptx_line > w->line_count || (instruction && f->instructions[instruction - 1].ptx_line >= i->ptx_line))
		return false;
	const char *at = w->lines[i->ptx_line - 1], *end = w->lines[i->ptx_line];
	while (at < end && isspace((unsigned char)*at))
		at++;
	size_t word = strcspn(i->opcode, ".");
	return at < end && (*at == '@' ? i->guard >= 0 : (size_t)(end - at) > word && !strncmp(at, i->opcode, word));
}

static void insert(struct count_writer *w, uint32_t line, struct gs_buf *text)
{
	char *copy = text->failed || !text->data ? NULL : strdup(text->data);
	if (copy && gs_reserve(&w->insertions, w->count, &w->room, sizeof *w->insertions)) {
		w->insertions[w->count] = (struct insertion){line, (uint32_t)w->count, copy};
		w->count++;
	} else {
		free(copy);
		w->failed = true;
	}
	gs_buf_free(text);
}

/* ---- kernels ---- */

static bool is_table(const struct ptx_instruction *i)
{
	return !strncmp(i->opcode, "brx", 3);
}

/* The instruction before which a row is counted. NULL: there is none that will do. */
static const struct ptx_instruction *place_of_row(const struct count_writer *w, const struct lift_row *r, bool *taken)
{
	const struct graph *g = w->lifted->functions[r->function].graph;
	const struct graph_block *b = &g->blocks[r->edge >= 0 ? g->edges[r->edge].from : (uint32_t)r->block];
	if (!b->count)
		return NULL;
	uint32_t at = r->edge >= 0 ? b->first + b->count - 1 : b->first;
	const struct ptx_instruction *i = &g->function->instructions[at];
	*taken = r->edge >= 0 && g->edges[r->edge].taken;
	if (!begins_line(w, g->function, at) || (r->edge >= 0 && (i->guard < 0 || is_table(i))))
		return NULL;
	return i;
}

static bool has_calls(const struct ptx_function *f)
{
	for (uint32_t i = 0; i < f->instruction_count; i++)
		if (!strncmp(f->instructions[i].opcode, "call", 4))
			return true;
	return false;
}

/* Where the body of a function begins: after its first brace, in the line of the result. 0: it is not alone at the end of its line. */
static uint32_t body_line(const struct count_writer *w, const struct ptx_function *f)
{
	for (uint32_t line = f->ptx_line; line && line < w->line_count; line++) {
		const char *begin = w->lines[line - 1], *end = w->lines[line], *brace = memchr(begin, '{', (size_t)(end - begin));
		const char *comment = memmem(begin, (size_t)(end - begin), "//", 2);
		if (!brace || (comment && comment < brace))
			continue;
		for (brace++; brace < end && isspace((unsigned char)*brace); brace++)
			;
		return brace == end ? line + 1 : 0;
	}
	return 0;
}

static bool can_count(const struct count_writer *w, const struct lift_kernel *k)
{
	const struct ptx_function *f = &w->lifted->module->functions[k->function];
	bool taken;
	if (*k->refused.text || !k->column_count || !f->instruction_count || has_calls(f) || !begins_line(w, f, 0) || !body_line(w, f))
		return false;
	for (uint32_t c = 0; c < k->column_count; c++)
		if (w->lifted->rows[k->columns[c]].function != k->function || !place_of_row(w, &w->lifted->rows[k->columns[c]], &taken))
			return false;
	return true;
}

static void declare_registers(struct count_writer *w, const struct lift_kernel *k)
{
	struct gs_buf text = {0};
	gs_buf_puts(&text, ".reg .b32 %gpusim_r<4>;\n.reg .b64 %gpusim_d<6>;\n");
	insert(w, body_line(w, &w->lifted->module->functions[k->function]), &text);
}

/* Finds the thread's place: its number is in d1, and the address of its first word in d2 at the end. */
static void find_place(struct count_writer *w, const struct lift_kernel *k)
{
	static const char number[] =
		"mov.u32 %gpusim_r0, %ctaid.z;\nmov.u32 %gpusim_r1, %nctaid.y;\nmov.u32 %gpusim_r2, %ctaid.y;\n"
		"mad.lo.u32 %gpusim_r0, %gpusim_r0, %gpusim_r1, %gpusim_r2;\nmov.u32 %gpusim_r1, %nctaid.x;\nmov.u32 %gpusim_r2, %ctaid.x;\n"
		"mul.wide.u32 %gpusim_d1, %gpusim_r0, %gpusim_r1;\ncvt.u64.u32 %gpusim_d2, %gpusim_r2;\nadd.u64 %gpusim_d1, %gpusim_d1, %gpusim_d2;\n"
		"mov.u32 %gpusim_r0, %ntid.x;\nmov.u32 %gpusim_r1, %ntid.y;\nmul.lo.u32 %gpusim_r0, %gpusim_r0, %gpusim_r1;\n"
		"mov.u32 %gpusim_r1, %ntid.z;\nmul.lo.u32 %gpusim_r0, %gpusim_r0, %gpusim_r1;\ncvt.u64.u32 %gpusim_d2, %gpusim_r0;\n"
		"mul.lo.u64 %gpusim_d1, %gpusim_d1, %gpusim_d2;\n"
		"mov.u32 %gpusim_r0, %tid.z;\nmov.u32 %gpusim_r1, %ntid.y;\nmov.u32 %gpusim_r2, %tid.y;\n"
		"mad.lo.u32 %gpusim_r0, %gpusim_r0, %gpusim_r1, %gpusim_r2;\nmov.u32 %gpusim_r1, %ntid.x;\nmov.u32 %gpusim_r2, %tid.x;\n"
		"mad.lo.u32 %gpusim_r0, %gpusim_r0, %gpusim_r1, %gpusim_r2;\ncvt.u64.u32 %gpusim_d2, %gpusim_r0;\n"
		"add.u64 %gpusim_d1, %gpusim_d1, %gpusim_d2;\n";
	struct gs_buf text = {0};
	const struct ptx_function *f = &w->lifted->module->functions[k->function];
	gs_buf_puts(&text, number);
	gs_buf_printf(&text,
	              "ld.global.u64 %%gpusim_d3, [%s];\nld.global.u64 %%gpusim_d4, [%s+8];\n"
	              "and.b64 %%gpusim_d5, %%gpusim_d1, %d;\nmin.u64 %%gpusim_d1, %%gpusim_d1, %%gpusim_d4;\nshr.u64 %%gpusim_d1, %%gpusim_d1, 5;\n"
	              "mad.lo.u64 %%gpusim_d2, %%gpusim_d1, %u, %%gpusim_d3;\nmad.lo.u64 %%gpusim_d2, %%gpusim_d5, %d, %%gpusim_d2;\n",
	              COUNT_VARIABLE, COUNT_VARIABLE, WARP - 1, k->column_count * WARP * WORD_BYTES, WORD_BYTES);
	insert(w, f->instructions[0].ptx_line, &text);
}

static void count_row(struct count_writer *w, const struct lift_kernel *k, uint32_t column)
{
	struct gs_buf text = {0};
	const struct lift_row *r = &w->lifted->rows[k->columns[column]];
	bool taken;
	const struct ptx_instruction *i = place_of_row(w, r, &taken);
	if (r->edge >= 0)
		gs_buf_printf(&text, "@%s%s ", i->guard_negated == taken ? "!" : "", w->lifted->module->functions[r->function].registers[i->guard].name);
	gs_buf_printf(&text, "red.global.add.u32 [%%gpusim_d2+%u], 1;\n", column * WARP * WORD_BYTES);
	insert(w, i->ptx_line, &text);
}

/* ---- the module ---- */

static int compare_insertions(const void *a, const void *b)
{
	const struct insertion *x = a, *y = b;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The variable is declared before the first function or variable: after the line with the size of addresses. */
static bool declare_variable(struct count_writer *w)
{
	static const char word[] = ".address_size";
	for (uint32_t line = 1; line <= w->line_count; line++) {
		const char *at = w->lines[line - 1], *end = w->lines[line];
		while (at < end && isspace((unsigned char)*at))
			at++;
		if ((size_t)(end - at) < sizeof word || strncmp(at, word, sizeof word - 1))
			continue;
		struct gs_buf text = {0};
		gs_buf_printf(&text, ".visible .global .align 8 .b64 %s[2];\n", COUNT_VARIABLE);
		insert(w, line + 1, &text);
		return true;
	}
	return false;
}

static void write_text(struct count_writer *w, struct gs_buf *out)
{
	size_t next = 0;
	qsort(w->insertions, w->count, sizeof *w->insertions, compare_insertions);
	for (uint32_t line = 1; line <= w->line_count; line++) {
		for (; next < w->count && w->insertions[next].line == line; next++)
			gs_buf_puts(out, w->insertions[next].text);
		gs_buf_add(out, w->lines[line - 1], (size_t)(w->lines[line] - w->lines[line - 1]));
	}
}

int count_write(const struct lifted *l, const char *ptx, size_t length, struct gs_buf *out, struct gs_buf *kernels, struct gs_error *err)
{
	struct count_writer w = {.lifted = l};
	bool good = find_lines(&w, ptx, length), declared = good && declare_variable(&w);
	for (uint32_t n = 0; n < l->kernel_count && declared; n++) {
		const struct lift_kernel *k = &l->kernels[n];
		if (!can_count(&w, k))
			continue;
		declare_registers(&w, k);
		find_place(&w, k);
		for (uint32_t c = 0; c < k->column_count; c++)
			count_row(&w, k, c);
		gs_buf_printf(kernels, "%s\n", k->name);
	}
	if (good && !w.failed)
		write_text(&w, out);
	good = good && !w.failed && !out->failed && !kernels->failed;
	for (size_t i = 0; i < w.count; i++)
		free(w.insertions[i].text);
	free(w.insertions);
	free(w.lines);
	return good ? 0 : gs_fail(err, ENOMEM, "out of memory");
}
