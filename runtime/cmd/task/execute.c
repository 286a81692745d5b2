/* Carries kernels of task lists out: a stream of what each warp executes. */
#include "runtime/cmd/task/execute.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTER = 8, CONDITION = 9, FIRST_CHAIN = 16, REGISTERS_EACH = 4, PC_STEP = 16 };
enum { BUDGET = 1 << 22, LARGE_BUDGET = 1 << 26 }; /* instructions of a launch, about, that are carried out for counters alone */

struct task_stream {
	const struct task_launch *launch;
	struct task_warp warp;
	uint64_t group;
	uint32_t warps;      /* of a group */
	bool in_group, in_warp;
	struct sass_line line;
};

/* ---- chance ---- */

static uint64_t who(const struct task_warp *w, enum task_by by, uint32_t lane)
{
	uint64_t warp = w->group * ((w->items + TASK_LANES - 1) / TASK_LANES) + w->number;
	return by == BY_GROUP ? w->group << 1 : by == BY_WARP ? warp << 1 : (w->group * w->items + w->number * TASK_LANES + lane) << 1 | 1;
}

/* Lanes for which something of this chance happens. */
static uint32_t chosen(const struct task_warp *w, const struct task_node *n, double chance, uint64_t time, uint32_t mask)
{
	uint32_t out = 0;
	for (uint32_t left = mask; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		double drawn = (double)(task_chance((uint64_t)(n - w->launch->list->nodes), who(w, n->by, lane), time) >> 11) * 0x1p-53;
		out |= drawn < chance ? left & -left : 0;
	}
	return out;
}

/* Lanes that make another turn. */
static uint32_t going_on(const struct task_warp *w, const struct task_node *n, const struct task_frame *f)
{
	uint32_t out = 0;
	for (uint32_t left = f->mask; left && f->turn < n->most; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint64_t spread = n->most - n->least + 1;
		uint64_t turns = n->least + (spread > 1 ? task_chance((uint64_t)n->line << 20, who(w, n->by, lane), f->entry) % spread : 0);
		out |= f->turn < turns ? left & -left : 0;
	}
	return f->turn && n->chance > 0 ? out & ~chosen(w, n, n->chance, f->entry << 20 | f->turn, out) : out;
}

/* ---- instructions ---- */

static void begin_line(struct sass_line *out, const char *opcode, uint64_t pc, uint32_t mask)
{
	out->in = (struct observed_instruction){.pc = pc, .mask = mask, .result = -1, .opcode = opcode, .opcode_length = strlen(opcode)};
	out->width = 0;
}

/* Counts a turn, and goes back or on; or compares, and parts lanes. */
static void flow_line(struct sass_line *out, const struct task_node *n, uint32_t part, uint32_t mask)
{
	bool loop = n->kind == TASK_LOOP;
	begin_line(out, part ? "BRA" : loop ? "IADD3" : "ISETP", n->pc + part * PC_STEP, mask);
	out->in.sources[0] = part ? (loop ? COUNTER : CONDITION) : loop ? COUNTER : FIRST_CHAIN;
	out->in.source_count = 1;
	if (!part)
		out->in.result = loop ? COUNTER : CONDITION;
}

static void operation_line(struct task_warp *w, struct task_frame *f, const struct task_node *n, struct sass_line *out)
{
	uint32_t number = f->part;
	int16_t chain = (int16_t)(FIRST_CHAIN + REGISTERS_EACH * (n->chains ? (n->chain + number) % n->chains : 0));
	begin_line(out, n->opcode, n->pc + number % TASK_MOST_UNROLLED * PC_STEP, f->mask);
	out->in.source_count = n->source_count;
	out->in.off = n->off;
	memcpy(out->in.sources, n->sources, sizeof n->sources);
	out->in.result = n->result >= 0 ? n->result : n->chains && n->keeps ? chain : -1;
	if (n->chains && n->waits && n->source_count < OBSERVED_SOURCES)
		out->in.sources[out->in.source_count++] = chain;
	if (number && n->result >= 0 && out->in.source_count < OBSERVED_SOURCES)
		out->in.sources[out->in.source_count++] = n->result;
	if (!n->access_count)
		return;
	int32_t access = n->access;
	if (access == TASK_NONE && f->argument != TASK_NONE)
		access = f->argument;
	out->in.addresses = true;
	out->width = w->launch->list->accesses[access].width;
	task_addresses(w, access, f->mask, out->address);
	if (n->access == TASK_NONE && number + 1 == n->times)
		f->argument++;
}

/* ---- statements ---- */

static void push(struct task_warp *w, int32_t node, int32_t body, uint32_t mask, uint32_t others)
{
	const struct task_frame *below = &w->frames[w->depth - 1];
	w->frames[w->depth] = (struct task_frame){.first = body, .at = body, .node = node, .mask = mask, .others = others, .loop = below->loop,
	                                          .argument = TASK_NONE};
	w->depth++;
}

static void enter_loop(struct task_warp *w, int32_t node, const struct task_node *n, uint32_t mask)
{
	push(w, node, n->body, mask, 0);
	struct task_frame *f = &w->frames[w->depth - 1];
	f->entry = ++w->entries[node];
	f->mask = going_on(w, n, f);
	if (!f->mask) {
		w->depth--;
		return;
	}
	if (f->loop < TASK_LOOPS)
		w->variables[VARIABLE_i0 + f->loop] = 0;
	f->loop++;
}

static void enter_parts(struct task_warp *w, int32_t node, const struct task_node *n, uint32_t mask, uint32_t taken)
{
	uint32_t others = n->other == TASK_NONE ? 0 : mask & ~taken;
	if (taken)
		push(w, node, n->body, taken, others);
	else if (others)
		push(w, node, n->other, others, 0);
}

static uint32_t lanes_when(struct task_warp *w, const struct task_node *n, uint32_t mask)
{
	uint32_t out = 0;
	w->variables[VARIABLE_n] = 0;
	for (uint32_t left = mask; left; left &= left - 1) {
		task_place_lane(w, (uint32_t)__builtin_ctz(left));
		out |= expression_value(n->when, w->variables) ? left & -left : 0;
	}
	return out;
}

static void enter_warps(struct task_warp *w, int32_t node, const struct task_node *n, uint32_t mask)
{
	uint64_t before = 0, all = 0;
	bool within = false;
	for (size_t i = n->first_range; i < n->first_range + n->range_count; i++) {
		const struct task_range *r = &w->launch->list->ranges[i];
		if (w->k >= r->first && w->k <= r->last) {
			within = true;
			before = all + (w->k - r->first);
		}
		all += r->last - r->first + 1;
	}
	if (!within)
		return;
	w->rank = before;
	w->range_warps = all;
	push(w, node, n->body, mask, 0);
}

/* The end of a block. True: there is a line. */
static bool end_block(struct task_warp *w, struct task_frame *f, struct sass_line *out)
{
	const struct task_node *n = f->node == TASK_NONE ? NULL : &w->launch->list->nodes[f->node];
	if (n && n->kind == TASK_LOOP) {
		if (!n->bare && f->part < 2) {
			flow_line(out, n, f->part++, f->mask);
			return true;
		}
		f->part = 0;
		f->turn++;
		uint32_t more = going_on(w, n, f);
		if (more) {
			f->mask = more;
			f->at = f->first;
			if (f->loop <= TASK_LOOPS)
				w->variables[VARIABLE_i0 + f->loop - 1] = (int64_t)f->turn;
			return false;
		}
	} else if (n && f->others) {
		f->mask = f->others;
		f->others = 0;
		f->at = n->other;
		return false;
	}
	if (n && n->kind == TASK_WARPS)
		w->range_warps = 0;
	w->depth--;
	return false;
}

/* One step. True: there is a line. */
static bool step(struct task_warp *w, struct sass_line *out)
{
	struct task_frame *f = &w->frames[w->depth - 1];
	if (f->at == TASK_NONE)
		return end_block(w, f, out);
	int32_t node = f->at;
	const struct task_node *n = &w->launch->list->nodes[node];
	if (n->kind == TASK_OPERATION) {
		operation_line(w, f, n, out);
		if (++f->part == n->times) {
			f->part = 0;
			f->at = n->next;
		}
		return true;
	}
	if (n->kind == TASK_BRANCH && f->part < 2) {
		flow_line(out, n, f->part++, f->mask);
		return true;
	}
	f->part = 0;
	f->at = n->next;
	uint32_t mask = f->mask;
	if (n->kind == TASK_LOOP)
		enter_loop(w, node, n, mask);
	else if (n->kind == TASK_BRANCH)
		enter_parts(w, node, n, mask, chosen(w, n, n->chance, ++w->entries[node], mask));
	else if (n->kind == TASK_WHEN)
		enter_parts(w, node, n, mask, lanes_when(w, n, mask));
	else if (n->kind == TASK_WARPS)
		enter_warps(w, node, n, mask);
	else if (n->body != TASK_NONE) {
		push(w, node, n->body, mask, 0);
		w->frames[w->depth - 1].argument = n->access;
	}
	return false;
}

static bool next_line(struct task_warp *w, struct sass_line *out)
{
	while (w->depth)
		if (step(w, out))
			return true;
	if (w->ended || w->launch->kernel->exits)
		return false;
	w->ended = true;
	begin_line(out, "EXIT", w->launch->kernel->end_pc, w->frames[0].mask);
	return true;
}

/* ---- the stream ---- */

static void begin_warp(struct task_stream *s, uint32_t number)
{
	struct task_warp *w = &s->warp;
	const struct task_list *l = s->launch->list;
	const struct task_kernel *k = s->launch->kernel;
	uint64_t left = w->items - (uint64_t)number * TASK_LANES;
	w->group = s->group;
	w->number = number;
	w->all_warps = k->recorded_warps ? k->recorded_warps : s->launch->groups * s->warps;
	w->k = (s->group * s->warps + number) % w->all_warps;
	w->range_warps = 0;
	w->ended = false;
	memset(w->executions, 0, l->access_count * sizeof *w->executions);
	memset(w->entries, 0, l->node_count * sizeof *w->entries);
	memset(w->variables, 0, sizeof w->variables);
	w->variables[VARIABLE_gx] = (int64_t)(s->group % k->grid[0]);
	w->variables[VARIABLE_gy] = (int64_t)(s->group / k->grid[0] % k->grid[1]);
	w->variables[VARIABLE_gz] = (int64_t)(s->group / k->grid[0] / k->grid[1]);
	w->variables[VARIABLE_group] = (int64_t)s->group;
	w->variables[VARIABLE_warp] = number;
	w->variables[VARIABLE_k] = (int64_t)w->k;
	w->frames[0] = (struct task_frame){.first = k->body, .at = k->body, .node = TASK_NONE, .argument = TASK_NONE,
	                                   .mask = left < TASK_LANES ? (1u << left) - 1 : UINT32_MAX};
	w->depth = 1;
}

static int open_stream(const void *of, void **stream, const struct sass_header **header, struct gs_error *err)
{
	const struct task_launch *launch = of;
	struct task_stream *s = calloc(1, sizeof *s);
	*stream = s;
	if (!s || !(s->warp.executions = calloc(launch->list->access_count + 1, sizeof *s->warp.executions)) ||
	    !(s->warp.entries = calloc(launch->list->node_count + 1, sizeof *s->warp.entries)))
		return gs_fail(err, ENOMEM, "out of memory");
	const uint64_t *b = launch->kernel->block;
	s->launch = s->warp.launch = launch;
	s->warp.items = b[0] * b[1] * b[2];
	s->warps = (uint32_t)((s->warp.items + TASK_LANES - 1) / TASK_LANES);
	*header = &launch->header;
	return 0;
}

static bool is_wanted(const struct task_launch *l, uint64_t group)
{
	return group < l->counted || import_traces(l->traced, l->groups, group);
}

static int next_part(void *stream, struct sass_part *part, struct gs_error *err)
{
	struct task_stream *s = stream;
	(void)err;
	*part = (struct sass_part){s->group, s->warp.number, &s->line, 0};
	if (s->in_warp && next_line(&s->warp, &s->line))
		return SASS_ITEM_LINE;
	if (s->in_group && (s->in_warp ? s->warp.number + 1 < s->warps : true)) {
		begin_warp(s, s->in_warp ? s->warp.number + 1 : 0);
		s->in_warp = true;
		part->warp = s->warp.number;
		return SASS_ITEM_WARP;
	}
	if (s->in_group) {
		s->in_group = s->in_warp = false;
		s->group++;
		return SASS_ITEM_GROUP_END;
	}
	while (s->group < s->launch->groups && !is_wanted(s->launch, s->group))
		s->group++;
	if (s->group == s->launch->groups)
		return SASS_ITEM_END;
	s->in_group = true;
	part->group = s->group;
	return SASS_ITEM_GROUP;
}

static void close_stream(void *stream)
{
	struct task_stream *s = stream;
	if (s) {
		free(s->warp.executions);
		free(s->warp.entries);
	}
	free(s);
}

const struct sass_kind task_stream_kind = {open_stream, next_part, close_stream};

/* Where groups do the same, one says what all do. Where they need not, as many as time allows. */
void task_launch_begin(struct task_launch *launch, const struct task_list *list, const struct task_kernel *k, const struct import_job *job)
{
	*launch = (struct task_launch){.list = list, .kernel = k, .groups = k->grid[0] * k->grid[1] * k->grid[2]};
	struct sass_header *h = &launch->header;
	snprintf(h->name, sizeof h->name, "%s", k->name);
	memcpy(h->grid, k->grid, sizeof h->grid);
	memcpy(h->block, k->block, sizeof h->block);
	h->shared_bytes = k->local_bytes;
	h->registers = k->registers;
	h->shared_base = EXPORT_SHARED_BASE;
	h->local_base = EXPORT_LOCAL_BASE;
	uint64_t warps = (k->block[0] * k->block[1] * k->block[2] + TASK_LANES - 1) / TASK_LANES;
	double each = (k->warp_instructions + 1) * (double)warps, most = (k->recorded_warps ? LARGE_BUDGET : BUDGET) / each;
	launch->traced = import_traced_groups(job, h);
	launch->counted = !k->varies ? 1 : most < 1 ? 1 : most < (double)launch->groups ? (uint64_t)most : launch->groups;
}
