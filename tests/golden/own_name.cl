// functions that ask for their own name: clones and twins have others, and what is printed is the application's
// run k 4 4
int helper(int n) { return sizeof(__func__) + n; } //= entry 4
__kernel void inner(__global int *p) //
{
    if (p[0] >= 0) printf("%s __func__\n", __func__); //
    p[2 * get_global_id(0)] = sizeof(__FUNCTION__) + __FUNCTION__[1];
}
__kernel void k(__global int *p) //= entry 4
{
    int i = get_global_id(0);
    p[i] = helper(i) + sizeof __func__;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i == 1) //
        inner(p); //= then 1
    if (__func__[0] == 'k') //
        p[i + 8] = 3; //= then 4
}
