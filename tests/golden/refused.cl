// a jump out of an expression: what follows in the expression may not run
__kernel void k(__global int *p)
{
    for (int j = 0; j < 4; j++)
        p[0] += ({ if (p[j]) break; j; });
}
