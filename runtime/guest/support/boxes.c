/*
 * Chooses the sample of a launch (boxes.h). Neighbouring groups share lines of memory and are on SMs at the same time. So a few
 * runs of neighbours say more than the same number of single groups. If the grid is one row of units, the first run is the longest,
 * because the first wave of a GPU begins with it. A unit is a group, or a whole row or plane if these are short enough. The first
 * row of other grids is a border, and says little of what is inside: all runs are as long there.
 *
 * Each box that is traced is a command for the driver. There are eight runs, in at most 49 boxes, or four if there are few groups.
 */
#include "runtime/guest/support/boxes.h"

enum { MOST_RUNS = 8, FEW_RUNS = 4 };

struct box_run {
	uint64_t first, count; /* in units, in the order of the grid */
};

/* The grid as lines of units. A unit is all groups of the axes below `axis`. */
struct lines {
	int axis;
	uint64_t unit, length, count; /* groups in a unit, units in a line, number of lines */
};

uint64_t box_groups(const struct box *b)
{
	return b->count[0] * b->count[1] * b->count[2];
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* the random number generator splitmix64 */
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A row or plane is a unit if it would fit into one of FEW_RUNS runs. */
static struct lines make_lines(const uint64_t groups[3], uint64_t most)
{
	struct lines l = {0, 1, groups[0], groups[1] * groups[2]};
	while (l.axis < 2 && l.count > 1 && l.unit * l.length <= most / (FEW_RUNS + 1)) {
		l.unit *= l.length;
		l.axis++;
		l.length = groups[l.axis];
		l.count /= l.length;
	}
	return l;
}

/* Where part i of `parts` equal ones begins: all * i / parts, rounded up. */
static uint64_t part_begin(uint64_t all, size_t i, size_t parts)
{
	return all / parts * i + (all % parts * i + parts - 1) / parts;
}

/* A run in a part, at a position that `place` decides. It does not cross the end of a line. */
static struct box_run run_in(const struct lines *l, size_t i, size_t parts, uint64_t count, uint64_t place)
{
	uint64_t all = l->length * l->count, from = part_begin(all, i, parts), to = part_begin(all, i + 1, parts);
	struct box_run r = {from, count < to - from ? count : to - from};
	r.count = r.count < l->length ? r.count : l->length;
	if (i)
		r.first += i + 1 == parts ? to - from - r.count : place % (to - from - r.count + 1);
	uint64_t left = l->length - r.first % l->length; /* units up to the end of the line */
	if (r.count <= left)
		return r;
	if (r.first - (r.count - left) >= from)
		r.first -= r.count - left;
	else if (r.first + left + r.count <= to)
		r.first += left;
	else
		r.count = left;
	return r;
}

/* The first run is at the beginning, and the last one at the end. */
static size_t choose_runs(const struct lines *l, uint64_t most, uint64_t seed, struct box_run *runs)
{
	uint64_t wanted = most / l->unit ? most / l->unit : 1;
	size_t parts = wanted >= MOST_RUNS * 2 ? MOST_RUNS : FEW_RUNS, count = 0;
	parts = wanted < parts ? wanted : parts;
	uint64_t shares = l->count == 1 ? parts + 1 : parts, share = wanted / shares ? wanted / shares : 1;
	for (size_t i = 0; i < parts; i++) {
		struct box_run r = run_in(l, i, parts, i ? share : wanted - share * (parts - 1), next_random(&seed));
		if (r.count)
			runs[count++] = r;
	}
	return count;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool has(const struct box_run *r, uint64_t unit)
{
	return unit >= r->first && unit - r->first < r->count;
}

/* The run that has a unit. If none has it, the nearest run that may be moved; the first and the last may not. NULL: there is
 * none. */
static struct box_run *run_for(struct box_run *runs, size_t count, const bool *stays, uint64_t unit)
{
	struct box_run *nearest = NULL;
	for (size_t i = 0; i < count; i++) {
		if (has(&runs[i], unit))
			return &runs[i];
		if (i && i + 1 < count && !stays[i] && (!nearest || apart(runs[i].first, unit) < apart(nearest->first, unit)))
			nearest = &runs[i];
	}
	return nearest;
}

/* Where a run of `count` units begins that has this unit in its middle, on the same line. */
static uint64_t centred(const struct lines *l, uint64_t unit, uint64_t count)
{
	uint64_t line = unit / l->length * l->length, at = unit - line, begin = at > count / 2 ? at - count / 2 : 0;
	return line + (begin + count <= l->length ? begin : l->length - count);
}

/* Sorts runs by their beginnings. If two overlap, the first keeps the common part. */
static size_t put_in_order(struct box_run *runs, size_t count)
{
	uint64_t done = 0;
	size_t kept = 0;
	for (size_t i = 1; i < count; i++)
		for (size_t j = i; j && runs[j].first < runs[j - 1].first; j--) {
			struct box_run r = runs[j];
			runs[j] = runs[j - 1];
			runs[j - 1] = r;
		}
	for (size_t i = 0; i < count; i++) {
		uint64_t first = runs[i].first > done ? runs[i].first : done, end = runs[i].first + runs[i].count;
		if (end > first)
			runs[kept++] = (struct box_run){first, end - first};
		done = end > done ? end : done;
	}
	return kept;
}

static size_t steer(const struct lines *l, const struct needed_groups *needed, struct box_run *runs, size_t count)
{
	bool stays[MOST_RUNS] = {false};
	for (uint32_t i = 0; needed && i < needed->count; i++) {
		uint64_t unit = needed->ids[i] / l->unit;
		struct box_run *r = unit < l->length * l->count ? run_for(runs, count, stays, unit) : NULL;
		if (r && !has(r, unit))
			r->first = centred(l, unit, r->count);
		if (r)
			stays[r - runs] = true;
	}
	return put_in_order(runs, count);
}

static void add_box(struct boxes *out, const uint64_t first[3], const uint64_t count[3], bool traced)
{
	struct box *b = &out->list[out->count];
	*b = (struct box){.traced = traced};
	for (int d = 0; d < 3; d++) {
		b->first[d] = first[d];
		b->count[d] = count[d];
	}
	if (!box_groups(b))
		return;
	out->count++;
	out->traced_groups += traced ? box_groups(b) : 0;
}

/* The number of units in one step along `axis`. */
static uint64_t units_below(const struct lines *l, const uint64_t groups[3], int axis)
{
	uint64_t n = 1;
	for (int d = l->axis; d < axis; d++)
		n *= groups[d];
	return n;
}

/*
 * Cuts a region that is whole in the axes up to `axis`. Between the runs it makes boxes that are not traced. A run itself
 * becomes a box. A plane or row that has runs in it is cut further. `base` is the region's first unit.
 */
static void cut(const struct lines *l, const uint64_t groups[3], int axis, const uint64_t at[3], uint64_t base,
                const struct box_run *runs, size_t count, struct boxes *out)
{
	uint64_t first[3] = {at[0], at[1], at[2]}, size[3] = {1, 1, 1}, done = 0;
	uint64_t below = units_below(l, groups, axis);
	for (int d = 0; d <= axis; d++)
		size[d] = groups[d];
	for (size_t i = 0, next; i < count; i = next) {
		uint64_t place = (runs[i].first - base) / below, thick = axis == l->axis ? runs[i].count : 1;
		for (next = i + 1; axis > l->axis && next < count && (runs[next].first - base) / below == place;)
			next++;
		first[axis] = done;
		size[axis] = place - done;
		add_box(out, first, size, false);
		first[axis] = place;
		size[axis] = thick;
		if (axis == l->axis)
			add_box(out, first, size, true);
		else
			cut(l, groups, axis - 1, first, base + place * below, runs + i, next - i, out);
		done = place + thick;
	}
	first[axis] = done;
	size[axis] = groups[axis] - done;
	add_box(out, first, size, false);
}

void boxes_choose(const uint64_t groups[3], uint64_t most, uint64_t seed, const struct needed_groups *needed, struct boxes *out)
{
	const uint64_t origin[3] = {0, 0, 0};
	struct box_run runs[MOST_RUNS];
	*out = (struct boxes){.count = 0};
	if (groups[0] * groups[1] * groups[2] <= most) {
		add_box(out, origin, groups, true);
		return;
	}
	struct lines l = make_lines(groups, most);
	size_t count = steer(&l, needed, runs, choose_runs(&l, most, seed, runs));
	cut(&l, groups, 2, origin, 0, runs, count, out);
}
