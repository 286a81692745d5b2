// barriers: in the body of a loop, after leaving flow has joined again
// run k 16 8
__kernel void k(__global int *p) //= entry 16
{
    int i = get_global_id(0), l = get_local_id(0);
    if (i > 100) return; //= then 0
    __local int t[8]; //= after 16
    t[l] = p[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 4; s > 0; s >>= 1) { //= body 48
        if (l < s) //
            t[l] += t[l + s]; //= then 14
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) //
        p[i] = t[0]; //= then 2
}
