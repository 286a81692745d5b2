// conditions: what is asked again in the same block has the answer that it had, unless something changed between
// run k 16 8
__kernel void k(__global int *p) //= entry 16
{
    int i = get_global_id(0), l = get_local_id(0), inside = i < 11, changes = i < 3, seen = i < 5;
    __local int t[8];
    int *address = &seen;
    if (inside) //
        t[l] = i; //= then 11
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside) //
        p[i] = t[l]; //= then 11
    else
        p[i] = 0; //= else 5
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 1; s < 4; s++) { //= body 48
        int computes = inside && l >= s && l < 8 - s;
        if (computes) //
            p[i] += s; //= then 15
        barrier(CLK_LOCAL_MEM_FENCE);
        if (computes) //
            t[l] = p[i]; //= then 15
        if (l < s) //
            p[i]++; //= then 12
        if (l < s) //
            p[i]--; //= then 12
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (changes) //
        p[i] += 1; //= then 3
    changes++;
    if (changes) //
        p[i] += 2; //= then 16
    if (seen) //
        p[i] += 3; //= then 5
    *address = 0;
    if (seen) //
        p[i] += 4; //= then 0
    if (p[i] >= 100) //
        p[i] = 1; //= then 0
    if (p[i] >= 100) //
        p[i] = 2; //= then 0
    if (i < 9) { //= then 9
        int inner = i < 2;
        if (inner) //
            p[i] += 5; //= then 2
    }
    if (i < 9) { //= then 9
        int inner = i < 4;
        if (inner) //
            p[i] += 6; //= then 4
    }
}
