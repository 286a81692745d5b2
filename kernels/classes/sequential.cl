/* Work that is mostly one after the other: few long work-items, and groups of 16 with a barrier in every trip of a loop. */
#define EDGE 16

/* `items`: work-items of the launch. Every load waits for nothing, every sum for the one before. */
__kernel void long_series(__global const float *data, __global const float *weight, __global float *out, int items, int mask, int length)
{
    int id = get_global_id(0);
    float sum = 0;
    for (int s = 0; s < length; s++)
        sum += data[(id + s * items) & mask] * weight[s & 255];
    out[id] = sum;
}

/* A recursive filter of second order on one channel per work-item: loads, stores, and a chain of three multiply-adds. */
__kernel void long_filter(__global const float *in, __global float *out, float a, float b, float c, int channels, int samples)
{
    int ch = get_global_id(0);
    if (ch >= channels)
        return;
    float last = 0, before = 0;
    for (int t = 0; t < samples; t++) {
        float now = a * in[t * channels + ch] + b * last - c * before;
        out[t * channels + ch] = now;
        before = last;
        last = now;
    }
}

/* Alignment scores of tiles of 16x16, by anti-diagonals: a group of 16 goes through `tiles` of them, 31 barriers each. */
__kernel void wavefront_tile(__global const int *similarity, __global int *score, int tiles, int penalty)
{
    __local int t[EDGE + 1][EDGE + 1];
    int x = get_local_id(0), first = get_group_id(0) * tiles;
    for (int tile = first; tile < first + tiles; tile++) {
        __global const int *from = similarity + tile * EDGE * EDGE;
        t[0][x + 1] = -penalty * (x + 1);
        t[x + 1][0] = -penalty * (x + 1);
        if (x == 0)
            t[0][0] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 0; d < 2 * EDGE - 1; d++) {
            int y = d - x;
            if (y >= 0 && y < EDGE)
                t[y + 1][x + 1] = max(t[y][x] + from[y * EDGE + x], max(t[y][x + 1], t[y + 1][x]) - penalty);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (int y = 0; y < EDGE; y++)
            score[tile * EDGE * EDGE + y * EDGE + x] = t[y + 1][x + 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Triangular systems of 16 unknowns: one is solved, all others take it, a barrier after each. */
__kernel void triangular_tile(__global const float *matrix, __global float *unknowns, int systems)
{
    __local float x[EDGE];
    int row = get_local_id(0), first = get_group_id(0) * systems;
    for (int s = first; s < first + systems; s++) {
        __global const float *a = matrix + s * EDGE * EDGE + row * EDGE;
        float mine = 1.0f + row;
        for (int k = 0; k < EDGE; k++) {
            if (row == k)
                x[k] = mine / (a[k] + EDGE);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (row > k)
                mine -= a[k] * x[k];
        }
        unknowns[s * EDGE + row] = x[row];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
