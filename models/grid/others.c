/*
 * What groups that are not simulated have brought into L2.
 *
 *   n, of an instruction whose addresses move evenly: in a dimension in which they stay, all groups; in one in which they move by less than a line,
 *       as many as touch it; else one. The first of these comes first
 *   of one that goes anywhere: as many groups as ask for a line of the range on average, in places of the launch by chance, each at its own time
 *   m: counted
 * Lines of rounds that were not traced are sent as often by others as those of their range are on average.
 */
#include "models/grid/others.h"

#include "models/traffic/footprint.h"
#include "models/gpu/kept.h"
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
	uint32_t simulated, last; /* of these; the last of them, by its number in the plan, + 1 */
};
struct shared_range {
	uint64_t address, lines;
	size_t at; /* of its first line */
	double cold, groups; /* groups: that ask for a line, on average */
	double ours; /* the share of its lines that simulated groups have sent */
	double early; /* the share that these ask for before any other time */
	struct memory_sharers sharers; /* of one of its lines, on average */
	float *rows; /* the same of those in the same rows of DRAM */
};
struct others {
	const struct launch_warps *launch;
	uint64_t row_lines; /* one after the other, that are in the same rows of all channels */
	uint64_t line_bytes, resident, next; /* next: group of the launch at which lines come in again */
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
	if (!s->linear && !common)
		groups = 1; /* each at a time of its own */
	l->first = min_u64(l->first, first);
	l->groups = fmaxf(l->groups, (float)groups);
	l->simulated += l->last != o->number;
	l->last = o->number;
	return ++o->parts < MOST_PARTS;
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
	return fmax(fmax(r->groups, l->groups), l->simulated);
}

static double ours(const struct shared_range *r, const struct shared_line *l)
{
	return l->groups > 0 ? (double)l->simulated / all_sharers(r, l) : 1;
}

/* How likely no group has asked for it before the time at which the first of the simulated ones does. */
static double early(const struct shared_range *r, const struct shared_line *l)
{
	return fmin(ours(r, l) * fmax(l->groups, 1), 1);
}

/* Groups that ask for it at one time. */
static struct memory_sharers at_once(const struct shared_range *r, const struct shared_line *l)
{
	return (struct memory_sharers){l->groups, l->groups * (float)ours(r, l)};
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
	r->sharers = count > 0 ? (struct memory_sharers){r->sharers.all / (float)count, r->sharers.simulated / (float)count} : r->sharers;
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
		o->ranges[o->range_count++] = (struct shared_range){begin * o->line_bytes, end - begin, lines, w->cold, w->times, 1, 1, {0, 0}, NULL};
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
	                     .row_lines = max_u64(rows / gpu->l2_line_bytes, 1)};
	int rc = make_ranges(o, launch);
	if (!rc)
		count_lines(o, plan);
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

enum memory_others others_fetch(const void *others, uint64_t address, struct memory_sharers *sharers)
{
	const struct others *o = others;
	const struct shared_range *r = find_range(o, address);
	if (!r)
		return OTHERS_NOTHING;
	const struct shared_line *l = find_shared(o, r, address);
	*sharers = l->simulated ? at_once(r, l) : r->sharers;
	if (place(o, address) >= (l->simulated ? ours(r, l) : r->ours))
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
			if (l->simulated < all_sharers(r, l))
				bring(ctx, r->address + n * o->line_bytes);
			l->first = NOT_TOUCHED;
		}
	}
}
