// a function's name with its parameters, of which ours has more
__kernel void k(__global int *p)
{
    p[get_global_id(0)] = sizeof(__PRETTY_FUNCTION__);
}
