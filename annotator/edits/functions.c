/*
 * The first pass over all units finds which functions are defined, which of them are kernels, and which kernels are called.
 * Only then is it known whether a declaration or call, in any unit, is one of these.
 */
#include "annotator/edits/functions.h"

#include "annotator/edits/box_calls.h"
#include "annotator/edits/locals.h"
#include "annotator/source/array.h"
#include "annotator/source/nesting.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct function_pass {
	struct annotation *a;
	struct parsed_unit *unit;
	struct function *inside; /* the function whose body is visited */
	bool failed;
	struct gs_error *err;
	int result;
};

static int compare_usr(const void *a, const void *b)
{
	return strcmp(((const struct function *)a)->usr, ((const struct function *)b)->usr);
}

struct function *find_function(const struct annotation *a, CXCursor cursor)
{
	CXString usr = clang_getCursorUSR(cursor);
	struct function key = {.usr = (char *)clang_getCString(usr)};
	void *found = key.usr ? tfind(&key, &a->by_usr, compare_usr) : NULL;
	clang_disposeString(usr);
	return found ? *(struct function **)found : NULL;
}

struct function *called_function(const struct annotation *a, CXCursor call)
{
	CXCursor target = clang_getCursorReferenced(call);
	return clang_getCursorKind(target) == CXCursor_FunctionDecl ? find_function(a, target) : NULL;
}

void unmark_reached(const struct annotation *a)
{
	for (size_t i = 0; i < a->function_count; i++)
		a->functions[i]->reached = false;
}

void mark_reached(struct function *f)
{
	if (f->reached)
		return;
	f->reached = true;
	for (size_t i = 0; i < f->callee_count; i++)
		mark_reached(f->callees[i]);
}

static char *copy_string(CXString s)
{
	char *copy = strdup(clang_getCString(s) ? clang_getCString(s) : "");
	clang_disposeString(s);
	return copy;
}

static struct function *add_function(struct annotation *a, CXCursor cursor)
{
	struct function *f = find_function(a, cursor);
	if (f)
		return f;
	f = calloc(1, sizeof *f);
	struct function **slot = f ? array_grow(&a->functions, &a->function_count, sizeof *slot) : NULL;
	if (!slot) {
		free(f);
		return NULL;
	}
	*slot = f;
	f->usr = copy_string(clang_getCursorUSR(cursor));
	f->name = copy_string(clang_getCursorSpelling(cursor));
	f->guid = (unsigned)a->function_count;
	return f->usr && f->name && tsearch(f, &a->by_usr, compare_usr) ? f : NULL;
}

static enum CXChildVisitResult find_kernel_attribute(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct function_pass *pass = data;
	(void)parent;
	if (clang_getCursorKind(cursor) == CXCursor_UnexposedAttr) {
		const char *text = pass->unit->text;
		size_t at = offset_of(clang_getCursorLocation(cursor)), end = scan_word(text, pass->unit->length, at);
		if (scan_is_word(text, at, end, "__kernel") || scan_is_word(text, at, end, "kernel"))
			pass->inside->kernel = true;
	}
	return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_definition(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct function_pass *pass = data;
	(void)parent;
	if (clang_getCursorKind(cursor) == CXCursor_FunctionDecl && clang_isCursorDefinition(cursor)) {
		pass->inside = add_function(pass->a, cursor);
		if (!pass->inside) {
			pass->failed = true;
			return CXChildVisit_Break;
		}
		pass->result = refuse_deep(cursor, pass->err);
	}
	return pass->result ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* Goes by the name, because drivers add barriers of their own. */
bool is_barrier(CXCursor call)
{
	CXString name = clang_getCursorSpelling(call);
	const char *s = clang_getCString(name);
	bool barrier = s && (strstr(s, "barrier") || !strncmp(s, "work_group_", 11) || !strncmp(s, "async_work_group", 16) ||
	                     !strcmp(s, "wait_group_events"));
	clang_disposeString(name);
	return barrier;
}

static enum CXChildVisitResult visit_use(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct function_pass *pass = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	(void)parent;
	if (kind == CXCursor_CallExpr) {
		struct function *f = called_function(pass->a, cursor);
		if (f) {
			struct function **slot = array_grow(&pass->inside->callees, &pass->inside->callee_count, sizeof f);
			f->called = true;
			pass->failed |= !slot;
			if (slot)
				*slot = f;
		} else {
			pass->inside->has_barrier |= is_barrier(cursor);
			pass->inside->takes_box |= box_function_of(cursor) >= 0;
		}
	} else if (is_local_variable(cursor)) {
		pass->inside->local_bytes += local_bytes(cursor);
	}
	return CXChildVisit_Recurse;
}

static bool is_one_of(CXCursor cursor, const char *const *names, size_t count)
{
	CXString name = clang_getCursorSpelling(cursor);
	const char *s = clang_getCString(name);
	bool found = false;
	for (size_t i = 0; s && i < count; i++)
		found |= !strcmp(s, names[i]);
	clang_disposeString(name);
	return found;
}

/* Finds declarations that hide a builtin which markers call: markers need the builtin everywhere in the text. */
static enum CXChildVisitResult find_hidden_builtin(CXCursor cursor, CXCursor parent, CXClientData data)
{
	static const char *const called[] = {"get_global_id", "get_local_id", "get_local_size", "atomic_inc", "atomic_add",
	                                     "atomic_or"};
	struct function_pass *pass = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	(void)parent;
	if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl && kind != CXCursor_TypedefDecl &&
	    kind != CXCursor_EnumConstantDecl)
		return CXChildVisit_Recurse;
	pass->unit->hides_builtins |= is_one_of(cursor, called, GS_ARRAY_LEN(called));
	return CXChildVisit_Recurse;
}

/* Visits all declarations of a function, because attributes may stand on any of them. */
static enum CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct function_pass *pass = data;
	if (clang_Location_isFromMainFile(clang_getCursorLocation(cursor))) {
		if (find_hidden_builtin(cursor, parent, data) == CXChildVisit_Recurse)
			clang_visitChildren(cursor, find_hidden_builtin, data);
	}
	if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl)
		return CXChildVisit_Continue;
	pass->inside = find_function(pass->a, cursor);
	if (pass->inside) {
		clang_visitChildren(cursor, find_kernel_attribute, pass);
		if (clang_isCursorDefinition(cursor))
			clang_visitChildren(cursor, visit_use, pass);
	}
	return CXChildVisit_Continue;
}

/* Gives callers the properties of the functions that they call, until nothing changes. Chains of calls are short. */
static void propagate_to_callers(struct annotation *a)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < a->function_count; i++) {
			struct function *f = a->functions[i];
			for (size_t j = 0; j < f->callee_count; j++) {
				const struct function *callee = f->callees[j];
				bool locals = callee->passes_locals || owns_locals(callee);
				changed |= callee->has_barrier > f->has_barrier || callee->takes_box > f->takes_box ||
				           locals > f->passes_locals;
				f->has_barrier |= callee->has_barrier;
				f->takes_box |= callee->takes_box;
				f->passes_locals |= locals;
			}
		}
	}
}

static bool names_function(const struct annotation *a, const char *text, size_t from, size_t to)
{
	for (size_t i = 0; i < a->function_count; i++)
		if (scan_is_word(text, from, to, a->functions[i]->name))
			return true;
	return false;
}

/* Refuses calls in attributes and assertions. libclang does not visit all of them, so they would not be edited. */
static int refuse_unseen_calls(const struct annotation *a, const struct parsed_unit *u, struct gs_error *err)
{
	size_t close = 0, arguments = 0; /* ends of the brackets after __attribute__, and after the name of an attribute */
	for (size_t from = 0, to; (from = scan_next_word(u->text, u->length, from)) < u->length; from = to) {
		to = scan_word(u->text, u->length, from);
		size_t open = scan_blanks(u->text, u->length, to);
		if (open == u->length || u->text[open] != '(')
			continue;
		if (scan_is_attribute(u->text, from, to))
			close = scan_closing(u->text, u->length, open);
		else if ((from < close && from >= arguments) || scan_is_word(u->text, from, to, "_Static_assert"))
			arguments = scan_closing(u->text, u->length, open);
		else if (from < arguments && names_function(a, u->text, from, to))
			return refuse(clang_getLocationForOffset(u->tu, u->file, (unsigned)from), err,
			              "a call in an attribute or an assertion");
	}
	return 0;
}

int collect_functions(struct annotation *a, struct gs_error *err)
{
	struct function_pass pass = {.a = a, .err = err};
	for (size_t i = 0; i < a->unit_count && !pass.failed && !pass.result; i++)
		clang_visitChildren(clang_getTranslationUnitCursor(a->units[i].tu), visit_definition, &pass);
	if (pass.failed)
		return gs_fail(err, ENOMEM, "out of memory");
	if (pass.result)
		return pass.result;
	for (size_t i = 0; i < a->unit_count; i++) {
		pass.unit = &a->units[i];
		clang_visitChildren(clang_getTranslationUnitCursor(a->units[i].tu), visit_declaration, &pass);
	}
	if (pass.failed)
		return gs_fail(err, ENOMEM, "out of memory");
	int result = 0;
	for (size_t i = 0; i < a->unit_count && !result; i++)
		result = refuse_unseen_calls(a, &a->units[i], err);
	propagate_to_callers(a);
	place_locals(a);
	return result;
}
