/* Operands as C expressions, assignments to registers, and the text of rules. */
#include "annotator/opcodes/opcode.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opcode_type opcode_type_of(const char *word)
{
	struct opcode_type t = {.parts = 1};
	char *end;
	if (strlen(word) >= sizeof t.name)
		return t;
	strcpy(t.name, word);
	if (!strcmp(word, "pred")) {
		t.kind = 'p';
		t.bits = 1;
		return t;
	}
	if (!strcmp(word, "tf32")) {
		t.kind = 't';
		t.bits = 32;
		return t;
	}
	if (!strcmp(word, "e4m3x2") || !strcmp(word, "e5m2x2")) {
		t.kind = word[1] == '4' ? 'e' : 'E';
		t.bits = 16;
		t.parts = 2;
		return t;
	}
	bool brain = !strncmp(word, "bf16", 4);
	if (!strchr("usbf", *word) || !*word || !isdigit((unsigned char)word[brain ? 2 : 1]))
		return t;
	unsigned long bits = strtoul(word + (brain ? 2 : 1), &end, 10);
	if (*end == 'x' && end[1] == '2' && !end[2])
		t.parts = 2;
	else if (*end)
		return t;
	unsigned long least = *word == 'f' || brain ? 16 : 8, most = *word == 'b' && !brain ? 128 : 64;
	if (bits < least || bits * t.parts > most || (bits & (bits - 1)))
		return t;
	t.kind = brain ? 'g' : *word;
	t.bits = (uint8_t)(bits * t.parts);
	return t;
}

struct opcode_type opcode_type_as(struct opcode_type t, char kind)
{
	t.kind = kind;
	t.parts = 1;
	snprintf(t.name, sizeof t.name, "%c%u", kind, t.bits);
	return t;
}

const char *opcode_c_type(struct opcode_type t)
{
	if (t.kind == 'p')
		return "uint";
	if (t.kind == 's' && t.parts == 1)
		return t.bits == 8 ? "char" : t.bits == 16 ? "short" : t.bits == 32 ? "int" : "long";
	if (t.kind == 'f' && t.parts == 1 && t.bits >= 32)
		return t.bits == 32 ? "float" : "double";
	return t.bits == 8 ? "uchar" : t.bits == 16 ? "ushort" : t.bits == 32 ? "uint" : t.bits == 64 ? "ulong" : "ulong2";
}

char opcode_type_letter(struct opcode_type t)
{
	if (t.kind == 'f')
		return t.parts == 2 ? (t.bits == 64 ? 'F' : 'H') : t.bits == 16 ? 'h' : t.bits == 32 ? 'f' : 'd';
	if (t.kind == 'g')
		return t.parts == 2 ? 'G' : 'g';
	return t.parts == 2 && (t.kind == 'u' || t.kind == 's') ? 'x' : t.kind;
}

bool opcode_has(const struct opcode_work *w, const char *word)
{
	for (uint32_t i = 1; i < w->word_count; i++)
		if (!strcmp(w->words[i], word))
			return true;
	return false;
}

int opcode_which(const struct opcode_work *w, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (opcode_has(w, words[i]))
			return i;
	return -1;
}

void opcode_refuse(struct opcode_work *w, const char *fmt, ...)
{
	char why[256];
	va_list ap;
	if (w->rc)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	w->rc = gs_fail(w->err, ENOTSUP, "line %u: %s: %s", w->i->ptx_line, w->i->opcode, why);
}

const struct ptx_operand *opcode_source(struct opcode_work *w, uint32_t n)
{
	if (w->results + n < w->i->operand_count)
		return &w->i->operands[w->results + n];
	opcode_refuse(w, "an operand is missing");
	return NULL;
}

uint32_t opcode_sources(const struct opcode_work *w)
{
	return w->i->operand_count - w->results;
}

void opcode_put(struct opcode_work *w, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	gs_buf_vprintf(w->out, fmt, ap);
	va_end(ap);
}

static const struct ptx_register *register_of(const struct opcode_work *w, int32_t reg)
{
	return &w->scope->function->registers[reg];
}

static bool is_float(struct opcode_type t)
{
	return t.kind == 'f' && t.parts == 1 && t.bits >= 32;
}

/* Writes what reads the register as unsigned bits: before it and after it. */
static void put_register(struct opcode_work *w, const struct ptx_operand *o, struct opcode_type t)
{
	const struct ptx_register *r = register_of(w, o->reg);
	bool real = r->real && r->bits >= 32;
	uint32_t storage = r->bits == 8 ? 16 : r->bits;
	if (r->bits == 1 && t.kind != 'p')
		opcode_refuse(w, "a predicate is used as a number");
	if (t.kind == 'p' || r->bits == 1) {
		opcode_put(w, "(");
		w->scope->spell(w->scope, o->reg, w->out);
		opcode_put(w, r->bits != 1 ? (o->negated ? " == 0)" : " != 0)") : o->negated ? " ^ 1u)" : ")");
		return;
	}
	if (t.bits == 128 || r->bits == 128) {
		if (t.bits != r->bits)
			opcode_refuse(w, "a register has another size than its type");
		w->scope->spell(w->scope, o->reg, w->out);
		return;
	}
	const char *open = "", *close = "";
	char cast[64] = "";
	if (is_float(t)) {
		if (!real || storage != t.bits) {
			const char *same = t.bits == 32 ? "as_float(" : "as_double(", *other = t.bits == 32 ? "as_float((uint)" : "as_double((ulong)";
			open = storage == t.bits ? same : other;
			close = ")";
		}
	} else {
		struct opcode_type narrow = t;
		if (t.kind == 's' && t.parts == 1 && t.bits > storage) { /* the register's own sign is extended */
			narrow.bits = (uint8_t)storage;
			snprintf(cast, sizeof cast, "((%s)(%s)", opcode_c_type(t), opcode_c_type(narrow));
		} else if (t.bits != storage || (t.kind == 's' && t.parts == 1)) {
			snprintf(cast, sizeof cast, "((%s)", opcode_c_type(t));
		}
		close = *cast ? ")" : "";
	}
	opcode_put(w, "%s%s", open, cast);
	if (real && !(is_float(t) && storage == t.bits)) {
		opcode_put(w, storage == 32 ? "as_uint(" : "as_ulong(");
		w->scope->spell(w->scope, o->reg, w->out);
		opcode_put(w, ")");
	} else {
		w->scope->spell(w->scope, o->reg, w->out);
	}
	opcode_put(w, "%s", close);
}

static void put_real_constant(struct opcode_work *w, const struct ptx_operand *o, struct opcode_type t)
{
	union { uint64_t bits; double value; } d = {.bits = (uint64_t)o->value};
	union { uint32_t bits; float value; } f = {.bits = (uint32_t)o->value};
	if (o->constant == PTX_DOUBLE)
		f.value = (float)d.value;
	else if (o->constant == PTX_FLOAT)
		d.value = (double)f.value;
	else {
		f.value = (float)o->value;
		d.value = (double)o->value;
	}
	if (t.bits == 32)
		opcode_put(w, "as_float(%#xu)", f.bits);
	else
		opcode_put(w, "as_double(%#llxul)", (unsigned long long)d.bits);
}

static void put_constant(struct opcode_work *w, const struct ptx_operand *o, struct opcode_type t)
{
	unsigned long long v = (unsigned long long)o->value;
	if (is_float(t))
		put_real_constant(w, o, t);
	else if (t.kind == 'p')
		opcode_put(w, "%uu", (v != 0) ^ o->negated);
	else if (t.bits == 128)
		opcode_put(w, "((ulong2)(%#llxul, %s))", v, o->value < 0 ? "~0ul" : "0ul");
	else if (t.bits == 64)
		opcode_put(w, t.kind == 's' ? "((long)%#llxul)" : "%#llxul", v);
	else if (t.bits == 32)
		opcode_put(w, t.kind == 's' && t.parts == 1 ? "((int)%#xu)" : "%#xu", (uint32_t)v);
	else
		opcode_put(w, "((%s)%#xu)", opcode_c_type(t), (uint32_t)v & (t.bits == 8 ? 0xffu : 0xffffu));
}

static void put_special(struct opcode_work *w, const struct ptx_operand *o, struct opcode_type t)
{
	struct opcode_type own;
	const char *text = opcode_special(o->text, &own);
	if (!text)
		opcode_refuse(w, "the special register %s is not known", o->text);
	else if (t.kind == 'p')
		opcode_put(w, "((%s) != 0)", text);
	else if (is_float(t))
		opcode_put(w, t.bits == 32 ? "as_float((uint)%s)" : "as_double((ulong)%s)", text);
	else
		opcode_put(w, "((%s)%s)", opcode_c_type(t), text);
}

void opcode_put_operand(struct opcode_work *w, const struct ptx_operand *o, struct opcode_type t)
{
	if (!o)
		return;
	switch (o->kind) {
	case PTX_REGISTER: put_register(w, o, t); break;
	case PTX_IMMEDIATE: put_constant(w, o, t); break;
	case PTX_SPECIAL: put_special(w, o, t); break;
	case PTX_SYMBOL:
		if (is_float(t) || t.bits == 128 || t.bits < 32)
			opcode_refuse(w, "%s is used as a number of type %s", o->text, t.name);
		opcode_put(w, "((%s)", opcode_c_type(t));
		opcode_put_symbol(w, o->text, o->value);
		opcode_put(w, ")");
		break;
	default: opcode_refuse(w, "an operand is of a kind that is not expected here"); break;
	}
}

/* What makes an expression of the type t the value of a register. */
static const char *conversion(struct opcode_work *w, const struct ptx_register *r, struct opcode_type t, char *text, size_t room)
{
	bool real = r->real && r->bits >= 32;
	uint32_t storage = r->bits == 8 ? 16 : r->bits;
	const char *whole = storage == 16 ? "ushort" : storage == 64 ? "ulong" : "uint";
	const char *as = !real ? "(" : storage == 32 ? "as_float(" : "as_double(";
	if (r->bits == 128 || t.bits == 128) {
		if (r->bits != t.bits)
			opcode_refuse(w, "a register has another size than its type");
		return "(";
	}
	if (r->bits == 1 || t.kind == 'p')
		return r->bits == 1 ? (t.kind == 'p' ? "(" : "(0 != ") : "(uint)(";
	if (is_float(t) && real && storage == t.bits)
		return "(";
	if (is_float(t)) {
		snprintf(text, room, "%s(%s)%s(", as, whole, t.bits == 32 ? "as_uint" : "as_ulong");
		return text;
	}
	struct opcode_type wide = t;
	wide.bits = (uint8_t)storage;
	bool extends = t.kind == 's' && t.parts == 1 && t.bits < storage;
	snprintf(text, room, "%s(%s)%s%s%s(%s)(", as, whole, extends ? "(" : "",
		 extends ? opcode_c_type(wide) : "", extends ? ")" : "", opcode_c_type(t));
	return text;
}

void opcode_open(struct opcode_work *w, uint32_t n, struct opcode_type t)
{
	char text[96];
	if (n >= w->results) {
		opcode_refuse(w, "a result is missing");
		return;
	}
	const struct ptx_operand *o = &w->i->operands[n];
	if (o->kind == PTX_SPECIAL) { /* _: nobody wants it */
		opcode_put(w, "(void)(");
	} else if (o->kind != PTX_REGISTER) {
		opcode_refuse(w, "the result is not a register");
	} else {
		const char *convert = conversion(w, register_of(w, o->reg), t, text, sizeof text);
		w->scope->spell(w->scope, o->reg, w->out);
		opcode_put(w, " = %s", convert);
	}
}

void opcode_close(struct opcode_work *w, uint32_t n, struct opcode_type t)
{
	if (n >= w->results)
		return;
	const struct ptx_operand *o = &w->i->operands[n];
	const char *close = ");\n";
	if (o->kind == PTX_REGISTER) {
		char text[96];
		uint32_t open = 0;
		for (const char *p = conversion(w, register_of(w, o->reg), t, text, sizeof text); *p; p++)
			open += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		close = open == 2 ? "));\n" : ");\n";
	}
	opcode_put(w, "%s", close);
}

/* $a:u32 and the like, after the $. Returns where the text goes on. */
static const char *expand_operand(struct opcode_work *w, const char *p)
{
	struct opcode_type t = w->type;
	if ((*p == 'u' || *p == 's') && p[1] >= 'a' && p[1] <= 'f')
		t = opcode_type_as(t, *p++);
	const struct ptx_operand *o = opcode_source(w, (uint32_t)(*p++ - 'a'));
	bool own = true;
	if (*p == ':') {
		char name[8] = "";
		for (uint32_t i = 0; isalnum((unsigned char)*++p); i++)
			if (i + 1 < sizeof name)
				name[i] = *p;
		t = opcode_type_of(name);
		own = false;
	}
	bool flush = w->flush && own && (t.kind == 'f' || t.kind == 'g') && opcode_type_letter(t) != 'd';
	opcode_put(w, flush ? "gs_ftz_%s(" : "", t.name);
	opcode_put_operand(w, o, t);
	opcode_put(w, flush ? ")" : "");
	return p;
}

const char *opcode_rounding(const struct opcode_work *w)
{
	static const char *const words[] = {"rz", "rm", "rp", "rna", NULL}, *const names[] = {"GS_RZ", "GS_RM", "GS_RP", "GS_RNA"};
	int which = opcode_which(w, words);
	return which < 0 ? "GS_RN" : names[which];
}

void opcode_expand(struct opcode_work *w, const char *text)
{
	struct opcode_type wide = w->type;
	wide.bits = (uint8_t)(wide.bits * 2);
	for (const char *p = text; *p;) {
		if (*p != '$') {
			gs_buf_add(w->out, p++, 1);
			continue;
		}
		switch (*++p) {
		case 'T': opcode_put(w, "%s", opcode_c_type(w->type)); break;
		case 'U': opcode_put(w, "%s", opcode_c_type(opcode_type_as(w->type, 'u'))); break;
		case 'S': opcode_put(w, "%s", opcode_c_type(opcode_type_as(w->type, 's'))); break;
		case 'W': opcode_put(w, "%s", opcode_c_type(wide)); break;
		case 'P': opcode_put(w, w->type.bits == 64 ? "ulong" : "uint"); break;
		case 't': opcode_put(w, "%s", w->type.name); break;
		case 'N': opcode_put(w, "%u", w->type.bits); break;
		case 'M': opcode_put(w, "%u", w->type.bits - 1u); break;
		case 'm': opcode_put(w, "%s", opcode_rounding(w)); break;
		default: p = expand_operand(w, p); continue;
		}
		p++;
	}
}

void opcode_assign(struct opcode_work *w, uint32_t n, struct opcode_type t, const char *text)
{
	static const char *const finishers[] = {"ftz", "sat", "relu"}; /* the innermost first */
	bool real = (t.kind == 'f' || t.kind == 'g') && n == 0;
	char letter = opcode_type_letter(t);
	uint32_t closes = 0;
	opcode_open(w, n, t);
	for (uint32_t f = GS_ARRAY_LEN(finishers); f-- && real;) {
		if (!opcode_has(w, finishers[f]) || (f == 0 && (letter == 'd' || !w->flush)))
			continue;
		opcode_put(w, "gs_%s_%s(", finishers[f], t.name);
		closes++;
	}
	opcode_expand(w, text);
	while (closes--)
		opcode_put(w, ")");
	opcode_close(w, n, t);
}

static bool fits(const struct opcode_work *w, const struct opcode_rule *r)
{
	if (strcmp(r->name, w->words[0]) || !strchr(r->types, opcode_type_letter(w->type)) || w->type.bits == 8 || w->type.bits == 128)
		return false;
	if (r->word && !strcmp(r->word, "directed"))
		return strcmp(opcode_rounding(w), "GS_RN");
	return !r->word || opcode_has(w, r->word);
}

bool opcode_apply(struct opcode_work *w, const struct opcode_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!fits(w, &rules[i]))
			continue;
		struct opcode_type result = w->type;
		if (rules[i].result && !strcmp(rules[i].result, "wide")) {
			result.bits = (uint8_t)(result.bits * 2);
			result = opcode_type_as(result, result.kind);
		} else if (rules[i].result) {
			result = opcode_type_of(rules[i].result);
		}
		if (w->results != 1)
			opcode_refuse(w, "it has %u results", w->results);
		else
			opcode_assign(w, 0, result, rules[i].text);
		return true;
	}
	return false;
}
