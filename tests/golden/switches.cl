// switch: fall-through, no braces, calls of which only the type is asked, declarations under a case, default in the middle, nested, continue inside
// run k 16 16
// in the nested switch s is 10, 8, 9, 4, 4 for i = 1, 2, 3, 7, 15; i > 7 return in the second trip of the loop
// i & 3 is each of 0..3 for 4 work-items
int f(int a) { return a; } //= entry 0
__kernel void k(__global int *p) //= entry 16
{
    int i = get_global_id(0), s = 0;
    switch (i & 3) {
    case 0: s = 1; break; //= case 4
    case 1: s = 2; //= case 4
    case 2: { s += 3; break; } //= case 8
    default: s = 4; //= default 4
        break;
    case sizeof(f(1)) ... 7: s = f(2); //= case 0
    }
    switch (i) case 5: s += 10; //= case 1
    switch (i & 7) {
    default: s++; break; //= default 8
    case 1: case 2 ... 3: //= case 6
        s += 2;
        if (i & 8) break; //= then 3
        s += 3; //= after 3
    case (7): //= case 5
        switch (s & 1) {
        case 0: s += 5; //= case 4
        }
    }
    for (int j = 0; j < 3; j++) { //= body 40
        switch (j) {
        case 0: continue; //= case 16
        case 1: //= case 16
            if (i > 7) return; //= then 8
            break; //= after 8
        }
        s += j; //= after 16
    }
    switch (i) { } //= after 8
    p[i] = s;
}
