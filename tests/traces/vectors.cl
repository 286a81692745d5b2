// run k 2 2
__kernel void k(__global int *p)
{
	int i = get_global_id(0);
	int4 v = vload4(i + 1, p);
	vstore4(v + 1, i, p + 64);
	int3 w = vload3(i, p + 1);
	vstore3(w, 40, p + i);
	__global float *f = (__global float *)p;
	float2 h = vload_half2(2 + i, (__global half *)p);
	vstore_half_rte(h.x, 300 + i, (__global half *)p);
	vstorea_half3((float3)(h.x, h.y, 1.0f), 30 + i, (__global half *)f);
	int8 t = (int8)(i);
	vstore8(t, 0, p + 128);
}
// lane 0.0 2:entry 5:load:a0+16:16 6:store:a0+256:16 7:load:a0+4:12 8:store:a0+480:12 10:load:a0+8:4 \
//   11:store:a0+600:2 12:store:a0+240:6 14:store:a0+512:32
// lane 0.1 2:entry 5:load:a0+32:16 6:store:a0+272:16 7:load:a0+16:12 8:store:a0+484:12 10:load:a0+12:4 \
//   11:store:a0+602:2 12:store:a0+248:6 14:store:a0+512:32
