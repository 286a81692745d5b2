/* All pairs of bodies: from global memory, and with tiles in local memory. */
#pragma OPENCL FP_CONTRACT OFF

float4 pull(float4 on, float4 by, float4 sum)
{
    float dx = by.x - on.x, dy = by.y - on.y, dz = by.z - on.z;
    float inverse = 1.0f / sqrt(fma(dx, dx, fma(dy, dy, fma(dz, dz, 0.01f))));
    float force = by.w * inverse * inverse * inverse;
    sum.x = fma(dx, force, sum.x);
    sum.y = fma(dy, force, sum.y);
    sum.z = fma(dz, force, sum.z);
    return sum;
}

__kernel void bodies_plain(__global const float4 *body, __global float4 *force, int sources)
{
    int i = get_global_id(0);
    float4 sum = 0;
    for (int j = 0; j < sources; j++)
        sum = pull(body[i], body[j], sum);
    force[i] = sum;
}

__kernel void bodies_tiled(__global const float4 *body, __global float4 *force, __local float4 *tile, int sources)
{
    int i = get_global_id(0), here = get_local_id(0), size = get_local_size(0);
    float4 mine = body[i], sum = 0;
    for (int t = 0; t < sources; t += size) {
        tile[here] = body[t + here];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < size; j++)
            sum = pull(mine, tile[j], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    force[i] = sum;
}
