// statements that end with a vector literal, whose last bracket libclang leaves out; swizzles; vector loads
// run k 16 8
__kernel void k(__global int *p) //= entry 16
{
    int i = get_global_id(0);
    int4 v = (int4)(i);
    if (i < 4)
        v = v > 2 ? v : (int4)(0); //= then 4
    else
        v.xy += (int2)(1, 2); //= else 12
    for (int j = 0; j < 2; j++)
        v ^= (int4)(j); //= body 32
    do v = v.wzyx - (int4)((int2)(1), (int2)(v.s0)); while (v.x == 77777); //= body 16
    if (i & 1) vstore4(v + vload4(0, p), 0, p + 4 * i + 128); //= then 8
}
