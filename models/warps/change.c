/* Warps without one cause of lost time; see change.h. */
#include "models/warps/change.h"

#include "models/code/costs.h"
#include "models/util/bits.h"
#include "models/warps/warps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR_BYTES = 32 };

/* One path, being written. */
struct changed_path {
	uint32_t *blocks, *first;
	uint16_t *accesses;
	struct memory_part *parts;
	struct path_requests requests;
	struct path_gap *gaps;
	struct round_shift *shifts;
	double *weights;
};

struct change_store {
	struct warp_path *paths;
	struct changed_path *changed;
	uint32_t path_count;
	uint16_t *usual_accesses;
	struct address_shift *shifts;
	bool *leads;        /* by path: of a group's first warp */
	uint32_t *accesses; /* by block of the code */
	double *kept;       /* by block: executions that were left out, and count for the next one */
	double *lanes;      /* by block: the part of executions that full warps need */
	struct left_out {
		uint32_t count;
		size_t from[32]; /* their first accesses */
	} *left_out; /* by block: executions whose lanes the next one has, too */
};

struct changer {
	const struct gpu *gpu;
	const struct warps_change *change;
	const struct launch_warps *in;
	struct change_store *s;
	const struct warp_path *path;
	struct changed_path *to;
	uint32_t number; /* of the path */
	uint32_t ordinal;
	uint32_t part_count;
	uint32_t *origins; /* by access that is written, of thinned paths: that of the path */
};

uint32_t shared_turns_needed(const struct gpu *gpu, const struct code_instruction *i)
{
	uint32_t words = i->class == CODE_atomic ? 1 : (i->bytes + 3u) / 4, whole = gpu->shared_banks ? gpu->shared_banks : 1;
	uint32_t turns = (words * gpu->warp_size + whole - 1) / whole;
	return turns ? turns : 1;
}

static bool is_meant(const struct changer *c, uint32_t i)
{
	const struct code_instruction *in = &c->in->code->code[i];
	return !c->change->line || (in->line == c->change->line && in->file == c->change->file);
}

static bool is_global(const struct code_instruction *i)
{
	return i->space == SPACE_global || i->space == SPACE_generic;
}

/* ---- requests ---- */

static uint32_t lines_for(const struct changer *c, uint32_t bytes)
{
	uint32_t line = (uint32_t)c->gpu->l1_line_bytes;
	return bytes ? (bytes + line - 1) / line : 1;
}

struct asked {
	uint32_t parts, bytes, sectors, needed;
};

static struct asked asked_by(const struct path_requests *r, size_t n)
{
	struct asked a = {.parts = r->first[n + 1] - r->first[n]};
	for (uint32_t p = r->first[n]; p < r->first[n + 1]; p++) {
		a.bytes += r->parts[p].bytes;
		a.sectors += bits_set(r->parts[p].sectors);
	}
	a.needed = (a.bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
	return a;
}

static void copy_parts(struct changer *c, size_t n)
{
	for (uint32_t p = c->path->requests->first[n]; p < c->path->requests->first[n + 1]; p++)
		c->to->parts[c->part_count++] = c->path->requests->parts[p];
}

/* Whole lines of those that it touched: others that touch the same ones take others. */
static void write_coalesced(struct changer *c, size_t n)
{
	const struct path_requests *r = c->path->requests;
	struct asked a = asked_by(r, n);
	uint32_t lines = lines_for(c, a.bytes), line = (uint32_t)c->gpu->l1_line_bytes, left = a.bytes;
	if (a.sectors <= a.needed || lines > a.parts) {
		copy_parts(c, n);
		return;
	}
	for (uint32_t i = 0; i < lines; i++) {
		struct memory_part part = r->parts[r->first[n] + (c->ordinal * lines + i) % a.parts];
		uint32_t bytes = left < line ? left : line, sectors = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
		part.sectors = sectors < 32 ? (1u << sectors) - 1 : UINT32_MAX;
		part.bytes = (uint16_t)bytes;
		c->to->parts[c->part_count++] = part;
		left -= bytes;
	}
	c->ordinal++;
	c->to->accesses[n] = c->to->accesses[n] < lines ? c->to->accesses[n] : (uint16_t)lines;
}

/* *load: the load of the block whose parts this one asks for again, or SIZE_MAX. */
static void write_vector(struct changer *c, size_t n, const struct code_instruction *in, size_t *load)
{
	if (in->class == CODE_load && *load != SIZE_MAX && same_parts(c->path->requests, (uint32_t)*load, (uint32_t)n)) {
		c->to->accesses[n] = 1;
		return;
	}
	*load = in->class == CODE_load ? n : *load;
	copy_parts(c, n);
}

static void write_atomics(struct changer *c, size_t n)
{
	const struct path_requests *r = c->path->requests;
	uint32_t begin = c->part_count;
	c->to->accesses[n] = 1;
	for (uint32_t p = r->first[n]; p < r->first[n + 1] && c->s->leads[c->number]; p++) {
		uint32_t known = begin;
		while (known < c->part_count && (c->to->parts[known].address != r->parts[p].address || c->to->parts[known].sectors != r->parts[p].sectors))
			known++;
		if (known == c->part_count)
			c->to->parts[c->part_count++] = r->parts[p];
		c->to->parts[known].lanes = 1;
	}
}

static void write_request(struct changer *c, size_t n, uint32_t i, size_t *load)
{
	const struct code_instruction *in = &c->in->code->code[i];
	c->to->first[n] = c->part_count;
	bool meant = is_meant(c, i) && is_global(in);
	if (meant && c->change->kind == CHANGE_coalesced && in->class != CODE_atomic)
		write_coalesced(c, n);
	else if (meant && c->change->kind == CHANGE_vectors)
		write_vector(c, n, in, load);
	else if (meant && c->change->kind == CHANGE_atomics && in->class == CODE_atomic)
		write_atomics(c, n);
	else
		copy_parts(c, n);
	c->to->first[n + 1] = c->part_count;
}

static void write_accesses(struct changer *c)
{
	const struct kernel_code *code = c->in->code;
	size_t n = 0;
	for (size_t b = 0; b < c->path->block_count; b++) {
		const struct code_block *block = &code->blocks[c->path->blocks[b]];
		size_t load = SIZE_MAX;
		for (uint32_t i = block->first; i < block->first + block->count && n < c->path->access_count; i++) {
			const struct code_instruction *in = &code->code[i];
			if (!code_has_accesses(in->class))
				continue;
			if (c->to->accesses && c->change->kind == CHANGE_conflicts && in->space == SPACE_shared && is_meant(c, i)) {
				uint32_t needed = shared_turns_needed(c->gpu, in);
				c->to->accesses[n] = c->to->accesses[n] < needed ? c->to->accesses[n] : (uint16_t)needed;
			}
			if (c->to->first)
				write_request(c, n, i, &load);
			n++;
		}
	}
}

/* What moves on by less than a line from round to round asks for the rest of its lines then. Now it has had all of these. */
static void move_on(struct changer *c, struct round_shift *shift, size_t n)
{
	int64_t line = (int64_t)c->gpu->l1_line_bytes;
	struct asked a = asked_by(c->path->requests, n);
	int64_t least = (int64_t)lines_for(c, a.bytes) * line;
	if (!shift->chance && shift->step && a.sectors > a.needed && llabs(shift->step) < least)
		shift->step = shift->step < 0 ? -least : least;
}

static int write_gap_shifts(struct changer *c)
{
	const struct warp_path *path = c->path;
	size_t count = 0, used = 0;
	for (size_t g = 0; g < path->gap_count; g++)
		count += path->gaps[g].access_count;
	c->to->gaps = calloc(path->gap_count + 1, sizeof *c->to->gaps);
	c->to->shifts = calloc(count + 1, sizeof *c->to->shifts);
	if (!c->to->gaps || !c->to->shifts)
		return -ENOMEM;
	for (size_t g = 0; g < path->gap_count; g++) {
		struct path_gap gap = path->gaps[g];
		if (gap.shifts) {
			memcpy(c->to->shifts + used, gap.shifts, gap.access_count * sizeof *gap.shifts);
			gap.shifts = c->to->shifts + used;
			for (uint32_t i = 0; i < gap.access_count && path->requests && gap.first_access + i < path->access_count; i++)
				if (c->to->first[gap.first_access + i + 1] - c->to->first[gap.first_access + i] <
				    path->requests->first[gap.first_access + i + 1] - path->requests->first[gap.first_access + i])
					move_on(c, &c->to->shifts[used + i], gap.first_access + i);
		}
		used += gap.access_count;
		c->to->gaps[g] = gap;
	}
	return 0;
}

/* The same blocks with other accesses. */
static int change_requests(struct changer *c)
{
	const struct warp_path *path = c->path;
	uint32_t parts = path->requests && path->access_count ? path->requests->first[path->access_count] : 0;
	c->ordinal = c->number;
	c->to->accesses = path->accesses ? calloc(path->access_count + 1, sizeof *c->to->accesses) : NULL;
	c->to->first = path->requests && path->accesses ? calloc(path->access_count + 2, sizeof *c->to->first) : NULL;
	c->to->parts = calloc(parts + 1, sizeof *c->to->parts);
	if (!c->to->parts || (path->accesses && !c->to->accesses) || (path->requests && path->accesses && !c->to->first))
		return -ENOMEM;
	if (path->accesses)
		memcpy(c->to->accesses, path->accesses, path->access_count * sizeof *c->to->accesses);
	write_accesses(c);
	struct warp_path *out = &c->s->paths[c->number];
	out->accesses = c->to->accesses;
	if (c->to->first) {
		c->to->requests = (struct path_requests){c->to->first, c->to->parts};
		out->requests = &c->to->requests;
	}
	int result = c->change->kind == CHANGE_coalesced && path->gap_count && c->to->first ? write_gap_shifts(c) : 0;
	if (c->to->gaps)
		out->gaps = c->to->gaps;
	return result;
}

/* ---- lanes ---- */

struct thinned {
	size_t blocks, accesses;
};

/* Parts of another execution, whose lanes this one has now. Returns how many lines are new. */
static uint32_t join_parts(struct changer *c, uint32_t begin, size_t from)
{
	const struct path_requests *r = c->path->requests;
	uint32_t before = c->part_count;
	for (uint32_t p = r->first[from]; p < r->first[from + 1]; p++) {
		uint32_t known = begin;
		while (known < c->part_count && c->to->parts[known].address != r->parts[p].address)
			known++;
		if (known == c->part_count) {
			c->to->parts[c->part_count++] = r->parts[p];
			continue;
		}
		uint32_t bytes = (uint32_t)c->to->parts[known].bytes + r->parts[p].bytes;
		c->to->parts[known].sectors |= r->parts[p].sectors;
		c->to->parts[known].bytes = (uint16_t)(bytes < UINT16_MAX ? bytes : UINT16_MAX);
		c->to->parts[known].lanes = (uint16_t)(c->to->parts[known].lanes + r->parts[p].lanes);
	}
	return c->part_count - before;
}

static void keep_requests(struct changer *c, size_t from, size_t at, const struct left_out *left, uint32_t rank)
{
	uint32_t begin = c->part_count, more = 0;
	c->to->first[at] = begin;
	copy_parts(c, from);
	for (uint32_t i = 0; i < left->count; i++)
		more += left->from[i] + rank < c->path->access_count ? join_parts(c, begin, left->from[i] + rank) : 0;
	c->to->first[at + 1] = c->part_count;
	if (c->to->accesses)
		c->to->accesses[at] = (uint16_t)(c->to->accesses[at] + more < UINT16_MAX ? c->to->accesses[at] + more : UINT16_MAX);
}

static void keep_block(struct changer *c, size_t from, uint32_t accesses, struct thinned *n, uint32_t block)
{
	const struct warp_path *path = c->path;
	c->to->blocks[n->blocks++] = block;
	for (uint32_t i = 0; i < accesses && from + i < path->access_count; i++, n->accesses++) {
		c->origins[n->accesses] = (uint32_t)(from + i);
		if (c->to->accesses)
			c->to->accesses[n->accesses] = path->accesses[from + i];
		if (c->to->first)
			keep_requests(c, from + i, n->accesses, &c->s->left_out[block], i);
	}
	c->s->left_out[block].count = 0;
}

static void leave_out(struct left_out *l, size_t from)
{
	if (l->count < GS_ARRAY_LEN(l->from))
		l->from[l->count++] = from;
}

/* Where blocks and accesses of the path are now; one more than blocks. */
static void thin_out(struct changer *c, struct thinned *now)
{
	const struct warp_path *path = c->path;
	struct thinned n = {0};
	size_t access = 0;
	for (size_t b = 0; b < path->block_count; b++) {
		uint32_t block = path->blocks[b], accesses = c->s->accesses[block];
		now[b] = n;
		c->s->kept[block] += c->s->lanes[block];
		if (c->s->kept[block] >= 1 - 1e-9) {
			c->s->kept[block] -= 1;
			keep_block(c, access, accesses, &n, block);
		} else if (path->requests && accesses) {
			leave_out(&c->s->left_out[block], access);
		}
		access += accesses;
	}
	now[path->block_count] = n;
	for (uint32_t b = 0; b < c->in->code->block_count; b++)
		c->s->left_out[b].count = 0;
}

static void thin_shifts(const struct changer *c, const struct path_gap *from, const struct path_gap *to, struct round_shift *shifts)
{
	for (uint32_t i = 0; i < to->access_count; i++) {
		uint32_t origin = c->origins[to->first_access + i] - from->first_access;
		if (origin < from->access_count)
			shifts[i] = from->shifts[origin];
	}
}

static int thin_gaps(struct changer *c, const struct thinned *now)
{
	const struct warp_path *path = c->path;
	size_t used = 0;
	for (size_t g = 0; g < path->gap_count; g++)
		used += path->gaps[g].access_count;
	c->to->shifts = calloc(used + 1, sizeof *c->to->shifts);
	used = 0;
	c->to->gaps = calloc(path->gap_count + 1, sizeof *c->to->gaps);
	c->to->weights = calloc(now[path->block_count].blocks + 1, sizeof *c->to->weights);
	if (!c->to->gaps || !c->to->weights || !c->to->shifts)
		return -ENOMEM;
	for (size_t g = 0; g < path->gap_count; g++) {
		struct path_gap gap = path->gaps[g];
		gap.first_access = (uint32_t)now[gap.from].accesses;
		gap.access_count = (uint32_t)(now[gap.at].accesses - now[gap.from].accesses);
		gap.from = (uint32_t)now[gap.from].blocks;
		gap.at = (uint32_t)now[gap.at].blocks;
		gap.rounds = gap.at > gap.from ? gap.rounds : 0;
		gap.enters_next = false;
		if (gap.shifts) {
			thin_shifts(c, &path->gaps[g], &gap, c->to->shifts + used);
			gap.shifts = c->to->shifts + used;
			used += gap.access_count;
		}
		c->to->gaps[g] = gap;
	}
	path_weigh(c->in->code, c->to->blocks, now[path->block_count].blocks, c->to->gaps, path->gap_count, c->to->weights);
	return 0;
}

static int change_lanes(struct changer *c)
{
	const struct warp_path *path = c->path;
	struct warp_path *out = &c->s->paths[c->number];
	struct thinned *now = calloc(path->block_count + 1, sizeof *now);
	c->origins = calloc(path->access_count + 1, sizeof *c->origins);
	uint32_t parts = path->requests && path->access_count ? path->requests->first[path->access_count] : 0;
	c->to->blocks = calloc(path->block_count + 1, sizeof *c->to->blocks);
	c->to->accesses = path->accesses ? calloc(path->access_count + 1, sizeof *c->to->accesses) : NULL;
	c->to->first = path->requests ? calloc(path->access_count + 2, sizeof *c->to->first) : NULL;
	c->to->parts = calloc(parts + 1, sizeof *c->to->parts);
	int result = now && c->origins && c->to->blocks && c->to->parts && (c->to->accesses || !path->accesses) && (c->to->first || !path->requests) ? 0 : -ENOMEM;
	if (!result)
		thin_out(c, now);
	if (!result && path->gap_count)
		result = thin_gaps(c, now);
	if (!result) {
		out->blocks = c->to->blocks;
		out->block_count = now[path->block_count].blocks;
		out->accesses = c->to->accesses;
		out->access_count = now[path->block_count].accesses;
		out->waits = NULL;
		out->gaps = path->gap_count ? c->to->gaps : NULL;
		out->weights = path->gap_count ? c->to->weights : NULL;
		c->to->requests = (struct path_requests){c->to->first, c->to->parts};
		out->requests = path->requests ? &c->to->requests : NULL;
	}
	free(now);
	free(c->origins);
	return result;
}

/* Relative to the block that all begin with: lanes that a group does not have at all are another matter. */
static void find_lanes(struct changer *c, const double *shares)
{
	const struct kernel_code *code = c->in->code;
	double entry = shares && shares[0] > 0 ? shares[0] : 1;
	for (uint32_t b = 0; b < code->block_count; b++) {
		c->s->lanes[b] = shares && shares[b] > 0 ? fmin(shares[b] / entry, 1) : 1;
		for (uint32_t i = code->blocks[b].first; i < code->blocks[b].first + code->blocks[b].count; i++) {
			c->s->accesses[b] += code_has_accesses(code->code[i].class);
			if (code->code[i].class == CODE_barrier)
				c->s->lanes[b] = 1;
		}
	}
}

/* ---- the launch ---- */

static uint64_t volume(const uint64_t grid[3])
{
	return grid[0] * grid[1] * grid[2];
}

/* The last dimension that the grid has grows. */
static void fill_up(struct changed_warps *out, uint64_t resident)
{
	struct launch_warps *w = &out->warps;
	uint64_t wanted = resident ? (w->groups + resident - 1) / resident * resident : w->groups, before = w->groups;
	int d = w->grid[2] > 1 ? 2 : w->grid[1] > 1 ? 1 : 0;
	if (wanted <= before)
		return;
	if (volume(w->grid) == before) {
		uint64_t others = before / w->grid[d];
		w->grid[d] = (wanted + others - 1) / others;
		wanted = volume(w->grid);
	}
	w->groups = wanted;
	out->times = (double)before / (double)wanted;
}

static bool is_by_steps(const struct address_shift *s)
{
	return s->linear && !s->image && !s->starts;
}

/* By instruction: groups that moved by less than a line. */
static int change_group_shifts(struct changer *c, struct changed_warps *out)
{
	const struct kernel_code *code = c->in->code;
	int64_t line = (int64_t)c->gpu->l1_line_bytes;
	c->s->shifts = calloc(code->code_count + 1u, sizeof *c->s->shifts);
	if (!c->s->shifts)
		return -ENOMEM;
	memcpy(c->s->shifts, c->in->shifts, code->code_count * sizeof *c->s->shifts);
	for (uint32_t i = 0; i < code->code_count; i++)
		for (int d = 0; d < 3 && is_meant(c, i) && is_global(&code->code[i]) && is_by_steps(&c->s->shifts[i]); d++) {
			int64_t *step = &c->s->shifts[i].step[d];
			if (*step && llabs(*step) < line)
				*step = *step < 0 ? -line : line;
		}
	out->warps.shifts = c->s->shifts;
	return 0;
}

static int change_usual(struct changer *c, struct changed_warps *out)
{
	const struct kernel_code *code = c->in->code;
	c->s->usual_accesses = calloc(code->code_count + 1u, sizeof *c->s->usual_accesses);
	if (!c->s->usual_accesses)
		return -ENOMEM;
	for (uint32_t i = 0; i < code->code_count; i++) {
		uint32_t n = c->in->usual_accesses[i], needed = n;
		if (is_meant(c, i) && c->change->kind == CHANGE_conflicts && code->code[i].space == SPACE_shared)
			needed = shared_turns_needed(c->gpu, &code->code[i]);
		c->s->usual_accesses[i] = (uint16_t)(n < needed ? n : needed);
	}
	out->warps.usual_accesses = c->s->usual_accesses;
	return 0;
}

static int make_store(const struct launch_warps *in, struct change_store *s)
{
	s->paths = calloc(in->path_count + 1u, sizeof *s->paths);
	s->changed = calloc(in->path_count + 1u, sizeof *s->changed);
	s->leads = calloc(in->path_count + 1u, sizeof *s->leads);
	s->accesses = calloc(in->code->block_count + 1u, sizeof *s->accesses);
	s->kept = calloc(in->code->block_count + 1u, sizeof *s->kept);
	s->lanes = calloc(in->code->block_count + 1u, sizeof *s->lanes);
	s->left_out = calloc(in->code->block_count + 1u, sizeof *s->left_out);
	if (!s->paths || !s->changed || !s->leads || !s->accesses || !s->kept || !s->lanes || !s->left_out)
		return -ENOMEM;
	memcpy(s->paths, in->paths, in->path_count * sizeof *s->paths);
	for (uint64_t g = 0; g < in->pattern_groups; g++)
		s->leads[in->path_of[g * in->warps_per_group]] = true;
	s->path_count = in->path_count;
	return 0;
}

static int change_paths(struct changer *c, const double *shares)
{
	int result = 0;
	find_lanes(c, shares);
	for (uint32_t p = 0; p < c->in->path_count && !result; p++) {
		c->path = &c->in->paths[p];
		c->to = &c->s->changed[p];
		c->number = p;
		c->part_count = 0;
		result = c->change->kind == CHANGE_lanes ? change_lanes(c) : change_requests(c);
	}
	return result;
}

int changed_warps_make(const struct gpu *gpu, const struct warps_change *change, const struct launch_warps *in, const double *shares,
                       uint64_t resident, struct changed_warps *out)
{
	struct changer c = {.gpu = gpu, .change = change, .in = in};
	*out = (struct changed_warps){.warps = *in, .times = 1};
	if (change->kind == CHANGE_none)
		return 0;
	if (change->kind == CHANGE_groups) {
		fill_up(out, resident);
		return 0;
	}
	out->store = c.s = calloc(1, sizeof *c.s);
	int result = c.s ? make_store(in, c.s) : -ENOMEM;
	if (!result)
		result = change_paths(&c, shares);
	if (!result && change->kind == CHANGE_coalesced && in->shifts)
		result = change_group_shifts(&c, out);
	if (!result && in->usual_accesses)
		result = change_usual(&c, out);
	if (result)
		changed_warps_free(out);
	else
		out->warps.paths = c.s->paths;
	return result;
}

void changed_warps_free(struct changed_warps *c)
{
	struct change_store *s = c->store;
	for (uint32_t p = 0; s && p < s->path_count; p++) {
		struct changed_path *to = &s->changed[p];
		free(to->blocks);
		free(to->first);
		free(to->accesses);
		free(to->parts);
		free(to->gaps);
		free(to->shifts);
		free(to->weights);
	}
	if (s) {
		free(s->paths);
		free(s->changed);
		free(s->usual_accesses);
		free(s->shifts);
		free(s->leads);
		free(s->accesses);
		free(s->kept);
		free(s->lanes);
		free(s->left_out);
	}
	free(s);
	*c = (struct changed_warps){0};
}
