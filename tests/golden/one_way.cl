// barriers where all work-items of a group go the same way: nothing divides them at the entry.
// run k 16 8
__kernel void k(__global int *p) //= entry 16
{
    __local int t[8];
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0), sum = 0, rounds = size / 2;
    t[l] = p[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < rounds; s++) { //= body 64
        for (int j = 0; j < s; j++)
            sum += t[(l + j) % size]; //= body 96 next 64
        if (get_group_id(0) == 1 && s > 1) //
            sum++; //= then 16
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    p[i] = sum;
}
