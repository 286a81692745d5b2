// local variables of a kernel, alone and through helpers; local memory as an argument
// run k 16 8
// arguments local
// sum over 8 items in three steps: l < 4, 2, 1 in both groups
void reduce(__local int *t, int l) //= entry 16
{
    for (int s = 4; s; s >>= 1) { //= body 48
        if (l < s) t[l] += t[l + s]; //= then 14
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
int last(__local const int *t) { return t[7] > 5 ? t[0] : t[7]; } //= entry 16 arm 16 arm 0
__kernel void k(__global int *p, __local int *rest) //= entry 16
{
    __local int t[8], done;
    __local struct { int a; int2 b; } s;
    int i = get_global_id(0), l = get_local_id(0);
    t[l] = p[i];
    rest[l] = i * 2;
    if (!l) done = 0, s.b = (int2)(i, 3); //= then 2
    barrier(CLK_LOCAL_MEM_FENCE);
    reduce(t, l);
    for (int j = 0; j < (int)(sizeof t / sizeof *t) && !done; j++) { //= body 16
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 7) done = 1; //= then 2
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    p[i] = last(t) + rest[7 - l] + s.b.y;
}
