// typedefs: functions declared by the name of their type, alone and in lists, names in brackets, and identifier lists
// run k 8 4
typedef struct { int a; } S;
typedef int fn(S, const __global int *, int4);
fn f;
static fn g;
typedef void none(void);
none h, (nothing), nobody;
typedef __global int *where(__global int *, int);
static where first, second __attribute__((unused));
int (square)(int), cube(int);
int (brackets)(int x) //= entry 8
{
    return x + 1;
}
int larger(a, b, t) //= entry 8
    int a, t[2];
    const int b;
{
    t[a & 1]++;
    return a > b ? a + square(b) : b; //= arm 3
}
__kernel void k(__global int *p) //= entry 8
{
    fn f;
    where first, second;
    int i = get_global_id(0);
    S s = {i};
    int pair[2] = {i, 1};
    h();
    if (i > 4) //
        p[i] += f(s, p, (int4)(i)) + g(s, p, (int4)(1)); //= then 3
    p[i] = brackets(p[i]);
    nothing();
    p[i + 8] = *first(p, i) + *second(p + 64, cube(i)) + larger(i, 4, pair) + pair[1];
}
int f(S s, const __global int *p, int4 v) { return s.a * p[v.x]; } //= entry 3
static int g(S s, const __global int *p, int4 v) //= entry 3
{
    return s.a == 6 ? p[v.y] : v.z; //= arm 1
}
void h(void) {} //= entry 8
void nothing(void) {} //= entry 8
static __global int *first(__global int *p, int n) { return p + n; } //= entry 12
static __global int *second(__global int *p, int n) //= entry 8
{
    if (n > 27) return p; //= then 4
    return first(p, n); //= after 4
}
int square(int x) { return x * x; } //= entry 11
int cube(int x) { return x * square(x); } //= entry 8
