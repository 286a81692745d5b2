// run k 4 2
// p[200] is 200: the header of the loop with barriers is evaluated three times by each work-item
__kernel void k(__global int *p)
{
	__local int tile[2];
	int l = get_local_id(0);
	for (int j = 0; j < p[200] - 198; j++) {
		tile[l] = j;
		barrier(CLK_LOCAL_MEM_FENCE);
		p[get_global_id(0)] = tile[1 - l];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
}
// lane 0.0 3:entry 7:load:a0+800:4 7:body 8:store:s+0:4 10:load:s+4:4 10:store:a0+0:4 7:load:a0+800:4 7:body \
//   8:store:s+0:4 10:load:s+4:4 10:store:a0+0:4 7:load:a0+800:4
// lane 1.1 3:entry 7:load:a0+800:4 7:body 8:store:s+4:4 10:load:s+0:4 10:store:a0+12:4 7:load:a0+800:4 7:body \
//   8:store:s+4:4 10:load:s+0:4 10:store:a0+12:4 7:load:a0+800:4
