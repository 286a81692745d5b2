// variables with the names of the functions that sums of a group are added up with: // atomic
// run k 16 8
// trips 0 every:2:1:1 36
#define IF1(n) if ((i ^ n) & 1) p[i] += n; else p[i] ^= n;
#define IF8(n) IF1(n) IF1(n + 1) IF1(n + 2) IF1(n + 3) IF1(n + 4) IF1(n + 5) IF1(n + 6) IF1(n + 7)
int helper(int atomic_add) //= entry 18
{
    for (int j = 0; j < 3; j++) atomic_add += j; //= body 54 next 18
    return atomic_add;
}
__kernel void k(__global int *p) //= entry 16
{
    int i = get_global_id(0), atomic_inc = 3, atomic_or = 2;
    for (int twice = 0; twice < atomic_or; twice++) { //= body 32
        IF8(0) IF8(1) IF8(2) IF8(3) IF8(4) IF8(5) IF8(6) IF8(7) IF8(8)
    }
    p[i] += i > 12 ? helper(i) : i; //= arm 3
    if (i == atomic_inc) return; //= then 1
    p[i] += helper(p[i]); //= after 15
}
