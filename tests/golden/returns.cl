// returns of expressions of type void, in functions, kernels and kernels that are called
// run k 8 4
// leaf is called for 1, 3, 5 and 7, either for 0, 1, 2 and 5, add for 1, 3 and 5
void add(__global int *p, int n) //= entry 3
{
    if (n > 4) //
        return; //= then 1
    p[n + 16] += n; //= after 2
}
void either(__global int *p, int n) //= entry 4
{
    if (n & 1) //
        return add(p, n); //= then 2
    return (void)(p[n + 32] = 1); //= after 2
}
__kernel void leaf(__global int *p, int n) //= entry 4
{
    if (n == 3) //
        return add(p, n); //= then 1
    if (n > 5) //= after 3
        return; //= then 1
    return either(p, n); //= after 2
}
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    if (i & 1) return leaf(p, i); //= then 4
    if (i < 4) //= after 4
        return either(p, i); //= then 2
    return(void)(p[i + 32] = 1); //= after 2
}
