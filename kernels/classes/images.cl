/* Filters of images with four floats a pixel: read through a sampler, written as an image. */
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t between = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

/* Edges of all four channels, eight reads. */
__kernel void image_edges(__read_only image2d_t in, __write_only image2d_t out)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 nw = read_imagef(in, nearest, (int2)(x - 1, y - 1)), n = read_imagef(in, nearest, (int2)(x, y - 1));
    float4 ne = read_imagef(in, nearest, (int2)(x + 1, y - 1)), w = read_imagef(in, nearest, (int2)(x - 1, y));
    float4 e = read_imagef(in, nearest, (int2)(x + 1, y)), sw = read_imagef(in, nearest, (int2)(x - 1, y + 1));
    float4 s = read_imagef(in, nearest, (int2)(x, y + 1)), se = read_imagef(in, nearest, (int2)(x + 1, y + 1));
    float4 dx = ne + 2.0f * e + se - nw - 2.0f * w - sw, dy = sw + 2.0f * s + se - nw - 2.0f * n - ne;
    write_imagef(out, (int2)(x, y), sqrt(dx * dx + dy * dy));
}

/* Five reads between pixels, so that the sampler weighs four pixels each. */
__kernel void image_soften(__read_only image2d_t in, __write_only image2d_t out, float off)
{
    int x = get_global_id(0), y = get_global_id(1);
    float u = x + 0.5f, v = y + 0.5f;
    float4 sum = read_imagef(in, between, (float2)(u, v));
    sum += read_imagef(in, between, (float2)(u - off, v)) + read_imagef(in, between, (float2)(u + off, v));
    sum += read_imagef(in, between, (float2)(u, v - off)) + read_imagef(in, between, (float2)(u, v + off));
    write_imagef(out, (int2)(x, y), 0.2f * sum);
}

/* A quarter of the size: reads two pixels apart, one read of four. */
__kernel void image_halve(__read_only image2d_t in, __write_only image2d_t out)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 sum = read_imagef(in, nearest, (int2)(2 * x, 2 * y)) + read_imagef(in, nearest, (int2)(2 * x + 1, 2 * y));
    sum += read_imagef(in, nearest, (int2)(2 * x, 2 * y + 1)) + read_imagef(in, nearest, (int2)(2 * x + 1, 2 * y + 1));
    write_imagef(out, (int2)(x, y), 0.25f * sum);
}
