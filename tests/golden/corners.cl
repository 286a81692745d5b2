// digraphs, pragmas that must come first in a block, labels of a block, attributes of labels, declarations in functions
// run k 8 4
#pragma OPENCL FP_CONTRACT OFF
float mad3(float a, float b, float c) //= entry 16
{
    #pragma STDC FP_CONTRACT OFF
    return a * b + c;
}
__kernel void k(__global int *p) //= entry 8
<%
    float mad3(float, float, float);
    int i = get_global_id(0), t<:2:> = <% 1, 2 %>, n = 0;
    if (i < 2) <% //= then 2
        t<:0:> = 7;
    %>
    while (n < 2) { //= body 16
        #pragma OPENCL FP_CONTRACT ON
        p[i] += mad3(n, i, 1) > 3; //
        n++;
    }
    {
        __label__ out;
        if (i & 1) goto out; //= then 4
        n = t[0]; //= after 4
        out: __attribute__((unused)) n++; //= label 8
    }
    p[i + 64] = n + t[1];
%>
