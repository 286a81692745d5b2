// pragmas that must be the first of a block, before others and before a line marker
// run k 4 4
#define OFF _Pragma("OPENCL FP_CONTRACT OFF")
float twice(float a) //= entry 8
{
#pragma STDC FP_CONTRACT ON
#pragma unknown to all (
    return a * 2.0f + a;
}

__kernel void k(__global float *p) //= entry 4
{
#pragma OPENCL FP_CONTRACT OFF
#pragma unroll 2
    for (int i = 0; i < 2; i++) //
        p[get_global_id(0)] += twice(p[i]); //= body 8
    if (get_global_id(0) < 1) { //= then 1
        OFF
        for (;;) //
            break; //= body 1 next 1
    }
}
