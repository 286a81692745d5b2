/* Local memory whose lanes meet in one bank. */
#define TILE 32

/* Lanes read a column of a square of 32 words: all in one bank. 256 work-items a group. */
__kernel void bank_columns(__global const float *in, __global float *out, int trips)
{
    __local float t[TILE][TILE];
    int l = get_local_id(0), lane = l % TILE, warp = l / TILE, from = get_group_id(0) * TILE * TILE;
    for (int y = warp; y < TILE; y += 8)
        t[y][lane] = in[from + y * TILE + lane];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < trips; k++)
        sum += t[lane][(k + warp) & (TILE - 1)];
    out[get_global_id(0)] = sum;
}

/* Lanes are `stride` words (a power of two, at most 32) apart; each reads and writes its own. 128 work-items a group. */
__kernel void bank_stride(__global const int *in, __global int *out, int stride, int trips)
{
    __local int t[4096];
    int l = get_local_id(0), mine = l * stride;
    for (int k = l; k < 4096; k += 128)
        t[k] = in[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = 0;
    for (int k = 0; k < trips; k++) {
        int at = mine + (k & (stride - 1));
        v += t[at];
        t[at] = v;
    }
    out[get_global_id(0)] = v;
}
