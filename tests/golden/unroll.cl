// #pragma unroll and its like before every kind of loop, and trips by factors
// run k 8 8
// i = 0..7: floor(i / 2) sums to 12, floor(i / 4) to 4; 5 trips of the second loop are 2 and 1 by 2 and 4
// trips 0 2 12
// trips 0 4 4
// trips 1 2 16
// trips 1 4 8
// trips 3 3 8
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0), s = 0, n = i;
    #pragma unroll 4
    while (n-- > 0) s += n; //= body 28
    #pragma unroll
    for (int j = 0; j < 5; j++) { //= body 40
        #pragma nounroll
        do s ^= j; while (++s < 3); //
    }
    if (i < 4) {} else //= then 4
        #pragma clang loop unroll_count(3) //= else 4
        for (int j = 0; j < 6; j++) //
            s += 2; //= body 24 next 4
    p[i] = s;
}
