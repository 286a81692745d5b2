/*
 * Which registers have one value for all lanes that can see it, and where lanes may go different ways.
 *
 * A register is uniform if everything that writes it computes the same in all lanes, and no lane can miss a write that others made. Lanes
 * of a divergent branch execute its region (what lies between the branch and its join) while others wait: at the join, or at the begin of
 * the side that runs later. So a register that is written in the region must not be live where others wait.
 *
 * Lanes that stop inside of a region (barriers, loops that wait) may be anywhere: a kernel that does that has no uniform registers. Lanes
 * that wait for other lanes of their warp may be anywhere too, but then uniform registers are kept for all that wait (meetings.c).
 */
#include "annotator/lift/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct uniformity {
	struct kernel_plan *plan;
	struct planned_function *f;
	bool *region; /* per block */
	uint32_t *stack;
	bool changed, none;
};

bool special_is_uniform(const char *name)
{
	static const char *const varying[] = {"%tid", "%laneid", "%lanemask", "%clock", "%globaltimer", "%pm", "_"};
	for (size_t i = 0; i < GS_ARRAY_LEN(varying); i++)
		if (!strncmp(name, varying[i], strlen(varying[i])))
			return false;
	return true;
}

static bool is_formal_parameter(const struct ptx_function *f, const char *name)
{
	for (uint32_t v = 0; v < f->parameter_count; v++)
		if (!strcmp(f->variables[v].name, name))
			return f->entry;
	return false;
}

bool computes_alike(const struct planned_function *f, const struct ptx_instruction *i)
{
	const char *o = i->opcode;
	if (lift_kind(i) != LIFT_LANE || has_word(o, "cc") || !strncmp(o, "addc", 4) || !strncmp(o, "subc", 4) || !strncmp(o, "madc", 4))
		return false;
	if (!strncmp(o, "ld.param", 8)) {
		for (uint32_t k = 0; k < i->operand_count; k++)
			if (i->operands[k].kind == PTX_ADDRESS)
				return i->operands[k].reg < 0 && i->operands[k].text && is_formal_parameter(f->function, i->operands[k].text);
		return false;
	}
	if (!strncmp(o, "ld.const", 8))
		return true;
	if (!strncmp(o, "cvta", 4) && has_word(o, "local"))
		return false;
	return i->class != CODE_load && i->class != CODE_store && i->class != CODE_atomic && i->class != CODE_texture &&
	       i->class != CODE_fence;
}

static bool operand_is_uniform(const struct planned_function *f, const struct ptx_operand *o)
{
	if (o->write)
		return true;
	if ((o->kind == PTX_REGISTER || o->kind == PTX_ADDRESS) && o->reg >= 0)
		return f->registers[o->reg].uniform;
	return o->kind != PTX_SPECIAL || special_is_uniform(o->text);
}

static bool instruction_is_uniform(const struct planned_function *f, const struct ptx_instruction *i)
{
	bool uniform = computes_alike(f, i) && (i->guard < 0 || f->registers[i->guard].uniform);
	for (uint32_t o = 0; o < i->operand_count && uniform; o++)
		uniform = operand_is_uniform(f, &i->operands[o]);
	return uniform;
}

static void drop(struct uniformity *u, int32_t reg)
{
	if (reg < 0 || !u->f->registers[reg].uniform)
		return;
	u->f->registers[reg].uniform = false;
	u->changed = true;
}

static void drop_results(struct uniformity *u, const struct ptx_instruction *i)
{
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (i->operands[o].write)
			drop(u, i->operands[o].reg);
}

/* ---- branches ---- */

static const struct ptx_instruction *last_of(const struct planned_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	return b->count ? &f->function->instructions[b->first + b->count - 1] : NULL;
}

static bool may_diverge(const struct planned_function *f, uint32_t block)
{
	const struct ptx_instruction *last = last_of(f, block);
	enum flow_kind kind = last ? flow_kind(last) : FLOW_NONE;
	if (!f->graph->blocks[block].reachable || f->graph->blocks[block].edge_count < 2)
		return false;
	if (kind == FLOW_TABLE)
		return !operand_is_uniform(f, &last->operands[0]) || last->guard >= 0;
	return kind == FLOW_BRANCH && last->guard >= 0 && !f->registers[last->guard].uniform;
}

static void add_to_region(struct uniformity *u, int32_t block, int32_t join, uint32_t *depth)
{
	if (block < 0 || block == join || u->region[block] || u->f->leaves[block])
		return;
	u->region[block] = true;
	u->stack[(*depth)++] = (uint32_t)block;
}

static void find_region(struct uniformity *u, uint32_t block, int32_t join)
{
	const struct graph *g = u->f->graph;
	uint32_t depth = 0;
	memset(u->region, 0, g->block_count);
	for (uint32_t e = 0; e < g->blocks[block].edge_count; e++)
		add_to_region(u, g->edges[g->blocks[block].first_edge + e].to, join, &depth);
	while (depth) {
		const struct graph_block *b = &g->blocks[u->stack[--depth]];
		for (uint32_t e = 0; e < b->edge_count; e++)
			add_to_region(u, g->edges[b->first_edge + e].to, join, &depth);
	}
}

/* Sides that lanes wait at: all, where there is more than one that has something to do. */
static uint32_t count_sides(const struct planned_function *f, uint32_t block, int32_t join)
{
	const struct graph_block *b = &f->graph->blocks[block];
	uint32_t count = 0;
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count; e++) {
		int32_t to = f->graph->edges[e].to;
		count += to >= 0 && to != join && !f->leaves[to];
	}
	return count;
}

static bool waits_for(const struct uniformity *u, uint32_t block, int32_t join, uint32_t sides, uint32_t reg)
{
	const struct planned_function *f = u->f;
	const struct graph_block *b = &f->graph->blocks[block];
	if (join >= 0 && is_live(f->live.in + (size_t)join * f->live.words, reg))
		return true;
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count && sides > 1; e++) {
		int32_t to = f->graph->edges[e].to;
		if (to >= 0 && to != join && is_live(f->live.in + (size_t)to * f->live.words, reg))
			return true;
	}
	return false;
}

static bool stops_at(const struct kernel_plan *p, const struct ptx_instruction *i)
{
	enum flow_kind kind = flow_kind(i);
	return kind == FLOW_BARRIER || kind == FLOW_ARRIVE || (kind == FLOW_CALL && p->barriers);
}

static void see_branch(struct uniformity *u, uint32_t block)
{
	struct planned_function *f = u->f;
	int32_t join = join_of(f, block);
	uint32_t sides = count_sides(f, block, join);
	bool alone = sides == 1 && join < 0; /* all others end at once */
	u->changed |= !f->divergent[block];
	f->divergent[block] = true;
	if (alone || !sides)
		return;
	if (join >= 0)
		f->joins[join] = true;
	find_region(u, block, join);
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		const struct graph_block *own = &f->graph->blocks[b];
		for (uint32_t i = own->first; i < own->first + own->count && u->region[b]; i++) {
			const struct ptx_instruction *in = &f->function->instructions[i];
			u->none |= stops_at(u->plan, in);
			u->plan->meets |= is_sync(in);
			for (uint32_t o = 0; o < in->operand_count; o++)
				if (in->operands[o].write && in->operands[o].reg >= 0 && !f->registers[in->operands[o].reg].parted &&
				    waits_for(u, block, join, sides, (uint32_t)in->operands[o].reg)) {
					f->registers[in->operands[o].reg].parted = true;
					drop(u, in->operands[o].reg);
				}
		}
	}
}

static void begin_all(struct uniformity *u)
{
	struct planned_function *f = u->f;
	for (uint32_t i = 0; i < f->function->instruction_count && !u->none; i++)
		for (uint32_t o = 0; o < f->function->instructions[i].operand_count; o++)
			if (f->function->instructions[i].operands[o].write && f->function->instructions[i].operands[o].reg >= 0)
				f->registers[f->function->instructions[i].operands[o].reg].uniform = true;
}

int plan_uniform(struct kernel_plan *p, uint32_t function, struct gs_error *err)
{
	struct planned_function *f = &p->functions[function];
	struct uniformity u = {.plan = p, .f = f, .none = function != 0 || p->waits || (p->meets && !p->plain_splits), .changed = true};
	u.region = calloc(f->graph->block_count + 1u, 1);
	u.stack = calloc(f->graph->block_count + 1u, sizeof *u.stack);
	int result = u.region && u.stack ? 0 : gs_fail(err, ENOMEM, "out of memory");
	if (!result) {
		begin_all(&u);
	}
	for (bool none = u.none; !result && u.changed; none = u.none) {
		u.changed = false;
		for (uint32_t i = 0; i < f->function->instruction_count; i++)
			if (u.none || !instruction_is_uniform(f, &f->function->instructions[i]))
				drop_results(&u, &f->function->instructions[i]);
		for (uint32_t b = 0; b < f->graph->block_count; b++)
			if (may_diverge(f, b))
				see_branch(&u, b);
		u.none |= p->meets && !p->plain_splits;
		p->meets |= p->syncs && u.none;
		u.changed |= u.none != none;
	}
	f->apart = u.none || p->meets;
	free(u.region);
	free(u.stack);
	return result;
}
