// kernels that call kernels, twice and through a helper, with attributes, loops and early returns
// run k 8 8
// leaf is called for 0..7, for the odd ones again through via, and once more by middle for 4..7
__attribute__((reqd_work_group_size(64, 1, 1))) __kernel void leaf(__global int *p, int n);
void via(__global int *p, int n) { leaf(p, n); } //= entry 4
__kernel void leaf(__global int *p, int n)
{
    for (int j = 0; j < 3; j++) { //
        if (n == 2 && j == 1) return; //
        *p += j;
    }
}
__kernel __attribute__((vec_type_hint(int))) void middle(__global int *p, int n)
{
    if (n < 4) return; //= then 4
    leaf(p + 8, n); //= after 4
}
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    leaf(p + i, i);
    if (i & 1) via(p + i + 16, i); //= then 4
    middle(p + i + 32, i);
}
