// images and samplers, both as arguments and at program scope
// run k 8 4
// arguments image sampler
// the image is 2 x 2 and clamped: items 0..7 see the pixels 0 1 2 3 2 3 2 3, whose x is 0 4 8 12 8 12 8 12 and w is x + 3
__constant sampler_t own = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
uint4 fetch(read_only image2d_t image, sampler_t s, int x, int y) //= entry 8
{
    return read_imageui(image, s, (int2)(x, y));
}
__kernel void k(__global int *p, read_only image2d_t image, sampler_t s) //= entry 8
{
    int i = get_global_id(0);
    uint4 c = fetch(image, s, i & 1, i >> 1);
    if (c.x > 7)
        p[i] = c.w; //= then 6
    uint4 d = i < get_image_width(image) ? read_imageui(image, own, (int2)(i, 0)) : (uint4)(c.x); //= arm 2
    for (uint j = 0; j < d.y - d.x; j++) //
        p[i + 128] += c.y; //= body 2
}
