// variables at program scope: scalars, tables, structures, strings, pointers; constants inside of a kernel
// run k 8 4
// i = 0..7 takes table[i & 3] = 1 0 3 0: the loop goes round twice 1 and twice 3 times, 8 in all
__constant int table[] = {1, 0, 3, 0}, shift = 1 << 2 ? 2 : 1;
constant struct { int lo, hi; } limits = {.lo = 1, .hi = sizeof(int) > 2 ? 6 : 7};
__constant char text[] = "if (x) { }";
__constant int none[] = {};
__constant int *__constant tail = &table[2];
int look(__constant int *t, int j) { return t[j] ? t[j] : tail[0]; } //= entry 8 arm 4 arm 4
__kernel void k(__global int *p) //= entry 8
{
    __constant int odd[2] = {0, 1};
    int i = get_global_id(0), s = look(table, i & 3);
    for (int j = 0; j < table[i & 3]; j++) s += shift; //= body 8
    if (i >= limits.lo && i < limits.hi) s++; //= then 5
    s += odd[i & 1] && text[i] == '(' ? tail[1] : text[0]; //= right 4 arm 1 arm 7
    if (i < 0) s = none[i]; //= then 0
    p[i] = s;
}
