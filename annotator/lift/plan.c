/* Cuts the functions of a kernel into parts, and decides where everything is that a warp has. */
#include "annotator/lift/internal.h"
#include "annotator/lift/linear.h"
#include "annotator/lift/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A stack has an entry for lanes that wait, and one for the place where they meet again. Lanes are in one of the former at most, and each
 * of the latter has fewer lanes than the one below it: 62 at most, and one for every call. */
enum {
	STACK_ENTRIES = 72,
	ENTRY_BYTES = 36,
	HEADER_BYTES = 128,
	COUNT_BYTES = 32,
	MEETING_BYTES = 576,
	MOST_CALLS = 512, /* that are active, where functions call themselves */
	LEAST_CALLS = 16,
	MOST_LOCAL_BYTES = 1 << 14, /* of a thread, where functions call themselves */
	MOST_FRAME_BYTES = 1 << 20, /* registers of a warp that calls save */
	/* Instructions. The time to compile a function grows faster than its size; kernels in pieces run up to a third slower. */
	MOST_IN_FUNCTION = 400,
	/* One in so many: a radix sort of CUB has one in 13. Its text that traces runs 1.1 times as long if the driver does not optimise it. That of a
	 * kernel without any, all arithmetic, runs four times as long, and is built no sooner. */
	MANY_OF_WARPS = 32,
};

static uint32_t round_up(uint32_t value, uint32_t to)
{
	return to ? (value + to - 1) / to * to : value;
}

/* ---- parts ---- */

/* Some lanes may execute it now, and others later. Then they come back to its own part. */
static bool may_repeat(const struct ptx_instruction *i)
{
	enum flow_kind kind = flow_kind(i);
	if (kind == FLOW_TABLE || is_sync(i) || waits_for_cluster(i))
		return true;
	if (kind == FLOW_CALL)
		return ptx_callee(i) && ptx_callee(i)->kind == PTX_REGISTER;
	if (kind == FLOW_BARRIER || kind == FLOW_ARRIVE)
		for (uint32_t o = 0; o < i->operand_count; o++)
			if (i->operands[o].kind == PTX_REGISTER && !i->operands[o].write)
				return true;
	return false;
}

static void add_part(struct planned_function *f, uint32_t block, uint32_t first, bool resumes)
{
	if (f->part_count && f->parts[f->part_count - 1].block == block)
		f->parts[f->part_count - 1].end = first;
	f->parts[f->part_count++] = (struct kernel_part){.block = block, .first = first, .resumes = resumes};
}

static int cut_parts(struct planned_function *f)
{
	const struct graph *g = f->graph;
	f->parts = calloc(g->block_count + 2u * f->function->instruction_count + 1u, sizeof *f->parts);
	f->block_part = calloc(g->block_count + 1u, sizeof *f->block_part);
	if (!f->parts || !f->block_part)
		return -ENOMEM;
	for (uint32_t b = 0; b < g->block_count; b++) {
		const struct graph_block *own = &g->blocks[b];
		f->block_part[b] = f->part_count;
		add_part(f, b, own->first, false);
		for (uint32_t i = own->first; i < own->first + own->count; i++) {
			const struct ptx_instruction *in = &f->function->instructions[i];
			enum flow_kind kind = flow_kind(in);
			if (may_repeat(in) || f->fetches[i])
				add_part(f, b, i, false);
			if (kind == FLOW_BARRIER || kind == FLOW_ARRIVE || kind == FLOW_CALL)
				add_part(f, b, i + 1, true);
		}
		f->parts[f->part_count - 1].end = own->first + own->count;
	}
	return 0;
}

/* ---- registers ---- */

static void step_back(const struct ptx_instruction *i, uint64_t *set)
{
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (i->operands[o].write && i->operands[o].reg >= 0 && i->guard < 0)
			set[i->operands[o].reg / 64] &= ~(UINT64_C(1) << i->operands[o].reg % 64);
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (!i->operands[o].write && i->operands[o].reg >= 0)
			set[i->operands[o].reg / 64] |= UINT64_C(1) << i->operands[o].reg % 64;
	if (i->guard >= 0)
		set[i->guard / 64] |= UINT64_C(1) << i->guard % 64;
}

static int find_live(struct planned_function *f, struct gs_error *err)
{
	const struct ptx_function *own = f->function;
	int result = graph_liveness(f->graph, &f->live, err);
	if (result)
		return result;
	size_t words = f->live.words;
	f->before = calloc((own->instruction_count + 1u) * words + 1, sizeof *f->before);
	f->registers = calloc(own->register_count + 1u, sizeof *f->registers);
	if (!f->before || !f->registers)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		const struct graph_block *block = &f->graph->blocks[b];
		for (uint32_t i = block->first + block->count; i-- > block->first;) {
			uint64_t *set = f->before + i * words;
			memcpy(set, i + 1 == block->first + block->count ? f->live.out + b * words : set + words, words * sizeof *set);
			step_back(&own->instructions[i], set);
		}
	}
	return 0;
}

static void note_used(struct planned_function *f)
{
	for (uint32_t i = 0; i < f->function->instruction_count; i++) {
		const struct ptx_instruction *in = &f->function->instructions[i];
		if (in->guard >= 0)
			f->registers[in->guard].used = true;
		for (uint32_t o = 0; o < in->operand_count; o++)
			if (in->operands[o].reg >= 0)
				f->registers[in->operands[o].reg].used = true;
	}
}

uint32_t register_bytes(const struct ptx_register *r)
{
	return r->bits <= 16 && r->bits > 1 ? 2 : r->bits <= 32 ? 4 : r->bits / 8;
}

/* What is live before or after a barrier. To copy it there and back would be most of the text of kernels with many barriers. */
static void find_kept(const struct kernel_plan *p, struct planned_function *f)
{
	for (uint32_t r = 0; r < f->function->register_count && p->in_pieces; r++)
		f->registers[r].kept = true;
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		const struct graph_block *block = &f->graph->blocks[b];
		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			const uint64_t *before = f->before + (size_t)i * f->live.words, *after = before + f->live.words;
			if (flow_kind(&f->function->instructions[i]) != FLOW_BARRIER)
				continue;
			if (i + 1 == block->first + block->count)
				after = f->live.out + (size_t)b * f->live.words;
			for (uint32_t r = 0; r < f->function->register_count; r++)
				f->registers[r].kept |= is_live(before, r) || is_live(after, r);
		}
	}
}

static void place_saved(struct kernel_plan *p)
{
	uint32_t at = 0;
	for (uint32_t f = 0; f < p->function_count; f++) {
		struct planned_function *own = &p->functions[f];
		uint32_t frame = 0;
		for (uint32_t r = 0; r < own->function->register_count; r++) {
			struct planned_register *reg = &own->registers[r];
			if (!reg->used || !(reg->array || reg->uniform))
				continue;
			uint32_t bytes = register_bytes(&own->function->registers[r]) * (reg->uniform ? 1 : 32);
			at = round_up(at, bytes < 16 ? bytes : 16);
			reg->saved_at = at;
			at += bytes;
			frame = round_up(frame, bytes < 16 ? bytes : 16);
			reg->frame_at = frame;
			frame += bytes;
		}
		if (own->recursive && frame > p->frame_bytes)
			p->frame_bytes = round_up(frame, 64);
	}
	p->saved_bytes = at;
}

static void place_snapshots(struct kernel_plan *p)
{
	for (uint32_t r = 0; r < p->functions[0].function->register_count && p->meets; r++) {
		struct planned_register *reg = &p->functions[0].registers[r];
		if (!reg->used || !reg->uniform)
			continue;
		uint32_t bytes = register_bytes(&p->functions[0].function->registers[r]);
		p->snapshot_bytes = round_up(p->snapshot_bytes, bytes);
		reg->snapshot_at = p->snapshot_bytes;
		p->snapshot_bytes += bytes;
	}
	p->snapshot_bytes = round_up(p->snapshot_bytes, 16);
}

/* ---- memory ---- */

static bool mentions(const struct kernel_plan *p, const char *name)
{
	for (uint32_t f = 0; f < p->function_count; f++) {
		const struct ptx_function *own = p->functions[f].function;
		for (uint32_t i = 0; i < own->instruction_count; i++)
			for (uint32_t o = 0; o < own->instructions[i].operand_count; o++) {
				const struct ptx_operand *operand = &own->instructions[i].operands[o];
				if (operand->text && (operand->kind == PTX_SYMBOL || operand->kind == PTX_ADDRESS) &&
				    !strcmp(operand->text, name))
					return true;
			}
	}
	return false;
}

static uint32_t take_room(uint32_t *total, uint64_t bytes, uint32_t align)
{
	*total = round_up(*total, align ? align : 1);
	uint32_t at = *total;
	*total = bytes > UINT32_MAX / 2 - at ? UINT32_MAX / 2 : at + (uint32_t)bytes;
	return at;
}

static int place_variables(struct kernel_plan *p, struct gs_error *err)
{
	const struct ptx_module *m = p->lifted->module;
	uint32_t dynamic_align = 16;
	p->module_at = calloc(m->variable_count + 1u, sizeof *p->module_at);
	if (!p->module_at)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t v = 0; v < m->variable_count; v++)
		if (m->variables[v].space == SPACE_shared && mentions(p, m->variables[v].name)) {
			if (!m->variables[v].unsized)
				p->module_at[v] = take_room(&p->shared_bytes, m->variables[v].bytes, m->variables[v].align);
			else if (m->variables[v].align > dynamic_align)
				dynamic_align = m->variables[v].align;
		}
	for (uint32_t f = 0; f < p->function_count; f++) {
		struct planned_function *own = &p->functions[f];
		own->variable_at = calloc(own->function->variable_count + 1u, sizeof *own->variable_at);
		if (!own->variable_at)
			return gs_fail(err, ENOMEM, "out of memory");
		for (uint32_t v = 0; v < own->function->variable_count; v++) {
			bool parameter = own->function->entry && v < own->function->parameter_count;
			const struct ptx_variable *variable = &own->function->variables[v];
			uint32_t *total = parameter ? &p->parameter_bytes : variable->space == SPACE_shared ? &p->shared_bytes : &p->local_bytes;
			own->variable_at[v] = take_room(total, variable->bytes, variable->align);
		}
	}
	p->shared_bytes = round_up(p->shared_bytes, dynamic_align);
	for (uint32_t v = 0; v < m->variable_count; v++)
		if (m->variables[v].space == SPACE_shared && m->variables[v].unsized)
			p->module_at[v] = p->shared_bytes;
	p->local_bytes = round_up(p->local_bytes, 16);
	return p->shared_bytes >= UINT32_MAX / 2 || p->local_bytes >= UINT32_MAX / 2
	           ? gs_fail(err, ENOTSUP, "its variables are too large")
	           : 0;
}

/* ---- calls ---- */

/* Marks the functions that `from` reaches by calls, from its own on. */
static void mark_called(const struct kernel_plan *p, uint32_t from, bool *seen)
{
	const struct ptx_function *own = p->functions[from].function;
	for (uint32_t i = 0; i < own->instruction_count; i++) {
		if (flow_kind(&own->instructions[i]) != FLOW_CALL)
			continue;
		const struct ptx_operand *called = ptx_callee(&own->instructions[i]);
		int32_t to = called && called->kind == PTX_SYMBOL ? function_index(p->lifted->module, called->text) : -1;
		for (uint32_t f = 1; f < p->function_count; f++)
			if (!seen[f] && ((called && called->kind == PTX_REGISTER) || (int32_t)p->functions[f].index == to)) {
				seen[f] = true;
				mark_called(p, f, seen);
			}
	}
}

static int find_recursion(struct kernel_plan *p, struct gs_error *err)
{
	bool *seen = calloc(p->function_count + 1u, 1);
	if (!seen)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t f = 0; f < p->function_count; f++) {
		memset(seen, 0, p->function_count);
		mark_called(p, f, seen);
		p->functions[f].recursive = seen[f];
		p->recursive |= seen[f];
	}
	p->calls = p->function_count > 1;
	free(seen);
	return 0;
}

/* ---- the whole ---- */

static void note_facts(struct kernel_plan *p)
{
	uint32_t instructions = 0, of_warps = 0;
	for (uint32_t f = 0; f < p->function_count; f++) {
		const struct planned_function *own = &p->functions[f];
		instructions += own->function->instruction_count;
		for (uint32_t i = 0; i < own->function->instruction_count; i++) {
			const struct ptx_instruction *in = &own->function->instructions[i];
			enum flow_kind kind = flow_kind(in);
			of_warps += lift_kind(in) == LIFT_WARP;
			p->meets_groups |= in->class == CODE_atomic && in->space != SPACE_shared;
			p->barriers |= kind == FLOW_BARRIER || kind == FLOW_ARRIVE;
			p->waits |= waits_for_cluster(in);
			p->waits_for_groups |= waits_for_cluster(in);
			if (kind == FLOW_CALL && ptx_callee(in) && ptx_callee(in)->kind == PTX_SYMBOL)
				p->prints |= !strcmp(ptx_callee(in)->text, "vprintf");
		}
		for (uint32_t b = 0; b < own->graph->block_count; b++)
			p->waits |= own->spins[b];
		for (uint32_t i = 0; i < own->function->instruction_count; i++)
			p->fetches |= own->fetches[i];
		p->waits_for_groups |= own->waits_for_groups;
		p->fetches_from_groups |= own->fetches_from_groups;
	}
	p->stops = p->barriers || p->waits || p->fetches;
	note_syncs(p);
	p->in_pieces = instructions > MOST_IN_FUNCTION;
	p->of_warps = p->in_pieces && of_warps >= instructions / MANY_OF_WARPS;
}

static void lay_out_state(struct kernel_plan *p)
{
	uint32_t calls = p->function_count;
	if (p->recursive) {
		uint32_t by_local = p->local_bytes ? MOST_LOCAL_BYTES / p->local_bytes : MOST_CALLS;
		uint32_t by_frame = p->frame_bytes ? MOST_FRAME_BYTES / p->frame_bytes : MOST_CALLS;
		calls = by_local < by_frame ? by_local : by_frame;
		calls = calls < LEAST_CALLS ? LEAST_CALLS : calls > MOST_CALLS ? MOST_CALLS : calls;
	}
	p->most_calls = calls;
	p->local_frame = p->local_bytes;
	p->local_bytes *= p->recursive ? calls + 1 : 1;
	p->stack_depth = STACK_ENTRIES + calls;
	p->entries_at = HEADER_BYTES;
	p->saved_at = round_up(p->entries_at + p->stack_depth * ENTRY_BYTES, 64);
	p->threads_at = round_up(p->saved_at + (p->stops || p->in_pieces ? p->saved_bytes : 0), 64);
	p->carry_at = p->threads_at + (p->in_pieces ? 3 * 128 : 0);
	p->counts_at = p->carry_at + (p->in_pieces ? 128 : 0);
	p->parts_at = round_up(p->counts_at + p->column_count * COUNT_BYTES, 64);
	p->frames_at = round_up(p->parts_at + p->column_count * 128, 64);
	p->meeting_at = round_up(p->frames_at + (p->recursive ? calls * p->frame_bytes : 0), 64);
	p->snapshots_at = p->meeting_at + (p->meets ? MEETING_BYTES : 0);
	p->warp_bytes = round_up(p->snapshots_at + p->snapshot_bytes * p->stack_depth, 64);
}

static int plan_function(struct kernel_plan *p, uint32_t number, struct gs_error *err)
{
	struct planned_function *f = &p->functions[number];
	uint32_t blocks = f->graph->block_count + 1;
	f->joins = calloc(blocks, 1);
	f->spins = calloc(blocks, 1);
	f->fetches = calloc(f->function->instruction_count + 1u, 1);
	f->divergent = calloc(blocks, 1);
	f->leaves = calloc(blocks, 1);
	f->join = calloc(blocks, sizeof *f->join);
	int result = f->joins && f->spins && f->fetches && f->divergent && f->leaves && f->join ? find_live(f, err) : gs_fail(err, ENOMEM, "out of memory");
	if (!result) {
		note_used(f);
		result = plan_waits(f, err);
	}
	if (!result && cut_parts(f))
		result = gs_fail(err, ENOMEM, "out of memory");
	return result ? result : plan_joins(f, err);
}

int plan_kernel(const struct lifted *l, const struct lift_kernel *k, struct kernel_plan *out, struct gs_error *err)
{
	struct kernel_plan *p = out;
	*p = (struct kernel_plan){.lifted = l, .kernel = k, .column_count = k->column_count};
	uint32_t count = l->module->function_count, *list = calloc(count + 1u, sizeof *list);
	p->planned = calloc(count + 1u, sizeof *p->planned);
	int result = list && p->planned ? reach_functions(l, k->function, list, &p->function_count, err) : gs_fail(err, ENOMEM, "out of memory");
	if (!result) {
		p->functions = calloc(p->function_count + 1u, sizeof *p->functions);
		result = p->functions ? 0 : gs_fail(err, ENOMEM, "out of memory");
	}
	if (!p->functions)
		p->function_count = 0;
	for (uint32_t f = 0; f < count && !result; f++)
		p->planned[f] = -1;
	for (uint32_t f = 0; f < p->function_count && !result; f++) {
		p->planned[list[f]] = (int32_t)f;
		p->functions[f].index = list[f];
		p->functions[f].function = l->functions[list[f]].contracted;
		p->functions[f].graph = l->functions[list[f]].graph;
	}
	free(list);
	if (!result)
		result = find_recursion(p, err);
	for (uint32_t f = 0; f < p->function_count && !result; f++) {
		result = plan_function(p, f, err);
		p->functions[f].first_pc = p->pc_count;
		p->pc_count += p->functions[f].part_count;
	}
	if (!result)
		note_facts(p);
	for (uint32_t f = 0; f < p->function_count && !result; f++)
		result = plan_uniform(p, f, err);
	for (uint32_t f = 0; f < p->function_count && !result; f++)
		plan_linear(&p->functions[f]);
	if (!result)
		result = place_variables(p, err);
	for (uint32_t f = 0; f < p->function_count && !result; f++)
		result = mark_arrays(&p->functions[f]) ? gs_fail(err, ENOMEM, "out of memory") : 0;
	for (uint32_t f = 0; f < p->function_count && !result; f++)
		find_kept(p, &p->functions[f]);
	if (!result) {
		place_saved(p);
		place_snapshots(p);
		lay_out_state(p);
	}
	return result;
}

void plan_free(struct kernel_plan *p)
{
	for (uint32_t f = 0; f < p->function_count; f++) {
		struct planned_function *own = &p->functions[f];
		liveness_free(&own->live);
		free(own->before);
		free(own->registers);
		free(own->parts);
		free(own->block_part);
		free(own->joins);
		free(own->spins);
		free(own->fetches);
		free(own->divergent);
		free(own->leaves);
		free(own->join);
		free(own->variable_at);
	}
	free(p->functions);
	free(p->planned);
	free(p->module_at);
	*p = (struct kernel_plan){0};
}
