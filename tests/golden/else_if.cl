// chains of else if, whose markers are in the conditions, also where a label leaves no formula; chains of ?: likewise
// run k 32 16
// i = 0..31. f runs for all, g counts down from i & 3 by a jump back: 0, 1, 2, 3 rounds.
int f(__global int *p, int i) //= entry 32
{
    if (i < 4) return p[0]; //= then 4
    else if (i < 8) //= else 28
        for (int j = 0; j < 3; j++) //= then 4
            i++; //= body 12 next 4
    else if (i < 16 && p[i]) //= else 24 right 8
        if (i & 1) i += 2; //= then 8 then 4
        else i += 3; //= else 4
    else if (({ i += 0; i == 20; })) { //= else 16 inner 16 then 1
    } else if (i == 21 || i == 22) return i; //= else 15 then 2
    else while (i > 30) i--; //= else 13 body 1 next 13
    return i; //= after 26
}
int g(__global int *p, int i) //= entry 32
{
    int n = i & 3, s = 0;
again: //= label 80
    if (n == 0) return s; //= then 32
    else if (n == 2) s += p[i]; //= else 48 then 16
    else if (n == 3) s += 1; //= else 32 then 8
    else s += 2; //= else 24
    n--; //= after 48
    goto again;
}
int h(int i) //= entry 32
{
    if (({ if (i > 28) return 5; i & 1; })) i++; //= inner 32 then 3 after 29 then 14
    else if (i & 2) i += 2; //= else 15 then 7
    return i; //= after 29
}
__kernel void k(__global int *p) //= entry 32
{
    int i = get_global_id(0);
    int a = i < 3 ? p[0] : i < 10 ? p[1] : i < 20 ? p[2] : p[3]; //= arm 3 arm 29 arm 7 arm 22 arm 10 arm 12
    int b = i < 16 ? i < 8 ? p[4] : p[5] : p[6] && i < 24 ? p[7] : 1; //= arm 16 arm 8 arm 8 arm 16 arm 8
    p[i + 128] = a + b + f(p, i) + g(p, i) + h(i);
}
