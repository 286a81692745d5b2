// more counters than can be variables across a barrier: they are in memory, counted by // atomic increments
// run k 16 8
// trips 0 every:2:1:1 36
#define IF1(n) if ((i ^ n) & 1) p[i] += n; else p[i] ^= n;
#define IF8(n) IF1(n) IF1(n + 1) IF1(n + 2) IF1(n + 3) IF1(n + 4) IF1(n + 5) IF1(n + 6) IF1(n + 7)
int helper(int x) //= entry 18
{
    for (int j = 0; j < 3; j++) x += j; //= body 54 next 18
    return x;
}
__kernel void k(__global int *p) //= entry 16
{
    int i = get_global_id(0);
    for (int twice = 0; twice < 2; twice++) { //= body 32
        IF8(0) IF8(1) IF8(2) IF8(3) IF8(4) IF8(5) IF8(6) IF8(7) IF8(8)
        IF8(9) IF8(10) IF8(11) IF8(12) IF8(13) IF8(14) IF8(15) IF8(16) IF8(17)
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    p[i] += i > 12 ? helper(i) : i; //= arm 3
    if (i == 3) return; //= then 1
    p[i] += helper(p[i]); //= after 15
}
