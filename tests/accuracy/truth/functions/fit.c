/*
 * fit: the tables of annotator/opcodes/prelude_functions.cl, from what measure.cu wrote.
 *
 *   cc -O2 -ffp-contract=off -I. -o fit tests/accuracy/truth/functions/fit.c -lm
 *   fit FOLDER
 *
 * A row is right if it gives all results that were measured. For some c1 and c2, each result leaves an interval for c0; of all intervals, something
 * must be left. Least squares say which c1 and c2 to try. The c0 of a table are multiples of a power of two, plus what rounds. The tables there have
 * c2 / 4 for rsqrt, and c2 / 2 for lg2 and for sqrt below 2.
 */
#include "tests/accuracy/truth/functions/reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 1 << 23 };

/* 2^rows rows for 2^23 inputs, of which the lowest drop bits do not matter. Sums have point bits behind the point, where 1 is 2^point. */
struct curve {
	const char *name;
	char kind;
	uint32_t start;
	int rows, drop, point, widen; /* widen: bits that x lacks of 17 */
};

struct row {
	int64_t low, high, c1, c2; /* c0: from low on, and below high */
};

static const struct curve curves[] = {
	{"rcp_ftz_f32", 'r', 0x3f800000, 7, 0, 39, 1},
	{"rsqrt_ftz_f32", 'q', 0x3f800000, 6, 0, 40, 0},
	{"rsqrt_ftz_f32", 'q', 0x40000000, 6, 0, 40, 0},
	{"sqrt_ftz_f32", 's', 0x3f800000, 6, 0, 40, 0},
	{"sqrt_ftz_f32", 's', 0x40000000, 6, 0, 39, 0},
	{"ex2_ftz_f32", 'e', 0x3f800000, 6, 0, 38, 0},
	{"lg2_ftz_f32", 'l', 0x40000000, 6, 0, 38, 0},
	{"sin_ftz_f32", 'i', 0x40000000, 6, 0, 37, 0},
	{"tanh_f32", 't', 0x3b800000, 0, 6, 39, 0},
	{"tanh_f32", 't', 0x3c000000, 0, 6, 39, 0},
	{"tanh_f32", 't', 0x3c800000, 0, 6, 39, 0},
	{"tanh_f32", 't', 0x3d000000, 1, 5, 39, 0},
	{"tanh_f32", 't', 0x3d800000, 1, 5, 39, 0},
	{"tanh_f32", 't', 0x3e000000, 2, 4, 39, 0},
	{"tanh_f32", 't', 0x3e800000, 2, 4, 39, 0},
	{"tanh_f32", 't', 0x3f000000, 2, 4, 39, 0},
	{"tanh_f32", 't', 0x3f800000, 3, 3, 39, 0},
	{"tanh_f32", 't', 0x40000000, 4, 2, 39, 0},
	{"tanh_f32", 't', 0x40800000, 3, 3, 39, 0},
};

static const char *folder;
static int64_t low[INPUTS], high[INPUTS], squares[1 << 17];

/* Where the results for the numbers from start on are, as bits. */
static uint32_t *results(const char *name, char kind, uint32_t start)
{
	char path[512];
	uint8_t *bytes = malloc(INPUTS);
	uint32_t *r = malloc(sizeof *r * INPUTS);
	snprintf(path, sizeof path, "%s/%s.%08x", folder, name, start);
	FILE *f = fopen(path, "rb");
	if (!f || !bytes || !r || fread(bytes, 1, INPUTS, f) != INPUTS) {
		perror(path);
		exit(1);
	}
	for (uint32_t i = 0; i < INPUTS; i++) {
		uint32_t z = bytes[i];
		if (z == 255 && fread(&z, 4, 1, f) != 1)
			exit(1);
		r[i] = bits_of(reference(kind, float_of(start + i))) + (z & 1 ? 0u - (z + 1) / 2 : z / 2);
	}
	fclose(f);
	free(bytes);
	return r;
}

/* The sum for table argument t gave this number, cut off: it lies in an interval. */
static void narrow(uint32_t t, uint32_t result, int point)
{
	int shift = (int)(result >> 23 & 255) - 150 + point;
	int64_t m = (result & 0x7fffff) | 0x800000, up = shift < 0 ? (1ll << -shift) - 1 : 0;
	int64_t from = shift < 0 ? (m + up) >> -shift : m << shift, below = shift < 0 ? (m + 1 + up) >> -shift : (m + 1) << shift;
	low[t] = from > low[t] ? from : low[t];
	high[t] = below < high[t] ? below : high[t];
}

/* Sines of arguments that are whole multiples of 2^-23 quarters of a turn; odd quarters go backwards. */
static void narrow_by_turns(const struct curve *c, const char *name, char kind, uint32_t start)
{
	uint32_t *r = results(name, kind, start);
	for (uint32_t i = 0; i < INPUTS; i++) {
		double quarters = turns_of(float_of(start + i)) * 4.0 * INPUTS;
		int64_t f = (int64_t)quarters, quarter = (f >> 23) + (kind == 'o');
		uint32_t t = (uint32_t)f & 0x7fffff;
		if ((double)f == quarters && r[i] << 1)
			narrow(quarter & 1 ? 0x7fffff - t : t, r[i], c->point);
	}
	free(r);
}

static void narrow_all(const struct curve *c)
{
	for (uint32_t i = 0; i < INPUTS; i++) {
		low[i] = INT64_MIN / 4;
		high[i] = INT64_MAX / 4;
	}
	if (c->kind == 'i') {
		narrow_by_turns(c, "sin_ftz_f32", 'i', 0x40000000);
		narrow_by_turns(c, "sin_ftz_f32", 'i', 0x40800000);
		narrow_by_turns(c, "cos_ftz_f32", 'o', 0x40000000);
		narrow_by_turns(c, "cos_ftz_f32", 'o', 0x40800000);
		return;
	}
	uint32_t *r = results(c->name, c->kind, c->start);
	/* 1 / sqrt(1) is 1 without the table; 2^x is measured from 1 on */
	for (uint32_t i = c->kind == 'q' && c->start == 0x3f800000; i < INPUTS; i++)
		narrow(i >> c->drop, c->kind == 'e' ? r[i] - 0x800000 : r[i], c->point);
	free(r);
}

/* The unit adds only the partial products of x * x that begin at bit 18 or above. */
static int64_t square(uint32_t x)
{
	uint32_t sum = 0;
	for (int i = 0; i < 17; i++)
		sum += x >> i & 1 ? x >> (18 - i) : 0;
	return sum >> 1;
}

static bool fits(struct row *r, const int64_t *from, const int64_t *below, int count, int step)
{
	r->low = INT64_MIN;
	r->high = INT64_MAX;
	for (int x = 0; x < count && r->low < r->high; x += step) {
		int64_t rest = r->c1 * x + r->c2 * squares[x];
		r->low = from[x] - rest > r->low ? from[x] - rest : r->low;
		r->high = below[x] - rest < r->high ? below[x] - rest : r->high;
	}
	return r->low < r->high;
}

/* c1 and c2 by least squares: the 3 x 3 equations of 1, x and the square. */
static void guess(const int64_t *from, const int64_t *below, int count, double *c1, double *c2)
{
	double a[3][4] = {{0}}, first = NAN;
	for (int x = 0; x < count; x++) {
		if (below[x] - from[x] > 1ll << 50)
			continue;
		double middle = (double)(from[x] + below[x]) / 2, v[3] = {1, (double)x / count, (double)squares[x] / (double)squares[count - 1]};
		first = isnan(first) ? middle : first;
		for (int i = 0; i < 3; i++) {
			for (int j = 0; j < 3; j++)
				a[i][j] += v[i] * v[j];
			a[i][3] += v[i] * (middle - first);
		}
	}
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			double m = a[j][i] / a[i][i];
			for (int k = i; k < 4 && j != i; k++)
				a[j][k] -= m * a[i][k];
		}
	*c1 = a[1][3] / a[1][1] / count;
	*c2 = a[2][3] / a[2][2] / (double)squares[count - 1];
}

static bool find_row(struct row *r, const int64_t *from, const int64_t *below, int count)
{
	double c1, c2;
	guess(from, below, count, &c1, &c2);
	for (r->c2 = llround(c2) - 6; r->c2 <= llround(c2) + 6; r->c2++)
		for (r->c1 = llround(c1) - 12; r->c1 <= llround(c1) + 12; r->c1++)
			if (fits(r, from, below, count, 61) && fits(r, from, below, count, 1))
				return true;
	return false;
}

/* Whether all rows have a c0 that is a multiple of 2^shift, plus rounding. */
static bool shares(const struct row *rows, int count, int shift, int64_t rounding)
{
	for (int i = 0; i < count; i++)
		if (((rows[i].high - 1 - rounding) >> shift << shift) + rounding < rows[i].low)
			return false;
	return true;
}

static void print_rows(const struct curve *c, const struct row *rows, int count)
{
	for (int shift = 16; shift >= 0; shift--)
		for (int64_t rounding = 0; rounding < 1ll << shift; rounding++)
			if (shares(rows, count, shift, rounding)) {
				printf("%s from %08x on: shift %d, rounding %#llx\n", c->name, c->start, shift, (long long)rounding);
				for (int i = 0; i < count; i++)
					printf("{%lld, %lld, %lld},\n", (long long)((rows[i].high - 1 - rounding) >> shift),
					       (long long)rows[i].c1, (long long)rows[i].c2);
				return;
			}
}

int main(int argc, char **argv)
{
	static struct row rows[128];
	int missing = 0;
	folder = argc > 1 ? argv[1] : ".";
	for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
		const struct curve *c = &curves[i];
		int count = 1 << (23 - c->drop - c->rows), found = 0;
		for (int x = 0; x < count; x++)
			squares[x] = square((uint32_t)x << c->widen);
		narrow_all(c);
		for (int r = 0; r < 1 << c->rows; r++)
			found += find_row(&rows[r], low + r * count, high + r * count, count);
		if (found == 1 << c->rows)
			print_rows(c, rows, found);
		else
			printf("%s from %08x on: %d rows of %d\n", c->name, c->start, found, 1 << c->rows);
		missing += found < 1 << c->rows;
	}
	return missing > 0;
}
