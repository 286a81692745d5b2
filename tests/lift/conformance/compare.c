/*
 * compare - compares what two ways of executing the kernels of a folder have written.
 *
 *   compare FOLDER WAY WAY [NAME...]
 *
 * The bits must be equal, form by form and thread by thread. Any two values that are not a number are equal: PTX does not say which bits they
 * have. A GPU flushes what is tiny before it is rounded (.ftz), and subnormal sums of atomic additions in global memory: both may be 0.
 * Its sin, cos and tanh, which are ours as well, are not compared with the oracle's: PTX promises too little for large arguments. Approximate
 * instructions may differ by 2^-19 of the value, or of 1 where a sine or cosine is small, and treat subnormal values as they like.
 * Prints a line per form that differs, with the first thread where it does, and "N passed, N failed" for the forms.
 */
#include "tests/lift/conformance/folder.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
	const char *folder, *ways[2];
	unsigned passed, failed, missing;
};

static bool is_nan(uint64_t v, const char *kind)
{
	if (!strcmp(kind, "f32"))
		return (v & 0x7fffffff) > 0x7f800000;
	if (!strcmp(kind, "f64"))
		return (v & INT64_MAX) > 0x7ff0000000000000;
	return !strcmp(kind, "f16") && (v & 0x7fff) > 0x7c00;
}

static double real_value(uint64_t v, const char *kind)
{
	float f;
	double d;
	uint32_t bits = (uint32_t)v;
	if (!strcmp(kind, "f64")) {
		memcpy(&d, &v, 8);
		return d;
	}
	memcpy(&f, &bits, 4);
	return (double)f;
}

static bool nearly(uint64_t a, uint64_t b, const char *kind, const char *text)
{
	double x = real_value(a, kind), y = real_value(b, kind), small = 1.1754944e-38 * 4;
	bool wave = strstr(text, "sin.") || strstr(text, "cos.") || strstr(text, "lg2.");
	if (isinf(x) || isinf(y)) /* a subnormal divisor may be 0 */
		return x == y || fabs(isinf(x) ? y : x) > 1e37;
	if (fabs(x) < small && fabs(y) < small)
		return true;
	return fabs(x - y) <= ldexp(fmax(fmax(fabs(x), fabs(y)), wave ? 1 : 0), -19);
}

/* The least normal value and 0 of the same sign, or two subnormal values. */
static bool flushed(uint64_t a, uint64_t b, const char *text)
{
	bool atomic = strstr(text, "atom.global.add.f32") || strstr(text, "red.global.add.f32");
	if (atomic)
		return (a & 0x7fffffff) < 0x00800000 && (b & 0x7fffffff) < 0x00800000;
	return strstr(text, ".ftz") && a >> 31 == b >> 31 && ((a | b) & 0x7fffffff) == 0x00800000 && !(a & b & 0x7fffffff);
}

static bool equal(uint64_t a, uint64_t b, const char *kind, const char *text)
{
	if (a == b || (is_nan(a, kind) && is_nan(b, kind)) || (!strcmp(kind, "f32") && flushed(a, b, text)))
		return true;
	if (!strcmp(kind, "x2") || strstr(text, "bf16x2") || strstr(text, "f16x2"))
		return a >> 32 == b >> 32 && equal(a & 0xffff, b & 0xffff, strstr(text, "bf16") ? "bf16" : "f16", "") &&
		       equal(a >> 16 & 0xffff, b >> 16 & 0xffff, strstr(text, "bf16") ? "bf16" : "f16", "");
	if (strstr(text, "bf16") || !strcmp(kind, "bf16"))
		return (a & 0x7fff) > 0x7f80 && (b & 0x7fff) > 0x7f80;
	return (strstr(text, ".approx") || strstr(text, "div.full")) && !is_nan(a, kind) && !is_nan(b, kind) && nearly(a, b, kind, text);
}

/* One form: words of all threads. */
static void compare_form(struct comparison *c, const char *name, const char *line, const uint64_t *const results[2], unsigned threads)
{
	unsigned number, differ = 0, first = 0;
	char kind[16];
	int at = 0;
	if (sscanf(line, "// form %u %15s %n", &number, kind, &at) != 2)
		return;
	const char *text = line + at;
	bool oracle = !strcmp(c->ways[0], "oracle") || !strcmp(c->ways[1], "oracle");
	if (oracle && (!strncmp(text, "sin.", 4) || !strncmp(text, "cos.", 4) || !strncmp(text, "tanh.", 5)))
		return;
	for (unsigned t = 0; t < threads; t++) {
		size_t place = (size_t)number * threads + t;
		if (!equal(results[0][place], results[1][place], kind, text) && !differ++)
			first = t;
	}
	*(differ ? &c->failed : &c->passed) += 1;
	if (differ)
		printf("FAIL %s, %.*s: %u differ; thread %u: %s %llx, %s %llx\n", name, (int)strcspn(text, "\n"), text, differ, first, c->ways[0],
		       (unsigned long long)results[0][(size_t)number * threads + first], c->ways[1],
		       (unsigned long long)results[1][(size_t)number * threads + first]);
}

static void compare_kernel(void *user, const char *name)
{
	struct comparison *c = user;
	char suffix[2][64], *data[2], *ptx;
	size_t length[2] = {0}, ptx_length;
	unsigned blocks, block, results;
	ptx = folder_read(c->folder, name, ".ptx", &ptx_length);
	for (int i = 0; i < 2; i++) {
		snprintf(suffix[i], sizeof suffix[i], ".%s", c->ways[i]);
		data[i] = folder_read(c->folder, name, suffix[i], &length[i]);
	}
	if (!ptx || !data[0] || !data[1] || length[0] != length[1] || sscanf(ptx, "// launch %u %u %u", &blocks, &block, &results) != 3 ||
	    length[0] != (size_t)blocks * block * results * 8) {
		printf("FAIL %s: no results to compare\n", name);
		c->missing++;
	} else {
		for (const char *p = ptx; (p = strstr(p, "// form ")); p++)
			compare_form(c, name, p, (const uint64_t *const[2]){(uint64_t *)(void *)data[0], (uint64_t *)(void *)data[1]}, blocks * block);
	}
	free(data[0]);
	free(data[1]);
	free(ptx);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: compare FOLDER WAY WAY [NAME...]\n");
		return 2;
	}
	struct comparison c = {.folder = argv[1], .ways = {argv[2], argv[3]}};
	folder_visit(argv[1], argc - 4, argv + 4, compare_kernel, &c);
	printf("%u passed, %u failed\n", c.passed, c.failed + c.missing);
	return c.failed + c.missing > 0;
}
