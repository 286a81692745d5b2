/* Few work-items with long loops over samples, and work that is spread unevenly. */
#pragma OPENCL FP_CONTRACT OFF

/* Mean and deviation of a variable over all samples. */
__kernel void moments(__global const float *data, __global float *mean, __global float *deviation, int variables, int samples)
{
    int j = get_global_id(0);
    if (j >= variables)
        return;
    float sum = 0, squares = 0;
    for (int i = 0; i < samples; i++)
        sum += data[i * variables + j];
    sum = sum / samples;
    for (int i = 0; i < samples; i++) {
        float off = data[i * variables + j] - sum;
        squares = fma(off, off, squares);
    }
    mean[j] = sum;
    deviation[j] = sqrt(squares);
}

__kernel void standardise(__global float *data, __global const float *mean, __global const float *deviation, int variables, int samples)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (j < variables && i < samples)
        data[i * variables + j] = (data[i * variables + j] - mean[j]) / deviation[j];
}

/* A row of the correlation matrix: the first work-item has the most, the last none. */
__kernel void correlate_rows(__global const float *data, __global float *matrix, int variables, int samples)
{
    int row = get_global_id(0);
    if (row >= variables)
        return;
    matrix[row * variables + row] = 1;
    for (int column = row + 1; column < variables; column++) {
        float sum = 0;
        for (int i = 0; i < samples; i++)
            sum = fma(data[i * variables + row], data[i * variables + column], sum);
        matrix[row * variables + column] = sum;
        matrix[column * variables + row] = sum;
    }
}

/* A weighted series: one loop, as long as is asked for. */
__kernel void series(__global const float *data, __global const float *weight, __global float *out, int mask, int length)
{
    int id = get_global_id(0), stride = get_global_size(0);
    float sum = 0;
    for (int s = 0; s < length; s++)
        sum = fma(data[(id + s * stride) & mask], weight[s & 255], sum);
    out[id] = sum;
}

/* Every 32nd group works long, the others briefly. */
__kernel void mixed(__global const uint *table, __global uint *out, int mask, int length)
{
    uint id = get_global_id(0), sum = 0;
    int trips = get_group_id(0) % 32 ? length / 64 : length;
    for (int s = 0; s < trips; s++)
        sum += table[(id + s * 64) & mask] ^ s;
    out[id] = sum;
}

/* Three loops of different kinds, with a barrier between two of them. */
__kernel void phases(__global const uint *table, __global uint *out, __local uint *shared, int mask, int length)
{
    uint id = get_global_id(0), here = get_local_id(0), size = get_local_size(0), value = id;
    for (int s = 0; s < length; s++)
        value = value * 1664525 + 1013904223;
    shared[here] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < length / 4; s++)
        value += shared[(here + s) % size];
    for (int s = 0; s < length / 4; s++)
        value += table[(value ^ s) & mask];
    out[id] = value;
}

__kernel void histogram_global(__global const uint *data, __global uint *bins, int per_item)
{
    int id = get_global_id(0), items = get_global_size(0);
    for (int s = 0; s < per_item; s++)
        atomic_inc(&bins[data[id + s * items] & 255]);
}

__kernel void histogram_local(__global const uint *data, __global uint *bins, int per_item)
{
    __local uint mine[256];
    int id = get_global_id(0), items = get_global_size(0), here = get_local_id(0), size = get_local_size(0);
    for (int b = here; b < 256; b += size)
        mine[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < per_item; s++)
        atomic_inc(&mine[data[id + s * items] & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int b = here; b < 256; b += size)
        atomic_add(&bins[b], mine[b]);
}

__kernel void reduce_half(__global uint *data, int half_size)
{
    int i = get_global_id(0);
    if (i < half_size)
        data[i] += data[i + half_size];
}

/* A prefix sum as a tree, in place: sums on the way up, then what is left of each on the way down. */
__kernel void scan_up(__global uint *data, int pairs, int stride)
{
    int i = get_global_id(0);
    if (i < pairs)
        data[(2 * i + 2) * stride - 1] += data[(2 * i + 1) * stride - 1];
}

__kernel void scan_down(__global uint *data, int pairs, int stride)
{
    int i = get_global_id(0);
    if (i >= pairs)
        return;
    uint left = data[(2 * i + 1) * stride - 1];
    data[(2 * i + 1) * stride - 1] = data[(2 * i + 2) * stride - 1];
    data[(2 * i + 2) * stride - 1] += left;
}

__kernel void bitonic_pairs(__global uint *data, int distance, int run)
{
    uint i = get_global_id(0), low = i / distance * distance * 2 + i % distance, high = low + distance;
    uint a = data[low], b = data[high];
    if ((a > b) == !(low & run)) {
        data[low] = b;
        data[high] = a;
    }
}
