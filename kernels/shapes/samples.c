/* Few work-items with long loops, uneven work, histograms. */
#include "kernels/shapes/shapes.h"

#include <math.h>

enum { LOCAL = 64, TABLE = 1 << 16 };

static cl_kernel samples(const char *name)
{
	return shape_kernel("samples.cl", name);
}

static void standardised(float *data, int variables, int count)
{
	for (int j = 0; j < variables; j++) {
		float mean = 0, squares = 0;
		for (int i = 0; i < count; i++)
			mean += data[i * variables + j];
		mean = mean / (float)count;
		for (int i = 0; i < count; i++) {
			float off = data[i * variables + j] - mean;
			squares = fmaf(off, off, squares);
		}
		squares = sqrtf(squares);
		for (int i = 0; i < count; i++)
			data[i * variables + j] = (data[i * variables + j] - mean) / squares;
	}
}

static float *correlations(float *data, int variables, int count)
{
	float *matrix = allocate((size_t)variables * (size_t)variables, sizeof *matrix);
	standardised(data, variables, count);
	for (int a = 0; a < variables; a++) {
		matrix[a * variables + a] = 1;
		for (int b = a + 1; b < variables; b++) {
			float sum = 0;
			for (int i = 0; i < count; i++)
				sum = fmaf(data[i * variables + a], data[i * variables + b], sum);
			matrix[a * variables + b] = matrix[b * variables + a] = sum;
		}
	}
	return matrix;
}

/* n variables in 8 groups, `length` samples. */
void run_correlation(struct shape_size s)
{
	size_t values = (size_t)s.n * (size_t)s.length, local = (size_t)(s.n + 7) / 8;
	float *data = random_floats(values);
	cl_mem all = buffer(values * 4, data), mean = buffer((size_t)s.n * 4, NULL), deviation = buffer((size_t)s.n * 4, NULL);
	cl_mem matrix = buffer((size_t)s.n * (size_t)s.n * 4, NULL);
	cl_kernel first = samples("moments"), second = samples("standardise"), third = samples("correlate_rows");
	args(first, "mmmii", all, mean, deviation, s.n, s.length);
	args(second, "mmmii", all, mean, deviation, s.n, s.length);
	args(third, "mmii", all, matrix, s.n, s.length);
	launch(first, (size_t)s.n, 1, local, 1);
	launch(second, (size_t)s.n, (size_t)s.length, 32, 8);
	launch(third, (size_t)s.n, 1, local, 1);
	conclude(matrix, (size_t)s.n * (size_t)s.n * 4, checking ? correlations(data, s.n, s.length) : NULL);
}

/* n work-items, each with a loop of `length` trips. */
void run_series(struct shape_size s)
{
	float *data = random_floats(TABLE), *weight = random_floats(256), *expected = NULL;
	cl_mem out = buffer((size_t)s.n * 4, NULL);
	cl_kernel k = samples("series");
	args(k, "mmmii", buffer(TABLE * 4, data), buffer(256 * 4, weight), out, TABLE - 1, s.length);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	if (checking) {
		expected = allocate((size_t)s.n, sizeof *expected);
		for (int i = 0; i < s.n; i++)
			for (int t = 0; t < s.length; t++)
				expected[i] = fmaf(data[(i + t * s.n) & (TABLE - 1)], weight[t & 255], expected[i]);
	}
	conclude(out, (size_t)s.n * 4, expected);
}

/* n work-items; those of every 32nd group loop `length` times. */
void run_mixed(struct shape_size s)
{
	unsigned *table = random_words(TABLE, 1000), *expected = NULL;
	cl_mem out = buffer((size_t)s.n * 4, NULL);
	cl_kernel k = samples("mixed");
	args(k, "mmii", buffer(TABLE * 4, table), out, TABLE - 1, s.length);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	if (checking) {
		expected = allocate((size_t)s.n, sizeof *expected);
		for (int i = 0; i < s.n; i++)
			for (int t = 0; t < (i / LOCAL % 32 ? s.length / 64 : s.length); t++)
				expected[i] += table[(i + t * 64) & (TABLE - 1)] ^ (unsigned)t;
	}
	conclude(out, (size_t)s.n * 4, expected);
}

static void phases_of_group(const unsigned *table, unsigned *out, unsigned first, int length)
{
	unsigned shared[LOCAL];
	for (unsigned i = 0; i < LOCAL; i++) {
		shared[i] = first + i;
		for (int t = 0; t < length; t++)
			shared[i] = shared[i] * 1664525u + 1013904223u;
	}
	for (unsigned i = 0; i < LOCAL; i++) {
		unsigned value = shared[i];
		for (int t = 0; t < length / 4; t++)
			value += shared[(i + (unsigned)t) % LOCAL];
		for (int t = 0; t < length / 4; t++)
			value += table[(value ^ (unsigned)t) & (TABLE - 1)];
		out[first + i] = value;
	}
}

void run_phases(struct shape_size s)
{
	unsigned *table = random_words(TABLE, 1000), *expected = NULL;
	cl_mem out = buffer((size_t)s.n * 4, NULL);
	cl_kernel k = samples("phases");
	args(k, "mmlii", buffer(TABLE * 4, table), out, LOCAL * 4, TABLE - 1, s.length);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	if (checking) {
		expected = allocate((size_t)s.n, sizeof *expected);
		for (int i = 0; i < s.n; i += LOCAL)
			phases_of_group(table, expected, (unsigned)i, s.length);
	}
	conclude(out, (size_t)s.n * 4, expected);
}

/* n work-items count `length` words each. */
static void histogram_of(struct shape_size s, const char *name)
{
	size_t words = (size_t)s.n * (size_t)s.length;
	unsigned *data = random_words(words, 1 << 20), *expected = allocate(256, sizeof *expected);
	cl_mem bins = buffer(256 * 4, expected);
	cl_kernel k = samples(name);
	args(k, "mmi", buffer(words * 4, data), bins, s.length);
	launch(k, (size_t)s.n, 1, 256, 1);
	for (size_t i = 0; checking && i < words; i++)
		expected[data[i] & 255]++;
	conclude(bins, 256 * 4, checking ? expected : NULL);
}

void run_histogram(struct shape_size s)
{
	histogram_of(s, "histogram_global");
}

void run_histogram_local(struct shape_size s)
{
	histogram_of(s, "histogram_local");
}
