/*
 * mutate.c - changes that mostly leave a program that parses. Statements and expressions are inserted, removed, moved and
 * wrapped. Functions are added. Blanks and line markers are inserted between words. Sometimes only bytes change.
 */
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <string.h>

struct span {
	size_t from, to;
};

/* A random place where a statement may begin: after ; { or }, inside braces. `size`: there is none. */
static size_t any_start(const char *text, size_t size)
{
	size_t chosen = size, braces = 0, round = 0;
	uint32_t seen = 0;
	for (size_t i = 0; i < size; i++) {
		braces += text[i] == '{';
		braces -= text[i] == '}' && braces;
		round += text[i] == '(';
		round -= text[i] == ')' && round;
		if (strchr(";{}", text[i]) && text[i] && braces && !round && !grammar_chance(++seen))
			chosen = i + 1;
	}
	return chosen;
}

/* The end of the statement that begins at `at`. */
static size_t end_of(const char *text, size_t size, size_t at)
{
	size_t depth = 0;
	for (; at < size; at++) {
		if (strchr("({[", text[at]) && text[at])
			depth++;
		else if (text[at] && strchr(")}]", text[at]) && (depth == 0 || --depth == 0))
			if (text[at] == '}' || depth)
				return at + (depth == 0);
		if (text[at] == ';' && !depth)
			return at + 1;
	}
	return size;
}

static struct span any_statement(const char *text, size_t size)
{
	size_t from = any_start(text, size);
	return (struct span){from, from < size ? end_of(text, size, from) : size};
}

/* The text between a random pair of brackets. */
static struct span any_brackets(const char *text, size_t size)
{
	size_t from = size, depth = 0;
	uint32_t seen = 0;
	for (size_t i = 0; i < size; i++)
		if (text[i] == '(' && !grammar_chance(++seen))
			from = i + 1;
	for (size_t i = from; i < size; i++) {
		depth += text[i] == '(';
		if (text[i] == ')' && depth-- == 0)
			return (struct span){from, i};
	}
	return (struct span){size, size};
}

static void replace(struct gs_buf *out, const char *text, size_t size, struct span s, const struct gs_buf *by)
{
	gs_buf_add(out, text, s.from);
	gs_buf_add(out, by->data ? by->data : "", by->len);
	gs_buf_add(out, text + s.to, size - s.to);
}

static void wrap(const char *text, struct span s, struct gs_buf *by)
{
	const char *before, *behind;
	grammar_wrap(&before, &behind);
	gs_buf_puts(by, before);
	gs_buf_add(by, text + s.from, s.to - s.from);
	gs_buf_puts(by, behind);
}

/* A random place between two words, or outside of words. */
static struct span any_gap(const char *text, size_t size, struct gs_buf *by)
{
	static const char *const blanks[] = {" ", "\n", "\t", "\n# 3 \"b.h\"\n", "\n#pragma x )\n", "\n\n",
	                                     " __attribute__(()) "};
	size_t at = size ? grammar_chance((uint32_t)size) : 0;
	while (at < size && (isalnum((unsigned char)text[at]) || text[at] == '_'))
		at++;
	gs_buf_puts(by, blanks[grammar_chance(GS_ARRAY_LEN(blanks))]);
	return (struct span){at, at};
}

static void add_function(const char *text, size_t size, struct gs_buf *out)
{
	bool in_front = grammar_chance(2);
	bool known = memmem(text, size, "struct st {", 11) != NULL;
	if (!known && size > 8 && !memcmp(text, "// CL", 5)) { /* the language version stays at the front */
		const char *line = memchr(text, '\n', size);
		size_t length = line ? (size_t)(line - text) + 1 : 0;
		gs_buf_add(out, text, length);
		text += length, size -= length;
	}
	if (!known)
		gs_buf_puts(out, grammar_prelude);
	else if (in_front)
		gs_buf_add(out, text, size);
	grammar_function(out);
	if (!known || !in_front)
		gs_buf_add(out, text, size);
}

static void mutate(const char *text, size_t size, struct gs_buf *out)
{
	struct gs_buf by = {0};
	struct span s = {size, size}, other;
	uint32_t kind = grammar_chance(12);
	if (kind < 2 || !size) {
		add_function(text, size, out);
		return;
	}
	if (kind < 5) { /* one more statement */
		s.from = s.to = any_start(text, size);
		grammar_statement(&by, 3);
	} else if (kind < 7) {
		s = any_statement(text, size);
		wrap(text, s, &by);
	} else if (kind == 7) { /* remove one */
		s = any_statement(text, size);
	} else if (kind == 8) { /* copied to another place */
		s.from = s.to = any_start(text, size);
		other = any_statement(text, size);
		gs_buf_add(&by, text + other.from, other.to - other.from);
	} else if (kind == 9) {
		s = any_gap(text, size, &by);
	} else {
		s = any_brackets(text, size);
		grammar_expression(&by, 3);
	}
	replace(out, text, size, s, &by);
	gs_buf_free(&by);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
	struct gs_buf out = {0};
	grammar_seed(seed);
	if (!grammar_chance(12))
		return LLVMFuzzerMutate(data, size, most);
	mutate((const char *)data, size, &out);
	if (out.len && out.len <= most && !out.failed) {
		memcpy(data, out.data, out.len);
		size = out.len;
	}
	gs_buf_free(&out);
	return size;
}

/* Replaces a statement of the first program by one of the second, or appends the second program to the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second, size_t second_size,
                                 uint8_t *out, size_t most, unsigned int seed)
{
	struct gs_buf text = {0}, by = {0};
	const char *a = (const char *)first, *b = (const char *)second;
	grammar_seed(seed);
	struct span s = any_statement(a, first_size), other = any_statement(b, second_size);
	if (!grammar_chance(4))
		s.from = s.to = first_size, other.from = 0, other.to = second_size;
	gs_buf_add(&by, b + other.from, other.to - other.from);
	replace(&text, a, first_size, s, &by);
	size_t size = text.len <= most && !text.failed ? text.len : 0;
	if (size)
		memcpy(out, text.data, size);
	gs_buf_free(&text);
	gs_buf_free(&by);
	return size;
}
