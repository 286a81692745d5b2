/* Grids: time steps of stencils, wavefronts, all shortest paths, and a loop that ends elsewhere for every cell. */
#pragma OPENCL FP_CONTRACT OFF

__kernel void heat2d(__global const float *in, __global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    out[i] = fma(in[i - 1] + in[i + 1] + in[i - width] + in[i + width], 0.125f, in[i] * 0.5f);
}

__kernel void heat3d(__global const float *in, __global float *out, int n)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), plane = n * n, i = z * plane + y * n + x;
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    out[i] = fma(in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] + in[i + plane], 0.125f, in[i] * 0.25f);
}

/* Longest common subsequence, one anti-diagonal of cells. */
__kernel void lcs_diagonal(__global const int *a, __global const int *b, __global int *table, int n, int diagonal, int from, int count)
{
    int k = get_global_id(0);
    if (k >= count)
        return;
    int x = from + k, y = diagonal - x, w = n + 1;
    int match = table[y * w + x] + 1, other = max(table[y * w + x + 1], table[(y + 1) * w + x]);
    table[(y + 1) * w + x + 1] = a[x] == b[y] ? match : other;
}

/* Floyd and Warshall: paths over node k. */
__kernel void paths_over(__global int *distance, int n, int k)
{
    int x = get_global_id(0), y = get_global_id(1);
    distance[y * n + x] = min(distance[y * n + x], distance[y * n + k] + distance[k * n + x]);
}

__kernel void mandelbrot(__global int *out, int width, int height, int most)
{
    int px = get_global_id(0), py = get_global_id(1), n = 0;
    float cx = fma((float)px, 3.0f / width, -2.0f), cy = fma((float)py, 2.0f / height, -1.0f), x = 0, y = 0;
    while (n < most && fma(x, x, y * y) < 4.0f) {
        float next = fma(x, x, cx - y * y);
        y = fma(2 * x, y, cy);
        x = next;
        n++;
    }
    out[py * width + px] = n;
}
