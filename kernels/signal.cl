/* Signals: a transform in local memory, convolutions with constant taps. */

/*
 * Radix-2 Stockham FFT of 2 * local size points per work-group: every work-item does one butterfly per stage, the
 * stages go back and forth between the two halves of the local memory.
 */
static float2 turn(float2 v, float angle)
{
    float c = native_cos(angle), s = native_sin(angle);
    return (float2)(v.x * c - v.y * s, v.x * s + v.y * c);
}

__kernel void fft(__global const float2 *in, __global float2 *out, __local float2 *work)
{
    int l = get_local_id(0), half_points = get_local_size(0), base = get_group_id(0) * 2 * half_points;
    __local float2 *from = work, *to = work + 2 * half_points;
    from[l] = in[base + l];
    from[l + half_points] = in[base + l + half_points];
    for (int p = 1; p <= half_points; p <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int k = l & (p - 1), j = 2 * l - k;
        float2 a = from[l], b = turn(from[l + half_points], -3.14159265f * k / p);
        to[j] = a + b;
        to[j + p] = a - b;
        __local float2 *swap = from;
        from = to;
        to = swap;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + l] = from[l];
    out[base + l + half_points] = from[l + half_points];
}

/* One row of samples; the work-group's samples and their neighbours are brought to local memory first. */
__kernel void convolve1d(__global const float *in, __global float *out, __constant float *taps, int radius, int n,
                         __local float *tile)
{
    int l = get_local_id(0), size = get_local_size(0), first = get_group_id(0) * size - radius;
    for (int k = l; k < size + 2 * radius; k += size) {
        int at = first + k;
        tile[k] = at >= 0 && at < n ? in[at] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int t = 0; t <= 2 * radius; t++)
        sum += taps[t] * tile[l + t];
    out[get_global_id(0)] = sum;
}

/* Straight from global memory, with the edges repeated. */
__kernel void convolve2d(__global const float *in, __global float *out, __constant float *taps, int radius)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    int width = 2 * radius + 1;
    float sum = 0.0f;
    for (int v = -radius; v <= radius; v++)
        for (int u = -radius; u <= radius; u++)
            sum += taps[(v + radius) * width + u + radius] * in[clamp(y + v, 0, h - 1) * w + clamp(x + u, 0, w - 1)];
    out[y * w + x] = sum;
}
