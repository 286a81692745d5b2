/*
 * The edits where functions are declared or defined: each function gets one more parameter. If the parameters are not written in
 * brackets after the name (a typedef of a function, a list of identifiers), the declaration is written anew as a prototype.
 */
#include "annotator/edits/declarators.h"

#include "annotator/source/parse.h"
#include "annotator/source/scan.h"
#include "annotator/source/types.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters, and the clones of kernels ---- */

/* Adds a parameter to the list in the brackets open..close. An empty list may contain `void`. */
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

/* Leaves out of the clone the words between from and to that only a kernel may have. */
static int edit_kernel_words(struct edit_pass *pass, size_t from, size_t to)
{
	const char *text = pass->unit->text;
	for (size_t at = scan_blanks(text, to, from), end; at < to && !pass->result; at = scan_blanks(text, to, end)) {
		end = scan_word(text, to, at);
		if (scan_is_attribute(text, at, end))
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

/* Makes a clone of a kernel that is called. It is declared wherever the kernel is. */
static int edit_clone(struct edit_pass *pass, CXCursor cursor, size_t name, size_t close)
{
	const struct parsed_unit *u = pass->unit;
	CXSourceRange extent = clang_getCursorExtent(cursor);
	size_t from = offset_of(clang_getRangeStart(extent)), end = offset_of(clang_getRangeEnd(extent));
	bool definition = clang_isCursorDefinition(cursor);
	if (!definition) {
		end = scan_blanks(u->text, u->length, end);
		if (end >= u->length || u->text[end++] != ';')
			return refuse(clang_getCursorLocation(cursor), pass->err, "a declaration of a kernel that cannot be read");
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

/* ---- typedefs of functions ---- */

static int add_fixed_text(struct edit_pass *pass, size_t at, size_t drop, const char *text)
{
	const char *kept = keep_string(pass->a, text);
	struct edit *e = kept ? add_edit(pass, EDIT_TEXT, at, drop) : NULL;
	if (e)
		e->fixed = kept;
	else if (!pass->result)
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
	return pass->result;
}

/* Appends the text of a type. Returns false if the type has no name. */
static bool append_type(CXType type, struct gs_buf *out)
{
	char *s = spell_type(type);
	bool good = s && *s;
	gs_buf_puts(out, good ? s : "");
	free(s);
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

/* The parameters of a function type, without the closing bracket. */
static bool append_parameters(CXType type, struct gs_buf *out)
{
	bool good = !clang_isFunctionTypeVariadic(type);
	gs_buf_puts(out, "(");
	for (int i = 0; i < clang_getNumArgTypes(type) && good; i++) {
		gs_buf_puts(out, i ? ", " : "");
		good = append_type(clang_getArgType(type, (unsigned)i), out);
	}
	return good;
}

/* Appends a type as text that may stand before a name, or before a list of names. Brackets enclose what would follow the name of an
 * array, and the asterisks of pointers. */
static bool append_typeof(CXType type, struct gs_buf *out)
{
	gs_buf_puts(out, "__typeof__(");
	bool good = append_type(type, out);
	gs_buf_puts(out, ")");
	return good;
}

/*
 * typedef float fn(float); fn f, g; becomes __typeof__(float) f(float), g(float), to which parameters can be added. The name of
 * the type is at `at`, that of the function at `name`. All others of the list are functions, too. Those without a definition
 * get only their own parameters.
 */
static int edit_typedef_declarator(struct edit_pass *pass, CXCursor cursor, size_t name, size_t name_end)
{
	CXType type = clang_getCursorType(cursor);
	struct gs_buf result = {0}, parameters = {0};
	size_t at = name;
	clang_visitChildren(cursor, find_type_name, &at);
	size_t end = scan_word(pass->unit->text, name, at);
	if (at >= name || !append_typeof(clang_getResultType(type), &result) || !append_parameters(type, &parameters))
		pass->result = refuse(clang_getCursorLocation(cursor), pass->err, "a function declared without a parameter list");
	else if (pass->type_name == at || !add_fixed_text(pass, at, end - at, result.data))
		add_fixed_text(pass, name_end, 0, parameters.data);
	pass->type_name = at;
	struct edit *e = pass->result || !pass->function ? NULL : add_edit(pass, EDIT_PARAMETER, name_end, 0);
	if (e)
		e->alone = clang_getNumArgTypes(type) <= 0;
	if (!pass->result)
		add_fixed_text(pass, name_end, 0, ")");
	gs_buf_free(&result);
	gs_buf_free(&parameters);
	return pass->result;
}

/* ---- int f(a, b) int a, b; { ... } ---- */

/* Removes text, but no ends of lines and no line markers: line numbers stay right. */
static int drop_text(struct edit_pass *pass, size_t from, size_t to)
{
	const char *text = pass->unit->text;
	for (size_t at = scan_blanks(text, to, from); at < to && !pass->result; at = scan_blanks(text, to, at)) {
		size_t length = strcspn(text + at, "\n");
		length = length > to - at ? to - at : length;
		add_fixed_text(pass, at, length, "");
		at += length;
	}
	return pass->result;
}

static enum CXChildVisitResult find_body(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	if (clang_getCursorKind(cursor) != CXCursor_CompoundStmt)
		return CXChildVisit_Continue;
	*(size_t *)data = offset_of(clang_getRangeStart(clang_getCursorExtent(cursor)));
	return CXChildVisit_Break;
}

static int edit_identifier_list(struct edit_pass *pass, CXCursor function, size_t open, size_t close)
{
	struct gs_buf parameters = {0};
	int count = clang_Cursor_getNumArguments(function);
	size_t body = close + 1;
	bool good = true;
	clang_visitChildren(function, find_body, &body);
	for (int i = 0; i < count && good; i++) {
		CXCursor parameter = clang_Cursor_getArgument(function, (unsigned)i);
		CXString name = clang_getCursorSpelling(parameter);
		gs_buf_puts(&parameters, i ? ", " : "");
		good = append_typeof(clang_getCursorType(parameter), &parameters);
		gs_buf_printf(&parameters, " %s", clang_getCString(name));
		clang_disposeString(name);
	}
	if (!good)
		pass->result = refuse(clang_getCursorLocation(function), pass->err, "a function without a prototype");
	else if (!drop_text(pass, open + 1, close) && !add_fixed_text(pass, close, 0, parameters.data))
		drop_text(pass, close + 1, body);
	if (!pass->result)
		add_edit(pass, EDIT_PARAMETER, close, 0);
	gs_buf_free(&parameters);
	return pass->result;
}

/* Whether the parameters are names without types. Their types may follow the list. */
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

/* ---- declarators ---- */

/* The place after the name at `name` and the brackets that may be around it: int (f)(int). */
static size_t after_name(const struct parsed_unit *u, size_t name)
{
	size_t at = scan_blanks(u->text, u->length, scan_word(u->text, u->length, name));
	while (at < u->length && u->text[at] == ')')
		at = scan_blanks(u->text, u->length, at + 1);
	return at;
}

/* Whether the definition itself says that it is a kernel. True if it is not in this unit. */
static bool defined_as_kernel(const struct parsed_unit *u, CXCursor cursor)
{
	CXCursor definition = clang_getCursorDefinition(cursor);
	if (clang_Cursor_isNull(definition))
		return true;
	size_t at = offset_of(clang_getRangeStart(clang_getCursorExtent(definition))), end;
	size_t name = offset_of(clang_getCursorLocation(definition));
	for (; at < name; at = end == at ? at + 1 : end) {
		end = scan_word(u->text, name, at);
		if (scan_is_word(u->text, at, end, "__kernel") || scan_is_word(u->text, at, end, "kernel"))
			return true;
	}
	return false;
}

/*
 * Declares only the clone of a kernel: the declaration cannot be written twice, because it is one of a list, in a function, or by a
 * typedef. The edits from `first` on become those of the clone. Nothing else needs the declaration, since calls go to the clone.
 */
static int declare_clone(struct edit_pass *pass, CXCursor cursor, size_t name, size_t first)
{
	struct parsed_unit *u = pass->unit;
	size_t words = u->edit_count;
	if (edit_kernel_words(pass, offset_of(clang_getRangeStart(clang_getCursorExtent(cursor))), name))
		return pass->result;
	for (size_t i = first; i < u->edit_count; i++) {
		struct edit *e = &u->edits[i];
		e->of_clone = e->kind == EDIT_PARAMETER;
		if (i >= words && !strncmp(u->text + e->at, "__attribute", 11))
			return refuse(clang_getCursorLocation(cursor), pass->err, "attributes of a kernel declared together with others");
		e->kind = i >= words ? EDIT_DROP : e->kind;
	}
	if (!defined_as_kernel(u, cursor))
		return refuse(clang_getCursorLocation(cursor), pass->err, "a kernel that is none where it is defined");
	add_edit(pass, EDIT_CALLEE, name, 0);
	return pass->result;
}

/* Whether a comma follows the declaration, or stands before it. */
static bool is_listed(struct edit_pass *pass, CXCursor cursor)
{
	const struct parsed_unit *u = pass->unit;
	CXSourceRange extent = clang_getCursorExtent(cursor);
	size_t from = offset_of(clang_getRangeStart(extent)) + 1, end = offset_of(clang_getRangeEnd(extent));
	bool listed = u->text[scan_blanks(u->text, u->length, end)] == ',' || pass->list == from;
	pass->list = listed ? from : 0;
	return listed;
}

static int edit_prototype(struct edit_pass *pass, CXCursor cursor, size_t name, size_t open)
{
	const struct parsed_unit *u = pass->unit;
	size_t close = scan_closing(u->text, u->length, open);
	bool identifiers = has_identifier_list(cursor, close);
	if (close == u->length || (!identifiers && clang_isFunctionTypeVariadic(clang_getCursorType(cursor))))
		return refuse(clang_getCursorLocation(cursor), pass->err, "a function with variable arguments");
	size_t first = pass->unit->edit_count;
	bool alone = clang_isCursorDefinition(cursor) || !(is_listed(pass, cursor) || pass->inner);
	if (clang_isCursorDefinition(cursor))
		add_edit(pass, EDIT_INLINE, offset_of(clang_getRangeStart(clang_getCursorExtent(cursor))), 0);
	if (identifiers ? edit_identifier_list(pass, cursor, open, close) : edit_parameters(pass, cursor, open, close))
		return pass->result;
	if (pass->function->kernel && !alone)
		return declare_clone(pass, cursor, name, first);
	if (pass->function->kernel && pass->function->called)
		return edit_clone(pass, cursor, name, close);
	return 0;
}

int edit_declarator(struct edit_pass *pass, CXCursor cursor)
{
	const struct parsed_unit *u = pass->unit;
	const struct function *f = pass->function;
	size_t name = offset_of(clang_getCursorLocation(cursor)), end = scan_word(u->text, u->length, name);
	size_t next = after_name(u, name);
	if (next < u->length && scan_is_word(u->text, name, end, f->name)) {
		if (u->text[next] == '(')
			return edit_prototype(pass, cursor, name, next);
		size_t first = u->edit_count;
		if (edit_typedef_declarator(pass, cursor, name, end) || !f->kernel)
			return pass->result;
		return declare_clone(pass, cursor, name, first);
	}
	return refuse(clang_getCursorLocation(cursor), pass->err, "a function declared without a parameter list");
}

int edit_foreign_declarator(struct edit_pass *pass, CXCursor cursor)
{
	const struct parsed_unit *u = pass->unit;
	if (!clang_Location_isFromMainFile(clang_getCursorLocation(cursor)))
		return 0;
	size_t name = offset_of(clang_getCursorLocation(cursor)), next = after_name(u, name), at = name;
	clang_visitChildren(cursor, find_type_name, &at);
	if (next >= u->length || u->text[next] == '(' || (u->text[next] != ',' && pass->type_name != at))
		return 0;
	return edit_typedef_declarator(pass, cursor, name, scan_word(u->text, u->length, name));
}

int edit_inner_declaration(struct edit_pass *pass, CXCursor cursor)
{
	struct function *outer = pass->function, *inner = find_function(pass->a, cursor);
	pass->function = inner;
	pass->inner = true;
	pass->result = inner ? edit_declarator(pass, cursor) : edit_foreign_declarator(pass, cursor);
	pass->inner = false;
	pass->function = outer;
	return pass->result;
}

/* ---- __func__ ---- */

/* In a twin, functions have other names. What they print has to be what the application prints, so __func__ becomes the name. */
int edit_own_name(struct edit_pass *pass, CXCursor definition)
{
	const struct parsed_unit *u = pass->unit;
	CXSourceRange extent = clang_getCursorExtent(definition);
	size_t to = offset_of(clang_getRangeEnd(extent)), at = offset_of(clang_getRangeStart(extent));
	for (size_t end; !pass->result && (at = scan_next_word(u->text, to, at)) < to; at = end) {
		end = scan_word(u->text, to, at);
		if (scan_is_word(u->text, at, end, "__PRETTY_FUNCTION__"))
			return pass->result = refuse(clang_getLocationForOffset(u->tu, u->file, (unsigned)at), pass->err, "__PRETTY_FUNCTION__");
		if (!scan_is_word(u->text, at, end, "__func__") && !scan_is_word(u->text, at, end, "__FUNCTION__"))
			continue;
		CXString name = clang_getCursorSpelling(definition);
		struct gs_buf literal = {0};
		gs_buf_printf(&literal, "\"%s\"", clang_getCString(name));
		if (literal.failed)
			pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
		else
			add_fixed_text(pass, at, end - at, literal.data);
		gs_buf_free(&literal);
		clang_disposeString(name);
	}
	return pass->result;
}
