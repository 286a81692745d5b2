// attributes of kernels, wherever they may stand, of variables, types, parameters and statements
// run k 8 8
typedef struct __attribute__((packed)) { char c; int i; } __attribute__((aligned(4))) packed;
__kernel
__attribute__((reqd_work_group_size(8, 1, 1)))
__attribute__((work_group_size_hint(8, 1, 1)))
__attribute__((vec_type_hint(float4)))
void k(__attribute__((unused)) __global int *restrict p) //= entry 8
{
    __attribute__((aligned(16))) int i = get_global_id(0);
    packed s __attribute__((unused)) = {.i = i};
    __attribute__((opencl_unroll_hint(2)))
    for (int j = 0; j < 4; j++) //
        s.i += j; //= body 32
    switch (i & 3) {
    case 0: s.i++; __attribute__((fallthrough)); //= case 2
    case 1: s.i++; break; //= case 4
    default: //= default 4
        ;
    }
    if (i > 5) goto out; //= after 8 then 2
    s.i *= 2; //= after 6
out: __attribute__((unused)) //= label 8
    p[i] = s.i;
}
