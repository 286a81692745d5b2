// a break out of the header of a loop: compilers do not agree on which loop it is
__kernel void k(__global int *p)
{
    for (int j = 0; j < 4; j++)
        while (({ if (p[j]) break; j < 2; }))
            p[0]++;
}
