/* of include.cl: twice(x) is called by 8 work-items */
static int twice(int x)
{
    int s = 0;
    for (int j = 0; j < 2; j++)
        s += x;
    return s;
}

#define KERNEL(type, name, op) \
__kernel void name##_##type(__global type *p) { \
    type x = twice(get_global_id(0)); \
    for (int j = 0; j < TIMES; j++) \
        x = x op (type)j; \
    CLAMP(x, 9); \
    p[get_global_id(0)] = x; }
