// run k 2 2
// arguments image sampler
__constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t between = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
__constant sampler_t again = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;
__kernel void k(__global int *p, __read_only image2d_t m, sampler_t s)
{
	const sampler_t part = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
	int i = get_global_id(0);
	uint4 a = read_imageui(m, s, (int2)(i, 1));
	uint4 b = read_imageui(m, part, (float2)(0.75f, 0.25f));
	a += read_imageui(m, edge, (int2)(5, -3));
	b += read_imageui(m, between, (float2)(1.25f, 1.75f));
	a += read_imageui(m, again, (float2)(1.75f, -0.25f));
	p[i] = a.x + b.y;
}
// lane 0.0 6:entry 10:image_read:a1+8:4 11:image_read:a1+4:4 12:image_read:a1+4:4 13:image_filter:a1+8:4 14:image_read:a1+12:4 15:store:a0+0:4
// lane 0.1 6:entry 10:image_read:a1+12:4 11:image_read:a1+4:4 12:image_read:a1+4:4 13:image_filter:a1+8:4 14:image_read:a1+12:4 15:store:a0+4:4
