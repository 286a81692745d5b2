/*
 * Steps of addresses from group to group.
 *
 *   address(group) = address(first) + step . (id(group) - id(first))
 * The steps are solved from as many groups as there are dimensions and checked on all others, for the first and for the last execution of
 * each work-item. Three things are tried, one after the other:
 *   all groups agree
 *   all that are at no border of the grid do: at a border, indices are often clamped
 *   a row of groups is in truth a plane, `split` groups wide: kernels that take their own number apart (i / width, i % width), or that
 *   leave out every other run of elements (sorting networks). Only powers of two are tried as width.
 * What is found by the latter two must hold for MORE groups than it takes to solve it.
 */
#include "models/trace/moves/fit.h"

#include <math.h>

enum { DIMENSIONS = 3, MORE = 2 };

/* Rows of differences of ids, followed by that of the address, made triangular: one per dimension at most. */
struct system {
	double row[DIMENSIONS][DIMENSIONS + 1];
	bool used[DIMENSIONS];
};

/* What is fitted to, and which groups count. */
struct fit {
	const struct sighting *sightings;
	size_t count;
	uint64_t grid[DIMENSIONS];
	bool inner; /* groups at a border do not count */
};

static bool is_at_border(const struct fit *f, uint64_t group)
{
	for (int d = 0; d < DIMENSIONS; d++) {
		uint64_t at = group % f->grid[d];
		if (f->grid[d] > 2 && (at == 0 || at == f->grid[d] - 1))
			return true;
		group /= f->grid[d];
	}
	return false;
}

static bool counts(const struct fit *f, const struct sighting *s)
{
	return !f->inner || !is_at_border(f, s->group);
}

static void ids_apart(const struct fit *f, uint64_t from, uint64_t to, int64_t *out)
{
	for (int d = 0; d < DIMENSIONS; d++) {
		out[d] = (int64_t)(to % f->grid[d]) - (int64_t)(from % f->grid[d]);
		from /= f->grid[d];
		to /= f->grid[d];
	}
}

static void add_row(struct system *s, double *row)
{
	for (int d = 0; d < DIMENSIONS; d++) {
		if (fabs(row[d]) < 1e-9)
			continue;
		if (!s->used[d]) {
			for (int k = 0; k <= DIMENSIONS; k++)
				s->row[d][k] = row[k];
			s->used[d] = true;
			return;
		}
		double factor = row[d] / s->row[d][d];
		for (int k = d; k <= DIMENSIONS; k++)
			row[k] -= factor * s->row[d][k];
	}
}

static bool is_full(const struct fit *f, const struct system *s)
{
	for (int d = 0; d < DIMENSIONS; d++)
		if (!s->used[d] && f->grid[d] > 1)
			return false;
	return true;
}

static void solve(const struct system *s, int64_t *step)
{
	for (int d = DIMENSIONS - 1; d >= 0; d--) {
		double rest = s->used[d] ? s->row[d][DIMENSIONS] : 0;
		for (int k = d + 1; k < DIMENSIONS && s->used[d]; k++)
			rest -= s->row[d][k] * (double)step[k];
		step[d] = s->used[d] ? llround(rest / s->row[d][d]) : 0;
	}
}

/* The first sighting of the same work-item that counts, for each that counts in turn: NULL at the end. */
static const struct sighting *next_pair(const struct fit *f, size_t *at, const struct sighting **first)
{
	for (; *at < f->count; ++*at) {
		const struct sighting *s = &f->sightings[*at];
		if (!counts(f, s))
			continue;
		if (!*first || (*first)->witness != s->witness) {
			*first = s;
			continue;
		}
		++*at;
		return s;
	}
	return NULL;
}

/* How many sightings agree with the steps, besides the first of each work-item; 0: one does not. */
static size_t agreeing(const struct fit *f, const int64_t *step)
{
	const struct sighting *first = NULL, *s;
	size_t at = 0, count = 0;
	while ((s = next_pair(f, &at, &first))) {
		int64_t apart[DIMENSIONS];
		ids_apart(f, first->group, s->group, apart);
		uint64_t moved = (uint64_t)(step[0] * apart[0] + step[1] * apart[1] + step[2] * apart[2]);
		if (s->first - first->first != moved || s->last - first->last != moved)
			return 0;
		count++;
	}
	return count;
}

/* more: sightings that must agree besides those that the steps are solved from. */
static bool fits(const struct fit *f, size_t more, int64_t *step)
{
	struct system system = {.used = {false}};
	const struct sighting *first = NULL, *s;
	size_t at = 0, unknown = 0;
	while (!is_full(f, &system) && (s = next_pair(f, &at, &first))) {
		int64_t apart[DIMENSIONS];
		ids_apart(f, first->group, s->group, apart);
		double row[DIMENSIONS + 1] = {(double)apart[0], (double)apart[1], (double)apart[2], (double)(int64_t)(s->first - first->first)};
		add_row(&system, row);
	}
	if (!is_full(f, &system))
		return false;
	solve(&system, step);
	for (int d = 0; d < DIMENSIONS; d++)
		unknown += f->grid[d] > 1;
	size_t count = agreeing(f, step);
	return unknown ? count >= unknown + more : true;
}

/* Groups of one row, which are in truth those of a plane. */
static bool fits_split(const struct fit *f, struct address_shift *out)
{
	for (uint64_t width = 2; width < f->grid[0]; width *= 2) {
		struct fit plane = {.sightings = f->sightings, .count = f->count, .grid = {width, (f->grid[0] + width - 1) / width, 1}};
		if (fits(&plane, MORE, out->step)) {
			out->split = width;
			return true;
		}
	}
	return false;
}

bool fit_moves(const struct sighting *sightings, size_t count, const uint64_t grid[3], struct address_shift *out)
{
	struct fit all = {.sightings = sightings, .count = count, .grid = {grid[0], grid[1], grid[2]}}, inner = all;
	inner.inner = true;
	*out = (struct address_shift){.linear = true};
	if (!count)
		out->linear = false;
	else if (!fits(&all, 0, out->step) && !fits(&inner, MORE, out->step))
		out->linear = grid[1] == 1 && grid[2] == 1 && fits_split(&all, out);
	if (!out->linear)
		*out = (struct address_shift){.linear = false};
	return out->linear;
}
