// atomics on global and on local memory; what they return decides, but the same for any order
// run k 16 8
__kernel void k(__global int *p) //= entry 16
{
    __local int n;
    int i = get_global_id(0), old;
    if (get_local_id(0) == 0) n = 0; //= then 2
    barrier(CLK_LOCAL_MEM_FENCE);
    if (atomic_inc(&n) < 100) //
        atomic_add(&p[200], i); //= then 16
    barrier(CLK_LOCAL_MEM_FENCE);
    if (n == 8 && atomic_max(&p[201], i) >= 0) p[i + 16] = n; //= right 16 then 16
    do old = p[i]; while (atomic_cmpxchg(&p[i], old, old * 2) != old); //= body 16
    old = i & 1 ? atomic_xchg(&p[i + 32], 3) : atomic_dec(&p[i + 48]); //= arm 8 arm 8
    p[i + 64] = old + atomic_or((volatile __global int *)&p[i + 80], 1);
}
