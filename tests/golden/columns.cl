// blocks behind macros, comments and blanks, and in macros and their arguments: lines and columns are those of this file
// run k 4 4
#define FOR(i, n) for (int i = 0; i < (n); i++)
#define TWICE(x) x; x
#define IF(x, y) if (x) { y; }
#define IFS(x) IF(x > 1, p[x] = x) IF(x > 2, p[x]--)
#define END }
/* a kernel */ __kernel   void k(__global int *p) { /* c */ FOR(i, 3) { if (p[i] < 0) p[i]++; else	TWICE(p[i]--); } //= entry 4 body 12 then 0 else 12
    FOR(j,
        4) { p[j] = j ? CLK_LOCAL_MEM_FENCE : //= body 16
        p[1] / 3; } //= arm 4
    if (get_global_id(0) > 1) { p[5] = 0; return; END if (p[6] == \
        0) p[6] = 1; //= then 0
    IFS(2) if (get_global_id(0)) p[5] = 2; //= then 2 then 0 then 1
}
