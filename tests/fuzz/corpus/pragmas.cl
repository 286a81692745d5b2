struct st { int m; int4 w; int arr[4]; };
__constant int table[4] = {1, 2, 3, 4};
int h(int a);
int h(int a) { return a + 1; }
void w(__global int *p) { p[0] = 1; }
__kernel __attribute__((vec_type_hint(int4))) void k59(__global int *p) { }
// identifiers with a $ and with letters of other languages
// run k 4 4
typedef int $t;
$t f$x($t größe) {
#pragma STDC FP_CONTRACT ON
#pragma x )

float f = 1.0f; } //= entry 7
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
        p[i] = f$x(i); while (0); //= else 3
}
