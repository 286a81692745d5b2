/* Time steps of stencils, wavefronts, all shortest paths, Mandelbrot's set. */
#include "kernels/shapes/shapes.h"

#include <math.h>
#include <string.h>

static cl_kernel grids(const char *name)
{
	return shape_kernel("grids.cl", name);
}

static size_t square(int n)
{
	return (size_t)n * (size_t)n;
}

static void heat2d_step(const float *in, float *out, int n)
{
	for (int y = 1; y < n - 1; y++)
		for (int i = y * n + 1; i < y * n + n - 1; i++)
			out[i] = fmaf(in[i - 1] + in[i + 1] + in[i - n] + in[i + n], 0.125f, in[i] * 0.5f);
}

static void heat3d_step(const float *in, float *out, int n)
{
	int plane = n * n;
	for (int z = 1; z < n - 1; z++)
		for (int y = 1; y < n - 1; y++)
			for (int i = z * plane + y * n + 1; i < z * plane + y * n + n - 1; i++)
				out[i] = fmaf(in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] + in[i + plane], 0.125f, in[i] * 0.25f);
}

/* `length` steps; the result is where the last one wrote. */
static void time_steps(struct shape_size s, cl_kernel k, size_t count, const char *kinds, const size_t items[3], const size_t local[3],
                       void (*step)(const float *, float *, int))
{
	float *now = random_floats(count), *then = memcpy(allocate(count, sizeof *then), now, count * sizeof *now);
	cl_mem in = buffer(count * 4, now), out = buffer(count * 4, now);
	for (int t = 0; t < s.length; t++) {
		args(k, kinds, in, out, s.n, s.n);
		launch3(k, items, local);
		swap_mem(&in, &out);
		if (checking) {
			float *next = then;
			step(now, then, s.n);
			then = now;
			now = next;
		}
	}
	conclude(in, count * 4, checking ? now : NULL);
}

void run_heat2d(struct shape_size s)
{
	size_t n = (size_t)s.n;
	time_steps(s, grids("heat2d"), n * n, "mmii", (const size_t[3]){n, n, 1}, (const size_t[3]){32, 8, 1}, heat2d_step);
}

void run_heat3d(struct shape_size s)
{
	size_t n = (size_t)s.n;
	time_steps(s, grids("heat3d"), n * n * n, "mmi", (const size_t[3]){n, n, n}, (const size_t[3]){16, 4, 4}, heat3d_step);
}

static void lcs(const int *a, const int *b, int *table, int n)
{
	int w = n + 1;
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			int up = table[y * w + x + 1], left = table[(y + 1) * w + x];
			table[(y + 1) * w + x + 1] = a[x] == b[y] ? table[y * w + x] + 1 : up > left ? up : left;
		}
}

/* Two texts of n letters: 2n - 1 launches that grow, then shrink. */
void run_wavefront(struct shape_size s)
{
	int *a = (int *)random_words((size_t)s.n, 4), *b = (int *)random_words((size_t)s.n, 4), *table = allocate(square(s.n + 1), sizeof *table);
	cl_mem first = buffer((size_t)s.n * 4, a), second = buffer((size_t)s.n * 4, b), all = buffer(square(s.n + 1) * 4, table);
	cl_kernel k = grids("lcs_diagonal");
	for (int d = 0; d < 2 * s.n - 1; d++) {
		int from = d < s.n ? 0 : d - s.n + 1, count = d < s.n ? d + 1 : 2 * s.n - 1 - d;
		args(k, "mmmiiii", first, second, all, s.n, d, from, count);
		launch(k, (size_t)count, 1, 64, 1);
	}
	if (checking)
		lcs(a, b, table, s.n);
	conclude(all, square(s.n + 1) * 4, checking ? table : NULL);
}

static void paths_over(int *distance, int n, int k)
{
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			int over = distance[y * n + k] + distance[k * n + x];
			if (over < distance[y * n + x])
				distance[y * n + x] = over;
		}
}

/* n nodes; paths over the first `length` of them. */
void run_paths(struct shape_size s)
{
	int *distance = (int *)random_words(square(s.n), 10000);
	for (int i = 0; i < s.n; i++)
		distance[i * s.n + i] = 0;
	cl_mem all = buffer(square(s.n) * 4, distance);
	cl_kernel k = grids("paths_over");
	for (int over = 0; over < s.n && over < s.length; over++) {
		args(k, "mii", all, s.n, over);
		launch(k, (size_t)s.n, (size_t)s.n, 16, 16);
		if (checking)
			paths_over(distance, s.n, over);
	}
	conclude(all, square(s.n) * 4, checking ? distance : NULL);
}

static int escape(int px, int py, int n, int most)
{
	float cx = fmaf((float)px, 3.0f / (float)n, -2.0f), cy = fmaf((float)py, 2.0f / (float)n, -1.0f), x = 0, y = 0;
	int steps = 0;
	while (steps < most && fmaf(x, x, y * y) < 4.0f) {
		float next = fmaf(x, x, cx - y * y);
		y = fmaf(2 * x, y, cy);
		x = next;
		steps++;
	}
	return steps;
}

/* n x n points, at most `length` iterations each. */
void run_mandelbrot(struct shape_size s)
{
	int *expected = NULL;
	cl_mem out = buffer(square(s.n) * 4, NULL);
	cl_kernel k = grids("mandelbrot");
	args(k, "miii", out, s.n, s.n, s.length);
	launch(k, (size_t)s.n, (size_t)s.n, 16, 16);
	if (checking) {
		expected = allocate(square(s.n), sizeof *expected);
		for (int i = 0; i < s.n * s.n; i++)
			expected[i] = escape(i % s.n, i / s.n, s.n, s.length);
	}
	conclude(out, square(s.n) * 4, expected);
}
