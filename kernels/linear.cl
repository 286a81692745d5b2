/* Linear algebra: factorisations, matrix-vector and dot products. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define TILE 16

/* LU without pivoting of one 16x16 matrix per work-group; the diagonal is made heavy so that none is needed. */
__kernel void lu_tile(__global float *a)
{
    __local float t[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1), at = get_group_id(0) * TILE * TILE + y * TILE + x;
    t[y][x] = a[at] + (x == y ? TILE : 0);
    for (int k = 0; k < TILE - 1; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (x == k && y > k)
            t[y][k] /= t[k][k];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (x > k && y > k)
            t[y][x] -= t[y][k] * t[k][x];
    }
    a[at] = t[y][x];
}

/* Gaussian elimination, step k: the multipliers, one work-item per row (a column is read: nothing coalesces) ... */
__kernel void gauss_multipliers(__global const float *a, __global float *m, int n, int k)
{
    int y = get_global_id(0) + k + 1;
    if (y < n)
        m[y] = a[y * n + k] / a[k * n + k];
}

/* ... and the update of everything below and right of the pivot, and of the right-hand side. */
__kernel void gauss_update(__global float *a, __global float *b, __global const float *m, int n, int k)
{
    int x = get_global_id(0) + k, y = get_global_id(1) + k + 1;
    if (x >= n || y >= n)
        return;
    a[y * n + x] -= m[y] * a[k * n + x];
    if (x == k)
        b[y] -= m[y] * b[k];
}

/* A row per work-item, four columns at a time. */
__kernel void matvec4(__global const float4 *a, __global const float *x, __global float *y, int n)
{
    int row = get_global_id(0), n4 = n / 4;
    float4 sum = (float4)(0.0f);
    for (int k = 0; k < n4; k++)
        sum = mad(a[row * n4 + k], vload4(k, x), sum);
    y[row] = dot(sum, (float4)(1.0f));
}

/* Double precision: partial sums per work-group. */
__kernel void dot_double(__global const double *x, __global const double *y, __global double *partial, int n,
                         __local double *tmp)
{
    int l = get_local_id(0);
    double sum = 0.0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum = fma(x[i], y[i], sum);
    tmp[l] = sum;
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            tmp[l] += tmp[l + s];
    }
    if (l == 0)
        partial[get_group_id(0)] = tmp[0];
}

/* k-means: the nearest of k centres; the features lie dimension by dimension. */
static float distance2(__global const float *feature, __global const float *centre, int dims, int n, int i)
{
    float sum = 0.0f;
    for (int d = 0; d < dims; d++) {
        float delta = feature[d * n + i] - centre[d];
        sum += delta * delta;
    }
    return sum;
}

__kernel void kmeans_assign(__global const float *feature, __global const float *centre, __global int *member, int n,
                            int k, int dims)
{
    int i = get_global_id(0), best = 0;
    float nearest = MAXFLOAT;
    for (int c = 0; c < k; c++) {
        float d = distance2(feature, centre + c * dims, dims, n, i);
        if (d < nearest) {
            nearest = d;
            best = c;
        }
    }
    member[i] = best;
}
