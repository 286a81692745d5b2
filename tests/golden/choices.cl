// what some work-items of a group count before a barrier, where a branch that they all take leads to the same place
// run k 64 32
// trips 0 every:2:1:4 116
// trips 0 reached:3:0:4 58
void nothing(void) {} //= entry 380
void rounds(__global int *p, int i) //= entry 64
{
    for (int j = 0; j < 3; j++) { //= body 192
        if (p[101] == 77 || p[i] > 5) //= right 192
            p[128 + i] += 1; //= then 174
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
void ways(__global int *p, int i) //= entry 64
{
    if (p[102] == 77) goto six; //= then 0
    if (p[103] == 77) goto five; //= after 64 then 0
    if (p[i] > 3) goto six; //= after 64 then 60
five: //= label 4
    p[128 + i] += 5;
    nothing(), nothing(), nothing(), nothing(), nothing();
    goto end;
six: //= label 60
    p[128 + i] *= 7;
    nothing(), nothing(), nothing(), nothing(), nothing(), nothing();
end: //= label 64
    barrier(CLK_LOCAL_MEM_FENCE);
}
__kernel void k(__global int *p) //= entry 64
{
    int i = get_global_id(0);
    if (p[100] == 77 || p[i] > 3) { //= right 64 then 60
        p[128 + i] += 5;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    rounds(p, i);
    ways(p, i);
    p[i] += p[200];
}
