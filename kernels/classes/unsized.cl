/* Launches without a local size. Each kernel tells which one the driver chose, in its first argument. */

static void tell(__global int *chosen)
{
    if (get_global_id(0) == 0 && get_global_id(1) == 0 && get_global_id(2) == 0) {
        chosen[0] = get_local_size(0);
        chosen[1] = get_local_size(1);
        chosen[2] = get_local_size(2);
    }
}

__kernel void unsized_scale(__global int *chosen, __global const float *in, __global float *out, float a, float b)
{
    int i = get_global_id(0);
    out[i] = a * in[i] + b;
    tell(chosen);
}

__kernel void unsized_blend(__global int *chosen, __global const float4 *a, __global const float4 *b, __global float4 *out, float share, int width)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    out[i] = share * a[i] + (1.0f - share) * b[i];
    tell(chosen);
}

/* A row of the first and a column of the second matrix: how work-items are grouped decides what caches save. */
__kernel void unsized_product(__global int *chosen, __global const float *a, __global const float *b, __global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
    tell(chosen);
}
