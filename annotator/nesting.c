/*
 * What nests too deeply is refused before anything runs into it: statements and expressions by our own recursion and
 * libclang's, brackets, to which markers add, by the limit of the host's compiler.
 */
#include "annotator/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The stack that gpusim-cc asks for (runtime/cc/main.c) was enough for 40,000 terms of a sum. */
enum { MOST_LEVELS = 25000 };

/* Clang's -fbracket-depth, less what the markers' macros have. */
enum { MOST_BRACKETS = 256 - 8 };

struct descent {
	unsigned levels;
	CXCursor deepest;
};

static enum CXChildVisitResult descend(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct descent *d = data;
	(void)parent;
	if (++d->levels > MOST_LEVELS) {
		d->deepest = cursor;
		return CXChildVisit_Break;
	}
	if (clang_visitChildren(cursor, descend, data))
		return CXChildVisit_Break;
	d->levels--;
	return CXChildVisit_Continue;
}

int refuse_deep(CXCursor function, struct gs_error *err)
{
	struct descent d = {0};
	if (!clang_visitChildren(function, descend, &d))
		return 0;
	return refuse(clang_getCursorLocation(d.deepest), err, "statements or expressions nested more than 25000 deep");
}

/* Where offset `at` is by the line markers of the text: FILE:LINE. */
static void tell_place(const char *text, size_t at, char *place, size_t size)
{
	char file[200] = "";
	unsigned long line = 1;
	for (const char *p = text, *next; (next = memchr(p, '\n', (size_t)(text + at - p))); p = next + 1, line++) {
		unsigned long number;
		if (p[0] == '#' && sscanf(p, "# %lu \"%199[^\"\n]", &number, file) == 2)
			line = number - 1;
	}
	snprintf(place, size, "%s:%lu", file, line);
}

int refuse_deep_brackets(const char *text, size_t length, struct gs_error *err)
{
	char place[240];
	size_t at = scan_deep(text, length, MOST_BRACKETS);
	if (at == length)
		return 0;
	tell_place(text, at, place, sizeof place);
	return gs_fail(err, ENOTSUP, "%s: brackets that would nest too deeply with those of the markers", place);
}
