/*
 * Barriers in shared memory: words that threads of a group arrive at, and ask whether a phase is over. What a word holds is ours to choose
 * (prelude_memory.cl). Copies are made at once, so what waits for copies need not wait.
 */
#include "annotator/opcodes/opcode.h"

#include <string.h>

static const struct opcode_type count_type = {.kind = 'u', .bits = 32, .parts = 1, .name = "u32"};
static const struct opcode_type state_type = {.kind = 'u', .bits = 64, .parts = 1, .name = "u64"};

static bool put_barrier(struct opcode_work *w, uint32_t at)
{
	bool shared = opcode_has(w, "shared") || opcode_has(w, "shared::cta");
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
	opcode_put(w, "gs_mbarrier_arrive(gs_a, ");
	put_count(w, w->results + 1);
	opcode_put(w, ", %uu)", drops);
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
		opcode_put(w, opcode_has(w, "noinc") ? "gs_mbarrier_arrive(gs_a, 1u, 0u);\n" : ";\n");
	} else if (!strcmp(name, "mbarrier.arrive") || !strcmp(name, "mbarrier.arrive_drop")) {
		put_arrival(w, !strcmp(name, "mbarrier.arrive_drop"));
	} else {
		put_question(w);
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
