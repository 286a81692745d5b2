#include "annotator/source/cursors.h"

#include "annotator/source/array.h"

static enum CXChildVisitResult append_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct children *c = data;
	CXCursor *slot = array_grow(&c->items, &c->count, sizeof *slot);
	(void)parent;
	c->failed = !slot;
	if (slot)
		*slot = cursor;
	return slot ? CXChildVisit_Continue : CXChildVisit_Break;
}

struct children children_of(CXCursor cursor)
{
	struct children c = {0};
	clang_visitChildren(cursor, append_child, &c);
	return c;
}
