// called_locals: kernels with __local variables that are called, by a kernel with its own, through a helper, and twice
// run k 8 4
// reverse is called by all 8, and again through via: 16 times; of each 8, 2 are the last of their group and 4 are odd
typedef struct { int low, high; } pair;
__kernel void reverse(__global int *p);
__kernel void turn(__global int *p) //= entry 8
{
    local pair s[4];
    int i = get_global_id(0), l = get_local_id(0);
    s[l].low = p[i];
    for (int j = 0; j < 2; j++) { //= body 16
        barrier(CLK_LOCAL_MEM_FENCE);
        s[l].high = s[(l + 1) & 3].low;
        barrier(CLK_LOCAL_MEM_FENCE);
        s[l].low = s[l].high;
    }
    p[i] += s[l].low + (int)sizeof s;
}
void via(__global int *p) { reverse(p); } //= entry 8
__kernel void reverse(__global int *p) //= entry 16
{
    enum { N = 4 };
    __local int t[N], last;
    volatile __local float4 unused, other;
    int __local again[2];
    int i = get_global_id(0), l = get_local_id(0);
    t[l] = p[i];
    if (l == N - 1) last = t[l]; //= then 4
    barrier(CLK_LOCAL_MEM_FENCE);
    p[i] = (l & 1 ? t[3 - l] : l) + last; //= arm 8
    barrier(CLK_LOCAL_MEM_FENCE);
}
__kernel void k(__global int *p) //= entry 8
{
    __local int own[4];
    own[get_local_id(0)] = p[get_global_id(0)];
    reverse(p);
    via(p);
    turn(p);
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] += own[3 - get_local_id(0)];
}
