// swizzles on either side, literals of every width, comparisons and select, vectors through pointers
// run k 8 4
// v is 7 8 i i+1 1 1 3 3 before the first if and 7 8 i i+1 i i+1 7 8 behind it; w.sf goes from 8 to 4
int4 turn(int4 v) { return v.wzyx; } //= entry 8
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    int8 v = (int8)((int4)(i), (int2)(1, 2), 3, 4);
    v.s07 = v.s70;
    v.odd = v.even + ((int4)(1, 0, 0, 0)).xxyy;
    v.lo.xy += v.hi.zw;
    if (any(v.lo > v.hi)) //
        v.hi = turn(v.lo).yxwz; //= then 8
    if (all(v == v.s01234567) && v.s3 < 5) v.s3++; //= then 4
    int16 w = (int16)(v, v);
    for (int j = 0; j < w.sF; j++) w.sf--; //= body 32
    int4 m = select((int4)(1), (int4)(2), w.lo.lo > 3);
    m = w.lo.lo == 3 ? m : -m;
    p[i] = m.x + m.y + w.sa + ((int2)(i, 3)).y;
    *(__global int4 *)(p + 16 + 4 * i) = i & 1 ? m : vload4(2, p); //= arm 4
    vstore3((int3)(m.xyz), 0, p + 64 + 4 * i);
}
