// ranges of designators: compilers take their value several times and want no effects in it, so nothing is put there
// run k 16 8
// i = 0..15; i > 3: 12, i > 7: 8
struct row { int a[4], b; };
__kernel void k(__global int *p) //= entry 16
{
    int i = get_global_id(0);
    int a[6] = {[1 ... 3] = i > 3 ? p[1] : p[2], [4] = i > 3 ? p[3] : p[4]}; //= arm 12 arm 4
    struct row r = {.a[0 ... 1] = i > 3 && p[5] ? 6 : 7, .a[2] = i > 7 ? p[6] : p[7], .b = i > 7 && p[8]}; //= arm 8 arm 8 right 8
    int c[4] = {[3 == 3 ? 1 : 0 ... 2] = i > 3 ? p[11] : p[12]};
    switch (i) {
    case 0 ... 4: //= case 5
        i += r.a[1];
        break;
    case 7 ... 8: //= case 2
        i += i > 7 ? p[9] : p[10]; //= arm 1 arm 1
    }
    p[i + 128] = a[2] + a[4] + r.a[0] + r.a[2] + r.b + c[1];
}
