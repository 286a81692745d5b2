/* Blocks of what was observed, and the code that the models read; see observed.h. */
#include "analysis/sass/internal.h"

#include "analysis/graph/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REGISTERS = INT16_MAX };

struct block_maker {
	struct observed_code *c;
	struct seen_instruction **by_place; /* in the order of their addresses; NULL: what stands there was never executed */
	uint32_t places, step;
	uint32_t *in, *out;                 /* ways in and out of an instruction, by its number */
	struct graph *graph;
	struct kernel_code *code;
};

static int compare_places(const void *a, const void *b)
{
	const struct seen_instruction *const *x = a, *const *y = b;
	return (*x)->pc < (*y)->pc ? -1 : (*x)->pc > (*y)->pc;
}

/* Places as addresses have them, or one after the other. Two instructions at one place follow one another. */
static uint64_t set_places(const struct block_maker *m, uint32_t step)
{
	uint64_t next = 0;
	for (uint32_t i = 0; i < m->c->count; i++) {
		uint64_t place = step && m->by_place[i]->pc / step > next ? m->by_place[i]->pc / step : next;
		m->by_place[i]->place = place < UINT32_MAX ? (uint32_t)place : UINT32_MAX;
		next = place + 1;
	}
	return next;
}

static int sort_instructions(struct block_maker *m)
{
	const uint64_t most = m->c->count * UINT64_C(8) + 4096; /* so that hardly anything does not make a profile large */
	struct observed_code *c = m->c;
	m->by_place = calloc(c->count + 1u, sizeof(struct seen_instruction *));
	m->in = calloc(c->count + 1u, sizeof *m->in);
	m->out = calloc(c->count + 1u, sizeof *m->out);
	if (!m->by_place || !m->in || !m->out)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->count; i++)
		m->by_place[i] = &c->seen[i];
	qsort(m->by_place, c->count, sizeof(struct seen_instruction *), compare_places);
	uint64_t places = set_places(m, m->step);
	if (places > most)
		places = set_places(m, 0);
	struct seen_instruction **spread = calloc(places + 1u, sizeof(struct seen_instruction *));
	if (!spread)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->count; i++)
		spread[m->by_place[i]->place] = m->by_place[i];
	free(m->by_place);
	m->by_place = spread;
	m->places = (uint32_t)places;
	return 0;
}

/* An instruction begins a block unless there is one way to it, from the instruction before it, which has no other way. */
static void find_leaders(struct block_maker *m, uint32_t *entries)
{
	struct observed_code *c = m->c;
	for (size_t e = 0; e < c->edge_count; e++) {
		if (c->edges[e].from != OBSERVED_NONE)
			m->out[c->edges[e].from]++;
		if (c->edges[e].to != OBSERVED_NONE)
			m->in[c->edges[e].to]++;
	}
	for (size_t e = 0; e < c->edge_count; e++) {
		const struct seen_edge *edge = &c->edges[e];
		*entries += edge->from == OBSERVED_NONE;
		if (edge->to == OBSERVED_NONE)
			continue;
		struct seen_instruction *to = &c->seen[edge->to];
		if (edge->from == OBSERVED_NONE || m->in[edge->to] != 1 || m->out[edge->from] != 1 ||
		    c->seen[edge->from].place + 1 != to->place)
			to->leads = true;
	}
}

/* Numbers blocks: the entry first, then in the order of places. A lane's first instruction need not have the lowest address. */
static void number_blocks(struct block_maker *m, uint32_t entries)
{
	struct observed_code *c = m->c;
	uint32_t first = OBSERVED_NONE, block = 1;
	for (size_t e = 0; e < c->edge_count && first == OBSERVED_NONE; e++)
		if (c->edges[e].from == OBSERVED_NONE)
			first = c->edges[e].to;
	c->entry_block = entries > 1 ? 0 : OBSERVED_NONE;
	for (uint32_t i = 0; i < m->places; i++) {
		struct seen_instruction *s = m->by_place[i];
		if (s && s->leads)
			s->block = entries <= 1 && s == &c->seen[first] ? 0 : block++;
		else if (s)
			s->block = i && m->by_place[i - 1] ? m->by_place[i - 1]->block : 0;
	}
	c->block_count = block;
}

/* ---- ways between blocks ---- */

static int compare_edges(const void *a, const void *b)
{
	const struct block_edge *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static uint32_t block_or_entry(const struct observed_code *c, uint32_t instruction)
{
	return instruction == OBSERVED_NONE ? c->entry_block : c->seen[instruction].block;
}

static int find_edges(struct block_maker *m)
{
	struct observed_code *c = m->c;
	uint32_t count = 0, counter = c->block_count;
	c->block_edges = calloc(c->edge_count + 1, sizeof *c->block_edges);
	c->first_edge = calloc(c->block_count + 1u, sizeof *c->first_edge);
	if (!c->block_edges || !c->first_edge)
		return -ENOMEM;
	for (size_t e = 0; e < c->edge_count; e++) {
		const struct seen_edge *edge = &c->edges[e];
		bool within = edge->from != OBSERVED_NONE && edge->to != OBSERVED_NONE && !c->seen[edge->to].leads;
		uint32_t from = block_or_entry(c, edge->from);
		if (within || from == OBSERVED_NONE)
			continue;
		bool falls = edge->from != OBSERVED_NONE && edge->to != OBSERVED_NONE && c->seen[edge->from].place + 1 == c->seen[edge->to].place;
		uint32_t seen_first = edge->from != OBSERVED_NONE ? c->seen[edge->from].first : 0;
		c->block_edges[count++] = (struct block_edge){from, edge->to == OBSERVED_NONE ? OBSERVED_NONE : c->seen[edge->to].block,
		                                              OBSERVED_NONE, falls, seen_first ? edge->to + 1 == seen_first : !falls};
	}
	qsort(c->block_edges, count, sizeof *c->block_edges, compare_edges);
	for (uint32_t e = 0; e < count; e++) {
		c->first_edge[c->block_edges[e].from + 1] = e + 1;
		if (e + 1 < count && c->block_edges[e + 1].from == c->block_edges[e].from)
			c->block_edges[e].counter = counter++;
	}
	for (uint32_t b = 0; b < c->block_count; b++) /* every block has a way out */
		c->first_edge[b + 1] = c->first_edge[b + 1] ? c->first_edge[b + 1] : c->first_edge[b];
	m->code->counter_count = counter;
	return 0;
}

static int make_graph(struct block_maker *m, struct gs_error *err)
{
	const struct observed_code *c = m->c;
	uint32_t edges = c->first_edge[c->block_count];
	struct graph *g = m->graph = calloc(1, sizeof *g);
	if (!g)
		return -ENOMEM;
	g->blocks = calloc(c->block_count + 1u, sizeof *g->blocks);
	g->edges = calloc(edges + 1u, sizeof *g->edges);
	if (!g->blocks || !g->edges)
		return -ENOMEM;
	g->block_count = c->block_count;
	g->edge_count = edges;
	for (uint32_t b = 0; b < c->block_count; b++) {
		g->blocks[b].first_edge = c->first_edge[b];
		g->blocks[b].edge_count = c->first_edge[b + 1] - c->first_edge[b];
	}
	for (uint32_t e = 0; e < edges; e++) {
		const struct block_edge *edge = &c->block_edges[e];
		g->edges[e] = (struct graph_edge){.from = edge->from, .to = edge->to == OBSERVED_NONE ? -1 : (int32_t)edge->to, .taken = !edge->falls};
	}
	return graph_complete(g, err);
}

/* ---- the code ---- */

static int allocate(struct block_maker *m)
{
	struct kernel_code *k = m->code;
	const struct observed_code *c = m->c;
	uint32_t edges = c->first_edge[c->block_count];
	k->code = calloc(m->places + 1u, sizeof *k->code);
	k->operands = calloc((size_t)c->count * (OBSERVED_SOURCES * 2 + 4) + 1, sizeof *k->operands);
	k->register_table = calloc(MOST_REGISTERS, sizeof *k->register_table);
	k->blocks = calloc(c->block_count, sizeof *k->blocks);
	k->edges = calloc(edges + 1u, sizeof *k->edges);
	k->terms = calloc((size_t)edges * 2 + c->block_count + 1, sizeof *k->terms);
	k->loops = calloc(m->graph->loop_count + 1u, sizeof *k->loops);
	k->functions = calloc(1, sizeof *k->functions);
	k->probes = calloc(c->block_count, sizeof *k->probes);
	k->strings = malloc(c->strings.len + 1);
	return k->code && k->operands && k->register_table && k->blocks && k->edges && k->terms && k->loops && k->functions && k->probes &&
	               k->strings ? 0 : -ENOMEM;
}

static enum code_space space_of(const struct seen_instruction *s)
{
	if (s->what.space != SPACE_generic)
		return (enum code_space)s->what.space;
	return s->spaces == 1 ? SPACE_shared : s->spaces == 2 ? SPACE_local : s->spaces == 4 ? SPACE_global : SPACE_generic;
}

static uint8_t flags_of(const struct seen_instruction *s, const char *opcode)
{
	if (s->what.flags & SASS_EXIT)
		return CODE_EXIT;
	/* BSSY and BSYNC always part and join lanes. A branch whose lanes were never seen to part is one that parts none. */
	bool branches = s->what.flags & (SASS_BRANCH | SASS_CALL | SASS_RETURN) && strncmp(opcode, "BSYNC", 5) && strncmp(opcode, "WARPSYNC", 8);
	return branches && !strstr(opcode, ".DIV") && (strstr(opcode, ".U") || !s->parts) ? CODE_UNIFORM : 0;
}

static void add_operand(struct kernel_code *k, int number, uint8_t *count)
{
	if (number < 0 || number >= MOST_REGISTERS || number == 255) /* RZ */
		return;
	k->operands[k->operand_count++] = (uint16_t)number;
	k->register_count = (uint32_t)number + 1 > k->register_count ? (uint32_t)number + 1 : k->register_count;
	++*count;
}

/* Constants without addresses are those of the bank that parameters are in. Other accesses without any make no requests: if that is because their
 * predicate is off, they take their way through the unit and back, as those of our own code do (models/warps/machine/). */
static void set_access(struct kernel_code *k, struct seen_instruction *s, struct code_instruction *in)
{
	in->space = (uint8_t)space_of(s);
	in->bytes = s->what.bytes;
	if (s->off && (in->space == SPACE_shared || in->space == SPACE_global || in->space == SPACE_local)) {
		in->flags |= CODE_EXPANDED | CODE_GUARDED;
	} else if (!s->addresses && in->space == SPACE_const) {
		in->space = SPACE_param;
	} else if (!s->addresses && in->class != CODE_texture) {
		in->class = CODE_nop;
		in->space = SPACE_none;
		in->bytes = 0;
	} else if (s->addresses) {
		s->site = k->site_count++;
		in->site = (int32_t)s->site;
	}
}

/*
 * How many registers an operand of the machine's has, of which the trace names the first: those of 64-bit numbers and addresses have two, and data
 * that are stored as many as the access is wide. Where a file names more than address and data, it names them all (cmd/accelsim/export).
 */
static int source_words(const struct seen_instruction *s, const char *opcode, int which)
{
	enum code_class class = (enum code_class)s->what.class;
	if (class == CODE_fp64 || class == CODE_fp64_fma || class == CODE_fp64_minmax)
		return 2;
	if (s->what.space == SPACE_none || s->what.class == CODE_texture)
		return 1;
	bool far = strstr(opcode, ".E.") || (strlen(opcode) > 2 && !strcmp(opcode + strlen(opcode) - 2, ".E"));
	if (which == 0)
		return far ? 2 : 1;
	return which == 1 && s->source_count == 2 && s->what.bytes > 4 ? (s->what.bytes > 8 ? 4 : 2) : 1;
}

/* What a trace says of units by the name alone: sums and products of halves, and a product with 64 bits (models/sm/state/needs.h). */
static uint8_t computed_bytes(const struct seen_instruction *s)
{
	enum code_class class = (enum code_class)s->what.class;
	bool half = s->what.name && *s->what.name == 'H' && (class == CODE_fp32 || class == CODE_fp32_fma);
	return half ? 2 : class == CODE_int_mad && s->what.results == 2 ? 8 : 0;
}

static void add_instruction(struct block_maker *m, uint32_t place)
{
	struct seen_instruction *s = m->by_place[place];
	struct kernel_code *k = m->code;
	struct code_instruction *in = &k->code[place];
	*in = (struct code_instruction){.class = s->what.class, .elements = s->what.elements, .first_operand = k->operand_count,
	                                .opcode = s->opcode, .address = -1, .site = -1, .probes_before = 1};
	in->flags = flags_of(s, k->strings + s->opcode);
	for (int i = 0; i < s->what.results && s->result >= 0; i++)
		add_operand(k, s->result + i, &in->writes);
	for (int i = 0; i < s->source_count; i++)
		for (int w = 0; w < (m->step ? source_words(s, k->strings + s->opcode, i) : 1); w++)
			add_operand(k, s->sources[i] < 0 || s->sources[i] == 255 ? -1 : s->sources[i] + w, &in->reads);
	if (s->what.space != SPACE_none)
		set_access(k, s, in);
	else if (m->step)
		in->bytes = computed_bytes(s);
}

static void add_block(struct block_maker *m, uint32_t block)
{
	struct kernel_code *k = m->code;
	const struct observed_code *c = m->c;
	k->blocks[block].first_edge = c->first_edge[block];
	k->blocks[block].edge_count = c->first_edge[block + 1] - c->first_edge[block];
	k->blocks[block].call = -1;
	k->blocks[block].join = m->graph->blocks[block].ipdom;
	k->blocks[block].loop = m->graph->blocks[block].loop;
	k->blocks[block].first_probe = block;
	k->blocks[block].probe_count = 1;
	k->probes[block] = block;
}

static void add_term(struct kernel_code *k, struct code_edge *e, uint32_t of, int32_t factor)
{
	k->terms[k->term_count++] = (struct code_term){of, factor};
	e->term_count++;
}

/* The last way out of a block is taken when no other is. */
static void add_edge(struct block_maker *m, uint32_t edge)
{
	const struct block_edge *b = &m->c->block_edges[edge];
	struct kernel_code *k = m->code;
	struct code_edge *e = &k->edges[edge];
	*e = (struct code_edge){.from = b->from, .to = b->to == OBSERVED_NONE ? -1 : (int32_t)b->to, .taken = b->first,
	                        .first_term = k->term_count, .denominator = 1};
	if (b->counter != OBSERVED_NONE) {
		add_term(k, e, b->counter, 1);
		return;
	}
	add_term(k, e, b->from, 1);
	for (uint32_t other = m->c->first_edge[b->from]; other < edge; other++)
		add_term(k, e, m->c->block_edges[other].counter, -1);
}

static void wait_for_predicates(struct kernel_code *k, struct code_instruction *in)
{
	uint16_t *reads = k->operands + in->first_operand + in->writes, waits[UINT8_MAX];
	uint8_t kept = 0;
	for (uint32_t r = 0; r < in->reads; r++) {
		if (k->register_table[reads[r]].words)
			reads[kept++] = reads[r];
		else
			waits[in->waits++] = reads[r];
	}
	memcpy(reads + kept, waits, in->waits * sizeof *waits);
	in->reads = kept;
}

/* The tracer has no registers for predicates. A file that has some gives them numbers that only comparisons write, and branches read
 * (cmd/accelsim/export): these are in no bank, and are only waited for. */
static void set_registers(struct block_maker *m)
{
	struct kernel_code *k = m->code;
	for (uint32_t r = 0; r < k->register_count; r++)
		k->register_table[r] = (struct code_register){.number = (uint16_t)r, .words = 1};
	for (uint32_t i = 0; i < m->places; i++) {
		const struct code_instruction *in = &k->code[i];
		bool branch = in->class == CODE_branch && !strncmp(k->strings + in->opcode, "BRA", 3);
		uint32_t first = branch ? in->writes : 0, end = branch ? (uint32_t)in->writes + in->reads : in->writes;
		for (uint32_t o = first; o < end && (branch || m->by_place[i]->what.flags & SASS_PREDICATE); o++)
			k->register_table[k->operands[in->first_operand + o]].words = 0;
	}
	for (uint32_t i = 0; i < m->places; i++)
		for (uint32_t w = 0; w < k->code[i].writes && !(m->by_place[i]->what.flags & SASS_PREDICATE); w++)
			k->register_table[k->operands[k->code[i].first_operand + w]].words = 1;
	for (uint32_t i = 0; i < m->places; i++)
		wait_for_predicates(k, &k->code[i]);
}

static void fill_code(struct block_maker *m, uint32_t registers)
{
	struct observed_code *c = m->c;
	struct kernel_code *k = m->code;
	memcpy(k->strings, c->strings.data, c->strings.len);
	k->strings[c->strings.len] = 0;
	k->string_bytes = (uint32_t)c->strings.len + 1;
	k->registers = registers;
	k->instructions = c->count;
	k->code_count = m->places;
	k->block_count = k->probe_count = c->block_count;
	k->edge_count = c->first_edge[c->block_count];
	k->function_count = 1;
	for (uint32_t b = 0; b < c->block_count; b++)
		add_block(m, b);
	for (uint32_t i = 0; i < m->places; i++) {
		if (!m->by_place[i]) { /* of no block, but in the lines of the instruction cache */
			k->code[i] = (struct code_instruction){.class = CODE_nop, .elements = 1, .opcode = k->string_bytes - 1, .address = -1, .site = -1};
			continue;
		}
		struct code_block *b = &k->blocks[m->by_place[i]->block];
		b->first = b->count++ ? b->first : i;
		add_instruction(m, i);
	}
	for (uint32_t e = 0; e < k->edge_count; e++)
		add_edge(m, e);
	set_registers(m);
	for (uint32_t l = 0; l < m->graph->loop_count; l++)
		k->loops[l] = (struct code_loop){m->graph->loops[l].header, m->graph->loops[l].outer};
	k->loop_count = m->graph->loop_count;
}

int observed_finish(struct observed_code *c, uint32_t registers, uint32_t step, struct kernel_code **out, struct gs_error *err)
{
	struct block_maker m = {.c = c, .step = step, .code = calloc(1, sizeof *m.code)};
	uint32_t entries = 0;
	if (!c->count) {
		free(m.code);
		return gs_fail(err, EINVAL, "there is no instruction");
	}
	int result = m.code ? sort_instructions(&m) : -ENOMEM;
	if (!result) {
		find_leaders(&m, &entries);
		number_blocks(&m, entries);
		result = find_edges(&m);
	}
	if (!result)
		result = make_graph(&m, err);
	if (!result)
		result = allocate(&m);
	if (!result)
		fill_code(&m, registers);
	if (!result)
		m.code->origin = step ? CODE_OF_TRACE : CODE_SELECTED;
	free(m.by_place);
	free(m.in);
	free(m.out);
	graph_free(m.graph);
	if (result) {
		code_free(m.code);
		return result == -ENOMEM ? gs_fail(err, ENOMEM, "out of memory") : result;
	}
	*out = m.code;
	return 0;
}

/* ---- what is asked of it then ---- */

uint32_t observed_block(const struct observed_code *c, uint32_t instruction)
{
	return c->seen[instruction].leads ? c->seen[instruction].block : OBSERVED_NONE;
}

uint32_t observed_block_of(const struct observed_code *c, uint32_t instruction)
{
	return c->seen[instruction].block;
}

uint32_t observed_site(const struct observed_code *c, uint32_t instruction)
{
	return c->seen[instruction].site;
}

uint32_t observed_edge(const struct observed_code *c, uint32_t from, uint32_t to)
{
	for (uint32_t e = c->first_edge[from]; e < c->first_edge[from + 1]; e++)
		if (c->block_edges[e].to == to)
			return c->block_edges[e].counter;
	return OBSERVED_NONE;
}

uint32_t observed_entry(const struct observed_code *c)
{
	return c->entry_block;
}
