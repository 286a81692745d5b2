/* Atomics on few addresses, in global and in local memory. `items`: work-items of the launch. */

/* 16 bins for all. */
__kernel void histogram_few(__global const int *data, __global int *bins, int items, int each)
{
    int i = get_global_id(0);
    for (int s = 0; s < each; s++)
        atomic_inc(&bins[data[s * items + i] & 15]);
}

/* 64 bins of a group's own, added to those of all at the end. */
__kernel void histogram_private(__global const int *data, __global int *bins, int items, int each)
{
    __local int mine[64];
    int i = get_global_id(0), l = get_local_id(0);
    if (l < 64)
        mine[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < each; s++)
        atomic_inc(&mine[data[s * items + i] & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64)
        atomic_add(&bins[l], mine[l]);
}

/* Those above a limit get a place in a list: one counter, and its result is needed. */
__kernel void select_above(__global const int *data, __global int *list, __global int *count, int limit, int room)
{
    int i = get_global_id(0);
    if (data[i] > limit)
        list[atomic_inc(count) & (room - 1)] = i;
}

/* Smallest and largest of eight channels: results are not needed, and mostly change nothing. */
__kernel void channel_extremes(__global const int *data, __global int *low, __global int *high)
{
    int i = get_global_id(0), channel = i & 7, v = data[i];
    atomic_min(&low[channel], v);
    atomic_max(&high[channel], v);
}
