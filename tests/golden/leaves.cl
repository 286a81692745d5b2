// return, break and continue anywhere: what follows is a block of its own, and flow determines it
// run k 32 8
// 12 leave at once; of 20 the multiples of 4 (20, 24, 28 and 12, 16) leave in the loop's first trip, 15 go on
__kernel void k(__global int *p) //= entry 32
{
    int i = get_global_id(0);
    if (i < 12) return; //= then 12
    p[i] += 1; //= after 20
    for (int j = 0; j < 4; j++) { //= body 50
        if ((i & 3) == 0) { p[i] = 9; return; } //= then 5
        if (j == 1) //= after 45
            continue; //= then 15
        p[i] += j; //= after 30
        if (j == 2) break; //= then 15
        { p[i]++; } //= after 15
    }
    p[i] += 2; //= after 15
    while (1) { //= body 15
        if (i & 1) { p[i] += 3; break; } else { p[i] += 4; break; } //= then 10 else 5
        p[i] = 0; //= after 0
    }
    { if (i == 31) return; } //= then 1
    p[i] += 5; //= after 14
}
