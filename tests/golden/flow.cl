// do-while with continue, a switch in a loop with fall-through, where break and continue mean different statements
// run k 8 8
// i = 0..7. First loop: n = i + 1, i + 2, ... until past 8: 36 trips. Second: j = 0..5, of each 8.
// j & 3 is 0 1 2 3 0 1. case 0 falls into case 1; case 2 continues for odd i; nested: i & 1.
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0), n = i, s = 0;
    do { //= body 36
        if (++n & 1) continue; //= then 16
        s += n; //= after 20
    } while (n < 8);
    for (int j = 0; j < 6; j++) { //= body 48
        switch (j & 3) {
        case 0: //= case 16
            s++;
        case 1: //= case 32
            switch (i & 1) {
            case 0: s += 2; break; //= case 16
            default: s += 3; //= default 16
            }
            break;
        case 2: //= case 8
            if (i & 1) continue; //= then 4
        default: //= default 12
            s += 5;
        }
        s ^= j; //= after 44
    }
    p[i] = s;
}
