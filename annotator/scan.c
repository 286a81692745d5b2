/*
 * A reader of preprocessed text just good enough to find brackets and words. There are no comments, macros
 * or continued lines any more; strings, character constants and # lines may contain anything.
 */
#include "annotator/internal.h"

#include <ctype.h>
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

/* The next character that counts, at or after `at`: over # lines and literals. */
static size_t significant(const char *text, size_t length, size_t at)
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

size_t scan_closing(const char *text, size_t length, size_t open)
{
	size_t depth = 0;
	for (size_t at = open; (at = significant(text, length, at)) < length; at++) {
		if (text[at] == '(')
			depth++;
		else if (text[at] == ')' && --depth == 0)
			return at;
	}
	return length;
}

size_t scan_word(const char *text, size_t length, size_t at)
{
	while (at < length && (isalnum((unsigned char)text[at]) || text[at] == '_'))
		at++;
	return at;
}

bool scan_is_word(const char *text, size_t from, size_t to, const char *word)
{
	return to - from == strlen(word) && !memcmp(text + from, word, to - from);
}
