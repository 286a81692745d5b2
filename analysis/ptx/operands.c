/*
 * Operands: registers, constants, names, [addresses], {vectors}, pairs d|p, and the lists of calls.
 *
 * The reader makes one pass over the text, without recursion. The number of commas before an operand and the brackets around it
 * decide whether it is written, and whether it is an address.
 */
#include "analysis/ptx/internal.h"

#include <ctype.h>
#include <string.h>

struct operand_state {
	const struct ptx_form *form;
	uint32_t position; /* number of commas so far, outside of brackets */
	uint32_t braces, parentheses;
	bool address;      /* inside of [ ] */
	bool based;        /* the base of the address has been read */
	bool called;       /* the function's name has been read */
	bool after_operand;       /* only signs have come since the last operand */
	bool minus, negated, plus; /* signs before the next operand */
};

/* The index of an element of a vector (.x, .g ...), or -1. */
static int element_of(struct ptx_span suffix)
{
	static const char xyzw[] = "xyzw", rgba[] = "rgba";
	if (suffix.length != 2)
		return -1;
	const char *a = memchr(xyzw, suffix.at[1], 4), *b = memchr(rgba, suffix.at[1], 4);
	return a ? (int)(a - xyzw) : b ? (int)(b - rgba) : -1;
}

static struct ptx_operand *add_operand(struct ptx_reader *r, struct operand_state *s, enum ptx_operand_kind kind)
{
	struct ptx_operand *o = ptx_push(r, &r->operands, sizeof *o);
	bool result = s->form->shape == PTX_CALL ? s->parentheses && !s->called
	                                         : s->form->shape == PTX_PLAIN && !s->position && !s->address;
	bool negated = s->negated || (kind == PTX_REGISTER && s->minus && !s->address);
	*o = (struct ptx_operand){.kind = (uint8_t)kind, .negated = negated, .reg = -1, .label = -1};
	if (s->address && !s->based)
		o->kind = PTX_ADDRESS;
	o->write = result && (o->kind == PTX_REGISTER || o->kind == PTX_SPECIAL || o->kind == PTX_SYMBOL);
	s->based |= s->address;
	s->after_operand = true;
	s->minus = s->negated = s->plus = false;
	return o;
}

static struct ptx_operand *last_operand(struct ptx_reader *r)
{
	return r->operands.count ? (struct ptx_operand *)r->operands.data + r->operands.count - 1 : NULL;
}

/* Adds a number. It is an operand, or an offset to the name or address before it. */
static void add_number(struct ptx_reader *r, struct operand_state *s, int64_t value, uint8_t form)
{
	struct ptx_operand *before = last_operand(r);
	if (s->minus)
		value = ptx_negative(value, form);
	if (s->after_operand && (s->plus || s->minus) && before &&
	    (before->kind == PTX_ADDRESS || before->kind == PTX_SYMBOL)) {
		before->value = (int64_t)((uint64_t)before->value + (uint64_t)value);
		s->minus = s->plus = false;
		return;
	}
	struct ptx_operand *o = add_operand(r, s, PTX_IMMEDIATE);
	o->value = value;
	o->constant = form;
}

static bool is_special(struct ptx_span text)
{
	return *text.at == '%' || ptx_span_is(text, "_");
}

static void add_registers(struct ptx_reader *r, struct operand_state *s, const struct ptx_binding *b, int element, struct ptx_span part)
{
	int32_t first = element < 0 ? 0 : element % b->elements, count = element < 0 ? b->elements : 1;
	const char *text = element < 0 && part.length ? ptx_name_of(r, part)->text : NULL;
	for (int32_t i = 0; i < count; i++) {
		struct ptx_operand *o = add_operand(r, s, PTX_REGISTER);
		o->reg = b->reg + first + i;
		o->text = text;
	}
}

/* The register with this name, or the one that it is an element or *part of. */
static const struct ptx_binding *find_register(struct ptx_reader *r, struct ptx_span text, int *element, struct ptx_span *part)
{
	const struct ptx_binding *b = ptx_find_register(r, ptx_name_of(r, text));
	const char *dot = memrchr(text.at, '.', text.length);
	*element = -1;
	*part = (struct ptx_span){0};
	if (b || !dot)
		return b;
	struct ptx_span base = {text.at, (size_t)(dot - text.at)};
	*part = (struct ptx_span){dot, text.length - base.length};
	*element = element_of(*part);
	return ptx_find_register(r, ptx_name_of(r, base)); /* %r1.h0 of video instructions counts as all of %r1 */
}

static void add_name(struct ptx_reader *r, struct operand_state *s, struct ptx_span text)
{
	int element;
	struct ptx_span part;
	const struct ptx_form *form = s->form;
	if (form->shape == PTX_BRANCH || (form->shape == PTX_TABLE && s->position)) {
		add_operand(r, s, PTX_LABEL)->text = ptx_name_of(r, text)->text;
		return;
	}
	const struct ptx_binding *b = find_register(r, text, &element, &part);
	if (form->shape == PTX_CALL && !s->parentheses) {
		if (s->called) {
			r->call_prototype = ptx_name_of(r, text);
			return;
		}
		s->called = true;
	}
	if (b)
		add_registers(r, s, b, element, part);
	else if (ptx_span_is(text, "WARP_SZ"))
		add_operand(r, s, PTX_IMMEDIATE)->value = 32;
	else
		add_operand(r, s, is_special(text) ? PTX_SPECIAL : PTX_SYMBOL)->text = ptx_find_local(ptx_name_of(r, text))->text;
}

static void read_mark(struct operand_state *s, char c)
{
	s->after_operand &= c == '+' || c == '-';
	switch (c) {
	case '{': s->braces++; break;
	case '}': s->braces--; break;
	case '(': s->parentheses++; break;
	case ')': s->parentheses -= s->parentheses > 0; break;
	case '[': s->address = true; s->based = false; break;
	case ']': s->address = false; break;
	case '!': s->negated = true; break;
	case '+': s->plus = true; break;
	case '-': s->minus = !s->minus; break;
	case ',':
		s->position += !s->braces && !s->parentheses && !s->address;
		s->minus = s->plus = s->negated = false;
		break;
	default: break;
	}
}

bool ptx_read_operands(struct ptx_reader *r, const struct ptx_form *form)
{
	struct ptx_cursor *in = &r->in;
	struct operand_state s = {.form = form};
	int64_t value;
	uint8_t constant;
	r->call_prototype = NULL;
	for (ptx_skip_blanks(in); in->at < in->end && !r->failed; ptx_skip_blanks(in)) {
		if (ptx_take_char(in, ';') || (*in->at == '}' && !s.braces))
			return true;
		if (*in->at == '"')
			ptx_take_string(in);
		else if (ptx_take_constant(in, &value, &constant))
			add_number(r, &s, value, constant);
		else if (ptx_is_name(*in->at))
			add_name(r, &s, ptx_take_name(in, true));
		else
			read_mark(&s, *in->at++);
	}
	return false;
}
