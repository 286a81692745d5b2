/* Products of matrices straight from global memory: by row, by column, and with sums of every shape. */

/* A work-item sums a row: lanes are a whole row apart. */
__kernel void rows_dot(__global const float *a, __global const float *x, __global float *y, int rows, int columns)
{
    int i = get_global_id(0);
    if (i >= rows)
        return;
    float sum = y[i];
    for (int j = 0; j < columns; j++)
        sum += a[i * columns + j] * x[j];
    y[i] = sum;
}

/* Smallest and largest of a row: no second operand, two results. */
__kernel void rows_extremes(__global const float *a, __global float *low, __global float *high, int rows, int columns)
{
    int i = get_global_id(0);
    if (i >= rows)
        return;
    float least = a[i * columns], most = least;
    for (int j = 1; j < columns; j++) {
        float v = a[i * columns + j];
        least = fmin(least, v);
        most = fmax(most, v);
    }
    low[i] = least;
    high[i] = most;
}

/* A work-item sums a column: lanes are side by side, every word is used once. */
__kernel void columns_dot(__global const float *a, __global const float *x, __global float *y, int rows, int columns)
{
    int j = get_global_id(0);
    if (j >= columns)
        return;
    float sum = 0;
    for (int i = 0; i < rows; i++)
        sum += a[i * columns + j] * x[i];
    y[j] = sum;
}

/* Two passes over a column: the second may find it in a cache. */
__kernel void columns_variance(__global const float *a, __global float *mean, __global float *variance, int rows, int columns)
{
    int j = get_global_id(0);
    if (j >= columns)
        return;
    float sum = 0, squares = 0;
    for (int i = 0; i < rows; i++)
        sum += a[i * columns + j];
    float middle = sum / rows;
    for (int i = 0; i < rows; i++) {
        float off = a[i * columns + j] - middle;
        squares += off * off;
    }
    mean[j] = middle;
    variance[j] = squares / rows;
}

__kernel void gemm_plain(__global const float *a, __global const float *b, __global float *c, float alpha, float beta, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    float sum = c[y * n + x] * beta;
    for (int k = 0; k < n; k++)
        sum += alpha * a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

/* The second matrix is stored transposed: its lanes are a row apart. */
__kernel void gemm_transposed(__global const float *a, __global const float *b, __global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[x * n + k];
    c[y * n + x] = sum;
}

/* Four columns a work-item, 16 bytes a load. */
__kernel void gemm_quad(__global const float *a, __global const float4 *b, __global float4 *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1), quads = n / 4;
    float4 sum = (float4)(0.0f);
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * quads + x];
    c[y * quads + x] = sum;
}

/* C = beta C + alpha A A': both operands are rows of one matrix. */
__kernel void rank_update(__global const float *a, __global float *c, float alpha, float beta, int n, int depth)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    float sum = c[y * n + x] * beta;
    for (int k = 0; k < depth; k++)
        sum += alpha * a[y * depth + k] * a[x * depth + k];
    c[y * n + x] = sum;
}

/* C += A B' + B A': four loads a step, two of them a row apart from lane to lane. */
__kernel void rank_two(__global const float *a, __global const float *b, __global float *c, int n, int depth)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = c[y * n + x];
    for (int k = 0; k < depth; k++)
        sum += a[y * depth + k] * b[x * depth + k] + b[y * depth + k] * a[x * depth + k];
    c[y * n + x] = sum;
}

/* Integers, small groups: a warp has four rows of eight columns. */
__kernel void multiply_ints(__global const int *a, __global const int *b, __global int *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1), sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

/* One dimension: row and column by division. */
__kernel void multiply_flat(__global const float *a, __global const float *b, __global float *c, int n)
{
    int i = get_global_id(0), y = i / n, x = i % n;
    if (y >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[i] = sum;
}
