/*
 * What variables begin with: = 5, = {1, 2, 3}, = {{1, 2}, {3}}, = {generic(a)+4, f}, = "text".
 *
 * A {list} in a list is one element of its dimension, and what it leaves out is 0. A packed pointer is written as its bytes, each with a
 * mask: 0xFF(a), 0xFF00(a), ... They become one relocation.
 */
#include "analysis/ptx/internal.h"

#include <string.h>

struct initialiser {
	struct ptx_reader *r;
	const struct ptx_strides *strides;
	struct ptx_variable *v;
	uint32_t scalar_bytes;
	uint64_t at; /* the byte that comes next */
};

/* Makes the initialiser reach up to a byte. False: it would take too much. */
static bool pad(struct initialiser *i, uint64_t to)
{
	static const char zeros[256];
	struct ptx_reader *r = i->r;
	if (to > r->initial.len && to - r->initial.len > r->initial_budget)
		return false;
	r->initial_budget -= to > r->initial.len ? to - r->initial.len : 0;
	while (r->initial.len < to && !r->initial.failed) {
		uint64_t more = to - r->initial.len;
		gs_buf_add(&r->initial, zeros, more < sizeof zeros ? more : sizeof zeros);
	}
	return !r->initial.failed;
}

/* The bits of a constant in the variable's type. */
static bool bits_of(const struct initialiser *i, int64_t value, uint8_t form, uint64_t *out)
{
	float narrow;
	double wide;
	uint32_t word = (uint32_t)value;
	bool single = !strcmp(i->v->type, "f32"), real = single || !strcmp(i->v->type, "f64");
	*out = (uint64_t)value;
	if (form == PTX_INTEGER && !real)
		return true;
	if (form == PTX_FLOAT && i->scalar_bytes == sizeof word)
		return true;
	if (!real && (form == PTX_FLOAT || i->scalar_bytes != sizeof wide))
		return false; /* a half that is not written by its bits */
	memcpy(&narrow, &word, sizeof narrow);
	memcpy(&wide, &value, sizeof wide);
	wide = form == PTX_INTEGER ? (double)value : form == PTX_FLOAT ? (double)narrow : wide;
	narrow = (float)wide;
	memcpy(&word, &narrow, sizeof word);
	memcpy(out, &wide, sizeof wide);
	*out = single ? word : *out;
	return true;
}

static bool add_constant(struct initialiser *i, int64_t value, uint8_t form)
{
	uint64_t bits;
	if (i->scalar_bytes > sizeof bits || !bits_of(i, value, form, &bits) || !pad(i, i->at + i->scalar_bytes))
		return false;
	memcpy(i->r->initial.data + i->at, &bits, i->scalar_bytes);
	i->at += i->scalar_bytes;
	return true;
}

static bool add_string(struct initialiser *i, struct ptx_span s)
{
	if (i->scalar_bytes != 1 || !pad(i, i->at + s.length))
		return false;
	if (s.length)
		memcpy(i->r->initial.data + i->at, s.at, s.length);
	i->at += s.length;
	return true;
}

/* An address, or the byte of it that the mask leaves. */
static bool add_symbol(struct initialiser *i, const char *symbol, int64_t addend, uint64_t mask)
{
	struct ptx_vector *list = &i->r->relocations;
	struct ptx_relocation *last = list->count ? (struct ptx_relocation *)list->data + list->count - 1 : NULL;
	uint32_t byte = mask ? (uint32_t)__builtin_ctzll(mask) / 8 : 0;
	uint32_t bytes = mask ? 1 : i->scalar_bytes;
	if (bytes > 8 || (mask && (mask != UINT64_C(0xff) << 8 * byte || i->scalar_bytes != 1)))
		return false;
	if (byte) {
		if (!last || last->symbol != symbol || last->addend != addend || last->bytes != byte || last->offset + byte != i->at)
			return false;
		last->bytes++;
	} else {
		*(struct ptx_relocation *)ptx_push(i->r, list, sizeof *last) =
		    (struct ptx_relocation){.offset = i->at, .symbol = symbol, .addend = addend, .bytes = (uint8_t)bytes};
	}
	i->at += bytes;
	return !i->r->failed;
}

/* +4 or -4 after a symbol. */
static bool read_addend(struct ptx_cursor *in, int64_t *addend)
{
	int64_t value;
	uint8_t form;
	ptx_skip_blanks(in);
	bool minus = in->at < in->end && *in->at == '-';
	if (!minus && (in->at == in->end || *in->at != '+'))
		return true;
	in->at++;
	ptx_skip_blanks(in);
	if (!ptx_take_constant(in, &value, &form) || form != PTX_INTEGER)
		return false;
	*addend = (int64_t)((uint64_t)*addend + (uint64_t)(minus ? ptx_negative(value, form) : value));
	return true;
}

/* a, a+4, generic(a), generic(a+4)+4; then the brackets that a mask had opened are closed. */
static bool read_symbol(struct initialiser *i, uint64_t mask)
{
	struct ptx_cursor *in = &i->r->in;
	int64_t addend = 0;
	uint32_t open = mask != 0;
	ptx_skip_blanks(in);
	struct ptx_span name = ptx_take_name(in, true);
	ptx_skip_blanks(in);
	if (ptx_span_is(name, "generic") && ptx_take_char(in, '(')) {
		open++;
		ptx_skip_blanks(in);
		name = ptx_take_name(in, true);
	}
	if (!name.length || !read_addend(in, &addend))
		return false;
	while (open--) {
		ptx_skip_blanks(in);
		if (!ptx_take_char(in, ')') || !read_addend(in, &addend))
			return false;
	}
	return add_symbol(i, ptx_name_of(i->r, name)->text, addend, mask);
}

static bool read_element(struct initialiser *i)
{
	struct ptx_cursor *in = &i->r->in;
	int64_t value;
	uint8_t form;
	if (*in->at == '"')
		return add_string(i, ptx_take_string(in));
	bool minus = ptx_take_char(in, '-');
	ptx_skip_blanks(in);
	if (!ptx_take_constant(in, &value, &form))
		return !minus && in->at < in->end && ptx_is_name(*in->at) && read_symbol(i, 0);
	ptx_skip_blanks(in);
	if (ptx_take_char(in, '('))
		return !minus && form == PTX_INTEGER && value && read_symbol(i, (uint64_t)value);
	return add_constant(i, minus ? ptx_negative(value, form) : value, form);
}

/* The end of a list that began `depth` braces deep: what it leaves out is 0. */
static bool close_list(struct initialiser *i, uint32_t depth)
{
	uint32_t dimension = depth - 2; /* the outermost list has all elements of the first dimension */
	uint64_t stride = depth < 2 ? 0 : dimension < i->strides->count ? i->strides->of[dimension] : i->v->element_bytes;
	if (!stride || !(i->at % stride))
		return true;
	uint64_t to = i->at - i->at % stride + stride;
	if (to < i->at || !pad(i, to))
		return false;
	i->at = to;
	return true;
}

static bool read_elements(struct initialiser *i)
{
	struct ptx_cursor *in = &i->r->in;
	uint32_t depth = 0;
	for (ptx_skip_blanks(in); in->at < in->end && *in->at != ';'; ptx_skip_blanks(in)) {
		bool list = depth > 0;
		if (ptx_take_char(in, '{')) {
			if (++depth > PTX_MAX_DIMENSIONS + 2)
				return false;
		} else if (list && ptx_take_char(in, '}')) {
			if (!close_list(i, depth--))
				return false;
		} else if (*in->at == ',') {
			if (!depth)
				return true;
			in->at++;
		} else if (!read_element(i)) {
			return false;
		}
	}
	return in->at < in->end && !depth;
}

static void keep(struct initialiser *i)
{
	struct ptx_reader *r = i->r;
	struct ptx_variable *v = i->v;
	uint8_t *copy = r->initial.len ? ptx_arena_alloc(r->arena, r->initial.len) : NULL;
	r->failed |= r->initial.failed || (r->initial.len && !copy);
	if (copy)
		memcpy(copy, r->initial.data, r->initial.len);
	v->initial = copy;
	v->initial_bytes = copy ? r->initial.len : 0;
	v->relocation_count = r->relocations.count;
	v->relocations = ptx_keep(r, &r->relocations, sizeof *v->relocations);
}

bool ptx_read_initialiser(struct ptx_reader *r, const struct ptx_strides *strides, struct ptx_variable *v)
{
	uint64_t outermost = strides->count ? strides->of[0] : v->element_bytes;
	struct ptx_span type = {v->type, strlen(v->type)};
	struct initialiser i = {.r = r, .strides = strides, .v = v};
	char dotted[16] = ".";
	if (type.length < sizeof dotted - 1)
		memcpy(dotted + 1, type.at, type.length + 1);
	uint32_t bits = ptx_type_bits((struct ptx_span){dotted, strlen(dotted)});
	i.scalar_bytes = bits < 8 ? 1 : bits / 8;
	r->initial.len = 0;
	r->relocations.count = 0;
	struct ptx_cursor from = r->in;
	bool read = read_elements(&i);
	if (!read)
		r->in = from;
	v->unclear |= !read;
	if (v->unsized && outermost)
		v->bytes = (i.at + outermost - 1) / outermost * outermost;
	v->unsized = false;
	if (i.at > v->bytes)
		v->unclear = true;
	if (r->initial.len > v->bytes)
		r->initial.len = v->bytes;
	if (v->unclear)
		r->relocations.count = 0;
	keep(&i);
	return read;
}
