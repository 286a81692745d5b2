/*
 * Barriers in shared memory: words that threads of a group arrive at, and ask whether a phase is over. What a word holds is ours to choose
 * (prelude_memory.cl). Copies are made at once, so what waits for copies need not wait. But who is told how many bytes will come may be told before
 * they are asked for, so barriers count bytes.
 */
#include "annotator/opcodes/opcode.h"

#include <string.h>

static const struct opcode_type count_type = {.kind = 'u', .bits = 32, .parts = 1, .name = "u32"};
static const struct opcode_type state_type = {.kind = 'u', .bits = 64, .parts = 1, .name = "u64"};

static bool put_barrier(struct opcode_work *w, uint32_t at)
{
	bool shared = opcode_has(w, "shared") || opcode_has(w, "shared::cta") || opcode_has(w, "shared::cluster");
	if (at >= w->i->operand_count || w->i->operands[at].kind != PTX_ADDRESS) {
		opcode_refuse(w, "its operands are not known");
		return false;
	}
	opcode_put(w, "{ ulong gs_a = ");
	opcode_put_address(w, &w->i->operands[at], shared ? SPACE_shared : SPACE_generic);
	opcode_put(w, ";\n");
	return true;
}

/* The operand after the address, or 1. */
static void put_count(struct opcode_work *w, uint32_t at)
{
	if (at < w->i->operand_count)
		opcode_put_operand(w, &w->i->operands[at], count_type);
	else
		opcode_put(w, "1u");
}

static void put_arrival(struct opcode_work *w, bool drops)
{
	if (w->results)
		opcode_open(w, 0, state_type);
	bool bytes = opcode_has(w, "expect_tx");
	opcode_put(w, bytes ? "gs_mbarrier_arrive(gs_a, 1u, %uu, " : "gs_mbarrier_arrive(gs_a, ", drops);
	put_count(w, w->results + 1);
	opcode_put(w, bytes ? ")" : ", %uu, 0u)", drops);
	if (w->results)
		opcode_close(w, 0, state_type);
	else
		opcode_put(w, ";\n");
}

static void put_question(struct opcode_work *w)
{
	bool parity = opcode_has(w, "parity");
	const struct ptx_operand *phase = opcode_source(w, 1);
	if (!phase || w->results != 1) {
		opcode_refuse(w, "its operands are not known");
		return;
	}
	opcode_open(w, 0, opcode_type_of("pred"));
	opcode_put(w, parity ? "gs_mbarrier_parity_over(gs_a, " : "gs_mbarrier_phase_over(gs_a, ");
	opcode_put_operand(w, phase, parity ? count_type : state_type);
	opcode_put(w, ")");
	opcode_close(w, 0, opcode_type_of("pred"));
}

void opcode_write_mbarrier(struct opcode_work *w)
{
	const char *name = w->words[0];
	if (!put_barrier(w, w->results))
		return;
	if (!strcmp(name, "mbarrier.init")) {
		opcode_put(w, "gs_mbarrier_init(gs_a, ");
		put_count(w, w->results + 1);
		opcode_put(w, ");\n");
	} else if (!strcmp(name, "cp.async.mbarrier.arrive")) {
		opcode_put(w, opcode_has(w, "noinc") ? "gs_mbarrier_arrive(gs_a, 1u, 0u, 0u);\n" : ";\n");
	} else if (!strcmp(name, "mbarrier.arrive") || !strcmp(name, "mbarrier.arrive_drop")) {
		put_arrival(w, !strcmp(name, "mbarrier.arrive_drop"));
	} else if (!strcmp(name, "mbarrier.expect_tx") || !strcmp(name, "mbarrier.complete_tx")) {
		opcode_put(w, strcmp(name, "mbarrier.expect_tx") ? "gs_mbarrier_bytes(gs_a, 0ul - " : "gs_mbarrier_bytes(gs_a, 0ul + ");
		put_count(w, w->results + 1);
		opcode_put(w, ");\n");
	} else {
		put_question(w);
	}
	opcode_put(w, "}\n");
}

/* cp.async.bulk: rows of bytes between global and shared memory. A barrier is told of those that come to shared memory. */
void opcode_write_bulk(struct opcode_work *w)
{
	static const char *const spaces[] = {"global", "shared::cluster", "shared::cta", NULL};
	const struct ptx_operand *o = w->i->operands;
	bool from_global = opcode_has(w, "global"), to_global = false, to_barrier = opcode_has(w, "mbarrier::complete_tx::bytes");
	for (uint32_t i = w->word_count; i-- > 1;) /* the first that is named is that of the destination */
		for (uint32_t s = 0; spaces[s]; s++)
			to_global = strcmp(w->words[i], spaces[s]) ? to_global : s == 0;
	if (w->i->operand_count < 3u + to_barrier || o[0].kind != PTX_ADDRESS || o[1].kind != PTX_ADDRESS || (to_barrier && o[3].kind != PTX_ADDRESS)) {
		opcode_refuse(w, "its operands are not known");
		return;
	}
	opcode_put(w, "{ uint gs_n = ");
	opcode_put_operand(w, &o[2], count_type);
	opcode_put(w, ";\ngs_bulk_copy(");
	opcode_put_address(w, &o[0], to_global ? SPACE_global : SPACE_shared);
	opcode_put(w, ", ");
	opcode_put_address(w, &o[1], from_global && !to_global ? SPACE_global : SPACE_shared);
	opcode_put(w, ", gs_n);\n");
	if (to_barrier) {
		opcode_put(w, "gs_mbarrier_bytes(");
		opcode_put_address(w, &o[3], SPACE_shared);
		opcode_put(w, ", 0ul - gs_n);\n");
	}
	opcode_put(w, "}\n");
}

void opcode_write_mbarrier_count(struct opcode_work *w)
{
	const struct ptx_operand *state = opcode_source(w, 0);
	if (!state || w->results != 1) {
		opcode_refuse(w, "its operands are not known");
		return;
	}
	opcode_open(w, 0, count_type);
	opcode_put(w, "(uint)(");
	opcode_put_operand(w, state, state_type);
	opcode_put(w, " & 0xffffful)");
	opcode_close(w, 0, count_type);
}
