/*
 * grammar.c - random OpenCL C for rare parts of the language, made from templates with holes. $e is an expression, $v a vector,
 * $s a statement, $l a new label, $n a small number. The other names are those of the prelude and of the functions that are made
 * here.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

const char grammar_prelude[] =
	"struct st { int m; int4 w; int arr[4]; };\n"
	"__constant int table[4] = {1, 2, 3, 4};\n"
	"int h(int a);\n"
	"int h(int a) { return a + 1; }\n"
	"void w(__global int *p) { p[0] = 1; }\n";

static const char *const expressions[] = {
	"x", "y", "a", "1", "p[0]", "p[$e & 3]", "v.x", "v.s3", "s.m", "(&s)->m", "s.arr[1]", "h($e)", "h(h($e))",
	"table[1]", "')'", "\"(;{\"[0]", "sizeof(int)", "sizeof x++", "sizeof(h(1))", "sizeof(struct st)",
	"__alignof__(x)", "$n", "(int)get_global_id(0)", "($e)", "-$e", "!$e", "~($e)", "x++", "--y", "*p",
	"*(p + $n)", "(x = $e)", "(y += $e)", "$e + $e", "$e * $e", "$e & $e", "$e << 1", "$e < $e", "$e == $e",
	"$e && $e", "$e || $e", "($e ? $e : $e)", "($e, $e)", "(x++, y--, $e)", "($e && p[0])", "($e || h($e))",
	"($e ? p[1] : p[2])", "($e ? h(1) : h(2))", "($e ?: $e)", "(p[0] ?: h(1))", "((int4)($e)).y",
	"((int4)(1, 2, 3, $e)).x", "((struct st){.m = $e}).m", "(int)($v).x", "__builtin_astype(1.0f, int)",
	"__builtin_choose_expr(1, x, h(1))", "__builtin_expect($e, 1)", "({ int t = $e; t; })", "__extension__ $e",
	"vec_step(int4)", "convert_int_sat(1.5f)", "(int)1.5e3f", "any($v == $v)", "min($e, $e)",
	"_Generic(x, int: 1, default: h(2))", "__builtin_offsetof(struct st, w)", "(__typeof__($e))$e",
	"sizeof(__typeof__($e))", "__builtin_constant_p($e)", "__builtin_choose_expr($n, $e, $e)",
	"_Generic($e, float: $e, default: $e)", "(__typeof__(x)){$e}", "($e ? $e : h($e) ? $e : p[1])",
	"((x) ?: (p[$e]))", "(int)(size_t)&x", "(p == 0)", "((void)h($e), $e)", "(($e) ? ($e) : ($e))",
	"($e) && ($e) || ($e)",
};

static const char *const vectors[] = {
	"v", "v.wzyx", "(int4)($e)", "(int4)(v.xy, $e, $e)", "v + $v", "($v ? $v : $v)", "($v && $v)", "vload4(0, p)",
	"s.w", "($e ? $v : (int4)(p[0]))", "-$v", "v.xxyy", "(int4)((int2)($e), (int2)(1))", "s.w.yxwz", "(v = $v)",
};

static const char *const statements[] = {
	"x = $e;", "y += $e;", "p[0] = $e;", "$e;", ";", "v = $v;", "v.xy = (int2)($e);", "h($e);", "w(p);",
	"{ $s $s }", "{}", "if ($e) $s", "if ($e) $s else $s", "if ($e) { $s } else { $s }",
	"if ($e) $s else if ($e) $s else $s", "for (int i = 0; i < $n; i++) $s", "for (;;) { $s break; }",
	"for (x = 0; $e;) $s", "for (int i = h(1), j = 2; i < j && p[i]; i++, j--) { $s }", "while ($e) $s",
	"while ($e) { $s $s }", "do $s while ($e);", "do { $s } while ($e);", "do ; while (0);",
	"switch ($e) { case 1: $s case 2: $s break; default: $s }", "switch ($e) { $s case 7: $s }",
	"switch ($e) case 1: $s", "switch ($e) {}", "switch ($e) { case 1 ... 5: $s }",
	"switch ($e) { default: case 3: case (4): { $s } }",
	"switch ($e) { case 1 ? 2 : 3: $s case sizeof(int): $s case 'a': ; }",
	"switch ($e) { case 1: while ($e) { case 2: $s } }", "{ if ($e) goto $l; $s $s $l: $s }",
	"{ $l: $s if ($e) goto $l; }", "{ while ($e) { if ($e) goto $l; $s } $l: ; }",
	"for (int i = 0; i < 3; i++) { if ($e) continue; $s if ($e) break; $s }",
	"do { if ($e) continue; $s } while ($e);", "if ($e) return x;", "if ($e) return h($e); else $s", "return x;",
	"\n#pragma unroll\nfor (int i = 0; i < 4; i++) $s", "\n#pragma unroll 2\nwhile ($e) $s",
	"\n#pragma nounroll\ndo $s while ($e);", "\n#pragma clang loop unroll(full)\nfor (;$e;) $s",
	"__attribute__((opencl_unroll_hint(2))) for (;$e;) $s", "__attribute__((opencl_unroll_hint)) while ($e) $s",
	"{\n#pragma OPENCL FP_CONTRACT OFF\n$s }", "{\n#pragma STDC FP_CONTRACT ON\nfloat f = 1.0f; $s }",
	"\n# 7 \"other.h\" 1\n$s\n# 9 \"program.cl\" 2\n", "int t = $e;", "int t = $e, u[2] = {$e, $e};",
	"const int t = $e; $s", "struct st t = {.m = $e, .w = $v};", "union { int i; float f; } t; t.i = $e;",
	"typedef int own; own t = $e;", "enum { one = 1, two } t = one;", "{ int h(int a); $s }",
	"extern int h(int);", "__private int *q = &x; *q = $e;", "_Static_assert(1, \"(\");",
	"printf(\"%d;)\\n\", $e);", "barrier(1);", "for (int i = 0; i < 2; i++) { barrier(1); $s }",
	"while (h($e)) barrier(1);", "if (sizeof(int) == 4) barrier(1);", "(void)atomic_add(p, $e);",
	"__attribute__((unused)) int t = $e;", "$l: __attribute__((unused)) $s", "{ $l: $s }", "{ $s $l: }",
	"switch ($e) { case 1: $s __attribute__((fallthrough)); case 2: $s }", "__typeof__($e) t = $e;",
	"__constant int *__constant t = 1 ? &table[0] : &table[1];", "_Static_assert(sizeof($e), \"\");",
	"static __constant int t = sizeof($e);", "struct { __typeof__($e) m; int b : 1 ? 2 : 3; } t;",
	"enum { e1 = sizeof($e) };", "int t[sizeof($e)] = {$e};", "__asm__(\"nop\");",
	"for (struct st t = s; t.m < $n; t.m++) $s", "if (({ $s x; })) $s", "{ typedef int fn(int); }",
	"x = $e ? $e : $e ? $e : $e;", "($e) ? (void)(x = $e) : (void)w(p);", "($e) && (x = $e);", "if ($e) ; else ;",
	"for (int i = 0; i < 3; i++) for (int j = 0; j < 2; j++) if ($e) $s else $s", "<% $s %>",
	"if ($e) <% $s %> else <% $s %>", "x = table<:1:>;", "int t<:2:> = <%1, $e%>;",
	"while ($e) if ($e) break; else continue;", "goto $l; $l: $s",
	"if ($e) for (;;) if ($e) break; else $s else $s", "do do $s while ($e); while ($e);",
	"{ __label__ $l; goto $l; $l: ; }",
};

/* Whole declarations. $N is a number that no other function has. */
static const char *const functions[] = {
	"int f$N(int a, __global int *p) { int x = a, y = 1; int4 v = (int4)(a); struct st s = {1}; $s $s"
	    " return x; }\n",
	"__kernel void k$N(__global int *p, int a) { int x = a, y = 1; int4 v = (int4)(a); struct st s = "
	    "{1}; $s $s }\n",
	"__kernel void k$N(__global int *p) { int a = get_global_id(0), x = a, y = 1; int4 v = (int4)(a);"
	    " struct st s; $s if (a > 3) return; $s $s }\n",
	"kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k$N(__global int *p) { int a = 1, x ="
	    " a, y = 1; int4 v = a; struct st s = {1}; $s }\n",
	"__kernel void k$N(__global int *p) { p[0] = 1; }\n__kernel void c$N(__global int *p) { k$N(p); "
	    "if (p[0]) k$N(p + 1); }\n",
	"__kernel void k$N(__global int *p);\nvoid c$N(__global int *p) { k$N(p); }\nvoid __kernel "
	    "k$N(__global int *p) { for (int i = 0; i < 3; i++) if (p[i]) return; }\n",
	"static inline int f$N(void) { return $n; }\nint g$N(int a) { return f$N() + a; }\n",
	"int f$N() { return $n; }\nint g$N(int a) { return f$N() + a; }\n",
	"int (f$N)(int a) { return a; }\nint g$N(int a) { return f$N(a); }\n", "int f$N(a) int a; { return a; }\n",
	"int f$N(x) { return x; }\n",
	"typedef void none$N; int f$N(none$N);\nint f$N(none$N) { return 1; }\nint g$N(int a) { return "
	    "f$N() ? a : 2; }\n",
	"__global int (*f$N(__global int *p, int a))[4] { return (__global int (*)[4])(p + a); }\nint "
	    "g$N(__global int *p) { return (*f$N(p, 1))[2]; }\n",
	"int f$N(int a[const 4], int);\nint f$N(int a[const 4], int b) { return a[b & 3]; }\nint g$N(int "
	    "a) { int t[4] = {a}; return f$N(t, 1); }\n",
	"typedef int fn$N(int); fn$N f$N; int f$N(int a) { return a; }\n",
	"int f$N(int a), g$N(int a); int f$N(int a) { return g$N(a); }\n",
	"int __attribute__((overloadable)) o$N(int a) { return a; }\nfloat __attribute__((overloadable)) "
	    "o$N(float a) { return a + o$N(1); }\n",
	"__attribute__((const)) int f$N(int a) __attribute__((always_inline));\nint f$N(int a) { return "
	    "h(a); }\n",
	"__global int *f$N(__global int *p) { return p + 1; }\nint g$N(__global int *p) { return *f$N(p) "
	    "? f$N(p)[1] : 0; }\n",
	"struct st f$N(int a) { struct st s = {a}; return s; }\nint g$N(int a) { return a ? f$N(a).m : "
	    "f$N(1).w.x; }\n",
	"int f$N(int a) { return a ? f$N(a - 1) : 0; }\n",
	"__kernel __attribute__((vec_type_hint(int4))) void k$N(__global int *p) { }\n",
	"__kernel void k$N(void) { }\nkernel void c$N() { k$N(); }\n",
	"float4 f$N(__private float4 a) { return a.x > 0 ? a : -a; }\n",
	"__kernel void k$N(__global int *p) { __local int t[4]; t[get_local_id(0) & 3] = p[0]; "
	    "barrier(1); p[0] = t[0]; }\n",
	"int e$N(int);\nint f$N(int a) { return e$N(a) ? e$N(1) : h(2); }\n",
	"__kernel void k$N(read_only image2d_t i, sampler_t t, __global float4 *p) { p[0] = "
	    "read_imagef(i, t, (int2)(0)); }\n",
	"__constant sampler_t t$N = 0x10;\n", "@\n",
	"int f$N(int a)\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n{ return a; }\n",
	"int f$N(int get_local_id) { return get_local_id; }\n", "_Static_assert(sizeof(int) == 4, \"{\");\n",
	"__kernel void k$N(__global int *get_global_id) { if (get_global_id[0]) get_global_id[1]++; }\n",
	"__kernel void k$N(__global int *p) <% if (p[0]) p[1] = 2; %>\n", ";\n",
};

static const char *const wraps[][2] = {
	{"if (x) ", ""}, {"if (x) ", " else y = 1;"}, {"if (x) y = 1; else ", ""}, {"while (x) ", ""}, {"for (;x;) ", ""},
	{"do ", " while (x);"}, {"{ ", " }"}, {"switch (x) { case 1: ", " }"}, {"switch (x) case 1: ", ""},
	{"switch (x) default: ", ""},
	{"\n#pragma unroll\nfor (int i = 0; i < 4; i++) ", ""}, {"{\n#pragma STDC FP_CONTRACT ON\n", "}"}, {"<%", "%>"},
	{"__attribute__((opencl_unroll_hint(2))) while (x) ", ""}, {"L1: ", ""}, {"L2: ", " goto L2;"}, {"goto L3; ", " L3: ;"},
	{"if (x) { ", " return; }"}, {"if (x) { ", " break; }"}, {"if (x) { ", " continue; }"}, {"x = ({ ", " x; });"},
	{"int t; ", ""},
};

static uint64_t state;

void grammar_seed(unsigned int seed)
{
	state = seed * 0x9e3779b97f4a7c15u + 1;
}

uint32_t grammar_chance(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

static void fill(struct gs_buf *out, const char *template, int depth);

/* One template of the list. If the depth is large enough, it takes one of the first, which have no holes. */
static void any_of(struct gs_buf *out, const char *const *list, size_t count, size_t leaves, int depth)
{
	fill(out, list[grammar_chance((uint32_t)(depth > 0 ? count : leaves))], depth - 1);
}

void grammar_expression(struct gs_buf *out, int depth)
{
	any_of(out, expressions, GS_ARRAY_LEN(expressions), 5, depth);
}

void grammar_statement(struct gs_buf *out, int depth)
{
	any_of(out, statements, GS_ARRAY_LEN(statements), 6, depth);
}

static void fill(struct gs_buf *out, const char *template, int depth)
{
	unsigned own = grammar_chance(1000);
	for (const char *p = template; *p; p++) {
		if (*p != '$') {
			gs_buf_add(out, p, 1);
			continue;
		}
		switch (*++p) {
		case 'e': grammar_expression(out, depth); break;
		case 's': grammar_statement(out, depth); break;
		case 'v': any_of(out, vectors, GS_ARRAY_LEN(vectors), 2, depth); break;
		case 'l': gs_buf_printf(out, "l%u", own); break;
		case 'N': gs_buf_printf(out, "%u", own); break;
		default: gs_buf_printf(out, "%u", grammar_chance(9));
		}
	}
}

void grammar_function(struct gs_buf *out)
{
	any_of(out, functions, GS_ARRAY_LEN(functions), GS_ARRAY_LEN(functions), 4);
}

void grammar_wrap(const char **before, const char **behind)
{
	size_t i = grammar_chance(GS_ARRAY_LEN(wraps));
	*before = wraps[i][0];
	*behind = wraps[i][1];
}
