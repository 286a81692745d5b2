// called_lists: __local variables of a kernel that is called, in lists with other things or with types that say where they are
// run k 8 4
// exchange is called by all 8 and again through via; of each 8, 2 are the last of their group, and 6 are not
typedef __local int shared_int;
__kernel void exchange(__global int *p) //= entry 16
{
    __local int t[4], *q = t, last, (*all)[4] = &t;
    __local struct cell { int low, high; } c[4], *d;
    __local int *__local to_last;
    shared_int one __attribute__((aligned(16))), (two);
    int i = get_global_id(0), l = get_local_id(0);
    q[l] = p[i];
    d = c + l;
    d->low = l;
    if (l == 3) { //= then 4
        last = p[i];
        to_last = &last;
        one = 5;
        two = (int)sizeof t;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int low = c[3 - l].low;
    { int t = 2; low += t; }
    p[i] = low + (l < 3 ? (*all)[l + 1] : t[l]) + *to_last + one * two; //= arm 12 arm 4
    barrier(CLK_LOCAL_MEM_FENCE);
}
void via(__global int *p) { exchange(p); } //= entry 8
__kernel void k(__global int *p) //= entry 8
{
    exchange(p);
    via(p);
}
