/* Stores by column, and loads through arrays of indices. */

/* A work-item fills a row: lanes write a row apart. */
__kernel void store_rows(__global float *out, float scale, int rows, int columns)
{
    int i = get_global_id(0);
    if (i >= rows)
        return;
    for (int j = 0; j < columns; j++)
        out[i * columns + j] = scale * (i + j);
}

__kernel void store_transposed(__global const float *in, __global float *out, float scale, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height)
        out[x * height + y] = scale * in[y * width + x];
}

/* Eight neighbours of a node; their numbers lie side by side from lane to lane. */
__kernel void gather_mean(__global const float *value, __global const int *neighbour, __global float *mean, int nodes)
{
    int i = get_global_id(0);
    if (i >= nodes)
        return;
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += value[neighbour[k * nodes + i]];
    mean[i] = sum * 0.125f;
}

/* Forces of a list of bodies, 16 bytes each; a body's list lies in one piece, so lanes read lists a row apart. */
__kernel void gather_bodies(__global const float4 *body, __global const int *list, __global float4 *force, int near)
{
    int i = get_global_id(0);
    float4 here = body[i], sum = (float4)(0.0f);
    for (int k = 0; k < near; k++) {
        float4 other = body[list[i * near + k]];
        float3 d = other.xyz - here.xyz;
        float r2 = dot(d, d) + 0.01f;
        sum.xyz += d * (other.w / (r2 * sqrt(r2)));
    }
    force[i] = sum;
}

/* Rows of 64 words by their number: lanes of a warp read side by side. */
__kernel void permute_rows(__global const float *in, __global const int *row, __global float *out)
{
    int i = get_global_id(0);
    out[i] = in[row[i / 64] * 64 + i % 64];
}
