// run k 4 2
__kernel void k(__global int *p)
{
	__local int tile[2][3];
	__local int once;
	int l = get_local_id(0);
	for (int j = 0; j < 2; j++) {
		tile[l][j] = p[get_global_id(0) * 2 + j];
		if (!l)
			once = j;
		barrier(CLK_LOCAL_MEM_FENCE);
		p[128 + get_global_id(0)] = tile[1 - l][j] + once;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
}
// lane 0.0 2:entry 7:body 8:load:a0+0:4 8:store:s+0:4 10:then 10:store:s+32:4 12:load:s+12:4 12:load:s+32:4 \
//   12:store:a0+512:4 7:body 8:load:a0+4:4 8:store:s+4:4 10:then 10:store:s+32:4 12:load:s+16:4 12:load:s+32:4 \
//   12:store:a0+512:4
// lane 1.1 2:entry 7:body 8:load:a0+24:4 8:store:s+12:4 12:load:s+0:4 12:load:s+32:4 12:store:a0+524:4 7:body \
//   8:load:a0+28:4 8:store:s+16:4 12:load:s+4:4 12:load:s+32:4 12:store:a0+524:4
