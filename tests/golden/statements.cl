// statements in expressions: switch, goto and jumps out of them; the typeof of calls and of such statements
// run k 8 4
#define MAX(a, b) ({ __typeof__(a) a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })
int f(int x) { return x - 1; } //= entry 30
int either(int x) //= entry 8
{
    if (x > 3) //
        return ({ if (x > 5) return 1; x; }); //= then 4 inner 4 then 2 after 2
    return f(x); //= after 4
}
void regular(__global int *p, int i) //= entry 8
{
    p[i] = MAX(MAX(f(i), 2), f(3)); //= inner 8 inner 8
    p[i + 8] = ({ //= inner 8
        int r;
        switch (i) { //
        case 0: r = 1; break; //= case 1
        default: r = f(2); //= default 7
        }
        r;
    });
    if (({ if (i == 7) return; i & 1; })) //= inner 8 then 1 after 7
        p[i]++; //= then 3
    else //
        p[i]--; //= else 4
    p[i + 16] = ({ if (i == 6) return; p[i]; }) + (i > 2 ? f(i) : p[3]); //= after 7 inner 7 then 1 after 6 arm 3 arm 3
    for (int j = 0; j < 4; j++) //= after 6
        p[i + 24] += ({ if (j == i) break; j; }); //= body 18 inner 18 then 4 after 14 next 6
}
void labels(__global int *p, int i) //= entry 8
{
    p[i + 32] = ({ int r = i; again: if (r < 4) { r += 2; goto again; } r; }); //= inner 8 label 14 then 6 after 8
    p[i + 40] += ({ if (i == 2) goto out; i; }); //= after 8 inner 8 then 1 after 7
    p[i + 48] = 1; //= after 7
out: //= label 8
    p[i + 56]++;
}
__kernel void k(__global int *p) //= entry 8
{
    regular(p, get_global_id(0));
    labels(p, get_global_id(0));
    p[get_global_id(0) + 64] = either(get_global_id(0));
}
