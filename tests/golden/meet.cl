// branches that meet: one with the same outcome for all work-items, another not, then a barrier
// run k 16 8
__kernel void k(__global int *p) //= entry 16
{
    int i = get_global_id(0);
    if (p[40] == 77 || p[i] > 3) //= right 16
        p[i] = 0; //= then 12
    barrier(CLK_LOCAL_MEM_FENCE);
    p[i] += 1;
}
