// comma expressions, sizeof of what has effects, x ?: y, assignments in conditions, operands not evaluated
// run k 8 4
// p[i] = i; f is called by all 8 twice, by the 4 even ones, and by the first, whose p[i] is 0
int f(int x) { return x + 1; } //= entry 21
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0), a, b, n = 3;
    a = (n++, f(n), n), b = sizeof(n++) + sizeof(p[n++] ? f(1) : f(2));
    for (a = 0, b = 0; a++, b < 3; b += 2, n--) //
        a += b, n += a; //= body 16
    if ((b = i & 1, !b)) a = f(a), p[i + 64]++; //= then 4
    a += p[i] ?: f(7) * 0 + p[200]; //= arm 1
    a += (i & 2) ?: p[1]; //= arm 4
    if ((n = p[i]) && (a -= n, a > 0) || (b++, 0)) a++; //= right 7 right 1 then 7
    __typeof__(p[0] ? f(1) : f(2)) t = __builtin_choose_expr(1, f(n), f(f(n)));
    p[i + 128] = a + b + n + t + _Generic(t, float: t ? p[0] : p[1], default: 4);
}
