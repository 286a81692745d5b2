/*
 * generate - writes a random OpenCL C program and a plain C translation of it that counts its blocks.
 *
 *   generate SEED KERNELS PREFIX [divided] [relaxed]     makes PREFIX.cl and PREFIX.c, always the same ones for a seed
 *
 * divided: every kernel has barriers. Most are under conditions that are the same for a group, with breaks, returns and
 * divergent branches around them. relaxed: the program is built with options that allow inexact arithmetic. The arithmetic of
 * these programs is exact anyway.
 *
 * A block is a place where a counter would stand: the entry of a function, a then, a written else, the body of a loop, a case or
 * default, a label. In PREFIX.cl, block k follows a comment that is the first one on its line: slash-star B k star-slash.
 * PREFIX.c counts it in count_[k]. At the top of PREFIX.cl, lines "// kernel NAME GLOBAL_X GLOBAL_Y GLOBAL_Z LOCAL_X LOCAL_Y
 * LOCAL_Z LOCAL_BYTES" say how each kernel is launched, and "// options" says how the program is built.
 *
 * Every program has only one meaning. It has unsigned arithmetic, floats that are always exact, no dependence on the order of
 * evaluation, no races, barriers in uniform flow only, and loops with few trips. A work-item writes its own elements. It writes
 * shared ones by atomics whose result is not used. Both texts are written at once. Where they differ, the text has a pair of
 * alternatives.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "generate.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct generator g;

/* ---- chance ---- */

uint32_t chance(uint32_t below)
{
	g.random += 0x9e3779b97f4a7c15u;
	uint64_t z = g.random;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) >> 33) % below;
}

int percent(uint32_t p)
{
	return chance(100) < p;
}

/* ---- text ---- */

void put(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(g.out, format, ap);
	va_end(ap);
}

void line(void)
{
	put("\n");
	for (int i = 0; i < g.indent; i++)
		put("\t");
}

/* Starts a block in braces. */
void open_block(void)
{
	int k = g.blocks++;

	line();
	put(ALT("/*B%d*/{", "{ count_[%d]++;"), k, k);
	g.indent++;
}

void close_brace(void)
{
	g.indent--;
	line();
	put("}");
}

void declare(const char *text, int assignable)
{
	if (g.name_count == MAX_NAMES)
		return;
	struct name *n = &g.names[g.name_count++];
	snprintf(n->text, sizeof n->text, "%s", text);
	n->assignable = assignable;
}

/* ---- the program ---- */

static void preamble(void)
{
	put("#define STEP(x, a) do { x += (a); if (x & 1u) x ^= x >> 3; } while (0)\n");
	put("struct pair { uint a, b; };\n");
	put("struct nest { struct pair in[2]; uint n; };\n");
	put("__constant uint table[16] = {");
	for (int i = 0; i < 16; i++)
		put("%s%uu", i ? ", " : "", chance(100000));
	put("};\n__constant uint table_of_256[256] = {");
	for (int i = 0; i < 256; i++)
		put("%s%uu", i ? (i % 16 ? ", " : ",\n\t") : "", chance(100000));
	put("};\n");
}

static int disable_optimisation(void)
{
	return g.seed & 1 && !g.relaxed && !g.divided;
}

static const char *options(void)
{
	static const char *const relaxed[] = {"-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations", "-cl-mad-enable",
	                                      "-cl-finite-math-only", "-cl-no-signed-zeros", "-cl-denorms-are-zero"};
	if (g.relaxed)
		return relaxed[(unsigned long)g.seed % (sizeof relaxed / sizeof *relaxed)];
	return disable_optimisation() ? "-cl-opt-disable" : "";
}

static void program(struct kernel *kernels, int count)
{
	int callee = -1;

	preamble();
	g.helper_count = 2 + (int)chance(MAX_HELPERS - 1);
	for (int h = 0; h < g.helper_count; h++) {
		g.helpers[h] = (struct helper){(enum helper_kind)chance(HELPER_KINDS), percent(40), percent(50)};
		if (!g.helpers[h].late && !percent(30))
			continue;
		helper_head(h);
		put(";\n");
	}
	for (int h = 0; h < g.helper_count; h++)
		if (!g.helpers[h].late)
			helper(h);
	for (int k = 0; k < count; k++) {
		int calls = percent(20) ? callee : -1;
		kernel(k, &kernels[k], calls);
		/* without optimisation, POCL 3.1 cannot link a kernel that calls a kernel that calls another one */
		if (kernels[k].plain && (calls < 0 || !disable_optimisation()))
			callee = k;
	}
	for (int h = 0; h < g.helper_count; h++)
		if (g.helpers[h].late)
			helper(h);
}

/* Writes one of the two alternatives of every pair. */
static void write_side(const char *text, int c_side, FILE *to)
{
	int side = 0;

	for (; *text; text++) {
		if (*text >= 1 && *text <= 3)
			side = *text % 3;
		else if (side == 0 || side == 1 + c_side)
			fputc(*text, to);
	}
}

static FILE *create(const char *prefix, const char *ending)
{
	char path[4096];

	snprintf(path, sizeof path, "%s.%s", prefix, ending);
	FILE *f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static void write_program(const char *prefix, const char *text, const struct kernel *kernels, int count)
{
	FILE *cl = create(prefix, "cl"), *c = create(prefix, "c");

	fprintf(cl, "// options %s\n", options());
	for (int k = 0; k < count; k++) {
		const struct range *r = &kernels[k].range;
		fprintf(cl, "// kernel g%ld_%d %u %u %u %u %u %u %u\n", g.seed, k, r->global[0], r->global[1], r->global[2],
		        r->local[0], r->local[1], r->local[2],
		        kernels[k].local_argument ? r->local[0] * r->local[1] * r->local[2] * 4 : 0);
	}
	write_side(text, 0, cl);
	fprintf(c, "#define BLOCKS %d\n#include \"translation.h\"\n", g.blocks);
	write_side(text, 1, c);
	for (int k = 0; k < count; k++)
		fprintf(c, "\nstatic void run%d(const struct work *w)\n{\n\tg%ld_%d(w->in, w->out, w->n%s);\n}\n", k, g.seed, k,
		        kernels[k].local_argument ? ", local_argument_" : "");
	fprintf(c, "\nvoid execute(int kernel, const struct work *w)\n{\n\tswitch (kernel) {\n");
	for (int k = 0; k < count; k++)
		fprintf(c, "\tcase %d: run_kernel(w, %d, run%d); break;\n", k, kernels[k].barriers, k);
	fprintf(c, "\t}\n}\n");
	fclose(cl);
	fclose(c);
}

int main(int argc, char **argv)
{
	int count = argc >= 4 ? atoi(argv[2]) : 0;
	struct kernel kernels[64] = {0};
	char *text;
	size_t size;

	if (count < 1 || count > 64) {
		fprintf(stderr, "usage: generate SEED KERNELS PREFIX [divided] [relaxed]      (1 to 64 kernels)\n");
		return 2;
	}
	for (int i = 4; i < argc; i++) {
		g.divided |= !strcmp(argv[i], "divided");
		g.relaxed |= !strcmp(argv[i], "relaxed");
	}
	g.seed = atol(argv[1]);
	g.random = (uint64_t)g.seed * 0xd1342543de82ef95u;
	for (int k = 0; k < count; k++) {
		kernels[k].range = choose_range();
		kernels[k].barriers = percent(35) || g.divided;
		kernels[k].local_argument = kernels[k].barriers && percent(40);
		kernels[k].required_size = percent(10);
		kernels[k].plain = !kernels[k].barriers && !kernels[k].required_size;
	}
	g.out = open_memstream(&text, &size);
	if (!g.out)
		return 1;
	program(kernels, count);
	fclose(g.out);
	write_program(argv[3], text, kernels, count);
	free(text);
	return 0;
}
