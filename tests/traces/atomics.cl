// run k 4 2
// arguments local
__kernel void k(__global int *p, __local int *l)
{
	int i = get_local_id(0);
	l[i] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	atomic_add(l, 1);
	atomic_cmpxchg(&p[100 + i], 1, 2);
	barrier(CLK_LOCAL_MEM_FENCE);
	if (i == 0)
		atomic_inc(p + 50);
	p[get_global_id(0)] = l[0];
}
// lane 0.0 3:entry 6:store:s+0:4 8:atomic:s+0:4 9:atomic:a0+400:4 12:then 12:atomic:a0+200:4 13:load:s+0:4 \
//   13:store:a0+0:4
// lane 1.1 3:entry 6:store:s+4:4 8:atomic:s+0:4 9:atomic:a0+404:4 13:load:s+0:4 13:store:a0+12:4
