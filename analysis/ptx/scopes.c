/*
 * Registers and labels, and where they are valid. Inline assembly has braces, with registers and labels that are valid only
 * inside them. Their names may repeat.
 *
 * A declaration may name millions of registers, so a register is made when it is first mentioned. A label may follow its use. So
 * each use waits until its scope closes. If the scope has no such label, the use moves to the scope around it.
 */
#include "analysis/ptx/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ptx_scope *innermost(struct ptx_reader *r)
{
	return &r->scopes[r->depth];
}

void ptx_scope_open(struct ptx_reader *r)
{
	if (r->braces++ && r->depth + 1 < PTX_MAX_SCOPES)
		r->depth++;
	else if (r->braces > 1)
		return;
	struct ptx_scope *s = innermost(r);
	s->bindings = NULL;
	s->locals = NULL;
	s->references = NULL;
	s->labels.count = 0;
	s->range_depth = r->depth ? r->scopes[r->depth - 1].range_depth : 0;
	s->number = ++r->scope_number;
}

static void resolve_labels(struct ptx_reader *r, struct ptx_scope *s)
{
	const struct ptx_label *labels = r->labels.data;
	const uint32_t *own = s->labels.data;
	for (uint32_t i = 0; i < s->labels.count; i++) {
		struct ptx_name *n = (struct ptx_name *)(labels[own[i]].name - offsetof(struct ptx_name, text));
		if (n->label_scope != s->number)
			n->label = own[i];
		n->label_scope = s->number;
	}
	struct ptx_reference *outer = r->depth ? r->scopes[r->depth - 1].references : NULL;
	for (struct ptx_reference *f = s->references, *next; f; f = next) {
		next = f->next;
		if (f->name->label_scope == s->number) {
			f->operand->label = (int32_t)f->name->label;
		} else {
			f->next = outer;
			outer = f;
		}
	}
	if (r->depth)
		r->scopes[r->depth - 1].references = outer;
}

void ptx_scope_close(struct ptx_reader *r)
{
	if (--r->braces >= PTX_MAX_SCOPES)
		return;
	struct ptx_scope *s = innermost(r);
	resolve_labels(r, s);
	for (struct ptx_binding *b = s->bindings; b; b = b->same_scope) {
		if (b->is_range)
			b->name->range = b->outer;
		else
			b->name->bound = b->outer;
	}
	for (struct ptx_local *l = s->locals; l; l = l->same_scope)
		l->name->local = l->outer;
	s->bindings = NULL;
	s->locals = NULL;
	if (r->depth)
		r->depth--;
}

struct ptx_name *ptx_declare_local(struct ptx_reader *r, struct ptx_name *name)
{
	struct ptx_name *unique = name;
	if (name->variable_function != r->function_number)
		name->variable_count = 0;
	while (unique->variable_function == r->function_number && !r->failed) {
		char suffix[16];
		int length = snprintf(suffix, sizeof suffix, "$%u", ++name->variable_count);
		char *text = ptx_arena_alloc(r->arena, name->length + (size_t)length + 1);
		r->failed |= !text;
		if (!text)
			return name;
		memcpy(text, name->text, name->length);
		memcpy(text + name->length, suffix, (size_t)length);
		unique = ptx_name_of(r, (struct ptx_span){text, name->length + (size_t)length});
	}
	unique->variable_function = r->function_number;
	struct ptx_local *l = r->failed ? NULL : ptx_arena_alloc(r->arena, sizeof *l);
	r->failed |= !l;
	if (!l)
		return name;
	*l = (struct ptx_local){.outer = name->local, .same_scope = innermost(r)->locals, .name = name, .unique = unique};
	innermost(r)->locals = name->local = l;
	return unique;
}

struct ptx_name *ptx_find_local(struct ptx_name *name)
{
	return name->local ? name->local->unique : name;
}

static int32_t add_register(struct ptx_reader *r, struct ptx_name *name, const struct ptx_binding *like)
{
	static const char letters[] = "xyzw";
	int32_t first = (int32_t)r->registers.count;
	const char *digits = name->text + name->length;
	while (digits > name->text && isdigit((unsigned char)digits[-1]))
		digits--;
	uint32_t number = (uint32_t)strtoul(digits, NULL, 10);
	for (uint32_t i = 0; i < like->elements; i++) {
		struct ptx_register *made = ptx_push(r, &r->registers, sizeof *made);
		char *text = like->elements > 1 ? ptx_arena_alloc(r->arena, name->length + 3) : name->text;
		if (like->elements > 1 && text) {
			memcpy(text, name->text, name->length);
			text[name->length] = '.';
			text[name->length + 1] = letters[i % 4];
		}
		r->failed |= !text;
		*made =
		    (struct ptx_register){.name = text, .bits = like->bits, .real = like->real, .number = number + i};
	}
	return first;
}

static struct ptx_binding *bind(struct ptx_reader *r, struct ptx_name *name, struct ptx_binding with)
{
	struct ptx_binding *b = r->failed ? NULL : ptx_arena_alloc(r->arena, sizeof *b);
	if (!b) {
		r->failed = true;
		return NULL;
	}
	*b = with;
	b->name = name;
	b->outer = with.is_range ? name->range : name->bound;
	b->same_scope = r->scopes[with.depth].bindings;
	r->scopes[with.depth].bindings = b;
	if (with.is_range)
		name->range = b;
	else
		name->bound = b;
	return b;
}

static void set_type(struct ptx_binding *b, struct ptx_span type)
{
	uint32_t bits = ptx_type_bits(type);
	if (type.length == 3 && type.at[1] == 'v' && strchr("248", type.at[2]))
		b->elements = (uint8_t)(type.at[2] - '0');
	else if (bits) {
		b->bits = (uint8_t)bits;
		b->real = ptx_span_is(type, ".f32") || ptx_span_is(type, ".f64");
	}
}

/* Declares a name, or name<count>, at the cursor. */
static void declare(struct ptx_reader *r, struct ptx_span text, struct ptx_binding with)
{
	int64_t count = 0;
	struct ptx_name *name = ptx_name_of(r, text);
	ptx_skip_blanks(&r->in);
	if (ptx_take_char(&r->in, '<')) {
		ptx_skip_blanks(&r->in);
		ptx_take_number(&r->in, &count);
		ptx_skip_blanks(&r->in);
		ptx_take_char(&r->in, '>');
		with.is_range = true;
		with.count = count < 0 || count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
		r->scopes[with.depth].range_depth = with.depth;
	} else {
		with.reg = add_register(r, name, &with);
	}
	bind(r, name, with);
}

void ptx_declare_register(struct ptx_reader *r, struct ptx_span name, struct ptx_span type)
{
	struct ptx_binding with = {.depth = (uint8_t)r->depth, .elements = 1, .bits = 32};
	set_type(&with, type);
	declare(r, name, with);
}

void ptx_declare_registers(struct ptx_reader *r)
{
	struct ptx_binding with = {.depth = (uint8_t)r->depth, .elements = 1, .bits = 32};
	struct ptx_cursor *in = &r->in;
	for (ptx_skip_blanks(in); in->at < in->end && *in->at != ';' && *in->at != '}'; ptx_skip_blanks(in)) {
		struct ptx_span type = ptx_take_directive(in), name = ptx_take_name(in, false);
		if (type.length)
			set_type(&with, type);
		else if (name.length)
			declare(r, name, with);
		else
			in->at++;
		if (type.length && name.length) /* .v4.f32 is two directives; a name directly after one is garbage */
			declare(r, name, with);
	}
	ptx_take_char(in, ';');
}

/* The range that contains this name and whose scope is deeper than that of `than`. */
static struct ptx_binding *range_of(struct ptx_reader *r, struct ptx_name *name, const struct ptx_binding *than)
{
	enum { MOST_DIGITS = 10 };
	struct ptx_binding *best = NULL;
	const char *end = name->text + name->length, *p = end;
	while (p > name->text && end - p < MOST_DIGITS && isdigit((unsigned char)p[-1])) {
		p--;
		if (*p == '0' && end - p > 1) /* %r01 does not belong to %r<9> */
			continue;
		struct ptx_name *prefix = ptx_name_find(r, (struct ptx_span){name->text, (size_t)(p - name->text)});
		struct ptx_binding *b = prefix ? prefix->range : NULL;
		if (b && strtoul(p, NULL, 10) < b->count && (!than || b->depth > than->depth) &&
		    (!best || b->depth > best->depth))
			best = b;
	}
	return best;
}

const struct ptx_binding *ptx_find_register(struct ptx_reader *r, struct ptx_name *name)
{
	struct ptx_binding *bound = name->bound;
	if (bound && bound->depth >= innermost(r)->range_depth)
		return bound;
	const struct ptx_binding *range = range_of(r, name, bound);
	if (!range)
		return bound;
	struct ptx_binding with = *range;
	with.is_range = false;
	with.reg = add_register(r, name, &with);
	return bind(r, name, with);
}

void ptx_add_label(struct ptx_reader *r, struct ptx_name *name)
{
	struct ptx_label *l = ptx_push(r, &r->labels, sizeof *l);
	*l = (struct ptx_label){.name = name->text, .at = r->instructions.count};
	uint32_t *own = ptx_push(r, &innermost(r)->labels, sizeof *own);
	*own = r->labels.count - 1;
}

void ptx_refer_to_label(struct ptx_reader *r, struct ptx_operand *operand, struct ptx_name *name)
{
	struct ptx_reference *f = ptx_arena_alloc(r->arena, sizeof *f);
	if (!f) {
		r->failed = true;
		return;
	}
	*f = (struct ptx_reference){.next = innermost(r)->references, .operand = operand, .name = name};
	innermost(r)->references = f;
}
