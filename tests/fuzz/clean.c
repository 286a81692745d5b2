/*
 * clean.c - turns a fuzzer's bytes into preprocessed text, which the annotator expects: no comments, no joined lines, and no
 * directives except line markers and pragmas. This is much faster than a run of the preprocessor.
 */
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <string.h>

struct cleaner {
	const char *at, *end;
	struct gs_buf *out;
	bool line_start; /* only blanks so far in this line */
};

/* Skips line ends after a backslash, as the first step of a compiler does. */
static void join_lines(struct cleaner *c)
{
	while (c->at < c->end && *c->at == '\\') {
		const char *p = c->at + 1;
		while (p < c->end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\f' || *p == '\v' || !*p))
			p++;
		if (p >= c->end || *p != '\n')
			return;
		c->at = p + 1;
	}
}

static void put(struct cleaner *c, char byte)
{
	gs_buf_add(c->out, &byte, 1);
}

static char take(struct cleaner *c)
{
	char byte = *c->at++;
	join_lines(c);
	return byte == '\r' ? '\n' : byte == '\f' || byte == '\v' || !byte ? ' ' : byte;
}

static void take_line(struct cleaner *c, bool keep)
{
	while (c->at < c->end && *c->at != '\n' && *c->at != '\r') {
		char byte = take(c);
		if (keep)
			put(c, byte);
	}
}

static void take_directive(struct cleaner *c)
{
	const char *p = c->at + 1;
	while (p < c->end && (*p == ' ' || *p == '\t'))
		p++;
	size_t left = (size_t)(c->end - p);
	bool pragma = left > 6 && !memcmp(p, "pragma", 6) && isspace((unsigned char)p[6]);
	bool marker = c->at + 1 < p && left && isdigit((unsigned char)*p);
	take_line(c, pragma || marker);
}

static void take_comment(struct cleaner *c)
{
	bool long_one = c->at[1] == '*';
	if (!long_one) {
		take_line(c, false);
		return;
	}
	take(c);
	take(c);
	put(c, ' ');
	while (c->at < c->end && !(*c->at == '*' && c->at + 1 < c->end && c->at[1] == '/'))
		if (take(c) == '\n')
			put(c, '\n');
	for (int i = 0; i < 2 && c->at < c->end; i++)
		take(c);
}

static void take_literal(struct cleaner *c)
{
	char quote = take(c);
	put(c, quote);
	while (c->at < c->end && *c->at != '\n' && *c->at != '\r') {
		char byte = take(c);
		put(c, byte);
		if (byte == quote)
			return;
		if (byte == '\\' && c->at < c->end && *c->at != '\n' && *c->at != '\r')
			put(c, take(c));
	}
}

void clean(const char *text, size_t length, struct gs_buf *out)
{
	struct cleaner c = {.at = text, .end = text + length, .out = out, .line_start = true};
	join_lines(&c);
	while (c.at < c.end) {
		bool slash = *c.at == '/' && c.at + 1 < c.end && (c.at[1] == '/' || c.at[1] == '*');
		if (*c.at == '#' && c.line_start) {
			take_directive(&c);
		} else if (slash) {
			take_comment(&c);
		} else if (*c.at == '"' || *c.at == '\'') {
			take_literal(&c);
			c.line_start = false;
		} else {
			char byte = take(&c);
			put(&c, byte);
			c.line_start = byte == '\n' || (c.line_start && (byte == ' ' || byte == '\t'));
		}
	}
}
