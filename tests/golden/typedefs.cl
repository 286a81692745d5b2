// typedefs: functions declared by the name of their type, and names in brackets
// run k 8 4
typedef struct { int a; } S;
typedef int fn(S, const __global int *, int4);
fn f;
static fn g;
typedef void none(void);
none h;
int (brackets)(int x) //= entry 8
{
    return x + 1;
}
__kernel void k(__global int *p) //= entry 8
{
    fn f;
    int i = get_global_id(0);
    S s = {i};
    h();
    if (i > 4) //
        p[i] += f(s, p, (int4)(i)) + g(s, p, (int4)(1)); //= then 3
    p[i] = brackets(p[i]);
}
int f(S s, const __global int *p, int4 v) { return s.a * p[v.x]; } //= entry 3
static int g(S s, const __global int *p, int4 v) //= entry 3
{
    return s.a == 6 ? p[v.y] : v.z; //= arm 1
}
void h(void) {} //= entry 8
