// helpers with prototypes, returns, loops; kernels that call kernels; early returns of a called kernel
// run k 8 4
// trips 0 every:2:0:5 12
// trips 0 every:3:0:5 7
// trips 0 every:3:1:5 12
// trips 0 reached:5:0:5 3
// i = 0..7: floor(i/2) sums to 12, floor(i/3) to 7, ceil(i/3) to 12; 5 is reached by 5, 6 and 7; s > 10 only for i = 6
int walk(int n, __global int *p);
__kernel void called(__global int *p)
{
    int i = get_global_id(0); //
    if (i == 3) return; //= then 1
    p[i] += 2; //= after 7
}
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    p[i] = walk(i, p) + walk(0, p);
    called(p);
}
int walk(int n, __global int *p) //= entry 16
{
    int s = 0;
    for (int j = 0; j < n; j++) { //= body 28
        if (j == 6) return s; //= then 1
        s += j; //= after 27
    }
    return s > 10 ? s * 2 : s + p[n + 128]; //= after 15 arm 14
}
