/*
 * Where a program leaves the local size to the driver, its twin may be launched with another one than the driver's, if the kernel cannot
 * tell. It can by the ids and sizes of groups, by what work-items of a group do together, by memory that they share, and by the order in
 * which work-items come to an atomic. Functions that nobody here knows may do any of this.
 */
#include "annotator/sites/grouping.h"

#include "annotator/edits/functions.h"
#include "annotator/source/parse.h"
#include "annotator/source/types.h"
#include "runtime/format/facts.h"

#include <string.h>

struct grouping_walk {
	const struct annotation *a;
	unsigned facts;
};

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool is_one_of(const char *s, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(s, *names))
			return true;
	return false;
}

/* Builtins that know groups by their numbers. Code that stores by them needs room for as many. */
static bool numbers_groups(const char *s)
{
	static const char *const names[] = {"get_group_id", "get_num_groups", NULL};
	return is_one_of(s, names) || begins(s, "__") || strstr(s, "enqueue_kernel") || begins(s, "get_kernel_");
}

static bool knows_local_ids(const char *s)
{
	static const char *const names[] = {"get_local_id", "get_local_linear_id", "get_local_size", "get_enqueued_local_size", NULL};
	return is_one_of(s, names) || strstr(s, "sub_group") || begins(s, "intel_") || begins(s, "arm_");
}

/* Sums come out the same in any order. What an atomic returns, and what was exchanged last, do not. */
static bool depends_on_order(const char *s, CXCursor parent)
{
	return begins(s, "atom") && (clang_getCursorKind(parent) != CXCursor_CompoundStmt || strstr(s, "xchg") || strstr(s, "exchange") ||
	                             strstr(s, "store") || strstr(s, "flag"));
}

/* Declared in the program's own text and not defined. clang declares builtins where they are first called: such a declaration is as long as the
 * name. */
static bool is_foreign(CXCursor call, const char *name)
{
	CXCursor declared = clang_getCursorReferenced(call);
	if (clang_Cursor_isNull(declared) || !clang_Location_isFromMainFile(clang_getCursorLocation(declared)))
		return false;
	CXSourceRange extent = clang_getCursorExtent(declared);
	return offset_of(clang_getRangeEnd(extent)) - offset_of(clang_getRangeStart(extent)) > strlen(name);
}

static unsigned facts_of_call(const struct annotation *a, CXCursor call, CXCursor parent)
{
	CXString name = clang_getCursorSpelling(call);
	const char *s = clang_getCString(name);
	unsigned facts = 0;
	if (!s || !*s || (!called_function(a, call) && (numbers_groups(s) || is_foreign(call, s))))
		facts = HAZARD_GROUPED | HAZARD_NUMBERED;
	else if (!called_function(a, call) && (knows_local_ids(s) || is_barrier(call) || depends_on_order(s, parent)))
		facts = HAZARD_GROUPED;
	clang_disposeString(name);
	return facts;
}

static CXType pointed_to(CXType type)
{
	type = clang_getCanonicalType(type);
	return type.kind == CXType_Pointer ? clang_getPointeeType(type) : type;
}

static CXType element_of(CXType type)
{
	CXType element = clang_getArrayElementType(type);
	return element.kind == CXType_Invalid ? type : element_of(clang_getCanonicalType(element));
}

static bool is_in_local_memory(CXType type)
{
	type = pointed_to(type);
	return type.kind != CXType_Invalid && (space_of(type) == SPACE_shared || space_of(element_of(type)) == SPACE_shared);
}

static enum CXChildVisitResult visit_for_grouping(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct grouping_walk *w = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	if (kind == CXCursor_CallExpr)
		w->facts |= facts_of_call(w->a, cursor, parent);
	else if (kind == CXCursor_GCCAsmStmt || kind == CXCursor_MSAsmStmt || kind == CXCursor_BlockExpr)
		w->facts |= HAZARD_GROUPED | HAZARD_NUMBERED;
	if ((clang_isExpression(kind) || kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) && is_in_local_memory(clang_getCursorType(cursor)))
		w->facts |= HAZARD_GROUPED;
	return CXChildVisit_Recurse;
}

unsigned facts_of_grouping(const struct annotation *a, CXCursor function)
{
	struct grouping_walk w = {.a = a};
	clang_visitChildren(function, visit_for_grouping, &w);
	return w.facts;
}
