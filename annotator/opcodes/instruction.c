/* Single instructions: finds the row of an opcode, takes its words apart, and lets the row's function write. */
#include "annotator/opcodes/opcode.h"

#include <errno.h>
#include <string.h>

const char *const lift_prelude = lift_prelude_text;

/* Words of memory accesses that change nothing here: caches, scopes, orders that a host processor keeps anyway. */
#define ORDERS "volatile weak relaxed acquire release acq_rel sc mmio cta cluster gpu sys noftz "
#define CACHES "nc ca cg cs lu cv wb wt "
#define SPACES "global shared const local param generic shared::cta shared::cluster param::entry param::func "

static const struct opcode_entry rows[] = {
#define LANE(name, handler, modifiers) {name, LIFT_LANE, opcode_write_##handler, modifiers, NULL},
#define ORDERED(name, handler, modifiers) {name, LIFT_ORDERED, opcode_write_##handler, modifiers, NULL},
#define WARP(name, handler, modifiers) {name, LIFT_WARP, opcode_write_##handler, modifiers, NULL},
#define WARP_ANY(name, handler) {name, LIFT_WARP, opcode_write_##handler, NULL, NULL},
#define ORDERED_ANY(name, handler) {name, LIFT_ORDERED, opcode_write_##handler, NULL, NULL},
#define FLOW(name) {name, LIFT_FLOW, NULL, NULL, NULL},
#define NOTHING(name) {name, LIFT_NOTHING, NULL, NULL, NULL},
#define REFUSED(name, why) {name, LIFT_LANE, NULL, NULL, why},
#include "annotator/opcodes/opcodes.def"
};

/* Whether the opcode begins with these words. */
static bool begins(const char *opcode, const char *words)
{
	size_t length = strlen(words);
	return !strncmp(opcode, words, length) && (!opcode[length] || opcode[length] == '.');
}

static const struct opcode_entry *find_row(const char *opcode)
{
	const struct opcode_entry *best = NULL;
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
		if (begins(opcode, rows[i].name) && (!best || strlen(rows[i].name) > strlen(best->name)))
			best = &rows[i];
	return best;
}

/* Accesses that other lanes may wait for. */
static bool is_ordered(const char *opcode)
{
	static const char *const words[] = {".volatile", ".relaxed", ".acquire", ".release", ".mmio"};
	for (size_t i = 0; i < GS_ARRAY_LEN(words); i++) {
		const char *at = strstr(opcode, words[i]);
		if (at && (!at[strlen(words[i])] || at[strlen(words[i])] == '.'))
			return true;
	}
	return false;
}

enum lift_kind lift_kind(const struct ptx_instruction *i)
{
	const struct opcode_entry *row = find_row(i->opcode);
	if (!row)
		return LIFT_LANE;
	bool access = row->write == opcode_write_load || row->write == opcode_write_store;
	return access && is_ordered(i->opcode) ? LIFT_ORDERED : row->kind;
}

static bool is_modifier(const struct opcode_entry *row, const char *word)
{
	if (!strncmp(word, "L1::", 4) || !strncmp(word, "L2::", 4) || !strncmp(word, "level::", 7))
		return true;
	if (!row->modifiers)
		return true;
	size_t length = strlen(word);
	for (const char *p = row->modifiers; *p; p += strcspn(p, " "), p += strspn(p, " "))
		if (strcspn(p, " ") == length && !strncmp(p, word, length))
			return true;
	return false;
}

/* Takes the opcode apart. Its name may have several words: as many as that of its row. */
static void split(struct opcode_work *w, const struct opcode_entry *row)
{
	if (strlen(w->i->opcode) >= sizeof w->copy) {
		opcode_refuse(w, "it is too long");
		return;
	}
	strcpy(w->copy, w->i->opcode);
	w->words[w->word_count++] = row->name;
	char *rest;
	for (char *word = strtok_r(w->copy + strlen(row->name), ".", &rest); word; word = strtok_r(NULL, ".", &rest)) {
		struct opcode_type t = opcode_type_of(word);
		if (w->word_count == OPCODE_WORDS || (t.kind && w->type_count == OPCODE_TYPES)) {
			opcode_refuse(w, "it has too many words");
			return;
		}
		w->words[w->word_count++] = word;
		if (t.kind)
			w->types[w->type_count++] = w->type = t;
		else if (!is_modifier(row, word))
			opcode_refuse(w, ".%s is not known", word);
	}
}

static void begin(struct opcode_work *w)
{
	while (w->results < w->i->operand_count && w->i->operands[w->results].write)
		w->results++;
	w->flush = opcode_has(w, "ftz");
}

int lift_statement(const struct lift_scope *s, const struct ptx_instruction *i, struct gs_buf *out, struct gs_error *err)
{
	const struct opcode_entry *row = find_row(i->opcode);
	struct opcode_work w = {.scope = s, .i = i, .out = out, .err = err};
	if (!row)
		opcode_refuse(&w, "the instruction is not known");
	else if (row->why)
		opcode_refuse(&w, "%s", row->why);
	if (!w.rc && row->write) {
		split(&w, row);
		begin(&w);
		if (!w.rc)
			row->write(&w);
	}
	if (!w.rc && out->failed)
		w.rc = gs_fail(err, ENOMEM, "out of memory");
	return w.rc;
}

/* The operand that is the address of the access that i->space describes: of copies, the global one. */
static const struct ptx_operand *address_of(const struct ptx_instruction *i)
{
	bool copy = begins(i->opcode, "cp.async") && i->class != CODE_store;
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (i->operands[o].kind == PTX_ADDRESS && !(copy && o == 0))
			return &i->operands[o];
	return NULL;
}

int lift_address(const struct lift_scope *s, const struct ptx_instruction *i, struct gs_buf *out, struct gs_error *err)
{
	struct opcode_work w = {.scope = s, .i = i, .out = out, .err = err};
	const struct ptx_operand *o = address_of(i);
	if (begins(i->opcode, "tex") || begins(i->opcode, "tld4")) {
		split(&w, find_row(i->opcode));
		if (!w.rc && !opcode_put_texture_address(&w))
			opcode_refuse(&w, "this kind of texture is not lifted yet");
	} else if (begins(i->opcode, "suld") || begins(i->opcode, "sust")) {
		split(&w, find_row(i->opcode));
		if (!w.rc && !opcode_put_surface_address(&w))
			opcode_refuse(&w, "this kind of surface is not lifted yet");
	} else if (begins(i->opcode, "wmma.load") || begins(i->opcode, "wmma.store")) {
		split(&w, find_row(i->opcode));
		begin(&w);
		if (!w.rc)
			opcode_put_fragment_address(&w);
	} else if (!o)
		opcode_refuse(&w, "it has no address");
	else
		opcode_put_place(&w, o, i->space);
	return w.rc;
}

int lift_object(const struct lift_scope *s, const struct ptx_instruction *i, struct gs_buf *out, struct gs_error *err)
{
	struct opcode_work w = {.scope = s, .i = i, .out = out, .err = err};
	split(&w, find_row(i->opcode));
	if (!w.rc)
		opcode_put_object(&w);
	return w.rc;
}

uint32_t lift_low_bits(const struct ptx_instruction *i)
{
	enum { MOST = 16 }; /* shared and local memory begin at a multiple of that */
	bool known = begins(i->opcode, "ld") || begins(i->opcode, "st") || begins(i->opcode, "atom") || begins(i->opcode, "red");
	bool space = i->space == SPACE_global || i->space == SPACE_shared || i->space == SPACE_local || i->space == SPACE_generic;
	const struct ptx_operand *o = known && space ? address_of(i) : NULL;
	uint32_t bytes = i->bytes < MOST ? i->bytes : MOST;
	return o && o->reg >= 0 && bytes && !(bytes & (bytes - 1)) ? bytes - 1 : 0;
}

int lift_value(const struct lift_scope *s, const struct ptx_operand *o, const char *type, struct gs_buf *out, struct gs_error *err)
{
	struct ptx_instruction none = {.opcode = type};
	struct opcode_work w = {.scope = s, .i = &none, .out = out, .err = err};
	struct opcode_type t = opcode_type_of(type);
	if (!t.kind)
		opcode_refuse(&w, "the type is not known");
	else
		opcode_put_operand(&w, o, t);
	return w.rc;
}

const char *lift_storage(const struct ptx_register *r)
{
	switch (r->bits) {
	case 8:
	case 16: return "ushort";
	case 64: return r->real ? "double" : "ulong";
	case 128: return "ulong2";
	case 32: return r->real ? "float" : "uint";
	default: return "uint";
	}
}
