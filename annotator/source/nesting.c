/*
 * Refuses what nests too deeply, with its place. Statements and expressions: the parser can deal with them, but our own
 * recursion might not. Brackets: markers add some, and the driver's compiler has a limit.
 */
#include "annotator/source/nesting.h"

#include "annotator/source/parse.h"
#include "annotator/source/scan.h"

#include <errno.h>

/* The stack that gpusim-cc asks for (runtime/cc/main.c) was enough for 40,000 terms of a sum. */
enum { MOST_LEVELS = 25000 };

/* Clang's -fbracket-depth, minus the brackets in the markers' macros. */
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

int refuse_deep_brackets(const char *text, size_t length, struct gs_error *err)
{
	const char *name;
	size_t name_length, at = scan_deep(text, length, MOST_BRACKETS);
	if (at == length)
		return 0;
	unsigned long line = scan_line(text, at, &name, &name_length);
	return gs_fail(err, ENOTSUP, "%.*s:%lu: brackets that would nest too deeply with those of the markers", (int)name_length - 2,
	               name + 1, line);
}
