// a function that counts in the header of a loop with a barrier: POCL evaluates it once for the whole group
int less(int a, int b) { return a < b; }
__kernel void k(__global int *p)
{
    for (int j = 0; less(j, 4); j++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        p[0] = j;
    }
}
