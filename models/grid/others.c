/*
 * What groups that are not simulated have brought into L2.
 *
 *   n, of an instruction whose addresses move evenly: in a dimension in which they stay, all groups; in one in which they move by less than a line,
 *       as many as touch it; else one. The first of these comes first
 *   m: counted
 *   of one that goes anywhere: what DRAM sends at a time (a piece) is sent once for each that any group asks for. p of a groups are simulated:
 *       m / n = p / a * D(a) / D(p),  D(g) = N (1 - e^(-x g)): pieces that g groups ask for, by chance, each at its own time
 *       N and x follow from how often simulated groups ask, and for how many different pieces; if for another one each time, m / n is 1.
 *       Not if those that ask for the same line are neighbours: then as many groups as ask for a line of the range on average, each at its own time
 *       When simulated groups have had f pieces sent, the launch has come to t = -ln(1 - f / N) / (x p) of its asking, and others have asked
 *       for a piece x (a - p) t times: the first of them by an exponential distribution
 * Lines of rounds that were not traced are sent as often by others as those of their range are on average.
 */
#include "models/grid/others.h"

#include "models/gpu/kept.h"
#include "models/traffic/footprint.h"
#include "models/util/bits.h"
#include "models/util/divide.h"
#include "models/util/hash.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* STEPS: of the launch, after each of which lines come in. MOST_PARTS of requests are looked at; lines of further ones are like those of rounds
 * that were not traced. */
enum { STEPS = 32, MOST_PARTS = 1 << 21 };
#define NOT_TOUCHED UINT64_MAX

struct shared_line {
	uint64_t first; /* group of the launch; NOT_TOUCHED: no simulated one asks for the line, or it is there */
	float groups;   /* of the launch that ask for it at the same time */
	uint32_t simulated;       /* of these */
	uint32_t early, last;     /* the first and the last of them, by their numbers in the plan, + 1 */
	uint32_t asked, mine;     /* sectors that were asked for: by all that were counted, by the last of them */
	bool chance;              /* nothing but what goes anywhere asks for it */
};
struct shared_range {
	uint64_t address, lines;
	size_t at; /* of its first line */
	double cold, groups; /* groups: that ask for a line, on average */
	double ours; /* the share of its lines that simulated groups have sent */
	double early; /* the share that these ask for before any other time */
	double asked, different, chance; /* of what goes anywhere: how often pieces were asked for, how many, and m / n */
	double pieces, fetched; /* N, f */
	double own, rate; /* how often simulated groups, and others, ask for one; rate 0: they are there from the begin, as far as others come first */
	struct memory_sharers sharers; /* of one of its lines, on average */
	float *rows; /* the same of those in the same rows of DRAM */
};
struct others {
	const struct launch_warps *launch;
	uint64_t row_lines; /* one after the other, that are in the same rows of all channels */
	uint64_t line_bytes, piece_sectors, resident, next; /* next: group of the launch at which lines come in again */
	struct shared_range *ranges;
	size_t range_count;
	struct shared_line *lines;
	/* While they are counted: the group. */
	uint64_t group, parts;
	uint32_t number;
	int64_t moved[3];
	bool moves;
};

/* Between 0 and 1, by the first 53 bits. */
static double part_of_one(uint64_t hash)
{
	return (double)(hash >> 11) / (double)(1ull << 53);
}

static struct shared_range *find_range(const struct others *o, uint64_t address)
{
	for (size_t i = 0; i < o->range_count; i++)
		if (address - o->ranges[i].address < o->ranges[i].lines * o->line_bytes)
			return &o->ranges[i];
	return NULL;
}

static struct shared_line *find_shared(const struct others *o, const struct shared_range *r, uint64_t address)
{
	return &o->lines[r->at + (address - r->address) / o->line_bytes];
}

/* Groups with neighbouring numbers in a dimension that touch a line together. */
static uint64_t neighbours(int64_t step, uint64_t size, uint64_t line_bytes)
{
	uint64_t bytes = step < 0 ? (uint64_t)-step : (uint64_t)step;
	return bytes ? min_u64(size, bytes < line_bytes ? line_bytes / bytes : 1) : size;
}

/* How many groups of the launch ask for what this one does, and the first of them. */
static double sharers(const struct others *o, const struct address_shift *s, uint64_t *first)
{
	uint64_t unit = 1, together = 1, place[3], grid[3];
	*first = 0;
	shift_grid(s, o->launch->grid, grid);
	shift_place(s, o->launch->grid, o->group, place);
	for (int d = 0; d < 3; d++) {
		uint64_t near = neighbours(s->step[d], grid[d], o->line_bytes);
		*first += place[d] / near * near * unit;
		together *= near;
		unit *= grid[d];
	}
	return (double)together;
}

static double sharers_anywhere(const struct others *o, const struct shared_range *r, uint64_t line, bool common, uint64_t *first)
{
	double all = (double)o->launch->groups, groups = common ? all : fmin(fmax(r->groups, 1), all);
	*first = (uint64_t)(all * (1 - pow(1 - part_of_one(hash_number(line)), 1 / groups)));
	return groups;
}

/* Whole pieces of the sectors. */
static uint32_t pieces_of(const struct others *o, uint32_t sectors)
{
	uint32_t piece = (uint32_t)((1ull << o->piece_sectors) - 1), pieces = 0;
	for (uint32_t at = 0; at < o->line_bytes / MEMORY_SECTOR; at += (uint32_t)o->piece_sectors)
		pieces |= sectors >> at & piece ? piece << at : 0;
	return pieces;
}

/* A group asks for them again: that is no other group. */
static void count_chance(const struct others *o, struct shared_range *r, struct shared_line *l, uint32_t sectors)
{
	uint32_t pieces = pieces_of(o, sectors | !sectors);
	l->mine = l->last == o->number ? l->mine : 0;
	r->asked += bits_set(pieces & ~l->mine) / (double)o->piece_sectors;
	r->different += bits_set(pieces & ~l->asked) / (double)o->piece_sectors;
	l->asked |= pieces;
	l->mine |= pieces;
}

static bool count_part(void *ctx, uint32_t instruction, const struct memory_part *part)
{
	struct others *o = ctx;
	const struct address_shift *s = &o->launch->shifts[instruction];
	uint64_t address = part->address, first;
	if (o->moves)
		address = launch_address(o->launch, instruction, address, o->group, o->moved, o->line_bytes);
	struct shared_range *r = find_range(o, address);
	if (!r || !(r->cold > 0))
		return ++o->parts < MOST_PARTS;
	struct shared_line *l = find_shared(o, r, address);
	bool common = !s->linear && (!s->bytes || line_set_has(o->launch->common, address));
	double groups = s->linear ? sharers(o, s, &first) : sharers_anywhere(o, r, quotient(address, o->line_bytes), common, &first);
	bool chance = !s->linear && !common;
	if (chance) {
		groups = 1; /* each at a time of its own */
		count_chance(o, r, l, part->sectors << (uint32_t)(part->address % o->line_bytes / MEMORY_SECTOR));
	}
	l->chance = chance && (l->chance || !l->simulated);
	l->first = min_u64(l->first, first);
	l->groups = fmaxf(l->groups, (float)groups);
	l->early = l->simulated ? l->early : o->number;
	l->simulated += l->last != o->number;
	l->last = o->number;
	return ++o->parts < MOST_PARTS;
}

/* x of x groups' worth of asking: what is different of what is asked for by chance is (1 - e^-x) / x. 0: all of it. */
static double asked_by_chance(double different, double asked)
{
	double low = 0, high = 64;
	if (!(different < asked))
		return 0;
	for (int i = 0; i < 64; i++) {
		double x = (low + high) / 2;
		*(-expm1(-x) / x > different / asked ? &low : &high) = x;
	}
	return low;
}

/* Those of p groups that ask for a line by chance, m of them, are p (m - 1) / (m + 1) apart from the first to the last, on average. */
static bool sharers_are_near(const struct others *o, const struct shared_range *r)
{
	double apart = 0, expected = 0;
	for (uint64_t n = 0; n < r->lines; n++) {
		const struct shared_line *l = &o->lines[r->at + n];
		apart += l->chance ? l->last - l->early : 0;
		expected += l->chance ? (double)o->number * (l->simulated - 1.0) / (l->simulated + 1.0) : 0;
	}
	return apart < expected / 2;
}

/* Long loops jump over most of the launch: there, what others ask for first is in L2 from the begin, and learn.h knows of it. */
static void set_chance(const struct others *o, struct shared_range *r, const struct ov_plan *plan)
{
	bool near = sharers_are_near(o, r);
	for (uint64_t n = 0; n < r->lines && near; n++)
		o->lines[r->at + n].chance = false;
	double x = near ? 0 : asked_by_chance(r->different, r->asked) / o->number, all = (double)plan->all, some = (double)plan->groups;
	r->chance = x > 0 ? some / all * expm1(-x * all) / expm1(-x * some) : 1;
	r->pieces = x > 0 ? r->asked / (x * o->number) : 0;
	r->own = x * some;
	r->rate = plan->jumps ? 0 : x * (all - some);
}

static void count_lines(struct others *o, const struct ov_plan *plan)
{
	for (uint64_t n = 0; n < plan->groups && o->parts < MOST_PARTS; n++) {
		o->group = ov_group_id(plan, n);
		o->number = (uint32_t)n + 1;
		o->moves = launch_move(o->launch, o->group, o->moved);
		footprint_visit(o->launch, warps_pattern(o->launch, o->group), count_part, o);
	}
}

/* Groups that ask for a line, at all times. */
static double all_sharers(const struct shared_range *r, const struct shared_line *l)
{
	if (l->chance)
		return l->simulated / r->chance;
	return fmax(fmax(r->groups, l->groups), l->simulated);
}

static double ours(const struct shared_range *r, const struct shared_line *l)
{
	return l->groups > 0 ? (double)l->simulated / all_sharers(r, l) : 1;
}

/* How likely no group has asked for it before the time at which the first of the simulated ones does. */
static double early(const struct shared_range *r, const struct shared_line *l)
{
	if (l->chance && r->rate > 0)
		return 1;
	return fmin(ours(r, l) * fmax(l->groups, 1), 1);
}

/* Groups that ask for it at one time. */
static struct memory_sharers at_once(const struct shared_range *r, const struct shared_line *l)
{
	return (struct memory_sharers){l->groups, l->groups * (float)ours(r, l), 0};
}

/* Of rows whose lines were not looked at, as in all of the range. */
static int average_range(struct others *o, struct shared_range *r, double share)
{
	double sum = 0, first = 0, count = 0;
	r->rows = calloc(r->lines / o->row_lines + 1, sizeof *r->rows);
	if (!r->rows)
		return -ENOMEM;
	for (uint64_t n = 0; n < r->lines; n++) {
		const struct shared_line *l = &o->lines[r->at + n];
		if (!l->simulated)
			continue;
		sum += ours(r, l);
		first += early(r, l);
		r->sharers.all += at_once(r, l).all;
		r->sharers.simulated += at_once(r, l).simulated;
		count++;
		r->rows[n / o->row_lines] += (float)(ours(r, l) / (double)min_u64(o->row_lines, r->lines - n / o->row_lines * o->row_lines));
	}
	r->ours = count > 0 ? sum / count : share;
	r->early = count > 0 ? first / count : 1;
	r->sharers = count > 0 ? (struct memory_sharers){r->sharers.all / (float)count, r->sharers.simulated / (float)count, 0} : r->sharers;
	for (uint64_t n = 0; n < r->lines; n += o->row_lines)
		if (!(r->rows[n / o->row_lines] > 0))
			r->rows[n / o->row_lines] = (float)(sum / (double)r->lines);
	return 0;
}

static int make_ranges(struct others *o, const struct launch_warps *launch)
{
	size_t lines = 0;
	o->ranges = calloc(launch->warm_count, sizeof *o->ranges);
	if (!o->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < launch->warm_count; i++) {
		const struct memory_range *w = &launch->warm[i];
		uint64_t begin = w->address / o->line_bytes, end = (w->address + w->bytes + o->line_bytes - 1) / o->line_bytes;
		o->ranges[o->range_count++] = (struct shared_range){.address = begin * o->line_bytes, .lines = end - begin, .at = lines, .cold = w->cold,
		                                                    .groups = w->times, .ours = 1, .early = 1, .chance = 1};
		lines += end - begin;
	}
	o->lines = malloc((lines + 1) * sizeof *o->lines);
	if (!o->lines)
		return -ENOMEM;
	for (size_t i = 0; i < lines; i++)
		o->lines[i] = (struct shared_line){.first = NOT_TOUCHED};
	return 0;
}

static bool are_needed(const struct gpu *gpu, const struct launch_warps *launch, const struct ov_plan *plan)
{
	bool cold = false;
	uint64_t bytes = 0;
	for (size_t i = 0; i < launch->warm_count; i++) {
		bytes += launch->warm[i].bytes;
		cold |= launch->warm[i].cold > 0;
	}
	return plan->groups < plan->all && cold && bytes <= kept_room(gpu, bytes) && launch->shifts && launch->pattern_ids;
}

int others_new(const struct gpu *gpu, const struct launch_warps *launch, const struct ov_plan *plan, uint64_t resident,
               struct others **out)
{
	*out = NULL;
	if (!are_needed(gpu, launch, plan))
		return 0;
	struct others *o = calloc(1, sizeof *o);
	if (!o)
		return -ENOMEM;
	uint64_t rows = gpu->dram_row_bytes * max_u64(gpu->l2_slices, gpu->dram_channels);
	*o = (struct others){.launch = launch, .line_bytes = gpu->l2_line_bytes, .resident = resident, .next = resident,
	                     .piece_sectors = partition_fetch_bytes(gpu) / MEMORY_SECTOR, .row_lines = max_u64(rows / gpu->l2_line_bytes, 1)};
	int rc = make_ranges(o, launch);
	if (!rc)
		count_lines(o, plan);
	for (size_t i = 0; i < o->range_count && !rc; i++)
		set_chance(o, &o->ranges[i], plan);
	for (size_t i = 0; i < o->range_count && !rc; i++)
		rc = average_range(o, &o->ranges[i], (double)plan->groups / (double)plan->all);
	if (rc)
		others_free(o);
	else
		*out = o;
	return rc;
}

void others_free(struct others *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->range_count; i++)
		free(o->ranges[i].rows);
	free(o->ranges);
	free(o->lines);
	free(o);
}

/* Between 0 and 1, evenly over the lines. */
static double place(const struct others *o, uint64_t address)
{
	return part_of_one(hash_high(quotient(address, o->line_bytes)));
}

void others_begin(const struct others *o, others_fn *bring, void *ctx)
{
	for (size_t i = 0; o && i < o->range_count; i++) {
		const struct shared_range *r = &o->ranges[i];
		for (uint64_t n = 0; n < r->lines && r->cold > 0; n++) {
			const struct shared_line *l = &o->lines[r->at + n];
			uint64_t address = r->address + n * o->line_bytes;
			if (place(o, address) >= (l->simulated ? early(r, l) : r->early))
				bring(ctx, address);
		}
	}
}

/* Whether others have asked for the piece by now, and how much of the time up to now ago. */
static bool came_before(const struct others *o, struct shared_range *r, uint64_t address, struct memory_sharers *sharers)
{
	double first = -log1p(-part_of_one(hash_high(quotient(address, o->piece_sectors * MEMORY_SECTOR)))) / r->rate;
	double now = r->fetched < r->pieces ? fmin(-log1p(-r->fetched / r->pieces) / r->own, 1) : 1;
	r->fetched++;
	if (!(first < now))
		return false;
	sharers->before = (float)(1 - first / now);
	return true;
}

enum memory_others others_fetch(void *others, uint64_t address, struct memory_sharers *sharers)
{
	const struct others *o = others;
	struct shared_range *r = find_range(o, address);
	if (!r)
		return OTHERS_NOTHING;
	const struct shared_line *l = find_shared(o, r, address);
	*sharers = l->simulated ? at_once(r, l) : r->sharers;
	bool chance = r->rate > 0 && (l->simulated ? l->chance : r->different > 0);
	if (chance ? came_before(o, r, address, sharers) : place(o, address) >= (l->simulated ? ours(r, l) : r->ours))
		return OTHERS_SENT;
	double row = r->rows[(address - r->address) / o->line_bytes / o->row_lines];
	return part_of_one(hash_number(quotient(address, o->line_bytes))) >= row ? OTHERS_OPENED : OTHERS_NOTHING;
}

void others_bring(struct others *o, uint64_t group, others_fn *bring, void *ctx)
{
	if (!o || group < o->next)
		return;
	o->next = group + max_u64(o->launch->groups / STEPS, 1);
	for (size_t i = 0; i < o->range_count; i++) {
		const struct shared_range *r = &o->ranges[i];
		for (uint64_t n = 0; n < r->lines; n++) {
			struct shared_line *l = &o->lines[r->at + n];
			if (l->first > group - o->resident)
				continue;
			if (!l->chance && l->simulated < all_sharers(r, l)) /* of the others, some are there from the begin */
				bring(ctx, r->address + n * o->line_bytes);
			l->first = NOT_TOUCHED;
		}
	}
}
