/* Sorting and counting. */

/* Sorts 2 * local size keys per work-group in local memory. */
__kernel void bitonic_sort(__global int *keys, __local int *tile)
{
    int l = get_local_id(0), size = get_local_size(0), base = get_group_id(0) * 2 * size;
    tile[l] = keys[base + l];
    tile[l + size] = keys[base + l + size];
    for (int run = 2; run <= 2 * size; run <<= 1)
        for (int stride = run >> 1; stride > 0; stride >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            int i = 2 * l - (l & (stride - 1));
            int a = tile[i], b = tile[i + stride];
            if ((a > b) == ((i & run) == 0)) {
                tile[i] = b;
                tile[i + stride] = a;
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[base + l] = tile[l];
    keys[base + l + size] = tile[l + size];
}

/* One step of the same network over the whole array; every work-item owns the two keys it compares. */
__kernel void bitonic_step(__global int *keys, int run, int stride)
{
    int g = get_global_id(0), i = 2 * g - (g & (stride - 1));
    int a = keys[i], b = keys[i + stride];
    if ((i & run) == 0 ? a > b : a < b) {
        keys[i] = b;
        keys[i + stride] = a;
    }
}

/* The digits of a radix sort, counted per work-group in local memory. */
__kernel void radix_count(__global const int *keys, __global int *counts, int shift, int per_item)
{
    __local int bins[16];
    int l = get_local_id(0), size = get_local_size(0), base = get_group_id(0) * size * per_item;
    if (l < 16)
        bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < per_item; k++)
        atomic_inc(&bins[(keys[base + k * size + l] >> shift) & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        counts[l * get_num_groups(0) + get_group_id(0)] = bins[l];
}

/* Few values count at all: global atomics from a few lanes of each warp, over many bins. */
__kernel void sparse_count(__global const int *values, __global int *bins, __global int *extremes, int bin_mask,
                           int threshold)
{
    int v = values[get_global_id(0)];
    if (v >= threshold)
        return;
    int bin = ((uint)v * 40503u) & bin_mask;
    if (atomic_add(&bins[bin], 1) < 0)
        return;
    if (v & 1)
        atomic_max(&extremes[bin & 63], v);
    else
        atomic_xor(&extremes[64 + (bin & 63)], v);
}
