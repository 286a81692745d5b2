/*
 * Reads preprocessed text well enough to find brackets and words. Such text has no comments, macros or continued lines. Strings,
 * character constants and # lines may contain anything.
 */
#include "annotator/source/scan.h"

#include "runtime/base/base.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool starts_line(const char *text, size_t at)
{
	while (at && (text[at - 1] == ' ' || text[at - 1] == '\t'))
		at--;
	return !at || text[at - 1] == '\n';
}

static size_t skip_line(const char *text, size_t length, size_t at)
{
	const char *end = memchr(text + at, '\n', length - at);
	return end ? (size_t)(end - text) + 1 : length;
}

static size_t skip_literal(const char *text, size_t length, size_t at)
{
	char quote = text[at++];
	while (at < length && text[at] != quote && text[at] != '\n')
		at += text[at] == '\\' ? 2 : 1;
	return at < length ? at + 1 : length;
}

unsigned long scan_line(const char *text, size_t at, const char **name, size_t *name_length)
{
	unsigned long line = 1;
	*name = "\"\"";
	*name_length = 2;
	for (const char *p = text, *end; (end = memchr(p, '\n', (size_t)(text + at - p))); p = end + 1, line++) {
		if (p[0] != '#' || p[1] != ' ' || !isdigit((unsigned char)p[2]))
			continue;
		line = strtoul(p + 2, NULL, 10) - 1;
		const char *open = memchr(p, '"', (size_t)(end - p)), *close = memrchr(p, '"', (size_t)(end - p));
		if (open && open < close) {
			*name = open;
			*name_length = (size_t)(close - open) + 1;
		}
	}
	return line;
}

size_t scan_significant(const char *text, size_t length, size_t at)
{
	while (at < length) {
		if (text[at] == '#' && starts_line(text, at))
			at = skip_line(text, length, at);
		else if (text[at] == '"' || text[at] == '\'')
			at = skip_literal(text, length, at);
		else
			break;
	}
	return at;
}

size_t scan_blanks(const char *text, size_t length, size_t at)
{
	while (at < length) {
		if (isspace((unsigned char)text[at]))
			at++;
		else if (text[at] == '#' && starts_line(text, at))
			at = skip_line(text, length, at);
		else
			break;
	}
	return at;
}

static size_t closing_of(const char *text, size_t length, size_t open, char opening, char closing)
{
	size_t depth = 0;
	for (size_t at = open; (at = scan_significant(text, length, at)) < length; at++) {
		if (text[at] == opening)
			depth++;
		else if (text[at] == closing && --depth == 0)
			return at;
	}
	return length;
}

size_t scan_closing(const char *text, size_t length, size_t open)
{
	return closing_of(text, length, open, '(', ')');
}

/* Compilers accept $ and letters of other languages in a word, too. */
static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

size_t scan_word(const char *text, size_t length, size_t at)
{
	while (at < length && is_letter(text[at]))
		at++;
	return at;
}

size_t scan_next_word(const char *text, size_t length, size_t at)
{
	while ((at = scan_significant(text, length, at)) < length && !is_letter(text[at]))
		at++;
	return at;
}

bool scan_is_word(const char *text, size_t from, size_t to, const char *word)
{
	return to - from == strlen(word) && !memcmp(text + from, word, to - from);
}

bool scan_is_attribute(const char *text, size_t from, size_t to)
{
	return scan_is_word(text, from, to, "__attribute__") || scan_is_word(text, from, to, "__attribute");
}

size_t scan_attributes(const char *text, size_t length, size_t at)
{
	for (;;) {
		size_t from = scan_blanks(text, length, at), to = scan_word(text, length, from);
		if (!scan_is_attribute(text, from, to))
			return at;
		size_t close = scan_closing(text, length, scan_blanks(text, length, to));
		if (close == length)
			return at;
		at = close + 1;
	}
}

/* Whether the line that begins with the # at `at` is a pragma. from and to become the places of its first three words. */
static bool is_pragma(const char *text, size_t length, size_t at, size_t from[3], size_t to[3])
{
	at++;
	for (int i = 0; i < 3; i++) {
		while (at < length && (text[at] == ' ' || text[at] == '\t'))
			at++;
		from[i] = at;
		to[i] = at = scan_word(text, length, at);
	}
	return scan_is_word(text, from[0], to[0], "pragma");
}

/* A pragma about floating point: nothing may stand before it in a block. */
static bool is_first_pragma(const char *text, size_t length, size_t at)
{
	size_t from[3], to[3];
	if (!is_pragma(text, length, at, from, to))
		return false;
	return scan_is_word(text, from[1], to[1], "STDC") || scan_is_word(text, from[1], to[1], "float_control") ||
	       (scan_is_word(text, from[1], to[1], "OPENCL") && scan_is_word(text, from[2], to[2], "FP_CONTRACT")) ||
	       (scan_is_word(text, from[1], to[1], "clang") && scan_is_word(text, from[2], to[2], "fp"));
}

/* Whether a pragma allows inexact arithmetic. FP_CONTRACT OFF forbids it. */
static bool is_rounding_pragma(const char *text, size_t length, size_t at)
{
	static const char off[] = "OFF";
	size_t from[3], to[3];
	if (!is_first_pragma(text, length, at) || !is_pragma(text, length, at, from, to))
		return false;
	size_t value = to[2];
	while (value < length && (text[value] == ' ' || text[value] == '\t'))
		value++;
	return !scan_is_word(text, from[2], to[2], "FP_CONTRACT") ||
	       !scan_is_word(text, value, scan_word(text, length, value), off);
}

bool scan_asks_for_rounding(const char *text, size_t length)
{
	for (size_t at = 0; at < length; at = skip_line(text, length, at)) {
		while (at < length && (text[at] == ' ' || text[at] == '\t'))
			at++;
		if (at < length && text[at] == '#' && is_rounding_pragma(text, length, at))
			return true;
	}
	return false;
}

void scan_blank_unrolls(char *text, size_t length)
{
	size_t from[3], to[3];
	for (size_t at = 0; at < length; at = skip_line(text, length, at)) {
		while (at < length && (text[at] == ' ' || text[at] == '\t'))
			at++;
		if (at < length && text[at] == '#' && is_pragma(text, length, at, from, to) && scan_is_word(text, from[1], to[1], "unroll"))
			for (size_t i = at + 1; i < length && text[i] != '\n'; i++)
				text[i] = ' ';
	}
}

size_t scan_block_start(const char *text, size_t length, size_t open)
{
	size_t start = open + 1, at = start;
	for (;;) {
		while (at < length && isspace((unsigned char)text[at]))
			at++;
		if (at < length && text[at] == '#' && starts_line(text, at)) {
			bool first = is_first_pragma(text, length, at);
			at = skip_line(text, length, at);
			start = first ? at : start;
		} else if (scan_is_word(text, at, scan_word(text, length, at), "__label__")) {
			while (at < length && text[at] != ';')
				at++;
			start = at += at < length;
		} else {
			return start;
		}
	}
}

bool scan_has_range(const char *text, size_t length, size_t at)
{
	while ((at = scan_blanks(text, length, at)) < length && (text[at] == '[' || text[at] == '.')) {
		size_t close = text[at] == '[' ? closing_of(text, length, at, '[', ']') : at;
		if (close == length || memmem(text + at, close - at, "...", 3))
			return close < length;
		at = scan_word(text, length, scan_blanks(text, length, close + 1));
	}
	return false;
}

size_t scan_deep(const char *text, size_t length, int most)
{
	static const char open[] = "([{", close[] = ")]}";
	int depths[3] = {0};
	for (size_t at = 0; (at = scan_significant(text, length, at)) < length; at++) {
		const char *kind = text[at] ? strchr(open, text[at]) : NULL;
		if (kind && ++depths[kind - open] > most)
			return at;
		kind = text[at] ? strchr(close, text[at]) : NULL;
		if (kind)
			depths[kind - close]--;
	}
	return length;
}

bool scan_has_inner_statements(const char *text, size_t length)
{
	for (size_t at = 0; (at = scan_significant(text, length, at)) < length; at++)
		if (text[at] == '(' && text[scan_blanks(text, length, at + 1)] == '{')
			return true;
	return false;
}

void scan_replace_digraphs(char *text, size_t length)
{
	static const char pairs[][3] = {"<%{", "%>}", "<:[", ":>]"};
	for (size_t at = 0; (at = scan_significant(text, length, at)) + 1 < length; at++) {
		if (text[at] == '<' && text[at + 1] == '<') {
			at++; /* << is one token */
			continue;
		}
		for (size_t i = 0; i < GS_ARRAY_LEN(pairs); i++)
			if (!memcmp(text + at, pairs[i], 2)) {
				text[at] = pairs[i][2];
				text[at + 1] = ' ';
				break;
			}
	}
}
