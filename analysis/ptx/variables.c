/* Declarations of memory: .shared .align 4 .b8 name[4][8] = {...}; and the parameters of functions. */
#include "analysis/ptx/internal.h"

#include <ctype.h>
#include <string.h>

int ptx_space_of(struct ptx_span directive)
{
	static const struct {
		const char *name;
		uint8_t space;
	} spaces[] = {{".param", SPACE_param}, {".const", SPACE_const},   {".shared", SPACE_shared},
	              {".local", SPACE_local}, {".global", SPACE_global}, {".tex", SPACE_texture}};
	for (size_t i = 0; i < GS_ARRAY_LEN(spaces); i++)
		if (ptx_span_is(directive, spaces[i].name))
			return spaces[i].space;
	return -1;
}

uint32_t ptx_type_bits(struct ptx_span type)
{
	if (!type.length)
		return 0;
	if (ptx_span_is(type, ".pred"))
		return 1;
	if (ptx_span_is(type, ".texref") || ptx_span_is(type, ".samplerref") || ptx_span_is(type, ".surfref"))
		return 64;
	const char *p = type.at + 1, *end = type.at + type.length;
	uint32_t bits = 0, lanes = 0;
	if (p < end && *p == 'b' && end - p > 2 && p[1] == 'f') /* .bf16 */
		p++;
	if (p >= end || !strchr("busf", *p))
		return 0;
	for (p++; p < end && isdigit((unsigned char)*p) && bits < 1000; p++)
		bits = bits * 10 + (uint32_t)(*p - '0');
	if (p < end && *p == 'x')
		for (p++; p < end && isdigit((unsigned char)*p) && lanes < 1000; p++)
			lanes = lanes * 10 + (uint32_t)(*p - '0');
	bits *= lanes ? lanes : 1;
	return p == end && bits <= 128 ? bits : 0;
}

struct ptx_declaration {
	uint64_t scalar_bytes, parts; /* parts: of a vector */
	uint32_t align;
	bool pointer; /* .ptr was read: the space and alignment that follow describe the memory that it points to */
	bool managed;
	struct ptx_span name, type;
};

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* .attribute(.managed) */
static void read_group(struct ptx_reader *r, struct ptx_declaration *d)
{
	static const char managed[] = ".managed";
	const char *from = r->in.at;
	ptx_skip_group(&r->in);
	d->managed |= memmem(from, (size_t)(r->in.at - from), managed, sizeof managed - 1) != NULL;
}

static void read_attribute(struct ptx_reader *r, struct ptx_declaration *d)
{
	struct ptx_span word = ptx_take_directive(&r->in);
	int64_t value;
	uint32_t bits = ptx_type_bits(word);
	ptx_skip_blanks(&r->in);
	if (ptx_span_is(word, ".align") && ptx_take_number(&r->in, &value) && !d->pointer)
		d->align = (uint32_t)value;
	else if (ptx_span_is(word, ".ptr"))
		d->pointer = true;
	else if (word.length == 3 && word.at[1] == 'v' && isdigit((unsigned char)word.at[2]))
		d->parts = (uint64_t)(word.at[2] - '0');
	else if (bits) {
		d->scalar_bytes = bits < 8 ? 1 : bits / 8;
		d->type = word;
	} else if (r->in.at < r->in.end && *r->in.at == '(')
		read_group(r, d);
}

/* Reads [4][8], or nothing. Fills the strides: the bytes of an element of each dimension. */
static void read_dimensions(struct ptx_reader *r, struct ptx_variable *v, struct ptx_strides *strides)
{
	uint64_t sizes[PTX_MAX_DIMENSIONS], product = v->element_bytes;
	uint32_t count = 0;
	for (ptx_skip_blanks(&r->in); ptx_take_char(&r->in, '['); ptx_skip_blanks(&r->in)) {
		int64_t size = 1;
		ptx_skip_blanks(&r->in);
		v->unsized |= !ptx_take_number(&r->in, &size);
		product = times(product, (uint64_t)size);
		if (count < PTX_MAX_DIMENSIONS)
			sizes[count++] = (uint64_t)size;
		else
			v->unclear = true;
		ptx_skip_blanks(&r->in);
		ptx_take_char(&r->in, ']');
		v->array = true;
	}
	v->bytes = product;
	strides->count = count;
	uint64_t stride = v->element_bytes;
	for (uint32_t i = count; i-- > 0; stride = times(stride, sizes[i]))
		strides->of[i] = stride;
}

static void add_variable(struct ptx_reader *r, struct ptx_variable v, enum ptx_where where)
{
	struct ptx_vector *list = where == PTX_IN_MODULE ? &r->variables : &r->function_variables;
	struct ptx_variable *made = ptx_push(r, list, sizeof *made);
	*made = v;
	if (where == PTX_IN_MODULE && v.space == SPACE_shared && !r->failed) {
		struct ptx_name *n = (struct ptx_name *)(v.name - offsetof(struct ptx_name, text));
		n->shared = (int32_t)list->count - 1;
	}
}

static uint32_t natural_align(uint64_t bytes)
{
	return bytes < 16 ? (uint32_t)bytes : 16;
}

/* A variable of a function has a name that no other one of the function has. */
static const char *name_of(struct ptx_reader *r, struct ptx_span text, enum ptx_where where)
{
	struct ptx_name *name = ptx_name_of(r, text);
	bool local = where == PTX_IN_BODY || (where == PTX_IN_PARAMETERS && !ptx_span_is(text, "_"));
	return (local && r->function ? ptx_declare_local(r, name) : name)->text;
}

/* "u32" of ".u32". */
static const char *type_name(struct ptx_reader *r, struct ptx_span type)
{
	return type.length > 1 ? ptx_name_of(r, (struct ptx_span){type.at + 1, type.length - 1})->text : "";
}

/* Reads one name with its dimensions and initialiser, up to the comma or the end after it. False: the rest must be skipped. */
static bool read_declarator(struct ptx_reader *r, const struct ptx_declaration *d, uint8_t space, enum ptx_where where)
{
	bool read = true;
	struct ptx_strides strides;
	uint64_t bytes = times(d->scalar_bytes, d->parts);
	struct ptx_variable v = {.name = name_of(r, d->name, where),
				 .space = space,
				 .align = d->align ? d->align : natural_align(bytes),
				 .linkage = where == PTX_IN_MODULE ? r->linkage : PTX_INTERNAL,
				 .managed = d->managed,
				 .pointer = d->pointer,
				 .type = type_name(r, d->type),
				 .element_bytes = (uint32_t)bytes};
	read_dimensions(r, &v, &strides);
	if (r->in.at < r->in.end && *r->in.at == '=' && where != PTX_IN_PARAMETERS && where != PTX_IN_PROTOTYPE) {
		r->in.at++;
		read = ptx_read_initialiser(r, &strides, &v);
	}
	if (v.unsized || (v.linkage == PTX_EXTERN && space == SPACE_shared))
		v.bytes = v.initial_bytes = v.relocation_count = 0;
	add_variable(r, v, where);
	return read;
}

void ptx_read_variable(struct ptx_reader *r, uint8_t space, enum ptx_where where)
{
	struct ptx_declaration d = {.scalar_bytes = 1, .parts = 1};
	struct ptx_cursor *in = &r->in;
	bool ends = where == PTX_IN_PARAMETERS || where == PTX_IN_PROTOTYPE;
	for (ptx_skip_blanks(in); in->at < in->end; ptx_skip_blanks(in)) {
		const char *before = in->at;
		if (*in->at == '.') {
			read_attribute(r, &d);
		} else if (ptx_is_name(*in->at)) {
			d.name = ptx_take_name(in, true);
			if (!read_declarator(r, &d, space, where)) {
				ptx_skip_statement(in);
				return;
			}
		} else if (ends) {
			return;
		} else if (*in->at == ',') {
			in->at++;
		} else {
			ptx_skip_statement(in);
			return;
		}
		if (in->at == before)
			in->at++;
	}
}
