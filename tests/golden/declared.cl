// kernels that are called and declared in lists, by typedefs and in functions
// run k 8 4
typedef void fn(__global int *, int);
__kernel void add(__global int *p, int n), drop(__global int *p, int n);
kernel fn twice, odd;
void via(__global int *p, int n) //= entry 8
{
    void add(__global int *p, int n), late(__global int *, int);
    add(p, n);
    if (n > 5) late(p, n); //= then 2
}
__kernel void add(__global int *p, int n) //= entry 14
{
    __local int t[4];
    t[n & 3] = n;
    *p += t[n & 3];
}
__kernel void drop(__global int *p, int n) { *p -= n; } //= entry 0
kernel void twice(__global int *p, int n) //= entry 6
{
    fn odd;
    add(p, n);
    if (n & 1) odd(p, n); //= then 3
}
kernel void odd(__global int *p, int n) { *p *= 2; } //= entry 3
kernel void late(__global int *p, int n) { for (int j = 0; j < n; j++) *p += j; } //= entry 2 body 13
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    via(p + i, i);
    if (i < 6) //
        twice(p + i, i); //= then 6
}
