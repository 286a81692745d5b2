// OpenCL C 2.0: variables at program scope, static ones in a function
// run k 8 4
// options -cl-std=CL2.0
global int base = 3;
static global int4 steps = (int4)(1, 2, 3, 4);
int step(int j) //= entry 24
{
    static global int least = 2;
    return steps.x > j ? least : steps.y; //
}
kernel void k(global int *p) //= entry 8
{
    int i = get_global_id(0), s = 0;
    for (int j = 0; j < base; j++) s += step(j); //= body 24
    if (s > i) p[i] = s; //= then 6
    p[i + 128] = base;
}
