/* Writes the path of a warp in the machine's blocks, with its accesses and gaps; see machine.h. */
#include "models/util/minmax.h"
#include "models/warps/machine/store.h"

#include <errno.h>
#include <stdlib.h>

/* Where executions of a run begin that are left of whole unrolled ones. */
struct written_rest {
	size_t block, access;
};

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
	uint32_t due;     /* the block whose loop has a rest that is not written yet; UINT32_MAX: none */
};

/* The place of an access that the assembler has moved from another block of the same round of a loop; SIZE_MAX: no lane
 * goes there. */
static size_t find_moved(const struct machine_writer *w, size_t at, size_t first, const struct access_place *place)
{
	enum { MOST_LOOKED = 4096 };
	const struct kernel_code *c = w->in->code;
	const uint32_t *blocks = w->path->blocks, *counts = w->s->block_accesses;
	int32_t loop = c->blocks[place->block].loop;
	uint32_t header = loop < 0 ? UINT32_MAX : c->loops[loop].header;
	size_t access = first;
	for (size_t i = at; i + 1 < w->path->block_count && i < at + MOST_LOOKED && blocks[i + 1] != header;) {
		access += counts[blocks[i++]];
		if (blocks[i] == place->block)
			return access + place->rank;
	}
	access = first;
	for (size_t i = at; i && i + MOST_LOOKED > at && blocks[i] != header;) {
		access -= counts[blocks[--i]];
		if (blocks[i] == place->block)
			return access + place->rank;
	}
	return SIZE_MAX;
}

/* The place in the path's accesses of one that belongs to this execution of a block, or to an arm of it that is executed
 * next; SIZE_MAX: no lane goes there. */
static size_t find_access(const struct machine_writer *w, size_t at, size_t first, const struct access_place *place)
{
	const struct kernel_code *c = w->in->code;
	uint32_t block = w->path->blocks[at];
	if (place->moved)
		return find_moved(w, at, first, place);
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

static void write_access(struct machine_writer *w, size_t from, uint16_t least)
{
	size_t n = w->access_count++;
	if (w->origins)
		w->origins[n] = from == SIZE_MAX ? UINT32_MAX : (uint32_t)from;
	if (w->to->accesses)
		w->to->accesses[n] = from == SIZE_MAX ? 1 : (uint16_t)max_u32(w->path->accesses[from], least);
	if (w->to->waits)
		w->to->waits[n] = from == SIZE_MAX ? 0 : w->path->waits[from];
	if (!w->to->first)
		return;
	if (w->s->reordered) {
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
		write_access(w, find_access(w, at, first, &w->s->places[i]), w->s->places[i].least);
}

static struct execution next_execution(struct machine_writer *w, uint32_t block)
{
	while (w->path->blocks[w->next.at] != block)
		w->next.first += w->s->block_accesses[w->path->blocks[w->next.at++]];
	struct execution e = w->next;
	w->next.first += w->s->block_accesses[w->path->blocks[w->next.at++]];
	return e;
}

/* Accesses of a piece of an unrolled loop, in its order. `run`: so many executions are there, of those that it stands for. */
static void write_piece(struct machine_writer *w, uint32_t piece, uint64_t run)
{
	const struct code_machine_block *m = &w->in->code->machine_blocks[piece];
	uint32_t there = m->times < run ? m->times : (uint32_t)run;
	for (uint32_t n = 0; n < there; n++)
		w->executions[n] = next_execution(w, m->of);
	for (uint32_t i = w->s->first_place[piece]; i < w->s->first_place[piece + 1]; i++) {
		const struct access_place *place = &w->s->places[i];
		uint32_t n = place->copy < m->times ? place->copy : 0;
		write_access(w, n < there ? find_access(w, w->executions[n].at, w->executions[n].first, place) : SIZE_MAX, place->least);
	}
}

/* Bit for bit of the number of executions: a half of the longest piece, a quarter. */
uint32_t machine_execution_of_rest(uint32_t longest, uint32_t copy, uint32_t left)
{
	uint32_t copies = 0, executions = 0;
	for (uint32_t bit = longest / 2; bit; bit /= 2) {
		if (copy < copies + bit)
			return left & bit ? executions + copy - copies : UINT32_MAX;
		copies += bit;
		executions += left & bit;
	}
	return UINT32_MAX;
}

/* What is left of a loop's executions, under predicates. */
static void write_rest(struct machine_writer *w, uint32_t block, uint64_t left)
{
	uint32_t rest = w->s->rests[block];
	w->due = UINT32_MAX;
	w->to->blocks[w->block_count++] = rest;
	for (uint64_t n = 0; n < left && w->accesses; n++)
		w->executions[n] = next_execution(w, block);
	for (uint32_t i = w->s->first_place[rest]; i < w->s->first_place[rest + 1] && w->accesses; i++) {
		const struct access_place *place = &w->s->places[i];
		uint32_t n = machine_execution_of_rest(w->s->longest[block], place->copy, (uint32_t)left);
		const struct execution *e = n < left ? &w->executions[n] : NULL;
		write_access(w, e ? find_access(w, e->at, e->first, place) : SIZE_MAX, place->least);
	}
}

/* A loop whose executions were all unrolled ones has a rest that is off. It comes when the loop is left. */
static void leave_loop(struct machine_writer *w, uint32_t to)
{
	if (w->due != UINT32_MAX && w->due != to)
		write_rest(w, w->due, 0);
}

/* Whether a block is in the loop that another one is the first of. */
static bool is_in_loop(const struct kernel_code *c, uint32_t block, uint32_t header)
{
	int32_t l = block == UINT32_MAX ? -1 : c->blocks[block].loop;
	while (l >= 0 && c->loops[l].header != header)
		l = c->loops[l].outer;
	return l >= 0;
}

static void write_entry(struct machine_writer *w, uint32_t block)
{
	if (w->s->entries[block] && w->entered != block && !is_in_loop(w->in->code, w->entered, block))
		w->to->blocks[w->block_count++] = w->s->entries[block];
	w->entered = block;
}

/* The machine block for the most executions, up to so many. */
static uint32_t longest_piece(const struct kernel_code *c, uint32_t block, uint64_t run)
{
	uint32_t best = block;
	for (uint32_t i = c->block_count; i < c->machine_block_count; i++)
		if (c->machine_blocks[i].of == block && c->machine_blocks[i].times <= run && c->machine_blocks[i].times <= CODE_MOST_TIMES &&
		    c->machine_blocks[i].times > c->machine_blocks[best].times)
			best = i;
	return best;
}

/* Executions of a loop that has no piece for so few. If there is no rest, it has a fixed number of rounds, of which a window has some: to the nearest. */
static void write_few(struct machine_writer *w, uint32_t block, uint64_t run)
{
	uint32_t longest = longest_piece(w->in->code, block, CODE_MOST_TIMES);
	if (w->s->rests[block]) {
		write_rest(w, block, run < w->s->longest[block] ? run : w->s->longest[block] - 1);
	} else if (run * 2 >= w->s->longest[block]) {
		w->to->blocks[w->block_count++] = longest;
		if (w->accesses)
			write_piece(w, longest, run);
	}
}

static void write_pieces(struct machine_writer *w, uint32_t piece, uint64_t count)
{
	for (uint64_t n = 0; n < count; n++) {
		w->to->blocks[w->block_count++] = piece;
		if (w->s->reordered && w->accesses)
			write_piece(w, piece, UINT64_MAX);
	}
}

/* `run` executions of a block in a row, by the longest unrolled ones first. Returns those that are left of these; *rest: where they begin. */
static uint64_t write_run(struct machine_writer *w, uint32_t block, uint64_t run, struct written_rest *rest)
{
	const struct kernel_code *c = w->in->code;
	uint64_t left = 0;
	bool first = true;
	if (run) {
		leave_loop(w, block);
		write_entry(w, block);
		w->due = w->s->rests[block] ? block : UINT32_MAX;
	}
	while (run) {
		uint32_t best = longest_piece(c, block, run);
		bool few = !c->machine_blocks[best].count;
		if (few)
			write_few(w, block, run);
		else
			write_pieces(w, best, run / c->machine_blocks[best].times);
		run = few ? 0 : run % c->machine_blocks[best].times;
		if (first) {
			left = run;
			*rest = (struct written_rest){w->block_count, w->access_count};
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
	struct written_rest rest = {0, 0};
	uint64_t left = write_run(w, block, run, &rest);
	leave_loop(w, at < w->path->block_count ? w->path->blocks[at] : UINT32_MAX);
	if (now->begins && at < w->path->block_count && w->s->coded[w->path->blocks[at]])
		write_entry(w, w->path->blocks[at]); /* it is not repeated with the window */
	now->block = (uint32_t)w->block_count;
	now->access = (uint32_t)w->access_count;
	if (only && left && left < run && !now->begins) {
		uint32_t each = (uint32_t)((w->access_count - w->now[w->border].access) / run);
		now->only_from = w->border;
		now->only_block = (uint32_t)rest.block;
		now->only_access = w->s->reordered ? (uint32_t)rest.access : now->access - each * (uint32_t)left;
		now->share = (double)(run - left) / (double)run;
	}
	w->border = at;
	w->only = true;
}

/* ---- lanes that part ---- */

/* Whether lanes may leave a block by other ways than each other. */
static bool may_part(const struct kernel_code *c, uint32_t block)
{
	const struct code_block *b = &c->blocks[block];
	return b->edge_count > 1 && b->count && !(c->code[b->first + b->count - 1].flags & (CODE_UNIFORM | CODE_ORDERED));
}

/* The ways of a table that lanes go, from block `at` of the path up to where they meet, or as far as is looked. */
static uint32_t ways_taken(const struct machine_writer *w, size_t at)
{
	enum { MOST_LOOKED = 256, MOST_WAYS = 64 };
	uint32_t table = w->path->blocks[at], seen[MOST_WAYS], count = 0;
	int32_t join = w->in->code->blocks[table].join;
	for (size_t i = at + 1; i < w->path->block_count && i < at + MOST_LOOKED && count < MOST_WAYS; i++) {
		uint32_t block = w->path->blocks[i], n = 0;
		while (n < count && seen[n] != block)
			n++;
		if (w->s->way_of[block] == table + 1 && n == count)
			seen[count++] = block;
		if (block == table || (int32_t)block == join)
			break;
	}
	return count ? count : 1;
}

static void write_times(struct machine_writer *w, uint32_t block, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		w->to->blocks[w->block_count++] = block;
}

/* Whether lanes leave block `at` of the path by this edge and come to a join while others are elsewhere. Of a branch that leads to the join and elsewhere, some lanes
 * are taken to go each way, but for one that leaves a loop: how many rounds some lanes leave it in is not known. */
static bool arrives(const struct machine_writer *w, size_t at, uint32_t edge)
{
	const struct kernel_code *c = w->in->code;
	uint32_t block = w->path->blocks[at];
	int32_t to = c->edges[edge].to;
	return to >= 0 && w->s->arrivals[to] && at + 1 < w->path->block_count && (uint32_t)to != w->path->blocks[at + 1] &&
	       (c->blocks[block].edge_count == 1 || (may_part(c, block) && c->blocks[block].loop == c->blocks[to].loop));
}

/* What lanes that have parted execute by themselves after block `at` of the path. `last`, `run`: executions that are to be written before. Returns what is left of these. */
static uint64_t write_parted(struct machine_writer *w, size_t at, uint32_t last, uint64_t run)
{
	const struct code_block *b = &w->in->code->blocks[w->path->blocks[at]];
	uint32_t table = w->s->ways[w->path->blocks[at]], again = table ? ways_taken(w, at) - 1 : 0, count = 0, joins[2];
	struct written_rest rest;
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count && b->edge_count <= 2; e++)
		if (arrives(w, at, e))
			joins[count++] = w->s->arrivals[w->in->code->edges[e].to];
	if (!again && !count)
		return run;
	write_run(w, last, run, &rest);
	write_times(w, table, again);
	for (uint32_t i = 0; i < count; i++)
		write_times(w, joins[i], 1);
	return 0;
}

static void write_path(struct machine_writer *w)
{
	const struct kernel_code *c = w->in->code;
	uint32_t last = 0;
	uint64_t run = 0;
	size_t first = 0;
	struct written_rest rest;
	for (size_t at = 0; at < w->path->block_count; at++) {
		uint32_t block = w->path->blocks[at];
		if (w->now && w->now[at].border) {
			write_border(w, at, last, run);
			run = 0;
		}
		if (w->s->coded[block]) {
			if (run && block != last) {
				write_run(w, last, run, &rest);
				run = 0;
			}
			last = block;
			w->next = run++ ? w->next : (struct execution){at, first};
			if (w->accesses && !w->s->reordered)
				write_accesses(w, at, first);
		}
		first += w->s->block_accesses[block];
		if (c->origin != CODE_SELECTED)
			run = write_parted(w, at, last, run);
	}
	if (w->now)
		write_border(w, w->path->block_count, last, run);
	else
		write_run(w, last, run, &rest);
	leave_loop(w, UINT32_MAX);
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

int machine_write_path(const struct launch_warps *in, struct machine_store *s, uint32_t p)
{
	const struct warp_path *path = &in->paths[p];
	struct written *to = &s->written[p];
	size_t accesses = most_accesses(s, path);
	struct machine_writer w = {.in = in, .s = s, .path = path, .to = to, .entered = UINT32_MAX, .due = UINT32_MAX, .executions = s->executions};
	to->blocks = calloc((in->code->origin != CODE_SELECTED ? 5 : 1) * path->block_count + 2, sizeof *to->blocks); /* with entries of loops, and write_parted */
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
		to->requests = (struct path_requests){to->first, s->reordered ? to->parts : path->requests->parts};
		s->paths[p].requests = &to->requests;
	}
	double before = path_instructions(in->code, path);
	if (path->active_lanes && before > 0)
		s->paths[p].active_lanes = (uint64_t)((double)path->active_lanes / before * path_instructions(&s->view, &s->paths[p]));
	return 0;
}
