/*
 * Lanes that wait for others of their warp. Shuffles, votes and the like name lanes, and on GPUs since Volta they wait until all of these
 * that have not ended have come to the same kind of instruction, with the same mask, wherever that is in the code.
 *
 * Where all are there, nothing happens but one comparison. Otherwise what each lane brings goes into the warp's struct gs_meeting (frame.cl),
 * and the lanes become an entry of the list that is HELD; others run. Once lanes have come that complete a set, all of the set go on, each
 * where it is, with what the others have brought.
 *
 * Lanes that are held break the order in which sides run, which uniform registers rely on (uniform.c). So from then on (`loose`) every
 * entry has a copy of the uniform registers, a snapshot of when it was made, and lanes that go on take theirs.
 */
#include "annotator/lift/structure.h"

#include "annotator/lift/internal.h"

bool is_sync(const struct ptx_instruction *i)
{
	return lift_kind(i) == LIFT_WARP && has_word(i->opcode, "sync") && !has_word(i->opcode, "aligned"); /* those of matrices do not wait */
}

/* Other entries than those of branches are made without snapshots. */
static bool parts_lanes(const struct ptx_instruction *i)
{
	enum flow_kind kind = flow_kind(i);
	bool by_register = i->operand_count && i->operands[0].kind == PTX_REGISTER;
	return kind == FLOW_TABLE || ((kind == FLOW_BARRIER || kind == FLOW_ARRIVE) && (i->guard >= 0 || by_register));
}

void note_syncs(struct kernel_plan *p)
{
	bool away = false; /* lanes may be elsewhere */
	p->plain_splits = !p->calls;
	for (uint32_t f = 0; f < p->function_count; f++)
		for (uint32_t i = 0; i < p->functions[f].function->instruction_count; i++) {
			const struct ptx_instruction *in = &p->functions[f].function->instructions[i];
			p->syncs |= is_sync(in);
			away |= is_sync(in) && (f || in->guard >= 0);
			p->plain_splits &= !parts_lanes(in);
		}
	p->meets = away || (p->syncs && p->waits);
}

/* Copies between uniform registers and the snapshot of entry k. */
static void write_snapshot(struct kernel_writer *w, bool save)
{
	const struct planned_function *f = &w->plan->functions[0];
	gs_buf_printf(w->out, "{ const ulong snapshot = (ulong)S + %u + (ulong)k * %u;\n", w->plan->snapshots_at, w->plan->snapshot_bytes);
	for (uint32_t r = 0; r < f->function->register_count; r++) {
		const struct planned_register *own = &f->registers[r];
		const char *type = lift_storage(&f->function->registers[r]);
		if (!own->used || !own->uniform)
			continue;
		if (save)
			gs_buf_printf(w->out, "*(__global %s *)(snapshot + %u) = u0_%u;\n", type, own->snapshot_at, r);
		else
			gs_buf_printf(w->out, "u0_%u = *(__global %s *)(snapshot + %u);\n", r, type, own->snapshot_at);
	}
	gs_buf_puts(w->out, "}\n");
}

void write_meeting_macros(struct kernel_writer *w)
{
	const struct kernel_plan *p = w->plan;
	if (!p->meets) {
		gs_buf_puts(w->out, "#undef GS_TOGETHER\n#define GS_TOGETHER(named, what, mask, keep, take)\n#undef GS_THERE\n#define GS_THERE x\n"
		                    "#undef GS_CHOOSE\n#define GS_CHOOSE(k) if (0) ;\n#undef GS_RESUME\n#define GS_RESUME goto DISPATCH;\n#undef GS_TAKEN\n#define GS_TAKEN(k)\n#undef GS_LOOK\n#define GS_LOOK\n"
		                    "#undef GS_BEFORE_SPLIT\n#define GS_BEFORE_SPLIT GS_ROOM\n#undef GS_AFTER_SPLIT\n#define GS_AFTER_SPLIT goto DISPATCH;\n"
		                    "#undef GS_AFTER_WAIT\n#define GS_AFTER_WAIT goto NEXT;\n#undef GS_ROOM\n#define GS_ROOM");
		gs_buf_puts(w->out, p->stops ? " GS_COMPACT(0ul, 0u)\n" : "\n");
		return;
	}
	gs_buf_printf(w->out, "#undef GS_MEETINGS\n#define GS_MEETINGS %uul, %u, %u\n", p->warp_bytes, p->entries_at, p->meeting_at);
	gs_buf_printf(w->out,
	              "#undef GS_TOGETHER\n#define GS_TOGETHER GS_MEETING\n#undef GS_THERE\n#define GS_THERE (met ? met : x)\n"
	              "#undef GS_CHOOSE\n#define GS_CHOOSE(k) if (H->held) k = gs_choose(g, S, E, H, sp, alive, %uu, %luul, %uu, never);\n"
	              "#undef GS_RESUME\n#define GS_RESUME goto RESUME;\n#undef GS_TAKEN\n#define GS_TAKEN(k) GS_MET(k)\n"
	              "#undef GS_BEFORE_SPLIT\n#define GS_BEFORE_SPLIT GS_ROOM first = sp;\n#undef GS_AFTER_SPLIT\n#define GS_AFTER_SPLIT goto KEEP;\n"
	              "#undef GS_AFTER_WAIT\n#define GS_AFTER_WAIT first = sp - 1; goto KEEP;\n",
	              !p->stops, (unsigned long)p->snapshots_at, p->snapshot_bytes);
	gs_buf_printf(w->out, "#undef GS_ROOM\n#define GS_ROOM GS_COMPACT(%uul, %uu)\n", p->snapshots_at, p->snapshot_bytes);
	gs_buf_printf(w->out, "#undef GS_LOOK\n#define GS_LOOK if (H->held) gs_resolve(S, E, H, sp, alive, %uul, %uu, never);\n", p->snapshots_at,
	              p->snapshot_bytes);
}

void write_meeting_begin(struct kernel_writer *w)
{
	if (w->plan->meets)
		gs_buf_puts(w->out, "H->pending = H->there = H->held = H->loose = H->met = H->force = 0;\nmet = 0;\n");
}

void write_meeting_labels(struct kernel_writer *w)
{
	if (!w->plan->meets)
		return;
	gs_buf_puts(w->out, lift_frame_meetings);
	gs_buf_puts(w->out, "KEEP:\nfor (uint k = first; H->loose && k < sp; k++)\n");
	write_snapshot(w, true);
	gs_buf_puts(w->out, "if (!m) goto NEXT;\ngoto DISPATCH;\nRESUME:\nif (H->loose) {\nconst uint k = first;\n");
	write_snapshot(w, false);
	gs_buf_puts(w->out, "H->loose = m != alive;\n}\ngoto DISPATCH;\n");
}

void write_here(struct kernel_writer *w, const struct kernel_part *part)
{
	uint32_t pc = w->f->first_pc + (uint32_t)(part - w->f->parts);
	gs_buf_printf(w->out, "#undef GS_HERE\n#define GS_HERE %uu\n", pc);
	w->targets[pc] = true;
}
