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
	uint64_t element_bytes;
	uint32_t align;
	bool pointer; /* .ptr was read: the space and alignment that follow describe the memory that it points to */
	struct ptx_span name, type;
};

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
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
		d->element_bytes = times(d->element_bytes, (uint64_t)(word.at[2] - '0'));
	else if (bits) {
		d->element_bytes = times(d->element_bytes, bits < 8 ? 1 : bits / 8);
		d->type = word;
	} else if (r->in.at < r->in.end && *r->in.at == '(') /* .attribute(.managed) */
		ptx_skip_group(&r->in);
}

/* Counts the elements of the initialiser at the cursor. */
static uint64_t count_elements(struct ptx_cursor in)
{
	struct ptx_cursor rest = in;
	uint64_t commas = 0;
	ptx_skip_statement(&rest);
	for (in.at++, in.end = rest.at, ptx_skip_blanks(&in); in.at < in.end; ptx_skip_blanks(&in)) {
		if (*in.at == '"')
			return ptx_take_string(&in).length;
		commas += *in.at++ == ',';
	}
	return commas + 1;
}

/* Reads [4][8], or nothing. *open: an array has no size. */
static uint64_t read_dimensions(struct ptx_reader *r, bool *open)
{
	uint64_t product = 1;
	*open = false;
	for (ptx_skip_blanks(&r->in); ptx_take_char(&r->in, '['); ptx_skip_blanks(&r->in)) {
		int64_t size = 0;
		ptx_skip_blanks(&r->in);
		if (ptx_take_number(&r->in, &size))
			product = times(product, (uint64_t)size);
		else
			*open = true;
		ptx_skip_blanks(&r->in);
		ptx_take_char(&r->in, ']');
	}
	return product;
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

/* Reads one name with its dimensions and initialiser, up to the comma or the end after it. */
static void read_declarator(struct ptx_reader *r, const struct ptx_declaration *d, uint8_t space, enum ptx_where where,
                            bool external)
{
	bool open;
	uint64_t count = read_dimensions(r, &open);
	if (open && r->in.at < r->in.end && *r->in.at == '=')
		count = times(count, count_elements(r->in));
	else if (open || external)
		count = space == SPACE_shared || open ? 0 : count;
	struct ptx_variable v = {.name = ptx_name_of(r, d->name)->text,
				 .space = space,
				 .bytes = times(d->element_bytes, count),
				 .align = d->align                ? d->align
					  : d->element_bytes < 16 ? (uint32_t)d->element_bytes
								  : 16};
	add_variable(r, v, where);
}

void ptx_read_variable(struct ptx_reader *r, uint8_t space, enum ptx_where where, bool external)
{
	struct ptx_declaration d = {.element_bytes = 1};
	struct ptx_cursor *in = &r->in;
	for (ptx_skip_blanks(in); in->at < in->end; ptx_skip_blanks(in)) {
		const char *before = in->at;
		if (*in->at == '.') {
			read_attribute(r, &d);
		} else if (ptx_is_name(*in->at)) {
			d.name = ptx_take_name(in, true);
			read_declarator(r, &d, space, where, external);
		} else if (where == PTX_IN_PARAMETERS) {
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
