/*
 * Gauss-Jordan elimination on sparse rows of integers.
 *
 * A row is an equation that waits, or the value of a solved unknown: -denominator * x + sum = 0. The equation with the fewest
 * free unknowns is solved next. Control flow is nearly a tree, so most equations have one unknown left when they are solved. The
 * unknown that an equation is solved for is the pivot. All other rows replace the pivot at once. Rows are divided by the
 * greatest common divisor of their factors. An equation is dropped if one of its factors does not fit 63 bits.
 */
#include "analysis/mapping/linear.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum row_state { ROW_PENDING, ROW_VALUE, ROW_GONE };

struct linear_row {
	struct linear_sum sum;
	enum row_state state;
	uint32_t solves;     /* ROW_VALUE: the unknown that it is the value of */
	uint32_t free_count; /* number of terms that are unknowns; all of them are free */
	uint32_t seen;       /* the number of the last elimination that saw the row */
};

struct list {
	uint32_t *items;
	uint32_t count;
};

struct linear {
	uint32_t unknowns;
	uint8_t *rank;
	int64_t *row_of; /* per solved unknown: its row; else -1 */
	struct list *users; /* per unknown: rows that have had it; some may not have it any more */
	struct linear_row *rows;
	uint32_t row_count;
	struct list *waiting; /* pending rows by their number of unknowns; some entries are outdated; the last list has all larger numbers */
	struct linear_sum *checks;
	uint32_t check_count, dropped, eliminations;
};

enum { WAITING_LISTS = 64 };

/* ---- arrays ---- */

static int list_add(struct list *l, uint32_t item)
{
	if (!(l->count & (l->count - 1))) {
		uint32_t *grown = reallocarray(l->items, l->count ? l->count * 2 : 1, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		l->items = grown;
	}
	l->items[l->count++] = item;
	return 0;
}

static void *grow(void *array_pointer, uint32_t count, size_t size)
{
	char **array = array_pointer;
	if (!(count & (count - 1))) {
		void *grown = reallocarray(*array, count ? (size_t)count * 2 : 1, size);
		if (!grown)
			return NULL;
		*array = grown;
	}
	return memset(*array + count * size, 0, size);
}

/* ---- sums ---- */

static int compare_terms(const void *a, const void *b)
{
	const struct linear_term *x = a, *y = b;
	return (x->of > y->of) - (x->of < y->of);
}

static uint64_t magnitude(int64_t x)
{
	return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* Divides all factors by their common divisor. with_denominator: the sum is a value, so its denominator is included. */
static void shorten(struct linear_sum *s, bool with_denominator)
{
	uint64_t divisor = with_denominator ? magnitude(s->denominator) : 0;
	for (uint32_t i = 0; i < s->count && divisor != 1; i++)
		divisor = common_divisor(divisor, magnitude(s->terms[i].factor));
	if (divisor < 2 || divisor > INT64_MAX)
		return;
	for (uint32_t i = 0; i < s->count; i++)
		s->terms[i].factor /= (int64_t)divisor;
	if (with_denominator)
		s->denominator /= (int64_t)divisor;
}

static bool fits(__int128 x)
{
	return x > INT64_MIN && x <= INT64_MAX;
}

/* x * a + y * b, without the term `without`. -ERANGE: a factor does not fit. The caller frees out->terms. */
static int combine(const struct linear_sum *x, int64_t a, const struct linear_sum *y, int64_t b, uint32_t without,
                   struct linear_sum *out)
{
	out->terms = malloc(((size_t)x->count + y->count + 1) * sizeof *out->terms);
	out->count = 0;
	if (!out->terms)
		return -ENOMEM;
	for (uint32_t i = 0, j = 0; i < x->count || j < y->count;) {
		bool left = j == y->count || (i < x->count && x->terms[i].of <= y->terms[j].of);
		bool right = i == x->count || (j < y->count && y->terms[j].of <= x->terms[i].of);
		uint32_t of = left ? x->terms[i].of : y->terms[j].of;
		__int128 factor = (left ? (__int128)a * x->terms[i].factor : 0) + (right ? (__int128)b * y->terms[j].factor : 0);
		i += left;
		j += right;
		if (!factor || of == without)
			continue;
		if (!fits(factor)) {
			free(out->terms);
			out->terms = NULL;
			return -ERANGE;
		}
		out->terms[out->count++] = (struct linear_term){of, (int64_t)factor};
	}
	return 0;
}

static int64_t factor_of(const struct linear_sum *s, uint32_t of)
{
	const struct linear_term key = {.of = of};
	const struct linear_term *found = s->count ? bsearch(&key, s->terms, s->count, sizeof key, compare_terms) : NULL;
	return found ? found->factor : 0;
}

/* Replaces the pivot in *s by its value: factor * value.sum / value.denominator. After -ERANGE, *out has no terms. */
static int substitute(const struct linear_sum *s, uint32_t pivot, const struct linear_sum *value, bool with_denominator,
                      struct linear_sum *out)
{
	int64_t factor = factor_of(s, pivot);
	uint64_t common = common_divisor(magnitude(factor), magnitude(value->denominator));
	int64_t scale = value->denominator / (int64_t)common;
	__int128 denominator = with_denominator ? (__int128)s->denominator * scale : 1;
	*out = (struct linear_sum){0};
	if (!fits(denominator))
		return -ERANGE;
	int result = combine(s, scale, value, factor / (int64_t)common, pivot, out);
	if (result)
		return result;
	out->denominator = (int64_t)denominator;
	shorten(out, with_denominator);
	return 0;
}

/* ---- the system ---- */

void linear_free(struct linear *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->row_count; i++)
		free(l->rows[i].sum.terms);
	for (uint32_t i = 0; l->users && i < l->unknowns; i++)
		free(l->users[i].items);
	for (uint32_t i = 0; l->waiting && i < WAITING_LISTS; i++)
		free(l->waiting[i].items);
	for (uint32_t i = 0; i < l->check_count; i++)
		free(l->checks[i].terms);
	free(l->checks);
	free(l->users);
	free(l->waiting);
	free(l->rows);
	free(l->row_of);
	free(l->rank);
	free(l);
}

int linear_create(uint32_t unknowns, const uint8_t *rank, struct linear **out, struct gs_error *err)
{
	struct linear *l = calloc(1, sizeof *l);
	if (l) {
		l->unknowns = unknowns;
		l->rank = calloc(unknowns + 1u, 1);
		l->row_of = calloc(unknowns + 1u, sizeof *l->row_of);
		l->users = calloc(unknowns + 1u, sizeof *l->users);
		l->waiting = calloc(WAITING_LISTS, sizeof *l->waiting);
	}
	if (!l || !l->rank || !l->row_of || !l->users || !l->waiting) {
		linear_free(l);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < unknowns; i++) {
		l->row_of[i] = -1;
		l->rank[i] = rank ? rank[i] : 0;
	}
	*out = l;
	return 0;
}

static void count_free(const struct linear *l, struct linear_row *r)
{
	r->free_count = 0;
	while (r->free_count < r->sum.count && r->sum.terms[r->free_count].of < l->unknowns)
		r->free_count++;
}

/* Registers a row that has a new sum, so that searches for the added terms find it. */
static int enter_row(struct linear *l, uint32_t index, const struct linear_sum *added)
{
	struct linear_row *r = &l->rows[index];
	count_free(l, r);
	for (uint32_t i = 0; i < added->count && added->terms[i].of < l->unknowns; i++)
		if (list_add(&l->users[added->terms[i].of], index))
			return -ENOMEM;
	if (r->state == ROW_PENDING)
		return list_add(&l->waiting[r->free_count < WAITING_LISTS ? r->free_count : WAITING_LISTS - 1], index);
	return 0;
}

/* Sorts the terms, merges equal indices and replaces the solved unknowns. */
static int normalise(const struct linear *l, const struct linear_term *terms, uint32_t count, struct linear_sum *out)
{
	*out = (struct linear_sum){.terms = malloc((count + 1u) * sizeof *terms), .count = 0, .denominator = 1};
	if (!out->terms)
		return -ENOMEM;
	memcpy(out->terms, terms, count * sizeof *terms);
	qsort(out->terms, count, sizeof *terms, compare_terms);
	for (uint32_t i = 0; i < count; i++) {
		if (out->count && out->terms[out->count - 1].of == out->terms[i].of)
			out->terms[out->count - 1].factor += out->terms[i].factor;
		else
			out->terms[out->count++] = out->terms[i];
		if (!out->terms[out->count - 1].factor)
			out->count--;
	}
	for (uint32_t i = 0; i < out->count;) {
		uint32_t of = out->terms[i].of;
		if (of >= l->unknowns || l->row_of[of] < 0) {
			i++;
			continue;
		}
		struct linear_sum next;
		int result = substitute(out, of, &l->rows[l->row_of[of]].sum, false, &next);
		free(out->terms);
		*out = next;
		if (result)
			return result;
		i = 0;
	}
	return 0;
}

int linear_add(struct linear *l, const struct linear_term *terms, uint32_t count, struct gs_error *err)
{
	struct linear_row row = {0};
	int result = normalise(l, terms, count, &row.sum);
	if (result == -ERANGE) {
		l->dropped++;
		return 0;
	}
	struct linear_row *slot = result ? NULL : grow(&l->rows, l->row_count, sizeof *slot);
	if (!slot) {
		free(row.sum.terms);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	*slot = row;
	l->row_count++;
	return enter_row(l, l->row_count - 1, &row.sum) ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

int linear_is_open(struct linear *l, const struct linear_term *terms, uint32_t count, bool *open, struct gs_error *err)
{
	struct linear_sum sum;
	int result = normalise(l, terms, count, &sum);
	*open = !result && sum.count && sum.terms[0].of < l->unknowns;
	free(sum.terms);
	return result == -ENOMEM ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

/* Prefers low rank, then factors of 1, then the unknown that is in the fewest rows. */
static uint32_t choose_pivot(const struct linear *l, const struct linear_row *r)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < r->free_count; i++) {
		const struct linear_term *t = &r->sum.terms[i], *b = &r->sum.terms[best];
		bool one = magnitude(t->factor) == 1, best_one = magnitude(b->factor) == 1;
		if (l->rank[t->of] != l->rank[b->of] ? l->rank[t->of] < l->rank[b->of]
		    : one != best_one                ? one
		                                     : l->users[t->of].count < l->users[b->of].count)
			best = i;
	}
	return best;
}

/* The value of the pivot: sum / denominator. */
static int solve_for(const struct linear_sum *equation, uint32_t pivot, struct linear_sum *out)
{
	const struct linear_sum nothing = {0};
	int64_t factor = factor_of(equation, pivot);
	int result = combine(equation, factor < 0 ? 1 : -1, &nothing, 0, pivot, out);
	out->denominator = (int64_t)magnitude(factor);
	if (!result)
		shorten(out, true);
	return result;
}

/* Lists each row that contains the pivot once, with its next sum. Nothing is changed yet. */
static int prepare(struct linear *l, uint32_t pivot, uint32_t but, const struct linear_sum *value, struct list *rows,
                   struct linear_sum **sums)
{
	const struct list *users = &l->users[pivot];
	int result = 0;
	l->eliminations++;
	*sums = calloc(users->count + 1u, sizeof **sums);
	if (!*sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < users->count && !result; i++) {
		uint32_t index = users->items[i];
		struct linear_row *r = &l->rows[index];
		if (index == but || r->state == ROW_GONE || r->seen == l->eliminations || !factor_of(&r->sum, pivot))
			continue;
		r->seen = l->eliminations;
		result = substitute(&r->sum, pivot, value, r->state == ROW_VALUE, &(*sums)[rows->count]);
		if (!result)
			result = list_add(rows, index);
	}
	return result;
}

/* Solves one equation for its pivot. The pivot disappears from all other rows. */
static int eliminate(struct linear *l, uint32_t index, uint32_t pivot)
{
	struct linear_sum value = {0}, *sums = NULL;
	struct list rows = {0};
	int result = solve_for(&l->rows[index].sum, pivot, &value);
	if (!result)
		result = prepare(l, pivot, index, &value, &rows, &sums);
	for (uint32_t i = 0; i < rows.count; i++) {
		struct linear_row *r = &l->rows[rows.items[i]];
		if (result) {
			free(sums[i].terms);
			continue;
		}
		free(r->sum.terms);
		r->sum = sums[i];
		if (enter_row(l, rows.items[i], &value)) {
			for (uint32_t j = i + 1; j < rows.count; j++)
				free(sums[j].terms);
			result = -ENOMEM;
			break;
		}
	}
	free(rows.items);
	free(sums);
	if (result) {
		free(value.terms);
		return result;
	}
	free(l->rows[index].sum.terms);
	l->rows[index].sum = value;
	l->rows[index].state = ROW_VALUE;
	l->rows[index].solves = pivot;
	l->row_of[pivot] = index;
	l->users[pivot].count = 0;
	return enter_row(l, index, &value);
}

static int add_check(struct linear *l, struct linear_row *r)
{
	if (!r->sum.count)
		return 0;
	struct linear_sum *slot = grow(&l->checks, l->check_count, sizeof *slot);
	if (!slot)
		return -ENOMEM;
	shorten(&r->sum, false);
	*slot = r->sum;
	r->sum = (struct linear_sum){0};
	l->check_count++;
	return 0;
}

static int solve_row(struct linear *l, uint32_t index)
{
	struct linear_row *r = &l->rows[index];
	int result = r->free_count ? eliminate(l, index, r->sum.terms[choose_pivot(l, r)].of) : add_check(l, r);
	if (result == -ERANGE) {
		l->dropped++;
		result = 0;
	}
	r = &l->rows[index];
	if (r->state == ROW_PENDING)
		r->state = ROW_GONE;
	return result;
}

/* Exchanges a solved unknown of high rank with a free one of low rank: the free one becomes solved. */
static int exchange(struct linear *l, uint32_t unknown)
{
	uint32_t index = (uint32_t)l->row_of[unknown];
	struct linear_row *r = &l->rows[index];
	uint32_t best = choose_pivot(l, r), pivot = r->sum.terms[best].of;
	if (!r->free_count || l->rank[pivot] >= l->rank[unknown])
		return 0;
	/* sum - denominator * unknown = 0 */
	struct linear_term self = {unknown, -r->sum.denominator};
	const struct linear_sum old = r->sum, back = {.terms = &self, .count = 1};
	struct linear_sum equation;
	int result = combine(&r->sum, 1, &back, 1, UINT32_MAX, &equation);
	if (result)
		return result == -ERANGE ? 0 : result;
	r->sum = equation;
	r->state = ROW_PENDING;
	l->row_of[unknown] = -1;
	result = eliminate(l, index, pivot);
	r = &l->rows[index];
	if (result == -ERANGE) {
		free(r->sum.terms);
		r->sum = old;
		r->state = ROW_VALUE;
		l->row_of[unknown] = index;
		return 0;
	}
	free(old.terms);
	return result;
}

int linear_solve(struct linear *l, struct gs_error *err)
{
	int result = 0;
	for (uint32_t n = 0; n < WAITING_LISTS && !result;) {
		struct list *list = &l->waiting[n];
		if (!list->count) {
			n++;
			continue;
		}
		uint32_t index = list->items[--list->count];
		struct linear_row *r = &l->rows[index];
		/* A row that became shorter or longer is also in another list. */
		if (r->state != ROW_PENDING || (n < WAITING_LISTS - 1 ? r->free_count != n : r->free_count < n))
			continue;
		result = solve_row(l, index);
		n = 0;
	}
	for (uint32_t i = 0; i < l->unknowns && !result; i++)
		if (l->row_of[i] >= 0 && l->rank[i])
			result = exchange(l, i);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

bool linear_is_free(const struct linear *l, uint32_t unknown)
{
	return l->row_of[unknown] < 0;
}

const struct linear_sum *linear_value(const struct linear *l, uint32_t unknown)
{
	static const struct linear_sum none = {.denominator = 1};
	return l->row_of[unknown] < 0 ? &none : &l->rows[l->row_of[unknown]].sum;
}

uint32_t linear_checks(const struct linear *l, const struct linear_sum **out)
{
	*out = l->checks;
	return l->check_count;
}

uint32_t linear_dropped(const struct linear *l)
{
	return l->dropped;
}
