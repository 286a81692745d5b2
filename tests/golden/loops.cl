// for, while and do with any part missing, pragmas and attributes before them, nesting, declarations in the header
// run k 8 4
// i = 0..7, their sum is 28; before the do loop n is 0 for even i and -1 for odd: 3 and 4 trips, and
// with odd i all of them take the `then`
// trips 0 every:4:0:1 4
// trips 0 every:4:1:1 10
// trips 0 reached:1:0:1 7
// trips 7 reached:4:0:11 4
// trips 7 every:2:1:11 8
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0), s = 0, n = i;
    for (int j = 0; j < i; j++) s += j; //= body 28
    #pragma unroll 4
    for (int j = 0; j < 10; j++) { //= body 80
        s ^= j;
    }
    __attribute__((opencl_unroll_hint(2)))
    for (int a = 0, b = 9; a < b; a++, b--)
        s += a * b; //= body 40
    for (;;) { //= body 36
        if (n-- == 0) break; //= then 8
        s++; //= after 28
    }
    for (; s < 0;) ; //= body 0
    n = i;
    while (n > 0) n -= 2; //= body 16
    do s += 3; while (s < 0); //= body 8
    do { //= body 28
        n += 2;
        if (n & 1) continue; //= then 16
        s += n; //= after 12
    } while (n < 6);
    if (i > 5)
        #pragma unroll //= then 2
        for (int j = 0; j < 3; ++j)
            for (int l = 0; l < 2; ++l) //= body 6
                s += j * l; //= body 12 next 6 next 2
    p[i] = s;
}
