// run k 2 2
// arguments image sampler
__kernel void k(__global int *p, __read_only image2d_t m, sampler_t s)
{
	const sampler_t part = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
	int i = get_global_id(0);
	uint4 a = read_imageui(m, s, (int2)(i, 1));
	uint4 b = read_imageui(m, part, (float2)(0.75f, 0.25f));
	p[i] = a.x + b.y;
}
// lane 0.0 3:entry 7:image_read:a1+8:4 8:image_read:a1+4:4 9:store:a0+0:4
// lane 0.1 3:entry 7:image_read:a1+12:4 8:image_read:a1+4:4 9:store:a0+4:4
