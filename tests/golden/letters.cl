// identifiers with a $ and with letters of other languages
// run k 4 4
typedef int $t;
$t f$x($t größe) { return größe ? größe + 1 : 7; } //= entry 7
int añadir(int a, int b);
int añadir(int a, int b) //= entry 7
{
    if (a > b)
        return a; //= then 4
    return b; //= after 3
}
__kernel void k(__global int *p) //= entry 4
{
    int i = get_global_id(0), $ = 2;
    if (añadir(i, $) > 2)
        p[i] = f$x(i); //= then 1
    else
        p[i] = añadir(f$x(0), $) + f$x(i); //= else 3
}
