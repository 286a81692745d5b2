// async copies, waiting for them in a loop, prefetch
// run k 16 8
// t is 4 6 8 10 4 5 6 7 in the first group and 20 22 24 26 12 13 14 15 in the second
__kernel void k(__global int *p) //= entry 16
{
    __local int t[8];
    int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);
    prefetch(p + i, 1);
    event_t e = async_work_group_copy(t, p + g * 8, 8, 0);
    wait_group_events(1, &e);
    if (l < 4)
        t[l] += t[l + 4]; //= then 8
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 2; j++) { //= body 32
        e = async_work_group_strided_copy(p + 128 + g * 16 + j, t, 8, 2, 0);
        wait_group_events(1, &e);
        if (t[l] > 20) p[i] = t[l]; //= then 6
    }
}
