/* Searches: every load decides where the next one goes. */

/* The first of `count` rising words that is not below the key. */
__kernel void search_sorted(__global const int *table, __global const int *keys, __global int *found, int count, int scale)
{
    int i = get_global_id(0), key = keys[i] * scale, low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    found[i] = low;
}

/* The segment that an element belongs to: neighbours go nearly the same way. */
__kernel void search_segments(__global const int *start, __global int *segment, int segments, int elements)
{
    int i = get_global_id(0), low = 0, high = segments;
    if (i >= elements)
        return;
    while (high - low > 1) {
        int middle = (low + high) >> 1;
        if (start[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    segment[i] = low;
}

/* Down a tree that is laid out like a heap. Keys are random, so every lane goes its own way, to the same depth. */
__kernel void tree_descend(__global const int *tree, __global const int *keys, __global int *leaf, int nodes)
{
    int i = get_global_id(0), key = keys[i], node = 0;
    while (node < nodes)
        node = 2 * node + (key < (tree[node] ^ (node & 255)) ? 1 : 2);
    leaf[i] = node - nodes;
}

/* How many of a tree's leaves in a range are marked: both children where the range reaches over the middle, kept on a stack. */
__kernel void tree_ranges(__global const int *marks, __global const int *from, __global int *marked, int leaves, int width)
{
    int stack_low[24], stack_size[24], depth = 0, count = 0;
    int i = get_global_id(0), first = from[i], last = min(first + width, leaves);
    stack_low[0] = 0;
    stack_size[0] = leaves;
    while (depth >= 0) {
        int low = stack_low[depth], size = stack_size[depth];
        depth--;
        if (low >= last || low + size <= first)
            continue;
        if (size == 1) {
            count += marks[low];
            continue;
        }
        depth++;
        stack_low[depth] = low;
        stack_size[depth] = size / 2;
        depth++;
        stack_low[depth] = low + size / 2;
        stack_size[depth] = size / 2;
    }
    marked[i] = count;
}
