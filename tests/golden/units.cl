// several units: functions of one that are only declared in another, statics of one name in both
// run k 8 4
// own(x) is 10 x in the first unit, x + 1 in the second
static int own(int x) { return 10 * x; } //= entry 12
int outer(int x, __global int *p) //= entry 12
{
    if (x & 1) //
        return p[x]; //= then 4
    return own(x); //= after 8
}
void fill(__global int *p, int n) { for (int j = 0; j < n; j++) p[j] = own(j); } //
// unit
int outer(int, __global int *);
void fill(__global int *p, int n);
int inner(int x, __global int *p);
static int own(int x) { return x + 1; } //= entry 8
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    p[i + 128] = outer(i, p) + own(i);
    fill(p + 16 + i * 4, i & 1); //
    if (i < 4) p[i + 160] = inner(i, p); //= then 4
}
// unit
int outer(int, __global int *);
int inner(int x, __global int *p) { return outer(x * 2, p) + 1; } //= entry 4
