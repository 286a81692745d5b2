/*
 * Second pass: the edits of one unit. Every place where one of our functions is declared, defined or called
 * gets its edits; whatever cannot be rewritten with certainty is refused with its place.
 */
#include "annotator/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct edit *add_edit(struct edit_pass *pass, enum edit_kind kind, size_t at, size_t drop)
{
	struct unit *u = pass->unit;
	struct edit *e = array_grow(&u->edits, &u->edit_count, sizeof *e);
	if (!e) {
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
		return NULL;
	}
	*e = (struct edit){.at = at, .drop = drop, .kind = kind, .function = pass->function, .order = u->edit_count};
	return e;
}

/* The parameter list in the brackets open..close gets one more parameter. In a list of none there may be `void`. */
static int edit_parameters(struct edit_pass *pass, CXCursor function, size_t open, size_t close)
{
	const char *text = pass->unit->text;
	size_t first = scan_blanks(text, close, open + 1), end = close;
	bool is_void = first < close && clang_getNumArgTypes(clang_getCursorType(function)) == 0;
	while (end > first && isspace((unsigned char)text[end - 1]))
		end--;
	struct edit *e = add_edit(pass, EDIT_PARAMETER, is_void ? first : close, is_void ? end - first : 0);
	if (e)
		e->alone = is_void || first == close;
	return pass->result;
}

/* In the clone of a kernel, the words between from and to that only a kernel may have are left out. */
static int edit_kernel_words(struct edit_pass *pass, size_t from, size_t to)
{
	const char *text = pass->unit->text;
	for (size_t at = scan_blanks(text, to, from), end; at < to && !pass->result; at = scan_blanks(text, to, end)) {
		end = scan_word(text, to, at);
		if (scan_is_word(text, at, end, "__attribute__") || scan_is_word(text, at, end, "__attribute"))
			end = scan_closing(text, to, scan_blanks(text, to, end)) + 1;
		else if (end == at ||
		         !(scan_is_word(text, at, end, "__kernel") || scan_is_word(text, at, end, "kernel"))) {
			end = end == at ? at + 1 : end;
			continue;
		}
		add_edit(pass, EDIT_KERNEL_ONLY, at, (end > to ? to : end) - at);
	}
	return pass->result;
}

/* A kernel that is called has a second life as a plain function, declared wherever the kernel is. */
static int edit_clone(struct edit_pass *pass, CXCursor cursor, size_t name, size_t close)
{
	const struct unit *u = pass->unit;
	CXSourceRange extent = clang_getCursorExtent(cursor);
	size_t from = offset_of(clang_getRangeStart(extent)), end = offset_of(clang_getRangeEnd(extent));
	bool definition = clang_isCursorDefinition(cursor);
	if (!definition) {
		end = scan_blanks(u->text, u->length, end);
		if (end >= u->length || u->text[end++] != ';')
			return refuse(clang_getCursorLocation(cursor), pass->err,
			              "a kernel declared together with others");
	}
	size_t body = definition ? close + 1 : end;
	while (definition && body < end && u->text[body] != '{')
		body++;
	if (edit_kernel_words(pass, from, name) || edit_kernel_words(pass, close + 1, body))
		return pass->result;
	add_edit(pass, EDIT_CLONE_NAME, name, 0);
	struct edit *e = add_edit(pass, EDIT_CLONE, end, 0);
	if (!e)
		return pass->result;
	e->from = from;
	if (place_of(pass->a, clang_getRangeStart(extent), &e->place) ||
	    place_of(pass->a, clang_getLocationForOffset(u->tu, u->file, (unsigned)end), &e->end))
		return gs_fail(pass->err, ENOMEM, "out of memory");
	return 0;
}

/* int f(a, b) int a; { ... }: names without a type before them, and types perhaps behind the list. */
static bool has_identifier_list(CXCursor function, size_t close)
{
	for (int i = 0; i < clang_Cursor_getNumArguments(function); i++) {
		CXCursor parameter = clang_Cursor_getArgument(function, (unsigned)i);
		CXString name = clang_getCursorSpelling(parameter);
		bool named = *clang_getCString(name);
		size_t start = offset_of(clang_getRangeStart(clang_getCursorExtent(parameter)));
		size_t at = offset_of(clang_getCursorLocation(parameter));
		clang_disposeString(name);
		if (at > close || (named && at == start))
			return true;
	}
	return false;
}

static int add_fixed(struct edit_pass *pass, size_t at, size_t drop, const char *text)
{
	const char *kept = keep_string(pass->a, text);
	struct edit *e = kept ? add_edit(pass, EDIT_TEXT, at, drop) : NULL;
	if (e)
		e->fixed = kept;
	else if (!pass->result)
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
	return pass->result;
}

/* False if the type has no name, or one that cannot stand before a declarator. */
static bool spell(CXType type, bool before, struct gs_buf *out)
{
	CXString spelling = clang_getTypeSpelling(type);
	const char *s = clang_getCString(spelling);
	bool good = s && *s && !strstr(s, "unnamed") && !strstr(s, "anonymous") && !(before && strpbrk(s, "(["));
	gs_buf_puts(out, good ? s : "");
	clang_disposeString(spelling);
	return good && !out->failed;
}

static enum CXChildVisitResult find_type_name(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	if (clang_getCursorKind(cursor) != CXCursor_TypeRef)
		return CXChildVisit_Continue;
	*(size_t *)data = offset_of(clang_getCursorLocation(cursor));
	return CXChildVisit_Break;
}

/*
 * typedef float fn(float); fn f; becomes float f(float), to which a parameter can be added. The name of the type is at
 * `at`, that of the function at `name`; only blanks and brackets are between them, else there are others in the list.
 */
static int edit_typedef_declarator(struct edit_pass *pass, CXCursor cursor, size_t name, size_t name_end)
{
	const char *text = pass->unit->text;
	CXType type = clang_getCursorType(cursor);
	struct gs_buf result = {0}, parameters = {0};
	size_t at = name;
	clang_visitChildren(cursor, find_type_name, &at);
	size_t end = scan_word(text, name, at);
	bool good = at < name && !clang_isFunctionTypeVariadic(type) && spell(clang_getResultType(type), true, &result);
	for (size_t i = end; i < name; i++)
		good &= isspace((unsigned char)text[i]) || text[i] == '(';
	gs_buf_puts(&parameters, "(");
	int count = clang_getNumArgTypes(type);
	for (int i = 0; i < count && good; i++) {
		gs_buf_puts(&parameters, i ? ", " : "");
		good = spell(clang_getArgType(type, (unsigned)i), false, &parameters);
	}
	if (!good)
		pass->result = refuse(clang_getCursorLocation(cursor), pass->err, "a function declared without a parameter list");
	else if (!add_fixed(pass, at, end - at, result.data) && !add_fixed(pass, name_end, 0, parameters.data)) {
		struct edit *e = add_edit(pass, EDIT_PARAMETER, name_end, 0);
		if (e)
			e->alone = count <= 0;
		add_fixed(pass, name_end, 0, ")");
	}
	gs_buf_free(&result);
	gs_buf_free(&parameters);
	return pass->result;
}

static int edit_declarator(struct edit_pass *pass, CXCursor cursor)
{
	const struct unit *u = pass->unit;
	size_t name = offset_of(clang_getCursorLocation(cursor));
	size_t name_end = scan_word(u->text, u->length, name);
	size_t open = scan_blanks(u->text, u->length, name_end), close = u->length;
	bool named = scan_is_word(u->text, name, name_end, pass->function->name);
	while (open < u->length && u->text[open] == ')') /* int (f)(int) */
		open = scan_blanks(u->text, u->length, open + 1);
	if (open < u->length && u->text[open] == ';' && named && !(pass->function->kernel && pass->function->called))
		return edit_typedef_declarator(pass, cursor, name, name_end);
	if (open < u->length && u->text[open] == '(' && named)
		close = scan_closing(u->text, u->length, open);
	if (close == u->length)
		return refuse(clang_getCursorLocation(cursor), pass->err,
		              "a function declared without a parameter list");
	if (clang_isFunctionTypeVariadic(clang_getCursorType(cursor)) || has_identifier_list(cursor, close))
		return refuse(clang_getCursorLocation(cursor), pass->err,
		              "a function with variable arguments or without a prototype");
	if (clang_isCursorDefinition(cursor))
		add_edit(pass, EDIT_INLINE, offset_of(clang_getRangeStart(clang_getCursorExtent(cursor))), 0);
	if (edit_parameters(pass, cursor, open, close))
		return pass->result;
	if (pass->function->kernel && pass->function->called)
		return edit_clone(pass, cursor, name, close);
	return 0;
}

int edit_inner_declaration(struct edit_pass *pass, CXCursor cursor)
{
	struct function *outer = pass->function, *inner = find_function(pass->a, cursor);
	if (!inner)
		return 0;
	if (inner->kernel)
		return pass->result = refuse(clang_getCursorLocation(cursor), pass->err, "a kernel declared in a function");
	pass->function = inner;
	pass->result = edit_declarator(pass, cursor);
	pass->function = outer;
	return pass->result;
}

static int add_kernel(struct edit_pass *pass, CXCursor cursor)
{
	struct annotation *a = pass->a;
	pass->unit->has_kernels = true;
	struct kernel_entry *k = array_grow(&a->kernels, &a->kernel_count, sizeof *k);
	if (!k)
		return gs_fail(pass->err, ENOMEM, "out of memory");
	*k = (struct kernel_entry){.name = pass->function->name,
	                           .arguments = (unsigned)clang_Cursor_getNumArguments(cursor),
	                           .entry = (unsigned)a->block_count}; /* its body is visited next */
	pass->function->first_site = (unsigned)a->site_count;
	return tell_arguments(pass, cursor);
}

/* A builtin whose answer depends on the box. */
static int edit_box_call(struct edit_pass *pass, CXCursor call)
{
	struct unit *u = pass->unit;
	int function = box_function(call);
	if (function < 0)
		return 0;
	CXSourceRange extent = clang_getCursorExtent(call);
	size_t name = offset_of(clang_getRangeStart(extent)), name_end = scan_word(u->text, u->length, name);
	CXString builtin = clang_getCursorSpelling(call);
	bool named = scan_is_word(u->text, name, name_end, clang_getCString(builtin));
	clang_disposeString(builtin);
	if (!named)
		return refuse(clang_getRangeStart(extent), pass->err, "a call that does not name its function");
	u->box_functions |= 1u << function;
	struct edit *e = add_edit(pass, EDIT_BOX, name, name_end - name);
	if (e)
		e->block = (unsigned)function;
	return pass->result;
}

/* What precedes the arguments; edit_argument, called after the edits inside the arguments, adds the last one. */
int edit_callee(struct edit_pass *pass, CXCursor call)
{
	const struct unit *u = pass->unit;
	const struct function *target = called_function(pass->a, call);
	if (!target)
		return edit_box_call(pass, call);
	CXSourceRange extent = clang_getCursorExtent(call);
	size_t name = offset_of(clang_getRangeStart(extent)), close = offset_of(clang_getRangeEnd(extent)) - 1;
	if (!scan_is_word(u->text, name, scan_word(u->text, u->length, name), target->name) || close >= u->length ||
	    u->text[close] != ')')
		return refuse(clang_getRangeStart(extent), pass->err, "a call that does not name its function");
	if (target->kernel)
		add_edit(pass, EDIT_CALLEE, name, 0);
	return pass->result;
}

int edit_argument(struct edit_pass *pass, CXCursor call)
{
	const struct function *target = called_function(pass->a, call);
	if (!target && box_function(call) < 0)
		return 0;
	size_t close = offset_of(clang_getRangeEnd(clang_getCursorExtent(call))) - 1;
	struct edit *e = add_edit(pass, target ? EDIT_ARGUMENT : EDIT_BOX_END, close, 0);
	if (e) {
		e->callee = target;
		e->alone = clang_Cursor_getNumArguments(call) == 0;
	}
	return pass->result;
}

static enum CXChildVisitResult visit_parts(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct edit_pass *pass = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	CXSourceRange extent = clang_getCursorExtent(cursor);
	size_t at = offset_of(clang_getRangeStart(extent));
	/* A function that counts is neither const nor pure, and calls of it must not be merged. */
	if (kind == CXCursor_ConstAttr || kind == CXCursor_PureAttr)
		add_edit(pass, EDIT_DROP, at, offset_of(clang_getRangeEnd(extent)) - at);
	if (kind == CXCursor_CompoundStmt) {
		pass->result = collect_blocks(pass, parent, cursor);
	}
	return pass->result ? CXChildVisit_Break : CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct edit_pass *pass = data;
	(void)parent;
	if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl)
		return CXChildVisit_Continue;
	pass->function = find_function(pass->a, cursor);
	if (!pass->function)
		return CXChildVisit_Continue;
	pass->result = edit_declarator(pass, cursor);
	if (!pass->result && pass->function->kernel && clang_isCursorDefinition(cursor))
		pass->result = add_kernel(pass, cursor);
	if (!pass->result)
		clang_visitChildren(cursor, visit_parts, pass);
	if (!pass->result && owns_locals(pass->function) && clang_isCursorDefinition(cursor))
		edit_locals(pass, cursor);
	return pass->result ? CXChildVisit_Break : CXChildVisit_Continue;
}

static int compare_edits(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int collect_edits(struct annotation *a, size_t unit, struct gs_error *err)
{
	struct edit_pass pass = {.a = a, .unit = &a->units[unit], .unit_index = unit, .err = err};
	clang_visitChildren(clang_getTranslationUnitCursor(pass.unit->tu), visit_declaration, &pass);
	if (pass.unit->edit_count)
		qsort(pass.unit->edits, pass.unit->edit_count, sizeof *pass.unit->edits, compare_edits);
	return pass.result;
}
