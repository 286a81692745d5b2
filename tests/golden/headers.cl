// headers: of loops with barriers, where every work-item calls, asks and counts as in any other
// run k 8 4
// next: 4 times by each (0 1 2 3), 5 of 8 have i > 2; less: j = 1 2 3 4, n = 0 1 2 and n = 1 0 make 9 times by each
int next(int a, int i) //= entry 32
{
    if (i > 2) //
        return a + 1; //= then 20
    return 1 + a; //= after 12
}

int less(int a, int b) //= entry 72
{
    return a < b;
}

__kernel void k(__global int *p) //= entry 8
{
    __local int t[4];
    int i = get_global_id(0), l = get_local_id(0), s = i, n = 0;
    for (int j = next(0, i); less(j, 4); j = next(j, i)) { //= body 24
        t[l] = s + j;
        barrier(CLK_LOCAL_MEM_FENCE);
        s += t[3 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    while (less(n, 2) && p[i] >= 0) { //= right 16 body 16
        t[l] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
        s ^= t[(l + 1) & 3] + n++;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    do { //= body 16
        t[l] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
        s += t[l ^ 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (less(0, --n));
    p[i] = s;
}
