/* Comparisons, and choices by what a number is. */
#include "annotator/opcodes/opcode.h"

#include <stdio.h>
#include <string.h>

/* What a comparison is for integers, and for floats: A and B stand for the operands. The forms with u are true for NaN. */
static const struct {
	const char *word, *integer, *real;
} compares[] = {
	{"eq", "A == B", "A == B"},  {"ne", "A != B", "A < B | A > B"}, {"lt", "A < B", "A < B"},
	{"le", "A <= B", "A <= B"},  {"gt", "A > B", "A > B"},          {"ge", "A >= B", "A >= B"},
	{"lo", "A < B", NULL},       {"ls", "A <= B", NULL},            {"hi", "A > B", NULL},
	{"hs", "A >= B", NULL},      {"equ", NULL, "!(A < B | A > B)"}, {"neu", NULL, "A != B"},
	{"ltu", NULL, "!(A >= B)"},  {"leu", NULL, "!(A > B)"},         {"gtu", NULL, "!(A <= B)"},
	{"geu", NULL, "!(A < B)"},   {"num", NULL, "A == A & B == B"},  {"nan", NULL, "A != A | B != B"},
};

/* Operand a or b as something that C can compare. part: which half of a packed type. */
static void put_compared(struct opcode_work *w, char which, uint32_t part)
{
	char letter = opcode_type_letter(w->type), text[16];
	const char *base = letter == 'h' || letter == 'H' ? "f16" : letter == 'g' || letter == 'G' ? "bf16" : NULL;
	snprintf(text, sizeof text, "$%c", which);
	if (base)
		opcode_put(w, "gs_f32_of_%s((ushort)(", base);
	opcode_expand(w, text);
	if (base)
		opcode_put(w, part ? " >> 16))" : "))");
}

/* The comparison of the opcode as an expression that is 0 or 1. */
static void put_comparison(struct opcode_work *w, uint32_t part)
{
	bool real = strchr("fdhgHG", opcode_type_letter(w->type));
	for (size_t i = 0; i < GS_ARRAY_LEN(compares); i++) {
		const char *text = real ? compares[i].real : compares[i].integer;
		if (strcmp(compares[i].word, w->words[1]))
			continue;
		if (!text)
			break;
		opcode_put(w, "(uint)(");
		for (; *text; text++) {
			if (*text == 'A' || *text == 'B')
				put_compared(w, *text == 'A' ? 'a' : 'b', part);
			else
				opcode_put(w, "%c", *text);
		}
		opcode_put(w, ")");
		return;
	}
	opcode_refuse(w, "the comparison is not known for %s", w->type.name);
}

/* The operator that joins it with a predicate, or 0. */
static char join_of(const struct opcode_work *w)
{
	static const char *const words[] = {"and", "or", "xor", NULL};
	int which = opcode_which(w, words);
	return which < 0 ? 0 : "&|^"[which];
}

static bool check(struct opcode_work *w, uint32_t types)
{
	if (w->word_count < 2 || w->type_count != types)
		opcode_refuse(w, "it has another number of types");
	else if (opcode_sources(w) != (join_of(w) ? 3u : 2u))
		opcode_refuse(w, "it has another number of operands");
	return !w->rc;
}

/* setp.lt.and.s32 p|q, a, b, c: q is the same of what is not true. Packed types compare halves for p and q. */
void opcode_write_setp(struct opcode_work *w)
{
	struct opcode_type pred = opcode_type_of("pred");
	char join = join_of(w);
	if (!check(w, 1))
		return;
	if (w->results == 1 && w->type.parts == 1) {
		opcode_open(w, 0, pred);
		put_comparison(w, 0);
		if (join) {
			opcode_put(w, " %c ", join);
			opcode_expand(w, "$c:pred");
		}
		opcode_close(w, 0, pred);
		return;
	}
	opcode_put(w, "{ uint gs_p = ");
	put_comparison(w, 0);
	opcode_put(w, ", gs_q = ");
	if (w->type.parts == 2)
		put_comparison(w, 1);
	else
		opcode_put(w, "gs_p ^ 1u");
	opcode_put(w, ";\n");
	if (join) {
		opcode_put(w, "uint gs_c = ");
		opcode_expand(w, "$c:pred;\n");
		opcode_put(w, "gs_p = gs_p %c gs_c; gs_q = gs_q %c gs_c;\n", join, join);
	}
	opcode_assign(w, 0, pred, "gs_p");
	if (w->results == 2)
		opcode_assign(w, 1, pred, "gs_q");
	opcode_put(w, "}\n");
}

/* What set writes for true: all bits of integers, 1 of floats. */
static const char *true_of(struct opcode_type t)
{
	switch (opcode_type_letter(t)) {
	case 'f': return "1.0f : 0.0f";
	case 'h': return "0x3c00 : 0";
	case 'g': return "0x3f80 : 0";
	case 'u':
	case 's': return t.bits <= 32 ? "~0u : 0u" : NULL;
	default: return NULL;
	}
}

void opcode_write_set(struct opcode_work *w)
{
	if (!check(w, 2))
		return;
	char join = join_of(w), text[96];
	struct opcode_type result = w->types[0];
	bool packed = w->type.parts == 2;
	struct opcode_type each = packed ? opcode_type_of(result.kind == 'g' ? "bf16" : result.kind == 'f' ? "f16" : "u16") : result;
	const char *values = true_of(each);
	if (!values || (packed && result.bits != 32)) {
		opcode_refuse(w, "its result cannot be %s", result.name);
		return;
	}
	opcode_put(w, "{ uint gs_p = ");
	put_comparison(w, 0);
	opcode_put(w, ", gs_q = ");
	if (packed)
		put_comparison(w, 1);
	else
		opcode_put(w, "0");
	if (join) {
		opcode_put(w, ", gs_c = ");
		opcode_expand(w, "$c:pred");
		opcode_put(w, "; gs_p = gs_p %c gs_c; gs_q = gs_q %c gs_c", join, join);
	}
	opcode_put(w, ";\n");
	if (packed)
		snprintf(text, sizeof text, "gs_pair((ushort)(gs_p ? %s), (ushort)(gs_q ? %s))", values, values);
	else
		snprintf(text, sizeof text, "gs_p ? %s", values);
	opcode_assign(w, 0, result, text);
	opcode_put(w, "}\n");
}

void opcode_write_slct(struct opcode_work *w)
{
	char letter = opcode_type_letter(w->type);
	if (w->type_count != 2 || (letter != 's' && letter != 'f') || w->results != 1) {
		opcode_refuse(w, "its types are not known");
		return;
	}
	struct opcode_type condition = w->type, result = w->types[0];
	opcode_open(w, 0, result);
	opcode_put(w, "(");
	opcode_expand(w, "$c");
	opcode_put(w, condition.kind == 'f' ? " >= 0.0f) ? " : " >= 0) ? ");
	opcode_put_operand(w, opcode_source(w, 0), result);
	opcode_put(w, " : ");
	opcode_put_operand(w, opcode_source(w, 1), result);
	opcode_close(w, 0, result);
}
