// return and goto out of statements in headers of loops and switches, in operands, and in what is returned
// run k 8 4
// trips 0 every:2:0:5 10
// round: n = 5 leaves, which 5, 6 and 7 come to. steps: 4 leaves at once, 2 by the test and 1 and 3 by the step, which 0 does 3
// times. chosen: 6 leaves, then 4 of 3, 4, 5 and 7, then 7 of the odd ones; g is called by 3 and 3, and by 3 and 3.
// square: 0, 1 and 4 leave before trips 1, 2 and 3; five others go round 3 times. last: 44 is reached from 40, 41, 42 and 43
int g(int x) { return x + 1; } //= entry 12
int round_(int i) //= entry 8
{
    int n = 0;
    while (({ if (n == 5) return 1; n < i; })) //= inner 33 then 3 after 30
        n++; //= body 25
    return n; //= after 5
}
void steps(__global int *p, int i) //= entry 8
{
    if (i > 4) return; //= then 3
    for (int j = ({ if (i == 4) return; 0; }); //= after 5 inner 5 then 1 after 4
         j < ({ if (i - j == 2) return; 3; }); //= inner 9 then 1 after 8
         j += ({ if (p[i + 8 + j] == 11) return; 1; })) //= inner 7 then 2 after 5
        p[i + 16] += j; //= body 7
    p[i + 16]++; //= after 1
}
int chosen(int i) //= entry 8
{
    int n = 0;
    switch (({ if (i == 6) return 60; i & 3; })) { //= inner 8 then 1 after 7
    case 0: n++; //= case 2
    case 1: n++; break; //= case 4
    default: n--; //= default 3
    }
    n += i > 2 && ({ if (i == 4) return 9; g(i); }) + ({ g(2); }) > 6; //= after 7 right 4 inner 4 then 1 after 3 inner 3
    return n + (i & 1 ? ({ if (i == 7) return 7; g(i); }) + (i > 3 ? g(n) : g(1)) : 0); //= after 6 arm 4 inner 4 then 1 after 3 arm 1 arm 2
}
int square(__global int *p, int i) //= entry 8
{
    for (int j = 0; ({ if (j * j == i) goto out; j < 3; }); j++) //= inner 26 then 3 after 23
        p[i + 32] += j; //= body 18
    return ({ if (i == 7) goto out; i; }); //= after 5 inner 5 then 1 after 4
out: //= label 4
    return -1;
}
void last(__global int *p, int i) //= entry 8
{
    do //
        p[i + 40]++; //= body 15
    while (({ if (p[i + 40] == 44) return; p[i + 40] < 46; })); //= inner 15 then 4 after 11
    p[i + 48] = 3; //= after 4
}
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    steps(p, i);
    last(p, i);
    p[i + 64] = round_(i);
    p[i + 72] = chosen(i);
    p[i + 80] = square(p, i);
}
