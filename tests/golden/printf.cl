// printf, whose strings look like code; vectors in it; what it returns
// run k 4 4
__kernel void k(__global int *p) //= entry 4
{
    int i = get_global_id(0);
    if (i == 2) printf("item %d; { of (%d) 100%% \"\n", i, 4); //= then 1
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i == 3 && printf("%v4hld %s\n", (int4)(i), "};") == 0) //= right 1
        p[i] = 1; //= then 1
}
