// a variable that some work-items of a group set to a constant, before a barrier; what all of them agree on
// run k 64 32
__kernel void k(__global int *p) //= entry 64
{
    int i = get_global_id(0), s = 0, f = 0;
    int size[sizeof(i) > 3 ? 2 : 1];
    if (p[100] == 77 || (f += i & 4)) { //= right 64 then 32
        s = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    size[s] = s;
    if (p[101] == 101) { //= then 64
        switch (p[102] & 1) { //
        case 0: barrier(CLK_LOCAL_MEM_FENCE); //= case 64
        }
    }
    switch (i & 3) { //
    case 1: s += 2; //= case 16
    }
    p[i] = s ? s + size[s & 1] : 0; //= arm 40
}
