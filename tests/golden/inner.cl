// statements in an expression: once, perhaps, in a header, with branches and loops, in one another
// run k 8 4
// i = 0..7. f is called by the 4 odd ones, 3 times by each in the header, and by all but 0 in the last line, where
// the loop is left when j == i: 1 + 2 + 3 + 4 + 4 * 4 trips
#define LARGER(a, b) ({ int x_ = (a), y_ = (b); if (x_ < y_) x_ = y_; x_; })
int f(int x) { return x + 1; } //= entry 35
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0), s;
    s = LARGER(i, 3); //= inner 8 then 3
    s += i & 1 ? ({ int t = f(i); t * p[i + 32]; }) : 2; //= arm 4 inner 4
    for (int j = 0; ({ s++; j < f(2) - 1; }); j++) p[i + 8] += j; //= inner 24 body 16
    if (i > 3 && ({ int t = 0; while (t < i) t += p[i + 64] - i - 63; t; }) == 7) s = 9; //= right 4 inner 4 body 22 next 4 then 1
    s += ({ int t = 0; for (int j = 0; j < 4; j++) { if (j == i) break; t += ({ t ? j : f(j); }); } t; }); //= inner 8 body 26 then 4 after 22 inner 22 arm 7 next 8
    p[i] = s;
}
