/*
 * The functions that a kernel reaches, their variables, and the equations of flow and of probes:
 *   count(block) = sum of the edges in (and entries of the function) = sum of the edges out
 *   entries(function) = sum of the counts of the blocks that call it
 *   sum of the counts of a probe's copies = count of its source block
 * Counts are solved, not guessed: docs/architecture.md, Contracts.
 */
#include "analysis/mapping/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

static const struct ptx_operand *called_by(const struct graph *g, uint32_t block)
{
	const struct graph_block *b = &g->blocks[block];
	return b->calls && b->count ? ptx_callee(&g->function->instructions[b->first + b->count - 1]) : NULL;
}

static bool calls_by_address(const struct graph *g, uint32_t block)
{
	const struct ptx_operand *callee = called_by(g, block);
	return callee && callee->kind == PTX_REGISTER;
}

static const struct ptx_function *callee_of(const struct ptx_module *module, const struct graph *g, uint32_t block)
{
	const struct ptx_operand *callee = called_by(g, block);
	const struct ptx_function *f = callee && callee->kind == PTX_SYMBOL ? ptx_find(module, callee->text) : NULL;
	return f && !f->external ? f : NULL;
}

int32_t mapped_callee(const struct mapping *m, uint32_t function, uint32_t block)
{
	const struct ptx_function *callee = callee_of(m->module, m->reached.functions[function].graph, block);
	for (uint32_t i = 0; callee && i < m->reached.count; i++)
		if (m->reached.functions[i].ptx == callee)
			return (int32_t)i;
	return -1;
}

static int add_function(struct mapping *m, const struct ptx_function *ptx, struct gs_error *err)
{
	for (uint32_t i = 0; i < m->reached.count; i++)
		if (m->reached.functions[i].ptx == ptx)
			return 0;
	struct reached_function *grown = reallocarray(m->reached.functions, m->reached.count + 1u, sizeof *grown);
	if (!grown)
		return gs_fail(err, ENOMEM, "out of memory");
	m->reached.functions = grown;
	struct reached_function *f = &grown[m->reached.count];
	*f = (struct reached_function){.ptx = ptx,
	                              .first_block = m->block_count,
	                              .first_edge = m->edge_count,
	                              .first_instruction = m->instruction_count,
	                              .first_register = m->register_count,
	                              .first_loop = m->loop_count};
	int result = graph_build(ptx, &f->graph, err);
	if (result)
		return result;
	m->reached.count++;
	m->block_count += f->graph->block_count;
	m->edge_count += f->graph->edge_count;
	m->loop_count += f->graph->loop_count;
	m->instruction_count += ptx->instruction_count;
	m->register_count += ptx->register_count;
	return 0;
}

bool mapped_call_of_any(const struct mapping *m, uint32_t function, uint32_t block)
{
	return calls_by_address(m->reached.functions[function].graph, block);
}

static int add_addressed(struct mapping *m, struct gs_error *err)
{
	bool *addressed = (bool *)calloc(m->module->function_count + 1u, 1);
	int result = addressed ? 0 : gs_fail(err, ENOMEM, "out of memory");
	if (!result)
		ptx_mark_addressed(m->module, addressed);
	for (uint32_t f = 0; f < m->module->function_count && !result; f++)
		if (addressed[f])
			result = add_function(m, &m->module->functions[f], err);
	free(addressed);
	return result;
}

static int reach_functions(struct mapping *m, const struct ptx_function *kernel, struct gs_error *err)
{
	int result = add_function(m, kernel, err);
	for (uint32_t i = 0; i < m->reached.count && !result; i++)
		for (uint32_t b = 0; b < m->reached.functions[i].graph->block_count && !result; b++) {
			const struct graph *g = m->reached.functions[i].graph;
			const struct ptx_function *callee = callee_of(m->module, g, b);
			if (callee)
				result = add_function(m, callee, err);
			else if (calls_by_address(g, b))
				result = add_addressed(m, err);
		}
	return result;
}

/* ---- variables ---- */

static uint32_t find_root(uint32_t *of, uint32_t thing)
{
	while (of[thing] != thing)
		thing = of[thing] = of[of[thing]];
	return thing;
}

static void unite(uint32_t *of, uint32_t a, uint32_t b)
{
	of[find_root(of, a)] = find_root(of, b);
}

static uint32_t block_thing(const struct mapping *m, uint32_t function, uint32_t block)
{
	return m->reached.functions[function].first_block + block;
}

static uint32_t edge_thing(const struct mapping *m, uint32_t function, uint32_t edge)
{
	return m->block_count + m->reached.functions[function].first_edge + edge;
}

static uint32_t entry_thing(const struct mapping *m, uint32_t function)
{
	return m->block_count + m->edge_count + function;
}

uint32_t variable_of_block(const struct mapping *m, uint32_t function, uint32_t block)
{
	return m->variable_of[block_thing(m, function, block)];
}

uint32_t variable_of_edge(const struct mapping *m, uint32_t function, uint32_t edge)
{
	return m->variable_of[edge_thing(m, function, edge)];
}

static void unite_function(struct mapping *m, uint32_t function)
{
	const struct graph *g = m->reached.functions[function].graph;
	for (uint32_t b = 0; b < g->block_count; b++) {
		const struct graph_block *block = &g->blocks[b];
		uint32_t thing = block_thing(m, function, b);
		if (block->edge_count == 1)
			unite(m->variable_of, thing, edge_thing(m, function, block->first_edge));
		if (b == 0 && block->in_count == 0)
			unite(m->variable_of, thing, entry_thing(m, function));
		else if (b != 0 && block->in_count == 1)
			unite(m->variable_of, thing, edge_thing(m, function, g->in[block->first_in]));
	}
}

static int number_variables(struct mapping *m, struct gs_error *err)
{
	uint32_t things = m->block_count + m->edge_count + m->reached.count;
	uint32_t *number = calloc(things + 1u, sizeof *number);
	m->variable_of = calloc(things + 1u, sizeof *m->variable_of);
	if (!number || !m->variable_of) {
		free(number);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < things; i++)
		m->variable_of[i] = i;
	for (uint32_t f = 0; f < m->reached.count; f++)
		unite_function(m, f);
	for (uint32_t i = 0; i < things; i++) {
		uint32_t root = find_root(m->variable_of, i);
		if (!number[root])
			number[root] = ++m->variable_count;
	}
	for (uint32_t i = 0; i < things; i++)
		m->variable_of[i] = find_root(m->variable_of, i);
	for (uint32_t i = 0; i < things; i++)
		m->variable_of[i] = number[m->variable_of[i]] - 1;
	free(number);
	return 0;
}

/* ---- probes ---- */

/* Marks the labels of a function that are jumped to. The other labels are for debuggers. The caller frees the array. */
static bool *jump_targets(const struct ptx_function *f)
{
	bool *targets = calloc(f->label_count + 1u, sizeof *targets);
	for (uint32_t i = 0; targets && i < f->instruction_count; i++)
		for (uint32_t o = 0; o < f->instructions[i].operand_count; o++) {
			const struct ptx_operand *operand = &f->instructions[i].operands[o];
			if (operand->kind == PTX_LABEL && operand->label >= 0)
				targets[operand->label] = true;
		}
	return targets;
}

/* Whether a label that is jumped to stands between the probe and its instruction, and whether one stands before the probe. */
static void labels_around(const struct ptx_function *f, const bool *targets, const struct ptx_probe *p, bool *before,
                          bool *behind)
{
	*before = *behind = false;
	for (uint32_t i = p->labels; i > 0 && f->labels[i - 1].at == p->at; i--)
		*before |= targets[i - 1];
	for (uint32_t i = p->labels; i < f->label_count && f->labels[i].at == p->at; i++)
		*behind |= targets[i];
}

/* The edge that falls through to the block, or -1. */
static int32_t falling_edge(const struct graph *g, uint32_t block)
{
	for (uint32_t i = 0; i < g->blocks[block].in_count; i++) {
		uint32_t edge = g->in[g->blocks[block].first_in + i];
		if (!g->edges[edge].taken && g->edges[edge].from + 1 == block)
			return (int32_t)edge;
	}
	return -1;
}

/*
 * Finds the place of a probe. If a probe is alone in a block, it has no instruction there: a label and the next block follow it.
 * Then it is on the edge that falls through. If it stands between two labels, or after the last instruction, its place is not
 * certain.
 */
static bool place_probe(const struct mapping *m, uint32_t function, const bool *targets, const struct ptx_probe *p,
                        struct probe_copy *out)
{
	const struct reached_function *f = &m->reached.functions[function];
	bool before, behind;
	int32_t block = graph_block_of(f->graph, p->at);
	*out = (struct probe_copy){.id = p->id, .function = function, .at = p->at, .edge = -1};
	if (block < 0)
		return false;
	out->block = (uint32_t)block;
	labels_around(f->ptx, targets, p, &before, &behind);
	if (behind)
		out->edge = before ? -1 : falling_edge(f->graph, out->block);
	if (behind && out->edge < 0)
		return false;
	out->variable = out->edge < 0 ? variable_of_block(m, function, out->block)
	                              : variable_of_edge(m, function, (uint32_t)out->edge);
	return true;
}

static int compare_order(const void *a, const void *b, void *mapping)
{
	const struct mapping *m = mapping;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (m->copies[x].id != m->copies[y].id)
		return m->copies[x].id < m->copies[y].id ? -1 : 1;
	return (x > y) - (x < y);
}

static int collect_function_probes(struct mapping *m, uint32_t function)
{
	const struct ptx_function *f = m->reached.functions[function].ptx;
	bool *targets = jump_targets(f);
	for (uint32_t p = 0; targets && p < f->probe_count; p++) {
		if (place_probe(m, function, targets, &f->probes[p], &m->copies[m->copy_count])) {
			m->order[m->copy_count] = m->copy_count;
			m->copy_count++;
		} else {
			m->ambiguous[f->probes[p].id] = true;
		}
	}
	free(targets);
	return targets ? 0 : -ENOMEM;
}

static int collect_probes(struct mapping *m, struct gs_error *err)
{
	uint32_t count = 0;
	for (uint32_t f = 0; f < m->reached.count; f++)
		for (uint32_t p = 0; p < m->reached.functions[f].ptx->probe_count; p++, count++)
			if (m->reached.functions[f].ptx->probes[p].id >= m->id_count)
				m->id_count = m->reached.functions[f].ptx->probes[p].id + 1;
	if (m->id_count > 1u << 24)
		return gs_fail(err, EINVAL, "a probe with number %u", m->id_count - 1);
	m->copies = calloc(count + 1u, sizeof *m->copies);
	m->order = calloc(count + 1u, sizeof *m->order);
	m->ambiguous = calloc(m->id_count + 1u, sizeof *m->ambiguous);
	int result = m->copies && m->order && m->ambiguous ? 0 : -ENOMEM;
	for (uint32_t f = 0; f < m->reached.count && !result; f++)
		result = collect_function_probes(m, f);
	if (result)
		return gs_fail(err, ENOMEM, "out of memory");
	qsort_r(m->order, m->copy_count, sizeof *m->order, compare_order, m);
	return 0;
}

uint32_t copies_of(const struct mapping *m, uint32_t id, uint32_t *first)
{
	uint32_t low = 0, high = m->copy_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (m->copies[m->order[middle]].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	*first = low;
	if (id >= m->id_count || m->ambiguous[id])
		return low;
	while (low < m->copy_count && m->copies[m->order[low]].id == id)
		low++;
	return low;
}

/* ---- equations ---- */

struct equation {
	struct linear_term *terms;
	uint32_t count;
};

static void append_term(struct equation *e, uint32_t of, int64_t factor)
{
	e->terms[e->count++] = (struct linear_term){of, factor};
}

static int add_flow(const struct mapping *m, uint32_t function, struct linear *l, struct equation *e,
                    struct gs_error *err)
{
	const struct graph *g = m->reached.functions[function].graph;
	int result = 0;
	for (uint32_t b = 0; b < g->block_count && !result; b++) {
		const struct graph_block *block = &g->blocks[b];
		uint32_t count = variable_of_block(m, function, b);
		e->count = 0;
		append_term(e, count, -1);
		for (uint32_t i = 0; i < block->edge_count && block->reachable; i++)
			append_term(e, variable_of_edge(m, function, block->first_edge + i), 1);
		if (!block->reachable || block->edge_count > 1)
			result = linear_add(l, e->terms, e->count, err);
		e->count = 0;
		append_term(e, count, -1);
		for (uint32_t i = 0; i < block->in_count; i++)
			append_term(e, variable_of_edge(m, function, g->in[block->first_in + i]), 1);
		if (b == 0)
			append_term(e, m->variable_of[entry_thing(m, function)], 1);
		if (!result && block->reachable && e->count > 2)
			result = linear_add(l, e->terms, e->count, err);
	}
	return result;
}

/* The kernel is entered as often as its source block counts. Another function is entered as often as it is called. */
static int add_entries(const struct mapping *m, const struct mapping_source *source, struct linear *l,
                       struct equation *e, struct gs_error *err)
{
	int result = 0;
	for (uint32_t f = 0; f < m->reached.count && !result; f++) {
		e->count = 0;
		append_term(e, m->variable_of[entry_thing(m, f)], -1);
		for (uint32_t caller = 0; f && caller < m->reached.count; caller++)
			for (uint32_t b = 0; b < m->reached.functions[caller].graph->block_count; b++)
				if (mapped_callee(m, caller, b) == (int32_t)f)
					append_term(e, variable_of_block(m, caller, b), 1);
		if (!f && source->entry < source->counter_count)
			append_term(e, m->variable_count + source->entry, 1);
		if (f || e->count > 1)
			result = linear_add(l, e->terms, e->count, err);
	}
	return result;
}

static void probe_equation(const struct mapping *m, uint32_t id, struct equation *e)
{
	uint32_t first, end = copies_of(m, id, &first);
	e->count = 0;
	for (uint32_t i = first; i < end; i++)
		append_term(e, m->copies[m->order[i]].variable, 1);
	if (end > first)
		append_term(e, m->variable_count + id, -1);
}

static bool is_solid(const struct mapping_source *source, uint32_t id)
{
	return !source->solid || source->solid[id];
}

struct by_copies {
	uint32_t id, copies;
};

static int compare_copies(const void *a, const void *b)
{
	const struct by_copies *x = a, *y = b;
	if (x->copies != y->copies)
		return x->copies > y->copies ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Whether every copy of the surrounding block leads to a copy of this block. Then no copy is known to be lost. */
static bool is_complete(const struct mapping *m, const struct mapping_source *source, uint32_t id)
{
	uint32_t first = 0, end = 0, own_first, own_end = copies_of(m, id, &own_first);
	int32_t around = source->parent_of ? source->parent_of[id] : -1;
	for (uint32_t steps = 0; around >= 0 && end == first && steps < source->counter_count; steps++) {
		end = copies_of(m, (uint32_t)around, &first);
		around = source->parent_of[around];
	}
	for (uint32_t i = first; i < end; i++) {
		const struct probe_copy *c = &m->copies[m->order[i]];
		bool found = false;
		for (uint32_t j = own_first; j < own_end && !found; j++) {
			const struct probe_copy *own = &m->copies[m->order[j]];
			found = own->function == c->function &&
			        graph_dominates(m->reached.functions[c->function].graph, c->block, own->block);
		}
		if (!found)
			return false;
	}
	return true;
}

/*
 * A block that only computes may be removed, or computed without need, in one copy of the surrounding code. Its probe is then
 * lost there, while other copies keep it. So these equations are used under two conditions: no copy is missing, and the equation
 * says something new. Equations with the most copies come first.
 */
static int add_weak_probes(const struct mapping *m, const struct mapping_source *source, struct linear *l,
                           struct equation *e, struct gs_error *err)
{
	struct by_copies *ids = calloc(m->id_count + 1u, sizeof *ids);
	uint32_t count = 0;
	int result = ids ? 0 : gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t id = 0; ids && id < m->id_count && id < source->counter_count; id++) {
		uint32_t first, end = copies_of(m, id, &first);
		if (end > first && !is_solid(source, id) && is_complete(m, source, id))
			ids[count++] = (struct by_copies){id, end - first};
	}
	if (ids)
		qsort(ids, count, sizeof *ids, compare_copies);
	for (uint32_t i = 0; i < count && !result; i++) {
		bool open = false;
		probe_equation(m, ids[i].id, e);
		result = linear_is_open(l, e->terms, e->count, &open, err);
		if (open && !result)
			result = linear_add(l, e->terms, e->count, err);
		if (open && !result)
			result = linear_solve(l, err);
	}
	free(ids);
	return result;
}

static int add_probes(const struct mapping *m, const struct mapping_source *source, struct linear *l,
                      struct equation *e, struct gs_error *err)
{
	int result = 0;
	for (uint32_t id = 0; id < m->id_count && id < source->counter_count && !result; id++) {
		probe_equation(m, id, e);
		if (e->count && is_solid(source, id))
			result = linear_add(l, e->terms, e->count, err);
	}
	return result;
}

int mapping_system(const struct mapping *m, const struct mapping_source *source, struct linear **out,
                   struct gs_error *err)
{
	uint32_t most = m->block_count + m->edge_count + m->copy_count + 2;
	struct equation e = {.terms = calloc(most, sizeof *e.terms)};
	struct linear *l = NULL;
	int result = e.terms ? linear_create(m->variable_count, m->rank, &l, err) : gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t f = 0; f < m->reached.count && !result; f++)
		result = add_flow(m, f, l, &e, err);
	if (!result)
		result = add_entries(m, source, l, &e, err);
	if (!result)
		result = add_probes(m, source, l, &e, err);
	if (!result)
		result = linear_solve(l, err);
	if (!result)
		result = add_weak_probes(m, source, l, &e, err);
	free(e.terms);
	if (result)
		linear_free(l);
	else
		*out = l;
	return result;
}

/* ---- creating and freeing ---- */

void mapping_free(struct mapping *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->reached.count; i++)
		graph_free(m->reached.functions[i].graph);
	free(m->reached.functions);
	free(m->variable_of);
	free(m->rank);
	free(m->library);
	free(m->copies);
	free(m->order);
	free(m->ambiguous);
	free(m);
}

int mapping_create(const struct ptx_module *module, const struct ptx_function *kernel, struct mapping **out,
                   struct gs_error *err)
{
	struct mapping *m = calloc(1, sizeof *m);
	if (!m)
		return gs_fail(err, ENOMEM, "out of memory");
	m->module = module;
	int result = reach_functions(m, kernel, err);
	if (!result)
		result = number_variables(m, err);
	if (!result)
		result = collect_probes(m, err);
	if (!result)
		result = find_slow_paths(m, err);
	if (result)
		mapping_free(m);
	else
		*out = m;
	return result;
}
