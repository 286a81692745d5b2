/* See machine.h. */
#include "models/warps/machine.h"

#include "models/code/costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where an access of a machine block comes from: the n-th of a PTX block, in which of the executions that the machine block stands for. */
struct access_place {
	uint32_t block, rank, copy;
};

/* An execution of a block of a path: where, and its first access there. */
struct execution {
	size_t at, first;
};

/* One path, being written. */
struct written {
	uint32_t *blocks;
	uint16_t *accesses, *waits;
	uint32_t *first; /* of requests */
	struct path_requests requests;
	/* Where the assembler has changed the order of accesses: the parts in their new order. NULL: as they were */
	struct memory_part *parts;
	size_t part_count, part_room;
	bool failed; /* out of memory */
	/* Of a path with gaps: */
	struct path_gap *gaps;
	struct round_shift *shifts; /* of all gaps, one after the other */
	double *weights;
};

struct machine_store {
	struct kernel_code view; /* what the models see: its arrays are the machine's */
	struct code_block *blocks;
	struct warp_path *paths;
	struct written *written;
	struct access_place *places; /* of all machine blocks */
	uint32_t *first_place;       /* by machine block, and one more */
	uint32_t *block_accesses;    /* by PTX block: those of the PTX */
	uint32_t *most_accesses;     /* by PTX block: the most that an execution of it has in the machine's code */
	uint32_t *entries;           /* by PTX block: the machine block that is executed when its loop is entered; 0: none */
	struct execution *executions; /* room for as many as a machine block stands for */
	uint16_t *usual_accesses, *usual_waits;
	struct address_shift *shifts;
	uint32_t path_count;
};

bool machine_has(const struct kernel_code *code)
{
	return code->machine_block_count > 0;
}

const char *machine_pipe_name(enum machine_pipe pipe)
{
#define NAME(name) #name,
	static const char *const names[] = {MACHINE_PIPES(NAME)};
#undef NAME
	return (unsigned)pipe < MACHINE_PIPE_COUNT ? names[pipe] : "unknown";
}

enum machine_pipe machine_pipe_of(const struct code_instruction *in)
{
	switch (in->class) {
	case CODE_fp32:
	case CODE_fp32_fma:
	case CODE_int_mul:
	case CODE_int_mad:
		return PIPE_fma;
	case CODE_int:
	case CODE_int_minmax:
	case CODE_fp32_minmax:
	case CODE_logic:
	case CODE_move:
		return PIPE_alu;
	case CODE_sfu:
	case CODE_conv:
		return PIPE_xu;
	case CODE_fp64:
	case CODE_fp64_fma:
	case CODE_fp64_minmax:
		return PIPE_fp64;
	case CODE_load:
	case CODE_store:
	case CODE_atomic:
	case CODE_shuffle:
		return PIPE_lsu;
	default:
		return PIPE_other;
	}
}

/* ---- the code ---- */

void machine_view(const struct kernel_code *c, struct code_block *blocks, struct kernel_code *view)
{
	*view = *c;
	view->code = c->machine;
	view->code_count = c->machine_count;
	view->operands = c->machine_operands;
	view->operand_count = c->machine_operand_count;
	view->register_table = c->machine_registers;
	view->register_count = c->machine_register_count;
	view->blocks = blocks;
	view->block_count = c->machine_block_count;
	for (uint32_t i = 0; i < c->machine_block_count; i++) {
		blocks[i] = c->blocks[c->machine_blocks[i].of];
		blocks[i].first = c->machine_blocks[i].first;
		blocks[i].count = c->machine_blocks[i].count;
	}
}

static void find_places(const struct kernel_code *c, struct machine_store *s, uint32_t *ranks, uint32_t *owners)
{
	uint32_t count = 0;
	for (uint32_t b = 0; b < c->block_count; b++)
		for (uint32_t i = c->blocks[b].first; i < c->blocks[b].first + c->blocks[b].count; i++)
			if (code_has_accesses(c->code[i].class)) {
				owners[i] = b;
				ranks[i] = s->block_accesses[b]++;
			}
	for (uint32_t b = 0; b < c->machine_block_count; b++) {
		const struct code_machine_block *m = &c->machine_blocks[b];
		s->first_place[b] = count;
		for (uint32_t i = m->first; i < m->first + m->count; i++) {
			uint32_t origin = c->machine_origins[i];
			if (!code_has_accesses(c->machine[i].class))
				continue;
			s->places[count] = (struct access_place){owners[origin], ranks[origin], 0};
			for (uint32_t p = s->first_place[b]; p < count && m->times > 1; p++)
				s->places[count].copy += s->places[p].block == owners[origin] && s->places[p].rank == ranks[origin];
			count++;
		}
	}
	s->first_place[c->machine_block_count] = count;
}

/* Arrays that have an entry per instruction, for the machine's. */
static int take_usual(const struct launch_warps *in, struct machine_store *s)
{
	const struct kernel_code *c = in->code;
	size_t count = c->machine_count + 1u;
	s->usual_accesses = in->usual_accesses ? calloc(count, sizeof *s->usual_accesses) : NULL;
	s->usual_waits = in->usual_waits ? calloc(count, sizeof *s->usual_waits) : NULL;
	s->shifts = in->shifts ? calloc(count, sizeof *s->shifts) : NULL;
	if ((in->usual_accesses && !s->usual_accesses) || (in->usual_waits && !s->usual_waits) || (in->shifts && !s->shifts))
		return -ENOMEM;
	for (uint32_t i = 0; i < c->machine_count; i++) {
		uint32_t origin = c->machine_origins[i];
		if (s->usual_accesses)
			s->usual_accesses[i] = origin == UINT32_MAX ? 1 : in->usual_accesses[origin];
		if (s->usual_waits && origin != UINT32_MAX)
			s->usual_waits[i] = in->usual_waits[origin];
		if (s->shifts && origin != UINT32_MAX)
			s->shifts[i] = in->shifts[origin];
	}
	return 0;
}

/* ---- paths ---- */

struct machine_writer {
	const struct launch_warps *in;
	const struct machine_store *s;
	const struct warp_path *path;
	struct written *to;
	size_t block_count, access_count;
	/* Of a path with gaps, NULL otherwise: by block of the path, whether a window begins or ends before it, and where that is now. */
	struct place_now {
		bool border, begins; /* begins: a window does */
		uint32_t block, access;
		/* A window of nothing but executions of one block, from `only_from` to here: it ends before those that are left of whole unrolled
		 * ones, because what it leaves out was unrolled throughout. share: what stays of it; 0: it ends here. */
		size_t only_from;
		uint32_t only_block, only_access;
		double share;
	} *now;
	size_t border; /* the last one that was come to */
	bool only;     /* nothing was written since then */
	uint32_t *origins; /* by access that is written: that of the path; UINT32_MAX: none */
	bool accesses;     /* are written as well */
	/* The executions that are being written, and the next one that is not. */
	struct execution *executions, next;
	uint32_t entered; /* the block whose executions were written last; UINT32_MAX: none */
};

/* The place in the path's accesses of one that belongs to this execution of a block, or to an arm of it that is executed
 * next; SIZE_MAX: no lane goes there. */
static size_t find_access(const struct machine_writer *w, size_t at, size_t first, const struct access_place *place)
{
	const struct kernel_code *c = w->in->code;
	uint32_t block = w->path->blocks[at];
	while (w->path->blocks[at] != place->block) {
		first += w->s->block_accesses[w->path->blocks[at]];
		if (++at >= w->path->block_count || c->machine_blocks[w->path->blocks[at]].merged != (int32_t)block)
			return SIZE_MAX;
	}
	return first + place->rank;
}

/* The parts of the path's request `from`, after those that were written before. */
static void write_parts(struct machine_writer *w, size_t n, size_t from)
{
	const struct path_requests *r = w->path->requests;
	struct written *to = w->to;
	to->first[n] = (uint32_t)to->part_count;
	for (uint32_t i = from == SIZE_MAX ? 0 : r->first[from]; from != SIZE_MAX && i < r->first[from + 1]; i++) {
		if (!gs_reserve(&to->parts, to->part_count, &to->part_room, sizeof *to->parts)) {
			to->failed = true;
			break;
		}
		to->parts[to->part_count++] = r->parts[i];
	}
	to->first[n + 1] = (uint32_t)to->part_count;
}

static void write_access(struct machine_writer *w, size_t from)
{
	size_t n = w->access_count++;
	if (w->origins)
		w->origins[n] = from == SIZE_MAX ? UINT32_MAX : (uint32_t)from;
	if (w->to->accesses)
		w->to->accesses[n] = from == SIZE_MAX ? 1 : w->path->accesses[from];
	if (w->to->waits)
		w->to->waits[n] = from == SIZE_MAX ? 0 : w->path->waits[from];
	if (!w->to->first)
		return;
	if (w->in->code->assembled) {
		write_parts(w, n, from);
		return;
	}
	/* Parts keep their order: what is left out, parameters and lanes that are off, has none. */
	w->to->first[n] = from == SIZE_MAX ? (n ? w->to->first[n] : 0) : w->path->requests->first[from];
	w->to->first[n + 1] = from == SIZE_MAX ? w->to->first[n] : w->path->requests->first[from + 1];
}

static void write_accesses(struct machine_writer *w, size_t at, size_t first)
{
	uint32_t block = w->path->blocks[at];
	for (uint32_t i = w->s->first_place[block]; i < w->s->first_place[block + 1]; i++)
		write_access(w, find_access(w, at, first, &w->s->places[i]));
}

static struct execution next_execution(struct machine_writer *w, uint32_t block)
{
	while (w->path->blocks[w->next.at] != block)
		w->next.first += w->s->block_accesses[w->path->blocks[w->next.at++]];
	struct execution e = w->next;
	w->next.first += w->s->block_accesses[w->path->blocks[w->next.at++]];
	return e;
}

/* Accesses of a piece of an unrolled loop, in its order. */
static void write_piece(struct machine_writer *w, uint32_t piece)
{
	const struct code_machine_block *m = &w->in->code->machine_blocks[piece];
	for (uint32_t n = 0; n < m->times; n++)
		w->executions[n] = next_execution(w, m->of);
	for (uint32_t i = w->s->first_place[piece]; i < w->s->first_place[piece + 1]; i++) {
		const struct access_place *place = &w->s->places[i];
		const struct execution *e = &w->executions[place->copy < m->times ? place->copy : 0];
		write_access(w, find_access(w, e->at, e->first, place));
	}
}

static void write_entry(struct machine_writer *w, uint32_t block)
{
	if (w->s->entries[block] && w->entered != block)
		w->to->blocks[w->block_count++] = w->s->entries[block];
	w->entered = block;
}

/* `run` executions of a block in a row, by the longest unrolled ones first. Returns those that are left of these; *rest: where they begin. */
static uint64_t write_run(struct machine_writer *w, uint32_t block, uint64_t run, size_t *rest)
{
	const struct kernel_code *c = w->in->code;
	uint64_t left = 0;
	bool first = true;
	if (run)
		write_entry(w, block);
	while (run) {
		uint32_t best = block;
		for (uint32_t i = c->block_count; i < c->machine_block_count; i++)
			if (c->machine_blocks[i].of == block && c->machine_blocks[i].times <= run &&
			    c->machine_blocks[i].times > c->machine_blocks[best].times)
				best = i;
		for (uint64_t n = run / c->machine_blocks[best].times; n; n--) {
			w->to->blocks[w->block_count++] = best;
			if (c->assembled && w->accesses)
				write_piece(w, best);
		}
		run %= c->machine_blocks[best].times;
		if (first) {
			left = run;
			*rest = w->block_count;
		}
		first = false;
	}
	w->only = false;
	return left;
}

/* A window begins or ends before block `at` of the path, and so many executions of a block are to be written before it. */
static void write_border(struct machine_writer *w, size_t at, uint32_t block, uint64_t run)
{
	struct place_now *now = &w->now[at];
	bool only = w->only;
	size_t rest = 0;
	uint64_t left = write_run(w, block, run, &rest);
	if (now->begins && at < w->path->block_count && w->in->code->machine_blocks[w->path->blocks[at]].count)
		write_entry(w, w->path->blocks[at]); /* it is not repeated with the window */
	now->block = (uint32_t)w->block_count;
	now->access = (uint32_t)w->access_count;
	if (only && left && left < run && !now->begins) {
		uint32_t each = (uint32_t)((w->access_count - w->now[w->border].access) / run);
		now->only_from = w->border;
		now->only_block = (uint32_t)rest;
		now->only_access = now->access - each * (uint32_t)left;
		now->share = (double)(run - left) / (double)run;
	}
	w->border = at;
	w->only = true;
}

static void write_path(struct machine_writer *w)
{
	const struct kernel_code *c = w->in->code;
	uint32_t last = 0;
	uint64_t run = 0;
	size_t first = 0, rest;
	for (size_t at = 0; at < w->path->block_count; at++) {
		uint32_t block = w->path->blocks[at];
		if (w->now && w->now[at].border) {
			write_border(w, at, last, run);
			run = 0;
		}
		if (c->machine_blocks[block].count) {
			if (run && block != last) {
				write_run(w, last, run, &rest);
				run = 0;
			}
			last = block;
			w->next = run++ ? w->next : (struct execution){at, first};
			if (w->accesses && !c->assembled)
				write_accesses(w, at, first);
		}
		first += w->s->block_accesses[block];
	}
	if (w->now)
		write_border(w, w->path->block_count, last, run);
	else
		write_run(w, last, run, &rest);
}

static double path_instructions(const struct kernel_code *c, const struct warp_path *path)
{
	double sum = 0;
	for (size_t i = 0; i < path->block_count; i++)
		sum += path_weight(path, i) * c->blocks[path->blocks[i]].count;
	return sum;
}

static size_t most_accesses(const struct machine_store *s, const struct warp_path *path)
{
	size_t count = 0;
	for (size_t i = 0; i < path->block_count; i++)
		count += s->most_accesses[path->blocks[i]];
	return count;
}

/* ---- gaps ---- */

static int start_gaps(struct machine_writer *w, size_t accesses)
{
	const struct warp_path *path = w->path;
	if (!path->gap_count)
		return 0;
	w->now = calloc(path->block_count + 1, sizeof *w->now);
	w->origins = calloc(accesses + 1, sizeof *w->origins);
	if (!w->now || !w->origins)
		return -ENOMEM;
	for (size_t g = 0; g < path->gap_count; g++)
		w->now[path->gaps[g].from].border = w->now[path->gaps[g].from].begins = w->now[path->gaps[g].at].border = true;
	return 0;
}

static void end_gaps(struct machine_writer *w)
{
	free(w->now);
	free(w->origins);
}

/* The shifts of a window's accesses, for those that were written. A shorter window moves on by less. */
static void write_shifts(const struct machine_writer *w, const struct path_gap *from, const struct path_gap *to,
                         struct round_shift *shifts)
{
	for (uint32_t i = 0; i < to->access_count; i++) {
		uint32_t origin = w->origins[to->first_access + i] - from->first_access;
		if (w->origins[to->first_access + i] == UINT32_MAX || origin >= from->access_count)
			continue;
		shifts[i] = from->shifts[origin];
		if (to->iterations < from->iterations)
			shifts[i].step = (int64_t)((double)shifts[i].step * to->iterations / from->iterations);
	}
}

static struct path_gap place_gap(const struct machine_writer *w, const struct path_gap *gap)
{
	const struct place_now *from = &w->now[gap->from], *at = &w->now[gap->at];
	bool shorter = at->share > 0 && at->only_from == gap->from;
	struct path_gap to = *gap;
	to.from = from->block;
	to.at = shorter ? at->only_block : at->block;
	to.first_access = from->access;
	to.access_count = (shorter ? at->only_access : at->access) - from->access;
	to.iterations *= shorter ? at->share : 1;
	to.rounds /= shorter ? at->share : 1;
	to.shifts = NULL;
	return to;
}

static int write_gaps(struct machine_writer *w)
{
	const struct warp_path *path = w->path;
	struct written *to = w->to;
	size_t count = 0, used = 0;
	if (!path->gap_count)
		return 0;
	to->gaps = calloc(path->gap_count, sizeof *to->gaps);
	to->weights = calloc(w->block_count + 1, sizeof *to->weights);
	for (size_t g = 0; g < path->gap_count && to->gaps; g++) {
		to->gaps[g] = place_gap(w, &path->gaps[g]);
		count += to->gaps[g].access_count;
	}
	to->shifts = calloc(count + 1, sizeof *to->shifts);
	if (!to->gaps || !to->weights || !to->shifts)
		return -ENOMEM;
	for (size_t g = 0; g < path->gap_count; g++) {
		if (path->gaps[g].shifts) {
			write_shifts(w, &path->gaps[g], &to->gaps[g], to->shifts + used);
			to->gaps[g].shifts = to->shifts + used;
		}
		used += to->gaps[g].access_count;
	}
	path_weigh(&w->s->view, to->blocks, w->block_count, to->gaps, path->gap_count, to->weights);
	return 0;
}

static int make_path(const struct launch_warps *in, struct machine_store *s, uint32_t p)
{
	const struct warp_path *path = &in->paths[p];
	struct written *to = &s->written[p];
	size_t accesses = most_accesses(s, path);
	struct machine_writer w = {.in = in, .s = s, .path = path, .to = to, .entered = UINT32_MAX, .executions = s->executions};
	to->blocks = calloc((in->code->assembled ? 2 : 1) * path->block_count + 2, sizeof *to->blocks); /* with entries of loops */
	to->accesses = path->accesses ? calloc(accesses + 1, sizeof *to->accesses) : NULL;
	to->waits = path->waits ? calloc(accesses + 1, sizeof *to->waits) : NULL;
	to->first = path->requests ? calloc(accesses + 2, sizeof *to->first) : NULL;
	w.accesses = to->accesses || to->waits || to->first;
	if (!to->blocks || (path->accesses && !to->accesses) || (path->waits && !to->waits) || (path->requests && !to->first))
		return -ENOMEM;
	int result = start_gaps(&w, accesses);
	if (!result) {
		write_path(&w);
		result = write_gaps(&w);
	}
	end_gaps(&w);
	if (result || to->failed)
		return result ? result : -ENOMEM;
	s->paths[p] = (struct warp_path){.blocks = to->blocks, .block_count = w.block_count, .accesses = to->accesses,
	                                 .waits = to->waits, .access_count = w.access_count, .gaps = to->gaps,
	                                 .gap_count = path->gap_count, .weights = to->weights};
	if (path->requests) {
		to->requests = (struct path_requests){to->first, in->code->assembled ? to->parts : path->requests->parts};
		s->paths[p].requests = &to->requests;
	}
	double before = path_instructions(in->code, path);
	if (path->active_lanes && before > 0)
		s->paths[p].active_lanes = (uint64_t)((double)path->active_lanes / before * path_instructions(&s->view, &s->paths[p]));
	return 0;
}

/* ---- all of it ---- */

static void count_pipes(const struct machine_store *s, const struct warp_path *path, double *by_pipe)
{
	for (size_t i = 0; i < path->block_count; i++) {
		const struct code_block *b = &s->blocks[path->blocks[i]];
		for (uint32_t k = b->first; k < b->first + b->count; k++)
			by_pipe[machine_pipe_of(&s->view.code[k])] += path_weight(path, i);
	}
}

/* Means over the warps of the pattern. */
static int sum_up(const struct launch_warps *in, struct machine_paths *out)
{
	const struct machine_store *s = out->store;
	uint64_t *uses = calloc(in->path_count + 1u, sizeof *uses);
	double ptx = 0, machine = 0;
	if (!uses)
		return -ENOMEM;
	for (uint64_t i = 0; i < in->pattern_groups * in->warps_per_group; i++)
		uses[in->path_of[i]]++;
	for (uint32_t p = 0; p < in->path_count; p++) {
		double pipes[MACHINE_PIPE_COUNT] = {0};
		count_pipes(s, &s->paths[p], pipes);
		for (int k = 0; k < MACHINE_PIPE_COUNT; k++) {
			out->by_pipe[k] += pipes[k] * (double)uses[p];
			machine += pipes[k] * (double)uses[p];
		}
		ptx += path_instructions(in->code, &in->paths[p]) * (double)uses[p];
	}
	for (int k = 0; k < MACHINE_PIPE_COUNT && machine > 0; k++)
		out->by_pipe[k] /= machine;
	out->ptx_per_instruction = machine > 0 ? ptx / machine : 1;
	free(uses);
	return 0;
}

/* What an execution of each block of the PTX has at most, and how loops are entered. */
static int find_pieces(const struct kernel_code *c, struct machine_store *s)
{
	uint32_t most = 1;
	for (uint32_t b = 0; b < c->machine_block_count; b++) {
		const struct code_machine_block *m = &c->machine_blocks[b];
		uint32_t count = s->first_place[b + 1] - s->first_place[b], each = m->times ? (count + m->times - 1) / m->times : 0;
		if (each > s->most_accesses[m->of])
			s->most_accesses[m->of] = each;
		if (!m->times)
			s->entries[m->of] = b;
		most = m->times > most ? m->times : most;
	}
	s->executions = calloc(most, sizeof *s->executions);
	return s->executions ? 0 : -ENOMEM;
}

static int make_store(const struct launch_warps *in, struct machine_store *s)
{
	const struct kernel_code *c = in->code;
	uint32_t *ranks = calloc(c->code_count + 1u, sizeof *ranks), *owners = calloc(c->code_count + 1u, sizeof *owners);
	s->blocks = calloc(c->machine_block_count + 1u, sizeof *s->blocks);
	s->paths = calloc(in->path_count + 1u, sizeof *s->paths);
	s->written = calloc(in->path_count + 1u, sizeof *s->written);
	s->places = calloc(c->machine_count + 1u, sizeof *s->places);
	s->first_place = calloc(c->machine_block_count + 2u, sizeof *s->first_place);
	s->block_accesses = calloc(c->block_count + 1u, sizeof *s->block_accesses);
	s->most_accesses = calloc(c->block_count + 1u, sizeof *s->most_accesses);
	s->entries = calloc(c->block_count + 1u, sizeof *s->entries);
	int result = ranks && owners && s->blocks && s->paths && s->written && s->places && s->first_place &&
	                     s->block_accesses && s->most_accesses && s->entries ? 0 : -ENOMEM;
	if (!result) {
		machine_view(c, s->blocks, &s->view);
		find_places(c, s, ranks, owners);
		result = find_pieces(c, s);
	}
	if (!result)
		result = take_usual(in, s);
	free(ranks);
	free(owners);
	return result;
}

int machine_paths_make(const struct launch_warps *in, struct machine_paths *out)
{
	*out = (struct machine_paths){.warps = *in, .store = calloc(1, sizeof *out->store)};
	int result = out->store ? make_store(in, out->store) : -ENOMEM;
	for (uint32_t p = 0; p < in->path_count && !result; p++) {
		out->store->path_count = p + 1;
		result = make_path(in, out->store, p);
	}
	if (!result)
		result = sum_up(in, out);
	if (result) {
		machine_paths_free(out);
		return result;
	}
	out->warps.code = &out->store->view;
	out->warps.paths = out->store->paths;
	out->warps.usual_accesses = out->store->usual_accesses;
	out->warps.usual_waits = out->store->usual_waits;
	out->warps.shifts = out->store->shifts;
	return 0;
}

void machine_paths_free(struct machine_paths *m)
{
	struct machine_store *s = m->store;
	for (uint32_t p = 0; s && p < s->path_count; p++) {
		free(s->written[p].blocks);
		free(s->written[p].accesses);
		free(s->written[p].waits);
		free(s->written[p].first);
		free(s->written[p].parts);
		free(s->written[p].gaps);
		free(s->written[p].shifts);
		free(s->written[p].weights);
	}
	if (s) {
		free(s->blocks);
		free(s->paths);
		free(s->written);
		free(s->places);
		free(s->first_place);
		free(s->block_accesses);
		free(s->most_accesses);
		free(s->entries);
		free(s->executions);
		free(s->usual_accesses);
		free(s->usual_waits);
		free(s->shifts);
	}
	free(s);
	*m = (struct machine_paths){0};
}
