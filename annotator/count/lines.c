/* The text of a module, and lines of ours between its own. */
#include "annotator/count/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool find_lines(struct count_writer *w, const char *ptx, size_t length)
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

/* Parts of wmma are lifted as other instructions, which are in its line (ptx_expand_fragments). */
static bool begins_with(const char *at, const char *end, const char *opcode)
{
	size_t word = strcspn(opcode, "."), left = (size_t)(end - at);
	return left > word && (!strncmp(at, opcode, word) || (left > 5 && !strncmp(at, "wmma.", 5)));
}

bool begins_line(const struct count_writer *w, const struct ptx_function *f, uint32_t instruction)
{
	const struct ptx_instruction *i = &f->instructions[instruction];
	if (!i->ptx_line || i->ptx_line > w->line_count || (instruction && f->instructions[instruction - 1].ptx_line >= i->ptx_line))
		return false;
	const char *at = w->lines[i->ptx_line - 1], *end = w->lines[i->ptx_line];
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at < end && (*at == '@' ? i->guard >= 0 : begins_with(at, end, i->opcode));
}

uint32_t first_of_text(const struct count_writer *w, const struct ptx_function *f)
{
	uint32_t body = body_line(w, f), first = 0;
	while (first + 1 < f->instruction_count && f->instructions[first].ptx_line < body)
		first++;
	return first;
}

uint32_t body_line(const struct count_writer *w, const struct ptx_function *f)
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

void insert_lines(struct count_writer *w, uint32_t line, struct gs_buf *text)
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

static int compare_insertions(const void *a, const void *b)
{
	const struct insertion *x = a, *y = b;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void write_all_lines(struct count_writer *w, struct gs_buf *out)
{
	size_t next = 0;
	if (w->count)
		qsort(w->insertions, w->count, sizeof *w->insertions, compare_insertions);
	for (uint32_t line = 1; line <= w->line_count; line++) {
		for (; next < w->count && w->insertions[next].line == line; next++)
			gs_buf_puts(out, w->insertions[next].text);
		gs_buf_add(out, w->lines[line - 1], (size_t)(w->lines[line] - w->lines[line - 1]));
	}
}

void free_lines(struct count_writer *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->insertions[i].text);
	free(w->insertions);
	free(w->lines);
}

bool is_exit(const struct ptx_instruction *i)
{
	return !strncmp(i->opcode, "ret", 3) || !strncmp(i->opcode, "exit", 4);
}

void put_condition(const struct ptx_function *f, const struct ptx_instruction *i, bool holds, char out[static 80])
{
	*out = 0;
	if (i->guard >= 0)
		snprintf(out, 80, "%s%.70s", i->guard_negated == holds ? "!" : "", f->registers[i->guard].name);
}
