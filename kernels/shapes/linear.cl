/* Linear algebra: products by row and by column, and solvers whose launches become smaller. Sums are written with fma() and
 * nothing else is contracted, so that every device computes the same bits. */
#pragma OPENCL FP_CONTRACT OFF

/* A work-item sums a row: neighbours read a whole row apart. */
__kernel void product_rows(__global const float *a, __global const float *x, __global float *y, int rows, int columns)
{
    int i = get_global_id(0);
    if (i >= rows)
        return;
    float sum = 0;
    for (int j = 0; j < columns; j++)
        sum = fma(a[i * columns + j], x[j], sum);
    y[i] = sum;
}

/* The same with the matrix transposed in memory: neighbours read neighbouring words. */
__kernel void product_columns(__global const float *a, __global const float *x, __global float *y, int rows, int columns)
{
    int j = get_global_id(0);
    if (j >= columns)
        return;
    float sum = 0;
    for (int i = 0; i < rows; i++)
        sum = fma(a[i * columns + j], x[i], sum);
    y[j] = sum;
}

/* Forward substitution with a unit diagonal: unknown k is final, those after it lose its part. */
__kernel void forward_step(__global const float *lower, __global float *x, int n, int k)
{
    int i = k + 1 + get_global_id(0);
    if (i < n)
        x[i] = fma(-lower[i * n + k], x[k], x[i]);
}

/* The same for many right sides in one launch, a work-item each: its inner loop grows with each row. */
__kernel void solve_columns(__global const float *lower, __global const float *right, __global float *x, int n, int sides)
{
    int s = get_global_id(0);
    if (s >= sides)
        return;
    for (int i = 0; i < n; i++) {
        float sum = right[i * sides + s];
        for (int j = 0; j < i; j++)
            sum = fma(-lower[i * n + j], x[j * sides + s], sum);
        x[i * sides + s] = sum;
    }
}

__kernel void lu_column(__global float *a, int n, int k)
{
    int i = k + 1 + get_global_id(0);
    if (i < n)
        a[i * n + k] = a[i * n + k] / a[k * n + k];
}

__kernel void lu_update(__global float *a, int n, int k)
{
    int j = k + 1 + get_global_id(0), i = k + 1 + get_global_id(1);
    if (i < n && j < n)
        a[i * n + j] = fma(-a[i * n + k], a[k * n + j], a[i * n + j]);
}

/* One work-item alone sums a column: the others of its group end at once. */
__kernel void gs_norm(__global const float *a, __global float *r, int rows, int n, int k)
{
    if (get_global_id(0))
        return;
    float sum = 0;
    for (int i = 0; i < rows; i++)
        sum = fma(a[i * n + k], a[i * n + k], sum);
    r[k * n + k] = sqrt(sum);
}

__kernel void gs_divide(__global const float *a, __global const float *r, __global float *q, int rows, int n, int k)
{
    int i = get_global_id(0);
    if (i < rows)
        q[i * n + k] = a[i * n + k] / r[k * n + k];
}

__kernel void gs_project(__global float *a, __global float *r, __global const float *q, int rows, int n, int k)
{
    int j = k + 1 + get_global_id(0);
    if (j >= n)
        return;
    float sum = 0;
    for (int i = 0; i < rows; i++)
        sum = fma(q[i * n + k], a[i * n + j], sum);
    for (int i = 0; i < rows; i++)
        a[i * n + j] = fma(-q[i * n + k], sum, a[i * n + j]);
    r[k * n + j] = sum;
}

#define TILE 16

/* A loop with two barriers in every trip. */
__kernel void product_tiles(__global const float *a, __global const float *b, __global float *c, int n)
{
    __local float left[TILE][TILE], right[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        left[y][x] = a[row * n + t + x];
        right[y][x] = b[(t + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum = fma(left[y][k], right[k][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
