// what stands before the first case of a switch: nothing runs it, but there may be a way into it
// run k 8 4
// n is 0 .. i - 1: 28 times in all, 5 times 2 and 4 times 3
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    for (int n = i; n--;) //
        switch (n) { //= body 28
            int unused = p[1] ? p[2] : p[3]; //= arm 0 arm 0
            if (unused) { //= then 0
            case 2: //= case 5
                p[i]++;
            } else //
                p[i] += ({ n; }); //= else 0 inner 0
            break; //= after 5
        case 3: //= case 4
            p[i] += 2;
            break;
        default: //= default 19
            continue;
        }
}
