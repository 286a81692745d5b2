/* The words of PTX: blanks and comments, names, numbers, strings. No function moves the cursor backwards. */
#include "analysis/ptx/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

uint32_t ptx_line_here(struct ptx_cursor *c)
{
	while (c->counted < c->at) {
		const char *newline = memchr(c->counted, '\n', (size_t)(c->at - c->counted));
		if (newline)
			c->line++;
		c->counted = newline ? newline + 1 : c->at;
	}
	return c->line;
}

bool ptx_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool starts(const struct ptx_cursor *c, const char two[2])
{
	return c->end - c->at >= 2 && c->at[0] == two[0] && c->at[1] == two[1];
}

void ptx_skip_line(struct ptx_cursor *c)
{
	const char *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
	c->at = newline ? newline : c->end;
}

void ptx_skip_blanks(struct ptx_cursor *c)
{
	while (c->at < c->end) {
		if (isspace((unsigned char)*c->at)) {
			c->at++;
		} else if (starts(c, "//")) {
			ptx_skip_line(c);
		} else if (starts(c, "/*")) {
			const char *close = memmem(c->at + 2, (size_t)(c->end - c->at - 2), "*/", 2);
			c->at = close ? close + 2 : c->end;
		} else {
			return;
		}
	}
}

struct ptx_span ptx_take_string(struct ptx_cursor *c)
{
	struct ptx_span s = {c->at, 0};
	if (c->at == c->end || *c->at != '"')
		return s;
	s.at = ++c->at;
	while (c->at < c->end && *c->at != '"' && *c->at != '\n')
		c->at++;
	s.length = (size_t)(c->at - s.at);
	if (c->at < c->end && *c->at == '"')
		c->at++;
	return s;
}

/* Skips to the point after `stop`, ignoring what is in brackets, or to a bracket that closes more than was opened. */
static void skip_to(struct ptx_cursor *c, char stop)
{
	size_t open = 0;
	for (ptx_skip_blanks(c); c->at < c->end; ptx_skip_blanks(c)) {
		char here = *c->at;
		if (here == '"') {
			ptx_take_string(c);
			continue;
		}
		if ((here == '}' || here == ')') && !open)
			break;
		c->at++;
		if (here == '{' || here == '(')
			open++;
		else if (here == '}' || here == ')')
			open--;
		if (here == stop && (!open || stop == ';'))
			return;
	}
}

void ptx_skip_statement(struct ptx_cursor *c)
{
	skip_to(c, ';');
	if (c->at < c->end && *c->at == ')')
		c->at++;
}

void ptx_skip_group(struct ptx_cursor *c)
{
	if (c->at == c->end)
		return;
	char close = *c->at++ == '(' ? ')' : '}';
	skip_to(c, '\0');
	ptx_take_char(c, close);
}

struct ptx_span ptx_take_name(struct ptx_cursor *c, bool dots)
{
	struct ptx_span s = {c->at, 0};
	while (c->at < c->end && (ptx_is_name(*c->at) || (dots && *c->at == '.')))
		c->at++;
	s.length = (size_t)(c->at - s.at);
	return s;
}

struct ptx_span ptx_take_directive(struct ptx_cursor *c)
{
	struct ptx_span s = {c->at, 0};
	if (c->at == c->end || *c->at != '.')
		return s;
	c->at++;
	s.length = ptx_take_name(c, false).length + 1;
	while (starts(c, "::")) {
		c->at += 2;
		ptx_take_name(c, false);
	}
	return s;
}

bool ptx_take_char(struct ptx_cursor *c, char wanted)
{
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static unsigned digit_of(char c)
{
	if (isdigit((unsigned char)c))
		return (unsigned)(c - '0');
	return isxdigit((unsigned char)c) ? (unsigned)(tolower((unsigned char)c) - 'a' + 10) : 16;
}

static uint64_t read_digits(struct ptx_cursor *c, unsigned base, unsigned most)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < most && c->at < c->end && digit_of(*c->at) < base; i++)
		value = value * base + digit_of(*c->at++);
	return value;
}

/* 1.5, 1e-3: such a constant is a double for every type of instruction. */
static bool read_real(struct ptx_cursor *c, int64_t *value)
{
	const char *p = c->at;
	char copy[64];
	while (p < c->end && isdigit((unsigned char)*p))
		p++;
	if (p == c->end || (*p != '.' && *p != 'e' && *p != 'E'))
		return false;
	size_t length = (size_t)(c->end - c->at) < sizeof copy - 1 ? (size_t)(c->end - c->at) : sizeof copy - 1;
	memcpy(copy, c->at, length);
	copy[length] = 0;
	char *end;
	double real = strtod(copy, &end);
	memcpy(value, &real, sizeof real);
	c->at = p + 1 > c->at + (end - copy) ? p + 1 : c->at + (end - copy);
	return true;
}

bool ptx_take_constant(struct ptx_cursor *c, int64_t *value, uint8_t *form)
{
	enum { NO_LIMIT = 1 << 30 };
	if (c->at == c->end || !isdigit((unsigned char)*c->at))
		return false;
	char kind = c->end - c->at > 1 && *c->at == '0' ? (char)tolower((unsigned char)c->at[1]) : 0;
	*form = PTX_INTEGER;
	if (kind && strchr("xbfd", kind)) {
		c->at += 2;
		*value = (int64_t)read_digits(c, kind == 'b' ? 2 : 16, kind == 'f' ? 8 : kind == 'd' ? 16 : NO_LIMIT);
		*form = kind == 'f' ? PTX_FLOAT : kind == 'd' ? PTX_DOUBLE : PTX_INTEGER;
	} else if (read_real(c, value)) {
		*form = PTX_DOUBLE;
		return true;
	} else {
		*value = (int64_t)read_digits(c, isdigit((unsigned char)kind) ? 8 : 10, NO_LIMIT);
	}
	while (c->at < c->end && isalnum((unsigned char)*c->at)) /* U, and digits that do not fit the base */
		c->at++;
	return true;
}

bool ptx_take_number(struct ptx_cursor *c, int64_t *value)
{
	uint8_t form;
	return ptx_take_constant(c, value, &form);
}

int64_t ptx_negative(int64_t value, uint8_t form)
{
	if (form == PTX_INTEGER)
		return (int64_t)(0 - (uint64_t)value);
	return (int64_t)((uint64_t)value ^ (form == PTX_FLOAT ? UINT64_C(1) << 31 : UINT64_C(1) << 63));
}

bool ptx_span_is(struct ptx_span s, const char *word)
{
	return s.length == strlen(word) && !memcmp(s.at, word, s.length);
}

void ptx_without_probes(const char *ptx, size_t length, struct gs_buf *out)
{
	static const char probe[] = ".pseudoprobe";
	for (const char *line = ptx, *end = ptx + length, *next; line < end; line = next) {
		const char *newline = memchr(line, '\n', (size_t)(end - line)), *first = line;
		next = newline ? newline + 1 : end;
		while (first < next && isspace((unsigned char)*first))
			first++;
		if ((size_t)(next - first) < sizeof probe - 1 || memcmp(first, probe, sizeof probe - 1))
			gs_buf_add(out, line, (size_t)(next - line));
	}
}
