/*
 * What every kernel here starts with; the driver puts it before each file. n is a multiple of the local size, less than the global
 * size by one group, so that i < n is the same for all work-items of a group. l has room for two numbers of each work-item.
 * Every barrier is reached by all work-items of a group or by none, and no result depends on the order of work-items.
 */
#define KERNEL(name) __kernel void name(__global const float *a, __global const int *b, __global float *o, __global int *q, int n, \
	int m, __local float *l)
#define IDS const int i = get_global_id(0), t = get_local_id(0), g = get_group_id(0), s = get_local_size(0)
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
