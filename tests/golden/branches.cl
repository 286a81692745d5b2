// if and else, with and without braces, chains, empty parts
// run k 32 16
// 32 work-items with i = 0..31: i & 1 holds for 16, i < 8 for 8, of the other 24 i < 20 for 12
__kernel void k(__global int *p) //= entry 32
{
    int i = get_global_id(0);
    if (i & 1) p[i] += 1; //= then 16
    if (i < 8)
        p[i] += 2; //= then 8
    else if (i < 20) { //= else 24 then 12
        p[i] += 3;
    } else
        p[i] += 4; //= else 12
    if (i & 1) ; //= then 16
    else p[i] += 5; //= else 16
    if (i >= 28)
        if (i & 1) p[i] += 6; else { } //= then 4 then 2 else 2
    if (i > 27) { //= then 4
        p[i] *= 2;
    } else { p[i] *= 3; } //= else 28
}
