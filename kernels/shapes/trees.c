/* Launches of halving and doubling sizes: reduction, prefix sums, sorting. n is a power of two. */
#include "kernels/shapes/shapes.h"

#include <stdlib.h>

enum { LOCAL = 256 };

/* n words are added up, `length` times. */
void run_reduce(struct shape_size s)
{
	unsigned *data = random_words((size_t)s.n, 1000);
	cl_mem all = buffer((size_t)s.n * 4, data);
	cl_kernel k = shape_kernel("samples.cl", "reduce_half");
	for (int round = 0; round < s.length; round++)
		for (int half = s.n / 2; half; half /= 2) {
			args(k, "mi", all, half);
			launch(k, (size_t)half, 1, LOCAL, 1);
			for (int i = 0; checking && i < half; i++)
				data[i] += data[i + half];
		}
	conclude(all, (size_t)s.n * 4, checking ? data : NULL);
}

static void scan_level(cl_kernel k, cl_mem data, int n, int stride)
{
	args(k, "mii", data, n / (2 * stride), stride);
	launch(k, (size_t)(n / (2 * stride)), 1, LOCAL, 1);
}

/* The sums of all words before each, `length` times. */
void run_scan(struct shape_size s)
{
	const unsigned zero = 0;
	unsigned *data = random_words((size_t)s.n, 1000), last[2];
	cl_mem all = buffer((size_t)s.n * 4, data);
	cl_kernel up = shape_kernel("samples.cl", "scan_up"), down = shape_kernel("samples.cl", "scan_down");
	for (int round = 0; round < s.length; round++) {
		for (int stride = 1; stride < s.n; stride *= 2)
			scan_level(up, all, s.n, stride);
		put_at(all, ((size_t)s.n - 1) * 4, 4, &zero);
		for (int stride = s.n / 2; stride; stride /= 2)
			scan_level(down, all, s.n, stride);
		last[0] = 0;
		for (int i = 0; checking && i < s.n; i++) {
			last[1] = data[i];
			data[i] = last[0];
			last[0] += last[1];
		}
	}
	conclude(all, (size_t)s.n * 4, checking ? data : NULL);
}

static int by_value(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return (x > y) - (x < y);
}

/* Sorts n words. Its number of launches follows from n. */
void run_bitonic(struct shape_size s)
{
	unsigned *data = random_words((size_t)s.n, 1 << 24);
	cl_mem all = buffer((size_t)s.n * 4, data);
	cl_kernel k = shape_kernel("samples.cl", "bitonic_pairs");
	for (int run = 2; run <= s.n; run *= 2)
		for (int distance = run / 2; distance; distance /= 2) {
			args(k, "mii", all, distance, run);
			launch(k, (size_t)s.n / 2, 1, LOCAL, 1);
		}
	if (checking)
		qsort(data, (size_t)s.n, sizeof *data, by_value);
	conclude(all, (size_t)s.n * 4, checking ? data : NULL);
}
