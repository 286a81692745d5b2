/*
 * Library functions that access memory. In traced text, marks make each of their arguments the argument of a function that returns the
 * same value, so that the call itself stays as it was:
 *
 *   vloadN(OFFSET, P)            vloadN(0, (T *)__gpusim_v_g(SITE, BASE, BYTES, OFFSET, P, __gpusim_t))
 *   atomic_add(P, V)             atomic_add((T *)__gpusim_a_g(SITE, -1, BASE, BYTES, P, __gpusim_t), V)
 *   async_work_group_copy(D, S, N, E)   D and S are kept, and N reports both: __gpusim_copy(..., N, __gpusim_t)
 *   read_imagef(I, S, C)         C is __gpusim_i_TYPE(SITE, ARGUMENT, NORMALISED, WIDTH, HEIGHT, C, __gpusim_t)
 */
#include "annotator/sites/site_calls.h"

#include "annotator/source/parse.h"
#include "annotator/source/scan.h"
#include "annotator/source/types.h"
#include "models/trace/read.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct site_call {
	struct edit_pass *pass;
	CXCursor cursor;
	char name[64];
	int arguments;
	struct place_in_flow flow;
	struct call_marks *marks;
};

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* The comma or bracket after an argument. libclang ends a vector literal before its last bracket. */
static size_t end_of_argument(const struct site_call *c, int i)
{
	const struct parsed_unit *u = c->pass->unit;
	size_t close = offset_of(clang_getRangeEnd(clang_getCursorExtent(c->cursor))) - 1;
	size_t at = offset_of(clang_getRangeEnd(clang_getCursorExtent(clang_Cursor_getArgument(c->cursor, (unsigned)i))));
	if (i + 1 == c->arguments)
		return close;
	do
		at = scan_blanks(u->text, u->length, at);
	while (at < close && u->text[at] == ')' && ++at);
	return at < close && u->text[at] == ',' ? at : 0;
}

/* Sets the marks before argument `first` and after argument `last`. */
static int mark_arguments(struct site_call *c, int first, int last, struct gs_buf *before, const char *after)
{
	struct site_marks *from = &c->marks->arguments[first], *to = &c->marks->arguments[last];
	if (before->failed || !(from->before = keep_string(c->pass->a, before->data ? before->data : "")))
		c->pass->result = gs_fail(c->pass->err, ENOMEM, "out of memory");
	from->from = offset_of(clang_getRangeStart(clang_getCursorExtent(clang_Cursor_getArgument(c->cursor, (unsigned)first))));
	to->after = after;
	to->to = end_of_argument(c, last);
	gs_buf_free(before);
	return c->pass->result;
}

/* The type that a pointer argument points to, before it was converted to the parameter's type, unless it is an array. */
static CXType pointee(const struct site_call *c, int i)
{
	CXCursor argument = clang_Cursor_getArgument(c->cursor, (unsigned)i);
	CXType type = clang_getCursorType(without_conversions(argument));
	if (clang_getCanonicalType(type).kind != CXType_Pointer)
		type = clang_getCursorType(argument);
	if (clang_getCanonicalType(type).kind != CXType_Pointer)
		return (CXType){.kind = CXType_Invalid};
	return clang_getPointeeType(type.kind == CXType_Pointer ? type : clang_getCanonicalType(type));
}

/* Appends the text of this type, to cast the returned pointer to. Returns false if it has no such text. */
static bool write_pointee(const struct site_call *c, int i, struct gs_buf *out)
{
	CXType type = pointee(c, i);
	if (type.kind == CXType_Invalid || space_of(type) == SPACE_none)
		return false;
	char *s = spell_type(type);
	bool known = s && !strchr(s, '[');
	if (known)
		gs_buf_puts(out, s);
	free(s);
	return known;
}

static bool can_mark(const struct site_call *c, int last)
{
	for (int i = 0; i <= last; i++)
		if (!end_of_argument(c, i))
			return false;
	return true;
}

/* ---- vectors ---- */

/* For vload4, vstore_half4_rte, vloada_half3: the number of elements, and the distance of two vectors in elements. */
static bool vector_shape(const char *name, unsigned *elements, unsigned *apart)
{
	bool aligned = starts_with(name, "vloada_half") || starts_with(name, "vstorea_half");
	const char *rest = name + (starts_with(name, "vload") ? 5 : starts_with(name, "vstore") ? 6 : 0);
	if (rest == name)
		return false;
	rest += aligned;
	if (starts_with(rest, "_half"))
		rest += 5;
	char *end;
	*elements = isdigit((unsigned char)*rest) ? (unsigned)strtoul(rest, &end, 10) : 1;
	*apart = aligned && *elements == 3 ? 4 : *elements;
	return *elements >= 1 && *elements <= 16;
}

static int mark_vector(struct site_call *c)
{
	unsigned elements, apart;
	bool store = starts_with(c->name, "vstore");
	int offset = store ? 1 : 0;
	struct gs_buf type = {0}, text = {0};
	if (!vector_shape(c->name, &elements, &apart) || c->arguments != offset + 2 || !can_mark(c, offset + 1) ||
	    !write_pointee(c, offset + 1, &type))
		return 0;
	CXType element = pointee(c, offset + 1);
	long long size = clang_Type_getSizeOf(element);
	struct access_site *s = NULL;
	if (size > 0)
		s = add_site(c->pass, clang_getCursorLocation(c->cursor), store ? TRACE_store : TRACE_load, space_of(element),
		             (uint64_t)size * elements, c->flow);
	if (s) {
		gs_buf_printf(&text, "0, (%s *)__gpusim_v_%c(%u, %u, %llu, %lldul, ", type.data, letter_of(s->space), s->id,
		              base_of(c->pass, clang_Cursor_getArgument(c->cursor, (unsigned)offset + 1)),
		              (unsigned long long)s->bytes, size * apart);
		mark_arguments(c, offset, offset + 1, &text, ", __gpusim_t)");
	}
	gs_buf_free(&type);
	return c->pass->result;
}

/* ---- atomics ---- */

static int mark_atomic(struct site_call *c)
{
	struct gs_buf type = {0}, text = {0};
	if (c->arguments < 1 || !can_mark(c, 0) || !write_pointee(c, 0, &type))
		return 0;
	CXType object = pointee(c, 0);
	long long size = clang_Type_getSizeOf(object);
	enum trace_site_kind kind = starts_with(c->name, "atomic_init") ? TRACE_store : TRACE_atomic;
	struct access_site *s = NULL;
	if (size > 0 && size <= 8)
		s = add_site(c->pass, clang_getCursorLocation(c->cursor), kind, space_of(object), (uint64_t)size, c->flow);
	if (s) {
		gs_buf_printf(&text, "(%s *)__gpusim_a_%c(%u, -1, %u, %lld, ", type.data, letter_of(s->space), s->id,
		              base_of(c->pass, clang_Cursor_getArgument(c->cursor, 0)), size);
		mark_arguments(c, 0, 0, &text, ", __gpusim_t)");
	}
	gs_buf_free(&type);
	return c->pass->result;
}

/* ---- copies ---- */

static int mark_copy(struct site_call *c)
{
	struct gs_buf type[2] = {{0}, {0}}, text = {0};
	int ids[2] = {-1, -1};
	bool known = c->arguments >= 4 && can_mark(c, 2) && write_pointee(c, 0, &type[0]) && write_pointee(c, 1, &type[1]);
	enum code_space spaces[2] = {known ? space_of(pointee(c, 0)) : SPACE_none, known ? space_of(pointee(c, 1)) : SPACE_none};
	enum trace_site_kind kind = spaces[0] == SPACE_shared ? TRACE_copy_in : TRACE_copy_out;
	for (int i = 0; i < 2 && known && !c->pass->result; i++) {
		long long size = clang_Type_getSizeOf(pointee(c, i));
		struct access_site *s = add_site(c->pass, clang_getCursorLocation(c->cursor), kind, spaces[i],
		                                 size > 0 ? (uint64_t)size : 1, c->flow);
		ids[i] = s ? (int)s->id : -1;
		gs_buf_printf(&text, "(%s *)__gpusim_k_%c(%d, ", type[i].data, letter_of(spaces[i]), i);
		mark_arguments(c, i, i, &text, ", __gpusim_t)");
	}
	if (known && !c->pass->result) {
		gs_buf_printf(&text, "__gpusim_copy(%d, %d, %d, %d, %lluul, ", ids[0], spaces[0] == SPACE_shared, ids[1],
		              spaces[1] == SPACE_shared, (unsigned long long)c->pass->a->sites[ids[0]].bytes);
		mark_arguments(c, 2, 2, &text, ", __gpusim_t)");
	}
	gs_buf_free(&type[0]);
	gs_buf_free(&type[1]);
	return c->pass->result;
}

/* ---- images ---- */

/* The number of the kernel's argument that the image is, plus 1; 0: not known. */
static unsigned image_argument(const struct site_call *c, CXCursor image)
{
	CXCursor parameter = clang_getCursorReferenced(image), function = clang_getCursorSemanticParent(parameter);
	if (clang_getCursorKind(parameter) != CXCursor_ParmDecl || !c->pass->function->kernel)
		return 0;
	for (int i = 0; i < clang_Cursor_getNumArguments(function) && i + 1 < TRACE_IMAGE_PLAIN; i++)
		if (clang_equalCursors(clang_Cursor_getArgument(function, (unsigned)i), parameter))
			return (unsigned)i + 1;
	return 0;
}

/* What a sampler does with coordinates. */
enum { SAMPLER_NORMALISED = 1, SAMPLER_LINEAR = 2, SAMPLER_REPEATS = 4 };

/* Only a sampler that is a constant of the source says so; others are taken to do nothing of it. The bits of a value are clang's
 * (opencl-c-base.h). */
static unsigned sampler_flags(CXCursor sampler)
{
	enum { NORMALISED = 1, ADDRESSING = 14, REPEAT = 6, LINEAR = 32 };
	CXCursor value = without_conversions(sampler), variable = clang_getCursorReferenced(value);
	if (clang_getCursorKind(variable) == CXCursor_VarDecl) {
		struct children c = children_of(variable);
		value = c.count ? without_conversions(c.items[c.count - 1]) : value;
		free(c.items);
	}
	CXEvalResult result = clang_Cursor_Evaluate(value);
	int bits = result && clang_EvalResult_getKind(result) == CXEval_Int ? clang_EvalResult_getAsInt(result) : 0;
	if (result)
		clang_EvalResult_dispose(result);
	return (bits & NORMALISED ? SAMPLER_NORMALISED : 0) | (bits & LINEAR ? SAMPLER_LINEAR : 0) |
	       ((bits & (ADDRESSING | NORMALISED)) == (REPEAT | NORMALISED) ? SAMPLER_REPEATS : 0);
}

/* int, int2, int4, float, float2 or float4 */
static bool coordinate_type(CXType type, char name[16])
{
	CXType canonical = clang_getCanonicalType(type), element = canonical;
	long long lanes = 1;
	if (canonical.kind == CXType_ExtVector || canonical.kind == CXType_Vector) {
		element = clang_getCanonicalType(clang_getElementType(canonical));
		lanes = clang_getNumElements(canonical);
	}
	if ((element.kind != CXType_Int && element.kind != CXType_Float) || (lanes != 1 && lanes != 2 && lanes != 4))
		return false;
	strcpy(name, element.kind == CXType_Int ? "int" : "float");
	if (lanes > 1) {
		char digits[2] = {(char)('0' + lanes), 0};
		strcat(name, digits);
	}
	return true;
}

/* Whether the image has a height. Goes by the name of its type: image2d_t and image3d_t have one, image1d_array_t has none. */
static bool has_height(CXCursor image)
{
	CXString spelling = clang_getTypeSpelling(clang_getCanonicalType(clang_getCursorType(image)));
	const char *s = clang_getCString(spelling);
	bool flat = s && (strstr(s, "image2d") || strstr(s, "image3d"));
	clang_disposeString(spelling);
	return flat;
}

/* Integers are texels, which no filter is between. */
static enum trace_site_kind image_kind(bool write, unsigned sampler, const char *coordinates)
{
	bool between = sampler & SAMPLER_LINEAR && *coordinates == 'f';
	return write ? TRACE_image_write : between ? TRACE_image_filter : TRACE_image_read;
}

static int mark_image(struct site_call *c)
{
	bool write = starts_with(c->name, "write_");
	CXCursor image = c->arguments > 1 ? without_conversions(clang_Cursor_getArgument(c->cursor, 0)) : clang_getNullCursor();
	CXString spelling = clang_getCursorSpelling(image);
	char type[16];
	int at = 1;
	bool sampled = !write && c->arguments > 2;
	if (sampled) {
		CXType second = clang_getCanonicalType(clang_getCursorType(clang_Cursor_getArgument(c->cursor, 1)));
		sampled = second.kind == CXType_OCLSampler;
		at += sampled;
	}
	struct gs_buf text = {0};
	struct access_site *s = NULL;
	unsigned flags = sampled ? sampler_flags(clang_Cursor_getArgument(c->cursor, 1)) : 0;
	/* A sampler of the program's scope is its initialiser here, which is somewhere else. */
	if (clang_getCursorKind(image) == CXCursor_DeclRefExpr && at < c->arguments && end_of_argument(c, at) &&
	    coordinate_type(clang_getCursorType(clang_Cursor_getArgument(c->cursor, (unsigned)at)), type))
		s = add_site(c->pass, clang_getCursorLocation(c->cursor), image_kind(write, flags, type),
		             SPACE_texture, TRACE_TEXEL_BYTES, c->flow);
	if (s) {
		const char *name = clang_getCString(spelling);
		bool tall = has_height(image);
		gs_buf_printf(&text, "__gpusim_i_%s(%u, %u, %u, get_image_width(%s), %s%s%s, ", type, s->id, image_argument(c, image), flags, name,
		              tall ? "get_image_height(" : "", tall ? name : "1", tall ? ")" : "");
		mark_arguments(c, at, at, &text, ", __gpusim_t)");
	}
	clang_disposeString(spelling);
	return c->pass->result;
}

int mark_call(struct edit_pass *pass, CXCursor call, const struct children *children, struct place_in_flow flow,
              struct call_marks *marks)
{
	struct site_call c = {.pass = pass, .cursor = call, .flow = flow, .marks = marks};
	CXString name = clang_getCursorSpelling(call);
	c.arguments = clang_Cursor_getNumArguments(call);
	strncat(c.name, clang_getCString(name) ? clang_getCString(name) : "", sizeof c.name - 1);
	clang_disposeString(name);
	*marks = (struct call_marks){0};
	if (flow.quiet || c.arguments < 1 || children->count != (size_t)c.arguments + 1)
		return 0;
	if (starts_with(c.name, "vload") || starts_with(c.name, "vstore"))
		return mark_vector(&c);
	if (starts_with(c.name, "atom"))
		return mark_atomic(&c);
	if (!strcmp(c.name, "async_work_group_copy") || !strcmp(c.name, "async_work_group_strided_copy"))
		return mark_copy(&c);
	if (starts_with(c.name, "read_image") || starts_with(c.name, "write_image"))
		return mark_image(&c);
	return 0;
}
