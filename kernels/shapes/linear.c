/* Products by row and by column, and solvers whose launches become smaller. */
#include "kernels/shapes/shapes.h"

#include <math.h>
#include <string.h>

enum { LOCAL = 64 };

static cl_kernel linear(const char *name)
{
	return shape_kernel("linear.cl", name);
}

static size_t cells(int rows, int columns)
{
	return (size_t)rows * (size_t)columns;
}

/* Sums over columns (by row), or over rows (by column), in the order of the kernels. */
static float *product(const float *a, const float *x, int rows, int columns, bool by_column)
{
	int results = by_column ? columns : rows, terms = by_column ? rows : columns;
	float *y = allocate((size_t)results, sizeof *y);
	for (int i = 0; i < results; i++)
		for (int j = 0; j < terms; j++)
			y[i] = fmaf(by_column ? a[cells(j, columns) + (size_t)i] : a[cells(i, columns) + (size_t)j], x[j], y[i]);
	return y;
}

/* n rows of `length` columns. */
void run_rows(struct shape_size s)
{
	float *a = random_floats(cells(s.n, s.length)), *x = random_floats((size_t)s.length);
	cl_mem y = buffer((size_t)s.n * 4, NULL);
	cl_kernel k = linear("product_rows");
	args(k, "mmmii", buffer(cells(s.n, s.length) * 4, a), buffer((size_t)s.length * 4, x), y, s.n, s.length);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	conclude(y, (size_t)s.n * 4, checking ? product(a, x, s.n, s.length, false) : NULL);
}

/* n columns of `length` rows. */
void run_columns(struct shape_size s)
{
	float *a = random_floats(cells(s.n, s.length)), *x = random_floats((size_t)s.length);
	cl_mem y = buffer((size_t)s.n * 4, NULL);
	cl_kernel k = linear("product_columns");
	args(k, "mmmii", buffer(cells(s.n, s.length) * 4, a), buffer((size_t)s.length * 4, x), y, s.length, s.n);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	conclude(y, (size_t)s.n * 4, checking ? product(a, x, s.length, s.n, true) : NULL);
}

/* A'(A x): both products with one matrix, which the second finds in caches. */
void run_transposed(struct shape_size s)
{
	float *a = random_floats(cells(s.n, s.length)), *x = random_floats((size_t)s.length), *expected = NULL;
	cl_mem matrix = buffer(cells(s.n, s.length) * 4, a), middle = buffer((size_t)s.n * 4, NULL), y = buffer((size_t)s.length * 4, NULL);
	cl_kernel first = linear("product_rows"), second = linear("product_columns");
	args(first, "mmmii", matrix, buffer((size_t)s.length * 4, x), middle, s.n, s.length);
	args(second, "mmmii", matrix, middle, y, s.n, s.length);
	launch(first, (size_t)s.n, 1, LOCAL, 1);
	launch(second, (size_t)s.length, 1, LOCAL, 1);
	if (checking)
		expected = product(a, product(a, x, s.n, s.length, false), s.n, s.length, true);
	conclude(y, (size_t)s.length * 4, expected);
}

/* Small values, so that nothing grows beyond what a float holds. */
static float *lower_matrix(int n)
{
	float *a = random_floats(cells(n, n));
	for (size_t i = 0; i < cells(n, n); i++)
		a[i] = a[i] / (float)n;
	return a;
}

void run_forward(struct shape_size s)
{
	float *a = lower_matrix(s.n), *x = random_floats((size_t)s.n);
	cl_mem matrix = buffer(cells(s.n, s.n) * 4, a), unknowns = buffer((size_t)s.n * 4, x);
	cl_kernel step = linear("forward_step");
	for (int k = 0; k < s.n - 1 && k < s.length; k++) {
		args(step, "mmii", matrix, unknowns, s.n, k);
		launch(step, (size_t)(s.n - k - 1), 1, LOCAL, 1);
		for (int i = k + 1; checking && i < s.n; i++)
			x[i] = fmaf(-a[i * s.n + k], x[k], x[i]);
	}
	conclude(unknowns, (size_t)s.n * 4, checking ? x : NULL);
}

static float *dominant_matrix(int n)
{
	float *a = random_floats(cells(n, n));
	for (int i = 0; i < n; i++)
		a[i * n + i] += (float)n;
	return a;
}

static void eliminate(float *a, int n, int k)
{
	for (int i = k + 1; i < n; i++) {
		a[i * n + k] = a[i * n + k] / a[k * n + k];
		for (int j = k + 1; j < n; j++)
			a[i * n + j] = fmaf(-a[i * n + k], a[k * n + j], a[i * n + j]);
	}
}

/* n right sides of `length` rows. */
void run_triangle(struct shape_size s)
{
	float *a = lower_matrix(s.length), *right = random_floats(cells(s.length, s.n)), *expected = NULL;
	cl_mem x = buffer(cells(s.length, s.n) * 4, NULL);
	cl_kernel k = linear("solve_columns");
	args(k, "mmmii", buffer(cells(s.length, s.length) * 4, a), buffer(cells(s.length, s.n) * 4, right), x, s.length, s.n);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	if (checking) {
		expected = right;
		for (int i = 0; i < s.length; i++)
			for (int j = 0; j < i; j++)
				for (int c = 0; c < s.n; c++)
					expected[cells(i, s.n) + (size_t)c] = fmaf(-a[cells(i, s.length) + (size_t)j], expected[cells(j, s.n) + (size_t)c], expected[cells(i, s.n) + (size_t)c]);
	}
	conclude(x, cells(s.length, s.n) * 4, expected);
}

void run_lu(struct shape_size s)
{
	float *a = dominant_matrix(s.n);
	cl_mem matrix = buffer(cells(s.n, s.n) * 4, a);
	cl_kernel column = linear("lu_column"), update = linear("lu_update");
	for (int k = 0; k < s.n - 1 && k < s.length; k++) {
		size_t left = (size_t)(s.n - k - 1);
		args(column, "mii", matrix, s.n, k);
		args(update, "mii", matrix, s.n, k);
		launch(column, left, 1, LOCAL, 1);
		launch3(update, (const size_t[3]){left, left > 1 ? left : 2, 1}, (const size_t[3]){16, 16, 1});
		if (checking)
			eliminate(a, s.n, k);
	}
	conclude(matrix, cells(s.n, s.n) * 4, checking ? a : NULL);
}

static void orthogonalise(float *a, float *q, int rows, int n, int k)
{
	float norm = 0;
	for (int i = 0; i < rows; i++)
		norm = fmaf(a[i * n + k], a[i * n + k], norm);
	norm = sqrtf(norm);
	for (int i = 0; i < rows; i++)
		q[i * n + k] = a[i * n + k] / norm;
	for (int j = k + 1; j < n; j++) {
		float sum = 0;
		for (int i = 0; i < rows; i++)
			sum = fmaf(q[i * n + k], a[i * n + j], sum);
		for (int i = 0; i < rows; i++)
			a[i * n + j] = fmaf(-q[i * n + k], sum, a[i * n + j]);
	}
}

/* n columns of `length` rows. */
void run_gramschmidt(struct shape_size s)
{
	size_t bytes = cells(s.length, s.n) * 4;
	float *a = random_floats(cells(s.length, s.n)), *expected = allocate(bytes, 1);
	cl_mem matrix = buffer(bytes, a), r = buffer(cells(s.n, s.n) * 4, NULL), q = buffer(bytes, expected);
	cl_kernel norm = linear("gs_norm"), divide = linear("gs_divide"), project = linear("gs_project");
	for (int k = 0; k < s.n; k++) {
		args(norm, "mmiii", matrix, r, s.length, s.n, k);
		args(divide, "mmmiii", matrix, r, q, s.length, s.n, k);
		args(project, "mmmiii", matrix, r, q, s.length, s.n, k);
		launch(norm, LOCAL, 1, LOCAL, 1);
		launch(divide, (size_t)s.length, 1, LOCAL, 1);
		if (k < s.n - 1)
			launch(project, (size_t)(s.n - k - 1), 1, LOCAL, 1);
		if (checking)
			orthogonalise(a, expected, s.length, s.n, k);
	}
	conclude(q, bytes, checking ? expected : NULL);
}

/* The first `length` rows of a product of matrices of n x n: whole tiles, and no more than there are. */
void run_tiles(struct shape_size s)
{
	s.length = s.length < s.n ? (s.length + 15) / 16 * 16 : s.n;
	float *a = random_floats(cells(s.n, s.n)), *b = random_floats(cells(s.n, s.n)), *expected = NULL;
	cl_mem c = buffer(cells(s.length, s.n) * 4, NULL);
	cl_kernel k = linear("product_tiles");
	args(k, "mmmi", buffer(cells(s.n, s.n) * 4, a), buffer(cells(s.n, s.n) * 4, b), c, s.n);
	launch(k, (size_t)s.n, (size_t)s.length, 16, 16);
	if (checking) {
		expected = allocate(cells(s.length, s.n), 4);
		for (int i = 0; i < s.length; i++)
			memcpy(expected + cells(i, s.n), product(b, a + cells(i, s.n), s.n, s.n, true), (size_t)s.n * 4);
	}
	conclude(c, cells(s.length, s.n) * 4, expected);
}
