// prototypes, static and inline helpers, attributes on them, overloads, helpers that call helpers declared later
// run k 8 4
// twice: 8 and, from sum, once for each of the 28 trips; i = 0..7 sum to 28
static int twice(int);
static inline __attribute__((always_inline)) int sum(int n, __global const int *restrict p);
__attribute__((noinline)) void store(__global int *p, int x);
int __attribute__((overloadable)) size(int x) { return x < 4 ? x : 4; } //= entry 8
int __attribute__((overloadable)) size(float x) { if (x > 2.5f) return 1; return 0; } //= entry 8 then 5 after 3
__attribute__((const)) static int pure(int x) { return x * x; } //= entry 8
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    store(p + i + 128, sum(i, p) + twice(i) + size(i) + size((float)i) + pure(i));
}
static inline int sum(int n, __global const int *restrict p) //= entry 8
{
    int s = 0;
    while (n --> 0) s += twice(p[n]); //= body 28 next 8
    return s;
}
static int twice(int x) { return x + x; } //= entry 36
void store(__global int *p, int x) { *p = x; } //= entry 8
