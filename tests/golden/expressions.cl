// ?:, && and ||: operands that call, access memory or have effects; comma; vectors are no branches; sizeof
// run k 16 8
// f is called by 4, 8, 5, 4 and, at the end, twice by all 16
int f(int x) { return x + 1; } //= entry 53
__kernel void k(__global int *p) //= entry 16
{
    int i = get_global_id(0), t = 0;
    int a = i < 4 ? f(i) : p[i]; //= arm 4 arm 12
    int b = i < 8 ? 1 : f(i); //= arm 8
    int c = i < 8 && p[i] > 2; //= right 8
    if (i > 3 && p[i] != 5 || f(t++)) a++; //= right 12 right 5 then 16
    int d = i < 3 && a < 4 ? 7 : 8;
    int4 v = (int4)(i) < 3 ? (int4)(p[0]) : (int4)(p[1]), w = v && (int4)(p[i]);
    for (int j = 0; j < 2 && p[j] >= 0; j++) b += j; //= right 32 body 32
    int e = i < 8 ? i < 4 ? p[0] : f(p[1]) : (t++, p[2]); //= arm 8 arm 4 arm 4 arm 8
    int g = sizeof(p[0] && f(1)) + (t = 3, t);
    c += i > 13 || (p[i] > 0 ? p[i + 1] : p[i]); //= right 14 arm 13 arm 1
    p[i + 128] = a + b + c + d + e + g + v.x + w.y + f(f(i) - 1 > 7 && 0 ? 0 : 0) * 0;
}
