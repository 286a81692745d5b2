/*
 * PTX, fat binaries and executable files with CUDA kernels as sources; see explain.h. The PTX that the GPU takes is the text whose lines are
 * explained. gpusim-cc gets a copy of it that says by .loc which line each instruction is on.
 */
#include "runtime/cmd/explain/explain.h"

#include "analysis/fatbin/fatbin.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- which PTX ---- */

/* Whether the text has that kernel, or any kernel (NULL). */
static bool has_kernel(const struct gs_buf *ptx, const char *kernel)
{
	static const char entry[] = ".entry";
	size_t length = kernel ? strlen(kernel) : 0;
	for (const char *at = ptx->data; at && (at = strstr(at, entry));) {
		at += strlen(entry);
		at += strspn(at, " \t\r\n");
		if (!kernel || (!strncmp(at, kernel, length) && !isalnum((unsigned char)at[length]) && !strchr("_$", at[length])))
			return true;
	}
	return false;
}

/* Of the first module that has the kernel. */
static int choose(const struct fatbin *f, uint32_t arch, const char *kernel, struct gs_buf *ptx, struct gs_error *err)
{
	struct gs_error first = {""}; /* a program has modules without PTX beside those with it */
	for (uint32_t i = 0; f->count && i <= f->images[f->count - 1].container; i++) {
		struct gs_buf text = {0}, note = {0};
		struct fatbin part = fatbin_container(f, i);
		if (!part.count) /* nvcc 13 begins with a container that has nothing */
			continue;
		int failed = fatbin_choose(&part, arch, &text, &note, err);
		gs_buf_free(&note);
		if (failed && !*first.text)
			first = *err;
		if (!failed && has_kernel(&text, kernel)) {
			gs_buf_free(ptx);
			*ptx = text;
			return 0;
		}
		gs_buf_free(&text);
	}
	if (kernel)
		return gs_fail(err, ENOENT, "there is no PTX of a kernel '%s'", kernel);
	*err = first;
	return *first.text ? -ENOENT : gs_fail(err, ENOENT, "there are no kernels");
}

int explain_read_image(struct explain_source *s, const char *target, const char *kernel, bool *found, struct gs_error *err)
{
	static const char elf[] = "\177ELF";
	struct gs_error why;
	struct fatbin f;
	struct gs_buf ptx = {0};
	int result = fatbin_read(s->text.data, s->text.len, &f, &why);
	*found = result != -EINVAL || (s->text.len > 4 && !memcmp(s->text.data, elf, 4));
	if (!result) {
		result = choose(&f, fatbin_arch(target), kernel, &ptx, &why);
		fatbin_free(&f);
	}
	if (!*found)
		return 0;
	if (result)
		return gs_fail(err, -result, "%s: %s", s->file, why.text);
	gs_buf_free(&s->text);
	s->text = ptx;
	s->line_count = 0;
	for (size_t i = 0; i < ptx.len; i++)
		s->line_count += ptx.data[i] == '\n' || i + 1 == ptx.len;
	return 0;
}

/* ---- lines ---- */

struct line_marker {
	int depth;      /* open braces */
	bool comment;   /* a comment of several lines is open */
	bool statement; /* a statement is open: it goes on in the next line */
};

/* Follows what is open at the end of a line. */
static void follow_line(struct line_marker *m, const char *at, const char *end)
{
	for (; at < end; at++) {
		bool two = at + 1 < end;
		if (m->comment) {
			if (two && at[0] == '*' && at[1] == '/') {
				m->comment = false;
				at++;
			}
		} else if (two && at[0] == '/' && at[1] == '/') {
			return;
		} else if (two && at[0] == '/' && at[1] == '*') {
			m->comment = true;
			at++;
		} else if (!isspace((unsigned char)*at)) {
			m->depth += (*at == '{') - (*at == '}');
			m->statement = !strchr(";{}:", *at);
		}
	}
}

/* .loc or .file, which say where the PTX comes from. */
static bool is_place(const char *at, const char *end)
{
	static const char *const words[] = {".loc", ".file"};
	for (size_t i = 0; i < GS_ARRAY_LEN(words); i++) {
		size_t length = strlen(words[i]);
		if ((size_t)(end - at) > length && !memcmp(at, words[i], length) && isspace((unsigned char)at[length]))
			return true;
	}
	return false;
}

void explain_mark_lines(const struct gs_buf *ptx, struct gs_buf *out)
{
	struct line_marker m = {0};
	const char *end = ptx->data + ptx->len, *next;
	unsigned number = 1;
	for (const char *line = ptx->data; line && line < end; line = next, number++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line)), *first = line;
		next = newline ? newline + 1 : end;
		while (first < next && isspace((unsigned char)*first))
			first++;
		bool begins = !m.comment && !m.statement;
		if (!m.comment && is_place(first, next))
			continue;
		if (begins && m.depth && first < next && *first != '.' && *first != '}')
			gs_buf_printf(out, ".loc 1 %u 1\n", number);
		follow_line(&m, first, next);
		gs_buf_add(out, line, (size_t)(next - line));
	}
	gs_buf_puts(out, "\n.file 1 \"program.cl\"\n");
}

/* ---- functions and loops ---- */

static void widen(struct explain_range *r, uint32_t line)
{
	if (!line)
		return;
	r->first = !r->first || line < r->first ? line : r->first;
	r->last = line > r->last ? line : r->last;
}

static void add_loops(struct explain_source *s, const struct graph *g)
{
	for (uint32_t l = 0; l < g->loop_count; l++) {
		struct explain_range r = {.depth = g->loops[l].depth};
		for (uint32_t b = 0; b < g->block_count; b++)
			for (uint32_t i = g->blocks[b].first; i < g->blocks[b].first + g->blocks[b].count && graph_in_loop(g, b, l); i++)
				widen(&r, g->function->instructions[i].line);
		if (r.first && (r.function = strdup(g->function->name)))
			s->loops[s->loop_count++] = r;
	}
}

/* Of the first use of an unknown opcode. */
static void correct_line(const struct ptx_module *m, struct ptx_unknown *u)
{
	for (uint32_t i = 0; i < m->function_count; i++)
		for (uint32_t k = 0; k < m->functions[i].instruction_count; k++)
			if (m->functions[i].instructions[k].line && !strcmp(m->functions[i].instructions[k].opcode, u->opcode)) {
				u->ptx_line = m->functions[i].instructions[k].line;
				return;
			}
}

int explain_read_ptx_ranges(struct explain_source *s, struct ptx_module *m, struct gs_error *err)
{
	size_t loops = 0;
	int result = 0;
	struct graph **graphs = calloc(m->function_count + 1u, sizeof(struct graph *));
	s->functions = calloc(m->function_count + 1u, sizeof *s->functions);
	for (uint32_t i = 0; i < m->function_count && graphs && s->functions && !result; i++) {
		struct explain_range r = {0};
		for (uint32_t k = 0; k < m->functions[i].instruction_count; k++)
			widen(&r, m->functions[i].instructions[k].line);
		if (r.first && (r.function = strdup(m->functions[i].name)))
			s->functions[s->function_count++] = r;
		result = graph_build(&m->functions[i], &graphs[i], err);
		loops += result ? 0 : graphs[i]->loop_count;
	}
	for (uint32_t i = 0; i < m->unknown_count; i++)
		correct_line(m, &m->unknown[i]);
	s->loops = calloc(loops + 1, sizeof *s->loops);
	if (!result && (!graphs || !s->functions || !s->loops))
		result = gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < m->function_count && graphs; i++) {
		if (!result)
			add_loops(s, graphs[i]);
		graph_free(graphs[i]);
	}
	free(graphs);
	return result ? result : explain_split_lines(s, err);
}
