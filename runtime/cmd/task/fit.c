/* Addresses as sums of ids and turns: solved from some samples, and checked with all of them. */
#include "runtime/cmd/task/from.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 6 + TASK_LOOPS + 1, MOST_SOLVED = 2000 };

#define NAME(name) #name,
static const char *const names[] = {TASK_VARIABLES(NAME)};
#undef NAME

struct address_fit {
	int variables[MOST_TERMS]; /* the last is the constant: -1 */
	int count;
	double matrix[MOST_TERMS][MOST_TERMS + 1];
	int64_t factors[MOST_TERMS];
};

static double term(const struct address_fit *f, int i, const struct recorded_sample *s)
{
	return f->variables[i] < 0 ? 1 : (double)s->variables[f->variables[i]];
}

static void add_sample(struct address_fit *f, const struct recorded_sample *s, uint64_t origin)
{
	for (int i = 0; i < f->count; i++) {
		for (int j = 0; j < f->count; j++)
			f->matrix[i][j] += term(f, i, s) * term(f, j, s);
		f->matrix[i][f->count] += term(f, i, s) * (double)(int64_t)(s->offset - origin);
	}
}

/* Gauss, with pivots; a variable that says nothing new has factor 0. */
static void solve(struct address_fit *f, double out[MOST_TERMS])
{
	int pivot_of[MOST_TERMS], row = 0;
	for (int c = 0; c < f->count; c++) {
		int best = row;
		for (int r = row; r < f->count; r++)
			best = fabs(f->matrix[r][c]) > fabs(f->matrix[best][c]) ? r : best;
		pivot_of[c] = -1;
		if (row == f->count || fabs(f->matrix[best][c]) < 1e-6)
			continue;
		for (int j = 0; j <= f->count; j++) {
			double t = f->matrix[row][j];
			f->matrix[row][j] = f->matrix[best][j];
			f->matrix[best][j] = t;
		}
		for (int r = 0; r < f->count; r++) {
			double factor = r == row ? 0 : f->matrix[r][c] / f->matrix[row][c];
			for (int j = c; j <= f->count && factor != 0; j++)
				f->matrix[r][j] -= factor * f->matrix[row][j];
		}
		pivot_of[c] = row++;
	}
	for (int c = 0; c < f->count; c++)
		out[c] = pivot_of[c] < 0 ? 0 : f->matrix[pivot_of[c]][f->count] / f->matrix[pivot_of[c]][c];
}

static bool holds(const struct address_fit *f, const struct recorded_sample *s)
{
	uint64_t sum = 0;
	for (int i = 0; i < f->count; i++)
		sum += (uint64_t)f->factors[i] * (f->variables[i] < 0 ? 1 : (uint64_t)s->variables[f->variables[i]]);
	return sum == s->offset;
}

static void write_sum(const struct address_fit *f, struct gs_buf *out)
{
	bool first = true;
	for (int i = 0; i < f->count; i++) {
		int64_t a = f->factors[i];
		if (!a)
			continue;
		gs_buf_puts(out, first ? (a < 0 ? "-" : "") : a < 0 ? " - " : " + ");
		uint64_t size = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
		if (f->variables[i] < 0)
			gs_buf_printf(out, "%" PRIu64, size);
		else
			gs_buf_printf(out, "%" PRIu64 "*%s", size, names[f->variables[i]]);
		first = false;
	}
	if (first)
		gs_buf_puts(out, "0");
}

bool fit_expression(const struct recorded_sample *samples, size_t count, uint32_t loops, struct gs_buf *out)
{
	struct address_fit f = {.count = 0};
	double factors[MOST_TERMS];
	uint64_t origin = samples[0].offset;
	for (int v = 0; v < VARIABLE_COUNT; v++) {
		bool offered = v <= VARIABLE_gz || (v >= VARIABLE_i0 && v < VARIABLE_i0 + (int)loops), varies = false;
		for (size_t i = 1; i < count && offered && !varies; i++)
			varies = samples[i].variables[v] != samples[0].variables[v];
		if (varies)
			f.variables[f.count++] = v;
	}
	f.variables[f.count++] = -1;
	size_t step = count / MOST_SOLVED + 1;
	if (step % 2 == 0) /* not in step with lanes */
		step++;
	for (size_t i = 0; i < count; i += step)
		add_sample(&f, &samples[i], origin);
	add_sample(&f, &samples[count - 1], origin);
	solve(&f, factors);
	for (int i = 0; i < f.count; i++) {
		if (!(fabs(factors[i]) < 0x1p52))
			return false;
		f.factors[i] = (int64_t)llround(factors[i]);
	}
	f.factors[f.count - 1] += (int64_t)origin;
	for (size_t i = 0; i < count; i++)
		if (!holds(&f, &samples[i]))
			return false;
	write_sum(&f, out);
	return true;
}
