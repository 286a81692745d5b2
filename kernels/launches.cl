/* Kernels that a program launches again and again, for launches.c. */

/* One level of a breadth-first search: whoever is not reached yet looks for a neighbour that is. */
__kernel void bfs_level(__global const int *first, __global const int *edge, __global const int *level_in,
                        __global int *level_out, __global int *reached, int nodes, int level)
{
    int v = get_global_id(0);
    if (v >= nodes)
        return;
    int mine = level_in[v];
    if (mine < 0) {
        for (int e = first[v]; e < first[v + 1]; e++)
            if (level_in[edge[e]] == level) {
                mine = level + 1;
                reached[v] = 1;
                break;
            }
    }
    level_out[v] = mine;
}

/* Some steps towards 1 for every number that is not there yet; which those are, the host finds out in between. */
__kernel void collatz_some(__global const int *alive, __global uint *number, __global int *steps, int count, int most)
{
    int k = get_global_id(0);
    if (k >= count)
        return;
    int i = alive[k], taken = 0;
    uint n = number[i];
    while (n > 1 && taken < most) {
        n = n & 1 ? 3 * n + 1 : n >> 1;
        taken++;
    }
    number[i] = n;
    steps[i] += taken;
}

__kernel void saxpy_again(__global float *y, __global const float *x, float a)
{
    int i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

/* Needleman-Wunsch, one anti-diagonal of cells: it needs only the two before it. */
__kernel void align_cells(__global int *score, __global const int *match, int n, int diagonal, int from, int count, int gap)
{
    int k = get_global_id(0);
    if (k >= count)
        return;
    int x = from + k, y = diagonal - x, w = n + 1;
    int both = score[y * w + x] + match[y * n + x];
    score[(y + 1) * w + x + 1] = max(both, max(score[y * w + x + 1], score[(y + 1) * w + x]) - gap);
}
