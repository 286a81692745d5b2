/* Facts about kernels before they run: hazards, and the kinds of their arguments. Every program has a kernel k. */
#include "tests/tests.h"

#include "annotator/annotator.h"
#include "runtime/format/facts.h"

#include <clang-c/Index.h>
#include <stdio.h>
#include <string.h>

#define BARRIER "barrier(CLK_LOCAL_MEM_FENCE);"
#define K "__kernel void k(__global int *p, int n) {"

struct program {
	unsigned expected;
	const char *text;
};

static struct annotation *parse(const char *text, const char *standard, const struct kernel_entry **kernel)
{
	const char *args[] = {"-xcl", standard, "-w", NULL};
	struct annotator_unit unit = {.text = text, .length = strlen(text), .clang_args = args};
	struct annotation *a = NULL;
	struct gs_error err = {""};
	const struct kernel_entry *kernels;
	*kernel = NULL;
	if (annotation_create(&unit, 1, &a, &err))
		fprintf(stderr, "\n%s: %s\n", text, err.text);
	size_t count = a ? annotation_kernels(a, &kernels) : 0;
	for (size_t i = 0; i < count; i++)
		if (!strcmp(kernels[i].name, "k"))
			*kernel = &kernels[i];
	CU_ASSERT_PTR_NOT_NULL(*kernel);
	return a;
}

/* Checks that each program has exactly the expected hazards among those in `mask`. */
static void check(const struct program *programs, size_t count, const char *standard, unsigned mask)
{
	for (size_t i = 0; i < count; i++) {
		const struct kernel_entry *k;
		struct annotation *a = parse(programs[i].text, standard, &k);
		bool same = k && (k->hazards & mask) == programs[i].expected;
		CU_ASSERT(same);
		if (!same)
			fprintf(stderr, "\n%u instead of %u: %s\n", k ? k->hazards & mask : 0, programs[i].expected, programs[i].text);
		annotation_free(a);
	}
}

static void kernels_that_may_wait_for_other_groups_are_told(void)
{
	enum { W = HAZARD_WAITS };
	static const struct program programs[] = {
		{0, K "for (int i = 0; i < n; i++) atomic_inc(p + i); }"}, /* the result is not used */
		{0, K "for (int i = 0; i < n; i++) { if (i & 1) atomic_add(p + i, 2); p[i] = 3; } }"},
		{0, K "int at = atomic_inc(p); p[at] = 1; }"}, /* no loop */
		{0, K "__local int l; while (atomic_inc(&l) < n) p[0]++; }"}, /* within the group */
		{0, K "for (int i = 0; i < n; i++) p[i] = p[i + 1]; }"},
		{W, K "while (atomic_add(p, 0) < n) ; }"},
		{W, K "int v; do { v = atomic_or(p, 0); } while (!v); }"},
		{W, K "for (;;) { if (atomic_inc(p) >= n) break; p[n]++; } }"},
		{W, K "volatile __global int *flag = p; while (!flag[n]) ; }"},
		{W, K "volatile __global int *flag = p; for (;;) { int v = *flag; if (v) return; } }"},
		{W, "int look(__global int *p) { return atomic_add(p, 0); } " K "while (!look(p)) ; }"},
		{W, K "again: if (atomic_add(p, 0) < n) goto again; }"},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL1.2", W);
}

static void barriers_off_the_straight_way_are_told(void)
{
	enum { B = HAZARD_BARRIERS };
	static const struct program programs[] = {
		{0, K "p[n] = 1; " BARRIER " if (n) p[0] = 1; " BARRIER "}"},
		{0, K "for (int i = 0; i < n; i++) { " BARRIER " if (p[i]) p[i] = 2; " BARRIER "} }"},
		{0, K "while (n--) for (;n < 3;) { " BARRIER " } do { " BARRIER " } while (n); }"},
		{0, K "for (int i = 0; i < n; i++) { for (int j = 0; j < 3; j++) if (p[j]) break; else continue;" BARRIER "} }"},
		{0, K "for (int i = 0; i < n; i++) { switch (n) { case 1: p[0] = 1; break; } " BARRIER "} }"},
		{0, K "if (n) p[0] = 1; " BARRIER " if (p[0]) return; p[1] = 2; }"},
		{0, "void f(void) {" BARRIER "} " K "f(); for (;n;) f(); }"},
		{0, "int f(__global int *p) { if (*p) return 1; return 2; } " K BARRIER " p[1] = f(p); " BARRIER " }"},
		{0, K "if (n) return; p[0] = 1; }"},
		{B, K "if (n) { " BARRIER "} }"},
		{B, K "if (n) p[0] = 1; else " BARRIER " }"},
		{B, K "if (n) for (;p[0];) { " BARRIER "} }"},
		{B, K "switch (n) { case 1: " BARRIER " break; } }"},
		{B, K "if (n) return; " BARRIER "}"},
		{B, K "for (;;) { if (n--) return; p[0] = 1; } " BARRIER "}"},
		{B, K "for (int i = 0; i < n; i++) { if (p[i]) break; " BARRIER "} }"},
		{B, K "for (int i = 0; i < n; i++) { " BARRIER " if (p[i]) continue; p[i] = 1; } }"},
		{B, K "for (;n;) { switch (n) { case 1: continue; } " BARRIER "} }"},
		{B, K "for (;n;) { for (;p[0];) if (p[1]) goto out; " BARRIER "} out:; }"},
		{B, K "again: " BARRIER " if (n--) goto again; }"},
		{B, K "int x = ({ " BARRIER " n; }); p[0] = x; }"},
		{B, "int f(void) {" BARRIER " return 1; } " K "p[0] = n && f(); }"},
		{B, "int f(void) {" BARRIER " return 1; } " K "p[0] = n ? f() : 2; }"},
		{B, "int f(void) {" BARRIER " return 1; } " K "p[0] = n ?: f(); }"},
		{B, "int f(void) {" BARRIER " return 1; } " K "while (f() && n--) p[0] = 1; }"},
		{B, "void f(void) {" BARRIER "} void g(void) { f(); } " K "if (n) g(); }"},
		{B, "void f(int n) { if (n) return; " BARRIER "} void g(void) { f(3); } " K "g(); }"},
		{B, "void f(int n); " K "f(n); } void f(int n) { if (n) { " BARRIER " } }"},
		{B, "__kernel void g(int n) { if (n) { " BARRIER " } } " K "g(n); }"},
		{B, K "event_t e = 0; if (n) wait_group_events(1, &e); }"},
	};
	static const struct program modern[] = {
		{0, K "work_group_barrier(CLK_GLOBAL_MEM_FENCE); }"},
		{B, K "if (n) work_group_barrier(CLK_GLOBAL_MEM_FENCE); }"},
		{B, K "if (n) p[0] = work_group_reduce_add(n); }"},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL1.2", HAZARD_BARRIERS);
	check(modern, GS_ARRAY_LEN(modern), "-cl-std=CL2.0", HAZARD_BARRIERS);
}

static void check_way(const char *text, bool expected)
{
	const struct kernel_entry *k;
	struct annotation *a = parse(text, "-cl-std=CL1.2", &k);
	CU_ASSERT(k && k->one_way == expected);
	if (!k || k->one_way != expected)
		fprintf(stderr, "\n%s: %s\n", expected ? "goes several ways" : "goes one way", text);
	annotation_free(a);
}

static void kernels_that_go_one_way_are_told(void)
{
	static const char *const one[] = {
		K BARRIER "}",
		K BARRIER " for (int s = 0; s < n / 4; s++) p[s] = 1; }",
		K BARRIER " uint l = get_local_size(0), v = get_global_id(0); for (uint s = l; s; s >>= 1) v += p[v + s]; p[0] = v; }",
		K BARRIER " int m; m = n * 2; while (m-- > sizeof(int)) { if (get_group_id(0) == m) return; if (n) break; } }",
		K BARRIER " do p[n > 3 && n < 9 ? 1 : 2]++; while (--n); }",
		K BARRIER " for (int i = 0; i < n; i++) for (int j = i; j < 9; j++) switch (j) { case 1: p[0] = i; } }",
		K BARRIER " int x = 3; __global int *q = p + x; for (;;) { p[x] = 1; break; } }",
	};
	static const char *const several[] = {
		K "for (int s = 0; s < n; s++) p[s] = 1; }", /* it has no barrier, and needs not be known */
		K BARRIER " if (get_local_id(0)) p[0] = 1; }",
		K BARRIER " int id = get_global_id(0); for (int s = id; s < n; s++) p[s] = 1; }",
		K BARRIER " for (int s = 0; s < p[n]; s++) p[s] = 1; }",
		K BARRIER " int m = n; for (int s = 0; s < m; s++) m = p[s]; }",
		K BARRIER " int m = n, k = n; for (int s = 0; s < m; s++) { m = k; k += p[s]; } }", /* by way of another variable */
		K BARRIER " int m = n, *q = &m; q[0] = p[1]; while (m--) p[m] = 1; }",
		K BARRIER " int m = n; vstore2((int2)(p[0], 1), 0, &(m)); if (m) p[0] = 1; }",
		K BARRIER " __local int m; m = n; while (m) p[m] = 1; }",
		K BARRIER " volatile int m = n; while (m) p[m] = 1; }",
		K BARRIER " int a[2] = {n, p[n]}; if (a[0]) p[0] = 1; }",
		K BARRIER " p[0] = n && p[1] && p[2]; }",
		K BARRIER " p[0] = p[1] ? 1 : 2; }",
		K BARRIER " p[0] = p[1] ?: 2; }",
		K BARRIER " again: if (n--) goto again; }",
		"int f(int n) { return n; } " K BARRIER " p[0] = f(n); }",
		"__constant int c[2] = {1, 2}; " K BARRIER " if (c[get_local_id(0)] == 1) p[0] = 1; }",
		"int get_group_id(int n) { return get_local_id(n); } " K BARRIER " if (get_group_id(0)) p[0] = 1; }",
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(one); i++)
		check_way(one[i], true);
	for (size_t i = 0; i < GS_ARRAY_LEN(several); i++)
		check_way(several[i], false);
}

/* A barrier in a kernel that is not this one, and that this one does not call, has no effect on it. */
#define IF_BARRIER "if (n > 1) {" BARRIER "}"

static void many_conditions_with_barriers_explode(void)
{
	enum { E = HAZARD_EXPLODES };
	static const char three[] = "void three(int n) {" IF_BARRIER IF_BARRIER IF_BARRIER "}";
	char twice[512], nested[512], thrice[512];
	snprintf(twice, sizeof twice, "%s" K "three(n); three(n); }", three); /* 6 */
	snprintf(nested, sizeof nested, "%s" K "three(n); if (n) three(n); }", three); /* 7 */
	snprintf(thrice, sizeof thrice, "%s" K "three(n); three(n); three(n); }", three); /* 9 */
	const struct program programs[] = {
		{0, K IF_BARRIER IF_BARRIER IF_BARRIER IF_BARRIER IF_BARRIER IF_BARRIER "}"},
		{E, K IF_BARRIER IF_BARRIER IF_BARRIER IF_BARRIER IF_BARRIER IF_BARRIER IF_BARRIER "}"},
		{0, K BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER "if (n) p[0] = 1; }"},
		{0, K "if (n) {" BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER "} }"}, /* one condition */
		{0, twice}, {E, nested}, {E, thrice},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL1.2", E);
}

static void hazards_are_those_of_what_a_kernel_calls(void)
{
	static const struct program programs[] = {
		{0, "__kernel void other(int n) { if (n) { " BARRIER " } printf(\"x\"); } " K "p[0] = 1; }"},
		{HAZARD_PRINTS, K "printf(\"%d\\n\", n); }"},
		{HAZARD_PRINTS, "void f(void) { printf(\"x\"); } void g(void) { f(); } " K "g(); }"},
		{HAZARD_PRINTS, "__kernel void g(void) { printf(\"x\"); } " K "g(); }"},
		{0, K "int printf = n; p[0] = printf; }"},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL1.2", ~(unsigned)(HAZARD_STRAIGHT | HAZARD_GROUPED));
}

static void loops_are_told(void)
{
	enum { S = HAZARD_STRAIGHT, N = HAZARD_NESTS };
	static const struct program programs[] = {
		{S, K "if (n) p[0] = 1; else p[1] = n ? 2 : 3; }"},
		{S, "void g(int n) { while (n) n--; } " K "p[0] = 1; }"}, /* nobody calls it */
		{0, "void g(int n) { while (n) n--; } void f(int n) { g(n); } " K "f(n); }"},
		{0, K "for (int i = 0; i < 8; i++) p[i] = 1; }"},
		{0, K "do p[n] = 1; while (n--); }"},
		{N, K "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) p[i + j] = k; }"},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL1.2", S | N);
}

static void kernels_that_can_tell_groups_apart_are_told(void)
{
	enum { G = HAZARD_GROUPED, N = G | HAZARD_NUMBERED };
	static const struct program programs[] = {
		{0, K "int i = get_global_id(0); if (i < n) p[i] = (int)sqrt((float)get_global_size(0)) + get_global_offset(0) + get_work_dim(); }"},
		{0, K "printf(\"%d\", n); atomic_add(p, n); mem_fence(CLK_GLOBAL_MEM_FENCE); }"},
		{0, "int f(int n) { return n + 1; } " K "p[get_global_id(0)] = f(as_int((float)n)) + (int)vload4(0, p).x; }"},
		{0, "void other(__global int *p) { p[get_local_id(0)] = 1; } " K "p[0] = 1; }"}, /* nobody calls it */
		{G, K "p[0] = get_local_size(0); }"},
		{G, "int f(void) { return get_local_id(0); } " K "p[0] = f(); }"},
		{G, K "p[0] = atomic_add(p + 1, n); }"},
		{G, K "atomic_xchg(p, n); }"},
		{G, K BARRIER "}"},
		{G, "__kernel void k(__global int *p, __local int *l) { p[0] = *l; }"},
		{G, K "__local int l[4][2]; p[0] = 1; }"},
		{N, K "p[get_group_id(0)] = 1; }"},
		{N, K "if (get_num_groups(0) > 1) p[0] = 1; }"},
		{N, "int foreign(int n); " K "p[0] = foreign(n); }"},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL1.2", N);
}

static void addresses_that_may_come_from_memory_are_told(void)
{
	enum { A = HAZARD_ADDRESSES };
	static const struct program programs[] = {
		{0, "struct s { int a; float4 b; int c[3]; }; __kernel void k(__global struct s *p, struct s v) { p->a = v.c[1]; }"},
		{0, K "__global int *q = p + n, *a[2] = {p, q}; a[n & 1][1] = *a[0]; __global char *c = (__global char *)p; *c = 1; }"},
		{0, "struct s { __global int *p; }; " K "struct s v; v.p = p; v.p[0] = 1; }"},
		{0, K "__global int *q = 0; __global void *v = (__global void *)0; if (q) p[0] = (long)p; }"},
		{0, K "__local int l[4][2]; l[n][1] = 1; __private int *q = &n; *q = 2; atomic_inc(p); }"},
		{A, K "__global int *q = (__global int *)(ulong)n; *q = 1; }"},
		{A, "typedef __global int *address; __kernel void k(__global ulong *p) { *(address)p[0] = 1; }"},
		{A, "__global int *f(ulong n) { return (__global int *)n; } __kernel void k(ulong n) { *f(n) = 1; }"},
		{A, "#define AT(n) ((__global int *)(n))\n__kernel void k(ulong n) { *AT(n) = 1; }"},
		{A, "struct s { int a; ulong p; }; __kernel void k(struct s v) { *(__global int *)v.p = 1; }"},
		{A, "struct s { __global struct s *next; int v; }; __kernel void k(__global struct s *p) { p->next->v = 1; }"},
		{A, "struct i { struct { __global int *q[2]; } a[2]; }; __kernel void k(__global struct i *p) { *p->a[1].q[0] = 1; }"},
		{A, "union u { ulong n; __global int *p; }; __kernel void k(ulong n) { union u v; v.n = n; *v.p = 1; }"},
		{A, "struct s { union { ulong n; __global int *p; }; }; __kernel void k(ulong n) { struct s v; v.n = n; *v.p = 1; }"},
		{A, "__kernel void k(ulong n) { __global int *q = *(__global int **)&n; *q = 1; }"},
		{A, K "__global int *__local l[2]; l[0] = p; *l[0] = 1; }"},
		{A, K "__global int *__global *q = (__global int *__global *)p; *q[0] = 1; }"},
		{A, K "__asm__(\"nop\"); }"},
	};
	static const struct program modern[] = {
		{0, "__kernel void k(__global atomic_int *p) { int x = 1, *q = &x; atomic_fetch_add(p, *q); }"},
		{A, "struct s { int a; __global int *p; }; __kernel void k(struct s v) { v.a = 1; }"},
		{A, "__kernel void k(__global int *__global *p) { *p[0] = 1; }"},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL1.2", HAZARD_ADDRESSES);
	check(modern, GS_ARRAY_LEN(modern), "-cl-std=CL2.0", HAZARD_ADDRESSES);
}

static void const_that_is_dropped_anywhere_is_told(void)
{
	enum { U = HAZARD_UNCONST };
#define C "__kernel void k(__global const int *p, __global int *o) {"
	static const struct program programs[] = {
		{0, C "__global const int *q = p + 1; __private const int n = 3; *o = *q + n; int *x = (int *)&n; *x = 2; }"},
		{0, C "__global const float *q = (__global const float *)p; *o = (int)*q; __global const int *r = o; }"},
		{0, "int f(__global const int *q) { return *q; } " C "*o = f(p) + f(o); }"},
		{U, C "*(__global int *)p = 1; }"},
		{U, C "__global int *q = p; *q = 1; }"},
		{U, C "__global int *q; q = p; *q = 1; }"},
		{U, "void f(__global int *q) { *q = 1; } " C "f(p); }"},
		{U, "__global int *f(__global const int *q) { return q; } " C "*f(p) = 1; }"},
		{U, "typedef const int fixed; typedef __global fixed *source; __kernel void k(source p) { *(__global int *)p = 1; }"},
		{U, "__kernel void k(__global const int (*p)[4]) { __global int *q = (__global int *)p[0]; q[1] = 1; }"},
		{U, "__kernel void k(__global const int p[]) { __global int *q = p; q[1] = 1; }"},
		{U, "struct s { int a; }; __kernel void k(__global const struct s *p) { ((__global struct s *)p)->a = 1; }"},
		{U, "__kernel void other(__global const int *p) { *(__global int *)p = 1; } " C "*o = *p; }"},
		{U, C "*(__global int *)(ulong)p = 1; }"},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL1.2", HAZARD_UNCONST);
}

static void variables_that_outlive_a_launch_are_told(void)
{
	enum { V = HAZARD_VARIABLES };
	static const struct program programs[] = {
		{0, "__constant int c[2] = {1, 2}; __global const int d = 3; " K "__local int l; l = c[n] + d; p[0] = l; }"},
		{0, "__global int v; __kernel void other(void) { v = 1; } " K "p[0] = 1; }"},
		{0, "__constant sampler_t s = 0; " K "sampler_t t = s; p[0] = 1; }"},
		{V, "__global int v; " K "v = n; }"},
		{V, "__global int v[4]; int f(void) { return v[1]; } " K "p[0] = f(); }"},
		{V, K "static __global int count; p[0] = count++; }"},
		{V, "int v; " K "p[0] = v++; }"},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL2.0", HAZARD_VARIABLES);
}

static void pragmas_of_arithmetic_are_told(void)
{
	enum { R = HAZARD_ROUNDING };
	static const struct program programs[] = {
		{0, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" K "p[0] = 1; }"},
		{0, "#pragma OPENCL FP_CONTRACT OFF\n" K "\n#pragma STDC FP_CONTRACT  OFF\n p[0] = 1; }"},
		{0, "__attribute__((optnone, noinline)) int f(void) { return 1; } " K "p[0] = f(); }"},
		{R, "#pragma OPENCL FP_CONTRACT ON\n" K "p[0] = 1; }"},
		{R, K "\n  # pragma STDC FP_CONTRACT DEFAULT\n p[0] = 1; }"},
		{R, "int f(void) {\n#pragma clang fp reassociate(on)\n return 1; } " K "p[0] = 1; }"},
		{R, "#pragma float_control(precise, off)\n" K "p[0] = 1; }"},
	};
	check(programs, GS_ARRAY_LEN(programs), "-cl-std=CL1.2", HAZARD_ROUNDING);
}

static void check_kinds(const char *declarations, const char *parameters, const char *standard, const unsigned char *expected,
                        size_t count)
{
	struct gs_buf text = {0};
	const struct kernel_entry *k;
	gs_buf_printf(&text, "%s\n__kernel void k(%s) {}", declarations, parameters);
	struct annotation *a = parse(text.data, standard, &k);
	bool same = k && k->arguments == count && !memcmp(k->kinds, expected, count);
	CU_ASSERT(same);
	for (size_t i = 0; !same && k && i < k->arguments; i++)
		fprintf(stderr, "\nargument %zu of (%s): %d\n", i, parameters, k->kinds[i]);
	annotation_free(a);
	gs_buf_free(&text);
}

static void kinds_of_arguments_are_told(void)
{
	static const unsigned char pointers[] = {ARGUMENT_LOCAL, ARGUMENT_CONSTANT, ARGUMENT_CONST, ARGUMENT_GLOBAL, ARGUMENT_CONST,
	                                         ARGUMENT_GLOBAL, ARGUMENT_CONST, ARGUMENT_GLOBAL, ARGUMENT_CONST};
	check_kinds("typedef const int fixed; typedef __global fixed *source; typedef __global int *plain; struct s { int a; };",
	            "__local float *a, __constant int *b, const __global float *c, __global float *restrict const d, source e, "
	            "plain f, __global struct s const volatile *g, __global int h[], __global const int (*i)[4]",
	            "-cl-std=CL1.2", pointers, GS_ARRAY_LEN(pointers));
	static const unsigned char values[] = {ARGUMENT_VALUE, ARGUMENT_VALUE, ARGUMENT_VALUE, ARGUMENT_VALUE, ARGUMENT_VALUE};
	check_kinds("typedef struct { int a; } s; enum e { X }; typedef float4 v;", "int a, const v b, s c, enum e d, ulong e",
	            "-cl-std=CL1.2", values, GS_ARRAY_LEN(values));
	static const unsigned char images[] = {ARGUMENT_READ, ARGUMENT_READ, ARGUMENT_WRITE, ARGUMENT_READ, ARGUMENT_SAMPLER};
	check_kinds("typedef image2d_t picture;", "image2d_t a, read_only image3d_t b, write_only image2d_t c, read_only picture d, sampler_t e",
	            "-cl-std=CL1.2", images, GS_ARRAY_LEN(images));
	static const unsigned char modern[] = {ARGUMENT_WRITE, ARGUMENT_OTHER, ARGUMENT_OTHER, ARGUMENT_GLOBAL};
	check_kinds("", "read_write image2d_t a, read_only pipe int b, queue_t c, __global atomic_int *d", "-cl-std=CL2.0", modern,
	            GS_ARRAY_LEN(modern));
	check_kinds("", "void", "-cl-std=CL1.2", values, 0);
}

/* Checks that the text compiles without printf. */
static void check_silent(const char *text)
{
	static const char *const args[] = {"-xcl", "-cl-std=CL1.2", "-w", "-D" SILENT_MACRO "=1"};
	struct gs_buf all = {0};
	gs_buf_printf(&all, "#define printf there_is_none\n%s", text);
	struct CXUnsavedFile file = {.Filename = "silent.cl", .Contents = all.data, .Length = all.len};
	CXIndex index = clang_createIndex(0, 1);
	CXTranslationUnit tu = clang_parseTranslationUnit(index, file.Filename, args, GS_ARRAY_LEN(args), &file, 1, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tu);
	CU_ASSERT_EQUAL(clang_getNumDiagnostics(tu), 0);
	clang_disposeTranslationUnit(tu);
	clang_disposeIndex(index);
	gs_buf_free(&all);
}

/* Checks the prelude of a text, and how often it calls the substitute for printf. */
static void check_silence(const char *text, enum marker_form form, bool macro, size_t calls)
{
	const struct kernel_entry *k;
	struct annotation *a = parse(text, "-cl-std=CL1.2", &k);
	struct gs_buf out = {0};
	struct gs_error err;
	size_t found = 0;
	CU_ASSERT_EQUAL_FATAL(annotation_write(a, 0, form, &out, &err), 0);
	CU_ASSERT_EQUAL(strstr(out.data, "#ifdef __GPUSIM_SILENT\n") != NULL, macro);
	for (const char *at = out.data; (at = strstr(at, "__gpusim_printf(\"")); at++)
		found++;
	CU_ASSERT_EQUAL(found, calls);
	if (form != MARK_PROBE)
		check_silent(out.data);
	gs_buf_free(&out);
	annotation_free(a);
}

static void twins_can_keep_silent(void)
{
	static const char prints[] = "void f(void) { printf(\"a\"); } " K "f(); if (printf(\"%d printf(\", n++)) "
	                             "printf(\"%v4hld %s %d\", (int4)(n, 1, 2, 3), \"x\", printf(\"d\")); }";
	check_silence(prints, MARK_COUNT_PLAIN, true, 4);
	check_silence(prints, MARK_TRACE_ATOMIC, true, 4);
	check_silence(prints, MARK_PROBE, false, 0);
	check_silence(K "int printf = n; p[0] = printf; }", MARK_COUNT_PLAIN, false, 0);
}

void add_hazards_tests(void)
{
	CU_pSuite s = CU_add_suite("hazards", NULL, NULL);
	CU_add_test(s, "barriers off the straight way are told", barriers_off_the_straight_way_are_told);
	CU_add_test(s, "kernels that go one way are told", kernels_that_go_one_way_are_told);
	CU_add_test(s, "kernels that may wait for other groups are told", kernels_that_may_wait_for_other_groups_are_told);
	CU_add_test(s, "many conditions with barriers explode", many_conditions_with_barriers_explode);
	CU_add_test(s, "hazards are those of what a kernel calls", hazards_are_those_of_what_a_kernel_calls);
	CU_add_test(s, "loops are told", loops_are_told);
	CU_add_test(s, "kernels that can tell groups apart are told", kernels_that_can_tell_groups_apart_are_told);
	CU_add_test(s, "addresses that may come from memory are told", addresses_that_may_come_from_memory_are_told);
	CU_add_test(s, "const that is dropped anywhere is told", const_that_is_dropped_anywhere_is_told);
	CU_add_test(s, "variables that outlive a launch are told", variables_that_outlive_a_launch_are_told);
	CU_add_test(s, "pragmas of arithmetic are told", pragmas_of_arithmetic_are_told);
	CU_add_test(s, "kinds of arguments are told", kinds_of_arguments_are_told);
	CU_add_test(s, "twins can keep silent", twins_can_keep_silent);
}
