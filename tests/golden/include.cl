// #include with -I, macros of the options, kernels and statements made by macros
// run add_int 8 4
// x is 2 i + 3: above 9 for i > 3
// options -I . -DTIMES=3
#include "include.h"
#define CLAMP(x, most) do { if ((x) > (most)) (x) = (most); } while (0)
KERNEL(int, add, +) //= entry 8 body 24 body 8 then 4
KERNEL(int, sub, -) //
