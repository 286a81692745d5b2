/* Atomic operations and fences. Other groups run in other threads of the host, so the host's atomic operations are what is needed. */
#include "annotator/opcodes/opcode.h"

#include <string.h>

static const char *const operations[] = {"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas", NULL};

/* The type that a function of the prelude has for it, or NULL. */
static const char *type_of(const struct opcode_type *t, const char *operation)
{
	bool bitwise = strchr("aoxec", *operation) && strcmp(operation, "add");
	switch (opcode_type_letter(*t)) {
	case 'u': return t->bits == 32 ? "u32" : t->bits == 64 ? "u64" : NULL;
	case 's': return t->bits == 32 ? "s32" : t->bits == 64 ? "s64" : NULL;
	case 'b': return !bitwise ? NULL : t->bits == 32 ? "u32" : t->bits == 64 ? "u64" : t->bits == 16 && *operation == 'c' ? "u16" : NULL;
	case 'f':
	case 'd':
	case 'h':
	case 'H':
	case 'g':
	case 'G': return !strcmp(operation, "add") || strchr("hHgG", opcode_type_letter(*t)) ? t->name : NULL;
	default: return NULL;
	}
}

static bool has_function(const char *operation, const char *type)
{
	bool real = strchr("f", *type) || !strncmp(type, "bf", 2);
	if (real)
		return !strcmp(operation, "add") || !strcmp(operation, "min") || !strcmp(operation, "max");
	if (!strcmp(operation, "inc") || !strcmp(operation, "dec"))
		return !strcmp(type, "u32");
	return true;
}

/* PTX: sums of f32 in global memory flush subnormal numbers, those in shared memory do not. A generic address counts as global. */
static const char *ending(const struct opcode_work *w, const char *operation, const char *type)
{
	return !strcmp(operation, "add") && !strcmp(type, "f32") && w->i->space != SPACE_shared ? "_flushed" : "";
}

void opcode_write_atom(struct opcode_work *w)
{
	int which = opcode_which(w, operations);
	uint32_t at = w->results, elements = opcode_has(w, "v2") ? 2 : opcode_has(w, "v4") ? 4 : opcode_has(w, "v8") ? 8 : 1;
	bool atom = !strcmp(w->words[0], "atom"), cas = which >= 0 && !strcmp(operations[which], "cas");
	const char *type = which < 0 || !w->type_count ? NULL : type_of(&w->type, operations[which]);
	if (!type || !has_function(operations[which], type)) {
		opcode_refuse(w, "it is not known for %s", w->type.name);
		return;
	}
	if (at >= w->i->operand_count || w->i->operands[at].kind != PTX_ADDRESS || w->i->operand_count < at + 1 + elements + cas ||
	    (atom ? w->results != elements : w->results)) {
		opcode_refuse(w, "its operands are not known");
		return;
	}
	opcode_put(w, "{ ulong gs_a = ");
	opcode_put_address(w, &w->i->operands[at], w->i->space);
	opcode_put(w, ";\n");
	opcode_put_check(w);
	struct opcode_type t = opcode_type_of(type);
	for (uint32_t e = 0; e < elements; e++) {
		if (atom)
			opcode_open(w, e, t);
		opcode_put(w, "gs_atomic_%s%s_%s(gs_a + %uul, ", operations[which], ending(w, operations[which], type), type, e * t.bits / 8u);
		opcode_put_operand(w, &w->i->operands[at + 1 + e], t);
		if (cas) {
			opcode_put(w, ", ");
			opcode_put_operand(w, &w->i->operands[at + 2], t);
		}
		opcode_put(w, ")");
		if (atom)
			opcode_close(w, e, t);
		else
			opcode_put(w, ";\n");
	}
	opcode_put(w, "}\n");
}

void opcode_write_fence(struct opcode_work *w)
{
	if (strcmp(w->words[0], "bar.warp"))
		opcode_put(w, "mem_fence(CLK_GLOBAL_MEM_FENCE);\n");
}
