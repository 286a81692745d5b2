/* Graphs and sparse matrices in compressed rows, and loops over addresses that depend on data. */
#pragma OPENCL FP_CONTRACT OFF

/* Breadth-first search: nodes of the frontier mark their neighbours. All who reach a node at once write the same level. */
__kernel void bfs_expand(__global const int *first, __global const int *edge, __global int *frontier, __global int *next,
                         __global int *level, int nodes, int depth)
{
    int v = get_global_id(0);
    if (v >= nodes || !frontier[v])
        return;
    frontier[v] = 0;
    for (int e = first[v]; e < first[v + 1]; e++)
        if (level[edge[e]] < 0 || level[edge[e]] == depth + 1) {
            level[edge[e]] = depth + 1;
            next[edge[e]] = 1;
        }
}

__kernel void bfs_advance(__global int *frontier, __global int *next, __global int *any, int nodes)
{
    int v = get_global_id(0);
    if (v >= nodes || !next[v])
        return;
    next[v] = 0;
    frontier[v] = 1;
    *any = 1;
}

/* Shortest paths from one node: each node asks those before it. */
__kernel void relax(__global const int *first, __global const int *edge, __global const int *weight, __global const int *in,
                    __global int *out, __global int *changed, int nodes)
{
    int v = get_global_id(0);
    if (v >= nodes)
        return;
    int best = in[v];
    for (int e = first[v]; e < first[v + 1]; e++)
        best = min(best, in[edge[e]] + weight[e]);
    out[v] = best;
    if (best < in[v])
        *changed = 1;
}

__kernel void rank_pages(__global const int *first, __global const int *edge, __global const float *share, __global const float *in,
                         __global float *out, int nodes)
{
    int v = get_global_id(0);
    if (v >= nodes)
        return;
    float sum = 0;
    for (int e = first[v]; e < first[v + 1]; e++)
        sum = fma(in[edge[e]], share[edge[e]], sum);
    out[v] = fma(sum, 0.875f, 0.125f);
}

__kernel void sparse_product(__global const int *first, __global const int *column, __global const float *value, __global const float *x,
                             __global float *y, int rows)
{
    int i = get_global_id(0);
    if (i >= rows)
        return;
    float sum = 0;
    for (int e = first[i]; e < first[i + 1]; e++)
        sum = fma(value[e], x[column[e]], sum);
    y[i] = sum;
}

__kernel void gather(__global const uint *table, __global uint *out, int mask, int length)
{
    uint id = get_global_id(0), at = id * 2654435761u, sum = 0;
    for (int s = 0; s < length; s++) {
        at = at * 1664525 + 1013904223;
        sum += table[(at >> 8) & mask];
    }
    out[id] = sum;
}

/* Each address is known only when the load before it has come back. */
__kernel void chase(__global const int *next, __global int *out, int stride, int length)
{
    int id = get_global_id(0), at = id * stride;
    for (int s = 0; s < length; s++)
        at = next[at];
    out[id] = at;
}
