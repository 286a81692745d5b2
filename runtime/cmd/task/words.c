/* Words of task lists. */
#include "runtime/cmd/task/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int parse_fail(const struct task_parser *p, const char *fmt, ...)
{
	struct gs_error why;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why.text, sizeof why.text, fmt, ap);
	va_end(ap);
	return gs_fail(p->err, EINVAL, "%.200s:%u: %s", p->list->path, p->line, why.text);
}

static bool ends_statement(char c)
{
	return c == '\n' || c == ';' || c == '{' || c == '}' || c == '#' || !c;
}

static void skip_blanks(struct task_parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r'))
		p->at++;
}

bool parse_more(struct task_parser *p)
{
	skip_blanks(p);
	return p->at < p->end && !ends_statement(*p->at);
}

/* A word ends where blanks, brackets or the statement do. */
static size_t word_length(const struct task_parser *p)
{
	size_t length = 0;
	while (p->at + length < p->end && !ends_statement(p->at[length]) && !strchr(" \t\r()", p->at[length]))
		length++;
	return length ? length : p->at < p->end && (*p->at == '(' || *p->at == ')');
}

bool parse_take(struct task_parser *p, const char *word)
{
	if (!parse_more(p))
		return false;
	size_t length = word_length(p);
	if (length != strlen(word) || strncmp(p->at, word, length))
		return false;
	p->at += length;
	return true;
}

int parse_word(struct task_parser *p, const char *what)
{
	if (!parse_more(p))
		return parse_fail(p, "%s is missing", what);
	size_t length = word_length(p);
	if (length >= sizeof p->word)
		return parse_fail(p, "%s is longer than %zu characters", what, sizeof p->word - 1);
	memcpy(p->word, p->at, length);
	p->word[length] = 0;
	p->at += length;
	return 0;
}

int parse_number(struct task_parser *p, const char *what, uint64_t least, uint64_t most, uint64_t *out)
{
	int result = parse_word(p, what);
	char *end;
	if (result)
		return result;
	errno = 0;
	uint64_t value = strtoull(p->word, &end, 0);
	unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (shift)
		end++;
	bool fits = !errno && *p->word != '-' && value <= UINT64_MAX >> shift;
	if (end == p->word || *end)
		return parse_fail(p, "%s is a number, not '%.40s'", what, p->word);
	value <<= shift;
	if (!fits || value < least || value > most)
		return parse_fail(p, "%s is %llu to %llu, not %.40s", what, (unsigned long long)least, (unsigned long long)most, p->word);
	*out = value;
	return 0;
}

int parse_real(struct task_parser *p, const char *what, double least, double most, double *out)
{
	int result = parse_word(p, what);
	char *end;
	if (result)
		return result;
	*out = strtod(p->word, &end);
	if (end == p->word || *end)
		return parse_fail(p, "%s is a number, not '%.40s'", what, p->word);
	return *out >= least && *out <= most ? 0 : parse_fail(p, "%s is %g to %g, not %.40s", what, least, most, p->word);
}

int parse_end(struct task_parser *p)
{
	if (!parse_more(p) && (p->at == p->end || *p->at != '{'))
		return 0;
	int length = (int)strcspn(p->at, " \t\r\n;#");
	return parse_fail(p, "what does '%.*s' mean here?", length < 40 ? length : 40, p->at);
}

/* Blanks, empty statements, comments and ends of lines. */
bool parse_skip(struct task_parser *p)
{
	for (; p->at < p->end; p->at++) {
		if (*p->at == '#')
			p->at = memchr(p->at, '\n', (size_t)(p->end - p->at)) ? memchr(p->at, '\n', (size_t)(p->end - p->at)) : p->end - 1;
		if (*p->at == '\n')
			p->line++;
		else if (!strchr(" \t\r;", *p->at) && *p->at != '#')
			return true;
		else if (!*p->at)
			return true;
	}
	return false;
}

int parse_open(struct task_parser *p)
{
	if (parse_more(p))
		return parse_end(p);
	if (!parse_skip(p) || *p->at != '{')
		return parse_fail(p, "a { is missing");
	p->at++;
	return 0;
}

bool parse_close(struct task_parser *p)
{
	if (!parse_skip(p) || *p->at != '}')
		return false;
	p->at++;
	return true;
}

int parse_unknown(struct task_parser *p, const char *what, const char *const *known)
{
	const char *nearest = gs_nearest(p->word, known);
	return parse_fail(p, "there is no %s '%.40s'%s%s%s", what, p->word, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}
