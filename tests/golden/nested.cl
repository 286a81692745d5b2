// nested: counted trips of loops that are entered more than once: in another loop, or in a function
// run k 8 4
// f: i = 0..7 and 3: ceil(n/2) is 0 1 1 2 2 3 3 4 and 8 times 2; j < i: floor(j/2) is 0 0 1 1 2 2 3, 22 in all; 2 or more: 15
// trips 0 every:2:1:1 32
// trips 2 every:2:0:5 22
// trips 2 reached:2:0:5 15
// trips 1 reached:4:0:4 4
int f(int n) //= entry 16
{
    int s = 0;
    for (int k = 0; k < n; k++) //
        s += k * n; //= body 52 next 16
    return s;
}

__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0), s = f(i) + f(3);
    for (int j = 0; j < i; j++) //
        for (int k = 0; k < j; k++) //= body 28
            s += k ^ j; //= body 56 next 28
    p[i] = s;
}
