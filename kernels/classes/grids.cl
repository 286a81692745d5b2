/* Grids of two and three dimensions: borders, local sizes that no power of two divides, reuse between neighbours. */

/* 5x5 box; coordinates stop at the border. */
__kernel void odd_blur(__global const float *in, __global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int v = -2; v <= 2; v++)
        for (int u = -2; u <= 2; u++)
            sum += in[clamp(y + v, 0, height - 1) * width + clamp(x + u, 0, width - 1)];
    out[y * width + x] = sum * 0.04f;
}

/* Cells on the border stay, those inside take their neighbours and a source. */
__kernel void odd_update(__global const float *in, __global const float *source, __global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    float here = in[i];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        here += 0.1f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width] - 4.0f * here) + source[i];
    out[i] = here;
}

__kernel void stencil7(__global const float *in, __global float *out, int w, int h, int d)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), plane = w * h, i = z * plane + y * w + x;
    if (x == 0 || y == 0 || z == 0 || x == w - 1 || y == h - 1 || z == d - 1) {
        out[i] = in[i];
        return;
    }
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - w] + in[i + w] + in[i - plane] + in[i + plane]);
}

__kernel void stencil27(__global const float *in, __global float *out, int w, int h, int d)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), plane = w * h, i = z * plane + y * w + x;
    if (x == 0 || y == 0 || z == 0 || x == w - 1 || y == h - 1 || z == d - 1)
        return;
    float sum = 0;
    for (int c = -1; c <= 1; c++)
        for (int b = -1; b <= 1; b++)
            for (int a = -1; a <= 1; a++)
                sum += in[i + c * plane + b * w + a] * (a == 0 && b == 0 && c == 0 ? 0.5f : 0.01923f);
    out[i] = sum;
}

/* A work-item per column of the grid, from the bottom to the top: three planes are kept in registers. */
__kernel void stencil_march(__global const float *in, __global float *out, int w, int h, int d)
{
    int x = get_global_id(0), y = get_global_id(1), plane = w * h, i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
        return;
    float below = in[i], here = in[i + plane];
    for (int z = 1; z < d - 1; z++) {
        i += plane;
        float above = in[i + plane];
        out[i] = 0.4f * here + 0.1f * (below + above + in[i - 1] + in[i + 1] + in[i - w] + in[i + w]);
        below = here;
        here = above;
    }
}

/* Left is right of the last column, above is below the last row. */
__kernel void boundary_wrap(__global const int *in, __global int *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), alive = 0;
    for (int v = -1; v <= 1; v++)
        for (int u = -1; u <= 1; u++)
            alive += in[(y + v + height) % height * width + (x + u + width) % width];
    out[y * width + x] = alive == 3 || (alive == 4 && in[y * width + x]);
}

/* Another formula on each side of the grid. */
__kernel void boundary_sides(__global const float *in, __global float *out, float warm, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    float here = in[i];
    float left = x == 0 ? here : in[i - 1], right = x == width - 1 ? 2.0f * warm - here : in[i + 1];
    float up = y == 0 ? warm : in[i - width], down;
    if (y == height - 1)
        down = 0.5f * (here + in[i - width]);
    else
        down = in[i + width];
    out[i] = here + 0.2f * (left + right + up + down - 4.0f * here);
}
