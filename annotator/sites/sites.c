/*
 * Sites: expressions that load or store. In traced text such an lvalue E of type T becomes
 *
 *   (*(T *)__gpusim_a_g(SITE, SECOND, BASE, BYTES, &(E), __gpusim_t))
 *
 * a call that reports the address and returns it. So E is evaluated once, in its place, and everything around it stays as it was.
 * SECOND is the site of the store if E is both loaded and stored. In a chain like p->a[i].f only the whole chain is an access.
 * Pointers that are loaded on the way are accesses of their own. Vectors are reported as a whole, because their elements have no
 * address. Scalars in private memory are registers, so only private arrays with an index that is not constant are reported. If
 * an access cannot be reported with certainty, it is left as it is.
 */
#include "annotator/sites/sites.h"

#include "annotator/source/array.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"
#include "annotator/source/types.h"
#include "models/trace/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

char letter_of(enum code_space space)
{
	return space == SPACE_global ? 'g' : space == SPACE_shared ? 'l' : space == SPACE_const ? 'c' :
	       space == SPACE_generic ? 'n' : 'p';
}

static bool is_array(CXType type)
{
	enum CXTypeKind kind = clang_getCanonicalType(type).kind;
	return kind == CXType_ConstantArray || kind == CXType_IncompleteArray;
}

static bool is_vector_type(CXType type)
{
	enum CXTypeKind kind = clang_getCanonicalType(type).kind;
	return kind == CXType_Vector || kind == CXType_ExtVector;
}

/* Whether a load or a store can move a value of this type. */
static bool is_data(CXType type)
{
	switch (clang_getCanonicalType(type).kind) {
	case CXType_Record:
	case CXType_Pointer:
	case CXType_Enum:
	case CXType_Vector:
	case CXType_ExtVector:
	case CXType_Half:
	case CXType_Float16:
		return true;
	default:
		return clang_getCanonicalType(type).kind >= CXType_Bool && clang_getCanonicalType(type).kind <= CXType_LongDouble;
	}
}

/* ---- cursors ---- */

static CXCursor only_child(CXCursor cursor)
{
	struct children c = children_of(cursor);
	CXCursor child = c.count == 1 ? c.items[0] : clang_getNullCursor();
	free(c.items);
	return child;
}

CXCursor without_conversions(CXCursor cursor)
{
	for (;;) {
		enum CXCursorKind kind = clang_getCursorKind(cursor);
		CXCursor child = clang_getNullCursor();
		if (kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr)
			child = only_child(cursor);
		/* a swizzle is an unexposed expression, too, but its text is longer than the vector's */
		if (clang_Cursor_isNull(child) || (kind == CXCursor_UnexposedExpr &&
		                                   !clang_equalRanges(clang_getCursorExtent(cursor), clang_getCursorExtent(child))))
			return cursor;
		cursor = child;
	}
}

static bool is_unary(CXCursor cursor, enum CXUnaryOperatorKind operator)
{
	return clang_getCursorKind(cursor) == CXCursor_UnaryOperator &&
	       clang_getCursorUnaryOperatorKind(cursor) == operator;
}

/* Which of the two children of a subscript is the array or pointer: i[a] is a[i]. */
static size_t indexed_child(const struct children *c)
{
	if (c->count != 2)
		return 0;
	CXType type = clang_getCursorType(without_conversions(c->items[0]));
	return is_array(type) || is_vector_type(type) || clang_getCanonicalType(type).kind == CXType_Pointer ? 0 : 1;
}

static bool is_constant(CXCursor index)
{
	CXEvalResult value = clang_Cursor_Evaluate(index);
	bool constant = value && clang_EvalResult_getKind(value) == CXEval_Int;
	if (value)
		clang_EvalResult_dispose(value);
	return constant;
}

/* The variable, dereference or call that an lvalue is a part of. *indexed: an array on the way has an index that is not constant. */
static CXCursor start_of_chain(CXCursor cursor, bool *indexed)
{
	for (bool going = true; going;) {
		cursor = without_conversions(cursor);
		struct children c = children_of(cursor);
		enum CXCursorKind kind = clang_getCursorKind(cursor);
		size_t base = indexed_child(&c);
		going = false;
		if (kind == CXCursor_ArraySubscriptExpr && c.count == 2) {
			CXCursor array = without_conversions(c.items[base]);
			*indexed |= !is_constant(c.items[1 - base]);
			if (is_array(clang_getCursorType(array)) || is_vector_type(clang_getCursorType(array))) {
				cursor = array;
				going = true;
			}
		} else if (kind == CXCursor_MemberRefExpr && c.count &&
		           clang_getCanonicalType(clang_getCursorType(c.items[0])).kind != CXType_Pointer) {
			cursor = c.items[0];
			going = true;
		}
		free(c.items);
	}
	return cursor;
}

static bool is_memory_start(CXCursor start)
{
	enum CXCursorKind kind = clang_getCursorKind(start);
	return kind == CXCursor_DeclRefExpr || kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_MemberRefExpr ||
	       is_unary(start, CXUnaryOperator_Deref);
}

static struct place_of_variable *add_variable(struct edit_pass *pass, CXCursor declaration)
{
	struct annotation *a = pass->a;
	struct place_of_variable *v = array_grow(&a->variables, &a->variable_count, sizeof *v);
	if (v)
		*v = (struct place_of_variable){.unit = pass->unit_index, .at = offset_of(clang_getCursorLocation(declaration))};
	else
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
	return v;
}

static const struct place_of_variable *find_variable(const struct edit_pass *pass, CXCursor declaration)
{
	size_t at = offset_of(clang_getCursorLocation(declaration));
	for (size_t i = 0; i < pass->a->variable_count; i++)
		if (pass->a->variables[i].unit == pass->unit_index && pass->a->variables[i].at == at)
			return &pass->a->variables[i];
	return NULL;
}

static unsigned base_of_declaration(const struct edit_pass *pass, CXCursor declaration)
{
	const struct place_of_variable *v = find_variable(pass, declaration);
	return v && v->base < NO_BASE && pass->function->kernel && !pass->function->called ? v->base : NO_BASE;
}

unsigned base_of(const struct edit_pass *pass, CXCursor pointer)
{
	for (int depth = 0; depth < 32; depth++) {
		bool unused = false;
		pointer = start_of_chain(pointer, &unused);
		struct children c = children_of(pointer);
		enum CXCursorKind kind = clang_getCursorKind(pointer);
		CXCursor next = clang_getNullCursor();
		if (kind == CXCursor_DeclRefExpr) {
			free(c.items);
			return base_of_declaration(pass, clang_getCursorReferenced(pointer));
		}
		if (kind == CXCursor_ArraySubscriptExpr && c.count == 2)
			next = c.items[indexed_child(&c)];
		else if (kind == CXCursor_BinaryOperator && c.count == 2)
			next = c.items[indexed_child(&c)];
		else if ((kind == CXCursor_UnaryOperator || kind == CXCursor_CStyleCastExpr || kind == CXCursor_MemberRefExpr) &&
		         c.count)
			next = c.items[c.count - 1];
		free(c.items);
		if (clang_Cursor_isNull(next))
			return NO_BASE;
		pointer = next;
	}
	return NO_BASE;
}

enum value_use use_of_child(CXCursor cursor, const struct children *c, size_t i, enum value_use use)
{
	switch (clang_getCursorKind(cursor)) {
	case CXCursor_ParenExpr:
		return use;
	case CXCursor_UnexposedExpr: /* a conversion, or some elements of a vector */
		return c->count == 1 ? use : USE_LOAD;
	case CXCursor_BinaryOperator:
		return i == 0 && clang_getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign ? USE_STORE : USE_LOAD;
	case CXCursor_CompoundAssignOperator:
		return i == 0 ? USE_LOAD_AND_STORE : USE_LOAD;
	case CXCursor_UnaryOperator:
		switch (clang_getCursorUnaryOperatorKind(cursor)) {
		case CXUnaryOperator_AddrOf:
			return USE_ADDRESS;
		case CXUnaryOperator_PostInc:
		case CXUnaryOperator_PostDec:
		case CXUnaryOperator_PreInc:
		case CXUnaryOperator_PreDec:
			return USE_LOAD_AND_STORE;
		default:
			return USE_LOAD;
		}
	case CXCursor_ArraySubscriptExpr: {
		CXType type = clang_getCursorType(without_conversions(c->items[i]));
		return i != indexed_child(c) ? USE_LOAD : is_array(type) ? USE_ADDRESS : is_vector_type(type) ? use : USE_LOAD;
	}
	case CXCursor_MemberRefExpr: {
		bool unused = false;
		bool arrow = clang_getCanonicalType(clang_getCursorType(c->items[i])).kind == CXType_Pointer;
		return !arrow && is_memory_start(start_of_chain(cursor, &unused)) ? USE_ADDRESS : USE_LOAD;
	}
	default:
		return USE_LOAD;
	}
}

/* ---- sites ---- */

struct access_site *add_site(struct edit_pass *pass, CXSourceLocation location, enum trace_site_kind kind,
                             enum code_space space, uint64_t bytes, struct place_in_flow flow)
{
	struct annotation *a = pass->a;
	struct access_site *s = array_grow(&a->sites, &a->site_count, sizeof *s);
	if (s)
		*s = (struct access_site){.id = (unsigned)a->site_count - 1, .unit = (unsigned)pass->unit_index,
		                          .block = flow.block, .kind = kind, .space = space, .bytes = bytes, .at = offset_of(location)};
	if (!s || place_of(a, location, &s->place)) {
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
		return NULL;
	}
	return s;
}

int add_mark(struct edit_pass *pass, size_t at, const char *text)
{
	struct edit *e = text ? add_edit(pass, EDIT_TRACED, at, 0) : NULL;
	if (e)
		e->fixed = text;
	return pass->result;
}

/* The place that the store has in the target's code: that of the operator, after the left side and the brackets around it. */
static CXSourceLocation operator_location(const struct edit_pass *pass, CXCursor lvalue)
{
	const struct parsed_unit *u = pass->unit;
	size_t at = offset_of(clang_getRangeEnd(clang_getCursorExtent(lvalue)));
	do
		at = scan_blanks(u->text, u->length, at);
	while (at < u->length && u->text[at] == ')' && ++at);
	/* skips a swizzle */
	while (at < u->length && u->text[at] == '.')
		at = scan_blanks(u->text, u->length, scan_word(u->text, u->length, scan_blanks(u->text, u->length, at + 1)));
	if (at < u->length && strchr("=+-*/%&|^<>", u->text[at]))
		return clang_getLocationForOffset(u->tu, u->file, (unsigned)at);
	return clang_getRangeStart(clang_getCursorExtent(lvalue)); /* ++x */
}

static bool is_bit_field(CXCursor cursor)
{
	CXCursor field = clang_getCursorReferenced(cursor);
	return clang_getCursorKind(field) == CXCursor_FieldDecl && clang_Cursor_isBitField(field);
}

static bool is_variable_of(CXCursor start, enum code_space space, enum code_space wanted)
{
	return space == wanted && clang_getCursorKind(start) == CXCursor_DeclRefExpr;
}

/* The space of an lvalue that is an access of its own; SPACE_none: it is none. */
static enum code_space accessed_space(const struct edit_pass *pass, CXCursor cursor, const struct children *c,
                                      CXCursor *start)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	CXType type = clang_getCursorType(cursor);
	bool indexed = false;
	if (!is_data(type) || clang_Type_getSizeOf(type) <= 0)
		return SPACE_none;
	enum code_space space = space_of(type);
	*start = start_of_chain(cursor, &indexed);
	if (kind == CXCursor_DeclRefExpr)
		return space == SPACE_global || space == SPACE_shared ? space : SPACE_none;
	if (kind == CXCursor_ArraySubscriptExpr) {
		if (c->count != 2 || is_vector_type(clang_getCursorType(without_conversions(c->items[indexed_child(c)]))))
			return SPACE_none;
	} else if (kind == CXCursor_MemberRefExpr) {
		if (!c->count || is_bit_field(cursor))
			return SPACE_none;
	} else if (!is_unary(cursor, CXUnaryOperator_Deref)) {
		return SPACE_none;
	}
	if (!is_memory_start(*start) || (space == SPACE_local && !indexed))
		return SPACE_none;
	/* a parameter that is a structure has no place of its own */
	if (is_variable_of(*start, space, SPACE_local) && !find_variable(pass, clang_getCursorReferenced(*start)))
		return SPACE_none;
	/* compilers know the values of constants */
	if (is_variable_of(*start, space, SPACE_const) && !indexed)
		return SPACE_none;
	return space;
}

/* The place of a variable. A constant of the program gets its place at its first access. */
static const struct place_of_variable *place_constant(struct edit_pass *pass, CXCursor start, enum code_space space)
{
	CXCursor declaration = clang_getCursorReferenced(start);
	const struct place_of_variable *found = find_variable(pass, declaration);
	long long bytes = clang_Type_getSizeOf(clang_getCursorType(declaration));
	if (found || space != SPACE_const || bytes < 0)
		return found;
	struct place_of_variable *v = add_variable(pass, declaration);
	if (v) {
		v->base = NO_BASE;
		v->offset = pass->a->constant_bytes;
		pass->a->constant_bytes += ((uint64_t)bytes + 15) / 16 * 16;
	}
	return v;
}

static int write_marks(struct edit_pass *pass, CXCursor cursor, CXCursor start, enum code_space space, int first, int second,
                       struct site_marks *marks)
{
	char *type = spell_type(clang_getCursorType(cursor));
	struct gs_buf text = {0};
	CXSourceRange extent = clang_getCursorExtent(cursor);
	bool array = is_variable_of(start, space, SPACE_local) || is_variable_of(start, space, SPACE_const);
	const struct place_of_variable *v = array ? place_constant(pass, start, space) : NULL;
	if (!type || (array && !v)) {
		free(type);
		return pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
	}
	char letter = !array ? letter_of(space) : space == SPACE_const ? 'd' : 'f';
	gs_buf_printf(&text, "(*(%s *)__gpusim_a_%c(%d, %d, %u, %lld, ", type, letter, first, second,
	              base_of(pass, start), clang_Type_getSizeOf(clang_getCursorType(cursor)));
	if (array) {
		CXString name = clang_getCursorSpelling(start);
		gs_buf_printf(&text, "%lluul, (unsigned long)&%s, ", (unsigned long long)v->offset, clang_getCString(name));
		clang_disposeString(name);
	}
	gs_buf_puts(&text, "&(");
	marks->from = offset_of(clang_getRangeStart(extent));
	marks->to = offset_of(clang_getRangeEnd(extent));
	marks->before = text.failed ? NULL : keep_string(pass->a, text.data);
	marks->after = "), __gpusim_t))";
	gs_buf_free(&text);
	free(type);
	return marks->before ? 0 : (pass->result = gs_fail(pass->err, ENOMEM, "out of memory"));
}

int add_access_sites(struct edit_pass *pass, CXCursor cursor, const struct children *c, struct place_in_flow flow,
               struct site_marks *marks)
{
	CXCursor start;
	*marks = (struct site_marks){0};
	if (flow.quiet || flow.use == USE_ADDRESS)
		return 0;
	enum code_space space = accessed_space(pass, cursor, c, &start);
	char *type = space == SPACE_none ? NULL : spell_type(clang_getCursorType(cursor));
	if (!type)
		return 0;
	free(type);
	uint64_t bytes = (uint64_t)clang_Type_getSizeOf(clang_getCursorType(cursor));
	int first = -1, second = -1;
	CXSourceLocation at = flow.use == USE_LOAD ? clang_getCursorLocation(cursor) : operator_location(pass, cursor);
	if (flow.use != USE_STORE && add_site(pass, at, TRACE_load, space, bytes, flow))
		first = (int)pass->a->site_count - 1;
	if (flow.use != USE_LOAD && !pass->result && add_site(pass, at, TRACE_store, space, bytes, flow))
		second = (int)pass->a->site_count - 1;
	if (pass->result || write_marks(pass, cursor, start, space, first < 0 ? second : first, first < 0 ? -1 : second, marks))
		return pass->result;
	return add_mark(pass, marks->from, marks->before);
}

int add_closing_mark(struct edit_pass *pass, const struct site_marks *marks)
{
	return add_mark(pass, marks->to, marks->after);
}

/* ---- variables and arguments ---- */

int place_variable(struct edit_pass *pass, CXCursor variable, size_t end)
{
	CXType type = clang_getCursorType(variable);
	enum code_space space = space_of(type);
	long long bytes = clang_Type_getSizeOf(type);
	if (bytes <= 0 || (space != SPACE_shared && space != SPACE_local) ||
	    clang_Cursor_getStorageClass(variable) == CX_SC_Register) /* it has no address */
		return 0;
	struct place_of_variable *v = add_variable(pass, variable);
	if (!v)
		return pass->result;
	v->base = NO_BASE;
	if (space == SPACE_local) {
		v->offset = pass->a->private_bytes;
		pass->a->private_bytes += ((uint64_t)bytes + 15) / 16 * 16;
		return 0;
	}
	if (!pass->function->kernel || pass->function->called || pass->result)
		return 0;
	v->base = pass->function->base_count++;
	struct gs_buf text = {0};
	CXString name = clang_getCursorSpelling(variable);
	gs_buf_printf(&text, "__gpusim_base(%u, %d, %lldul, &%s);", v->base, TRACE_BASE_LOCAL, bytes, clang_getCString(name));
	clang_disposeString(name);
	add_mark(pass, end, text.failed ? NULL : keep_string(pass->a, text.data));
	gs_buf_free(&text);
	return pass->result;
}

int place_arguments(struct edit_pass *pass, CXCursor kernel)
{
	struct gs_buf text = {0};
	int count = clang_Cursor_getNumArguments(kernel);
	pass->function->base_count = 0;
	for (int i = 0; i < count && !pass->result; i++) {
		CXCursor argument = clang_Cursor_getArgument(kernel, (unsigned)i);
		CXString name = clang_getCursorSpelling(argument);
		const char *s = clang_getCString(name);
		struct place_of_variable *v = NULL;
		if (s && *s && clang_getCanonicalType(clang_getCursorType(argument)).kind == CXType_Pointer)
			v = add_variable(pass, argument);
		if (v) {
			CXType type = clang_getCanonicalType(clang_getCursorType(argument));
			bool shared = space_of(clang_getPointeeType(type)) == SPACE_shared;
			v->base = pass->function->base_count++;
			gs_buf_printf(&text, "__gpusim_base(%u, %d, %d, %s);", v->base,
			              shared ? TRACE_BASE_LOCAL_ARGUMENT : TRACE_BASE_ARGUMENT, i, s);
		}
		clang_disposeString(name);
	}
	pass->function->bases = text.failed ? NULL : keep_string(pass->a, text.data ? text.data : "");
	gs_buf_free(&text);
	if (!pass->function->bases && !pass->result)
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
	return pass->result;
}
