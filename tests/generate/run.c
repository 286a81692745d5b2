/*
 * run - runs generated programs (generate.c) on an OpenCL device and compares the results.
 *
 *   run launch ENDING PREFIX    Builds PREFIX.cl, launches each of its kernels once and writes their output buffers to PREFIX.ENDING. It
 *                               is an ordinary OpenCL program, and runs with the library or without. With the ending
 *                               "unoptimised", it builds with -cl-opt-disable.
 *   run compare PREFIX...       Executes PREFIX.so, the C translation. Compares its output buffers with those of PREFIX.plain and
 *                               PREFIX.library, and its counts with PREFIX.json, the library's report.
 *
 * compare ends with "N passed, N failed, N skipped" over the kernels. A failure says how to make the program again. A kernel is
 * skipped if the driver alone computes it wrongly: its result is wrong, but that of PREFIX.unoptimised or PREFIX.replicated, if
 * they exist, is right.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <stdbool.h>
#include <CL/cl.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

enum { MOST_KERNELS = 64, MOST_BLOCKS = 4096 };

struct program {
	const char *prefix;
	char *text, options[64];
	struct work works[MOST_KERNELS];
	int work_count;
};

static uint32_t in_words[IN_WORDS];

static size_t out_words(const struct work *w)
{
	return (size_t)w->global[0] * w->global[1] * w->global[2] * OUT_PER_ITEM + OUT_SHARED;
}

static char *read_file(const char *prefix, const char *ending, size_t *size)
{
	char path[4096];

	snprintf(path, sizeof path, "%s%s", prefix, ending);
	FILE *f = fopen(path, "r");
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	char *text = calloc(1, *size + 1);
	if (text && fread(text, 1, *size, f) != *size) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

/* The comment lines at the top say how the kernels are built and launched. */
static int load_program(struct program *p, const char *prefix)
{
	size_t size;
	int read = 0;

	memset(p, 0, sizeof *p);
	p->prefix = prefix;
	p->text = read_file(prefix, ".cl", &size);
	if (!p->text)
		return -1;
	for (char *at = p->text; !strncmp(at, "// ", 3); at = strchr(at, '\n') + 1) {
		struct work *w = &p->works[p->work_count];
		if (!strncmp(at, "// options ", 11))
			snprintf(p->options, sizeof p->options, "%.*s", (int)strcspn(at + 11, "\n"), at + 11);
		else if (p->work_count < MOST_KERNELS &&
		         sscanf(at, "// kernel %31s %u %u %u %u %u %u %u%n", w->name, &w->global[0], &w->global[1], &w->global[2],
		                &w->local[0], &w->local[1], &w->local[2], &w->local_bytes, &read) == 8)
			p->work_count++;
	}
	for (int k = 0; k < p->work_count; k++) {
		p->works[k].in = in_words;
		p->works[k].n = 5 + 7 * (uint32_t)k;
	}
	return 0;
}

/* ---- launch ---- */

static struct {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_mem in;
} cl;

static void must(cl_int err, const char *what, const char *whose)
{
	if (err) {
		fprintf(stderr, "run: %s: %s gave %d\n", whose, what, err);
		exit(1);
	}
}

static void open_device(void)
{
	cl_platform_id platform;
	cl_int err;

	must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs", "device");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &cl.device, NULL), "clGetDeviceIDs", "device");
	cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &err);
	must(err, "clCreateContext", "device");
	cl.queue = clCreateCommandQueue(cl.context, cl.device, 0, &err);
	must(err, "clCreateCommandQueue", "device");
	cl.in = clCreateBuffer(cl.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in_words, in_words, &err);
	must(err, "clCreateBuffer", "device");
}

static void launch_kernel(cl_program program, const struct work *w, FILE *to)
{
	size_t bytes = out_words(w) * sizeof(uint32_t), global[3] = {w->global[0], w->global[1], w->global[2]};
	size_t local[3] = {w->local[0], w->local[1], w->local[2]};
	cl_uint dimensions = w->global[2] > 1 ? 3 : 2;
	uint32_t *out = calloc(1, bytes);
	cl_int err;
	cl_kernel kernel = clCreateKernel(program, w->name, &err);

	must(err, "clCreateKernel", w->name);
	cl_mem mem = clCreateBuffer(cl.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, out, &err);
	must(err, "clCreateBuffer", w->name);
	must(clSetKernelArg(kernel, 0, sizeof cl.in, &cl.in), "clSetKernelArg", w->name);
	must(clSetKernelArg(kernel, 1, sizeof mem, &mem), "clSetKernelArg", w->name);
	must(clSetKernelArg(kernel, 2, sizeof w->n, &w->n), "clSetKernelArg", w->name);
	if (w->local_bytes)
		must(clSetKernelArg(kernel, 3, w->local_bytes, NULL), "clSetKernelArg", w->name);
	must(clEnqueueNDRangeKernel(cl.queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL), "launch", w->name);
	must(clEnqueueReadBuffer(cl.queue, mem, CL_TRUE, 0, bytes, out, 0, NULL, NULL), "clEnqueueReadBuffer", w->name);
	fwrite(out, 1, bytes, to);
	clReleaseMemObject(mem);
	clReleaseKernel(kernel);
	free(out);
}

static void launch_program(const struct program *p, const char *ending)
{
	char path[4096], log[4096] = "";
	cl_int err;
	cl_program program = clCreateProgramWithSource(cl.context, 1, (const char **)&p->text, NULL, &err);

	must(err, "clCreateProgramWithSource", p->prefix);
	err = clBuildProgram(program, 1, &cl.device, p->options, NULL, NULL);
	if (err) {
		clGetProgramBuildInfo(program, cl.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
		fprintf(stderr, "%s\n", log);
	}
	must(err, "clBuildProgram", p->prefix);
	snprintf(path, sizeof path, "%s.%s", p->prefix, ending);
	FILE *to = fopen(path, "w");
	must(to ? 0 : -1, "fopen", path);
	for (int k = 0; k < p->work_count; k++)
		launch_kernel(program, &p->works[k], to);
	fclose(to);
	clReleaseProgram(program);
}

static int launch(const char *ending, const char *prefix)
{
	struct program p;

	open_device();
	must(load_program(&p, prefix), "reading", prefix);
	if (!strcmp(ending, "unoptimised"))
		snprintf(p.options, sizeof p.options, "-cl-opt-disable");
	launch_program(&p, ending);
	free(p.text);
	clReleaseMemObject(cl.in);
	clReleaseCommandQueue(cl.queue);
	clReleaseContext(cl.context);
	return 0;
}

/* ---- counts ---- */

/* Where the blocks of a program stand: after the marker comments, at most one in a line. */
struct markers {
	int by_line[1 << 16]; /* block + 1, 0: none */
	int columns[MOST_BLOCKS];
	bool stacked[MOST_BLOCKS]; /* a case directly before another case: both are one block, that of the last case */
	bool macro[MOST_BLOCKS];   /* begins with the programs' macro, whose own blocks have the same place */
};

/* "case 3:" or "default:", and on the next line the marker of another one. */
static bool is_stacked(const char *text)
{
	int length = 0, block, next = 0;

	if (strncmp(text, "case ", 5) && strncmp(text, "default:", 8))
		return false;
	length = (int)strcspn(text, ":\n");
	text += length;
	if (text[0] != ':' || text[1] != '\n')
		return false;
	text += 2 + strspn(text + 2, "\t ");
	return sscanf(text, "/*B%d*/%n", &block, &next) == 1 && next &&
	       (!strncmp(text + next, "case ", 5) || !strncmp(text + next, "default:", 8));
}

static void find_markers(struct markers *m, const char *text)
{
	size_t at_line = 1;
	int column = 1, block, length;

	memset(m, 0, sizeof *m);
	for (; *text; text++, column++) {
		if (*text == '\n') {
			at_line++;
			column = 0;
		} else if (*text == '/' && sscanf(text, "/*B%d*/%n", &block, &length) == 1 && block < MOST_BLOCKS &&
		           at_line + 1 < sizeof m->by_line / sizeof m->by_line[0]) {
			/* a loop with a pragma before it begins at the pragma */
			bool pragma = !strncmp(text + length, "\n#pragma", 8);
			m->by_line[at_line + pragma] = block + 1;
			m->columns[block] = pragma ? 1 : column + length;
			m->stacked[block] = is_stacked(text + length);
			m->macro[block] = !strncmp(text + length, "STEP(", 5);
		}
	}
}

/* The part of the report about the only launch of a kernel. *end is after it. */
static const char *find_launch(const char *report, const char *kernel, const char **end)
{
	char key[64];

	snprintf(key, sizeof key, "\"kernel\":\"%s\"", kernel);
	const char *at = strstr(report, key), *launches_end = strstr(report, "\"summary\":");
	if (!at || (launches_end && at > launches_end))
		return NULL;
	*end = strstr(at, "\n{\"seq\":");
	if (!*end)
		*end = launches_end ? launches_end : at + strlen(at);
	return at;
}

/* A number in the object that starts at `at`. */
static int number(const char *at, const char *key, uint64_t *value)
{
	const char *end = strchr(at, '}'), *found = strstr(at, key);

	return end && found && found < end && sscanf(found + strlen(key), " : %" SCNu64, value) == 1 ? 0 : -1;
}

/*
 * Compares the launch's blocks[] = [{"line":..,"column":..,"count":..}] with the counts of the translation. Line and column are
 * those of the block's first token in the user's file: the brace or statement after an if, an else, a loop or a function, the
 * word case or default, the name of a label. If a macro made several blocks in one place, the first contains the others. The
 * library may have further blocks at places without markers. Every marked block that ran must be in the report. Returns 1 if the
 * report has no blocks, -1 (with *why) if they differ.
 */
static int compare_counts(const char *report, const char *kernel, const struct markers *m, const uint64_t *expected,
                          int block_count, char *why, size_t why_size)
{
	const char *end = NULL, *launch = find_launch(report, kernel, &end), *at;
	uint64_t counts[MOST_BLOCKS] = {0}, at_line, column, count;
	bool counted[MOST_BLOCKS] = {0};

	at = launch ? strstr(launch, "\"blocks\":[") : NULL;
	if (!at || at > end)
		return 1;
	for (at += 10; *at != ']' && (at = strchr(at, '{')) && at < end; at = strchr(at, '}') + 1) {
		if (number(at, "\"line\"", &at_line) || number(at, "\"column\"", &column) || number(at, "\"count\"", &count)) {
			snprintf(why, why_size, "a block without line, column or count");
			return -1;
		}
		const char *kind = strstr(at, "\"kind\":\"entry\"");
		bool entry = kind && kind < strchr(at, '}');
		/* The place of a function is its name. Its marker is at the brace, which begins the next line. */
		at_line += entry;
		int block = at_line < 1 << 16 ? m->by_line[at_line] - 1 : -1;
		if (block >= 0 && !(counted[block] && m->macro[block]) && (entry || (int)column == m->columns[block])) {
			counts[block] += count;
			counted[block] = true;
		}
	}
	for (int b = 0; b < block_count; b++) {
		if (counts[b] == expected[b] || m->stacked[b])
			continue;
		snprintf(why, why_size, "block %d ran %" PRIu64 " times, the library counts %" PRIu64, b, expected[b],
		         counts[b]);
		return -1;
	}
	return 0;
}

/* Whether the report has an estimate for the launch of the kernel. If not, *why says why. */
static int modelled(const char *report, const char *kernel, char *why, size_t why_size)
{
	char key[96];
	const char *end, *at = find_launch(report, kernel, &end), *untouched = strstr(report, "\"not_modelled\":[");

	/* The commands of the timeline come later and have kernels, too. */
	snprintf(key, sizeof key, "\"kernel\":\"%s\",\"launches\":", kernel);
	untouched = untouched ? strstr(untouched, key) : NULL;
	if (untouched)
		snprintf(why, why_size, "not modelled: %.*s", (int)strcspn(untouched, "}"), untouched);
	else if (!at)
		snprintf(why, why_size, "its launch is not in the report");
	return at && !untouched;
}

/* ---- compare ---- */

static struct {
	int passed, failed, skipped, uncounted;
} totals;

/* The output buffers of a run, one kernel after the other. */
struct results {
	const char *how;
	char *data;
	size_t size_bytes;
};

static struct results read_results(const char *prefix, const char *ending, const char *how)
{
	struct results r = {.how = how};

	r.data = read_file(prefix, ending, &r.size_bytes);
	return r;
}

static int same(const struct results *r, size_t offset, const uint32_t *expected, size_t words, char *why,
                size_t why_size)
{
	if (!r->data || (offset + words) * 4 > r->size_bytes) {
		snprintf(why, why_size, "no results of the run %s", r->how);
		return 0;
	}
	for (size_t i = 0; i < words; i++) {
		uint32_t got;
		memcpy(&got, r->data + (offset + i) * 4, 4);
		if (got != expected[i]) {
			snprintf(why, why_size, "out[%zu] is %08x %s, %08x in C", i, got, r->how, expected[i]);
			return 0;
		}
	}
	return 1;
}

/* A program's C translation. */
struct translation {
	void *handle;
	void (*execute)(int kernel, const struct work *w);
	uint64_t *counts;
	const int *block_count;
};

static int open_translation(struct translation *t, const char *prefix)
{
	char path[4096];

	snprintf(path, sizeof path, "%s%s.so", strchr(prefix, '/') ? "" : "./", prefix);
	t->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!t->handle)
		return -1;
	*(void **)&t->execute = dlsym(t->handle, "execute");
	t->counts = dlsym(t->handle, "count_");
	t->block_count = dlsym(t->handle, "block_count");
	return t->execute && t->counts && t->block_count ? 0 : -1;
}

static void compare_program(const struct program *p)
{
	static struct markers markers;
	struct results plain = read_results(p->prefix, ".plain", "without the library");
	struct results library = read_results(p->prefix, ".library", "with the library");
	struct results unoptimised = read_results(p->prefix, ".unoptimised", "without optimisation");
	struct results replicated = read_results(p->prefix, ".replicated", "without loops over work-items");
	struct translation t = {0};
	size_t report_size, offset = 0;
	char why[1024], unused[1024], *report = read_file(p->prefix, ".json", &report_size);

	if (open_translation(&t, p->prefix)) {
		printf("FAIL %s.so: %s\n", p->prefix, dlerror());
		totals.failed += p->work_count;
		return;
	}
	find_markers(&markers, p->text);
	for (int k = 0; k < p->work_count; k++) {
		struct work w = p->works[k];
		size_t words = out_words(&w);
		int counted = 1;
		why[0] = 0;
		w.out = calloc(words, sizeof(uint32_t));
		memset(t.counts, 0, (size_t)*t.block_count * sizeof *t.counts);
		t.execute(k, &w);
		int plain_same = same(&plain, offset, w.out, words, why, sizeof why);
		if (plain_same && same(&library, offset, w.out, words, why, sizeof why) &&
		    modelled(report ? report : "", w.name, why, sizeof why) &&
		    (counted = compare_counts(report, w.name, &markers, t.counts, *t.block_count, why, sizeof why)) >= 0) {
			totals.passed++;
			totals.uncounted += counted > 0;
		} else if (strstr(why, "many barriers under conditions")) { /* results are right, and no twin was compiled */
			totals.skipped++;
			printf("SKIP %s: %.60s ...\n", w.name, why);
		} else if (!plain_same && plain.data && same(&unoptimised, offset, w.out, words, unused, sizeof unused)) {
			totals.skipped++;
			printf("SKIP %s: %s; without optimisation the driver is right\n", w.name, why);
		} else if (!plain_same && plain.data && same(&replicated, offset, w.out, words, unused, sizeof unused)) {
			totals.skipped++;
			printf("SKIP %s: %s; without loops over work-items the driver is right\n", w.name, why);
		} else {
			totals.failed++;
			printf("FAIL %s: %s (generate %ld %d PREFIX)\n", w.name, why, atol(w.name + 1), p->work_count);
		}
		free(w.out);
		offset += words;
	}
	dlclose(t.handle);
	free(plain.data);
	free(library.data);
	free(unoptimised.data);
	free(replicated.data);
	free(report);
}

static int compare(int count, char **prefixes)
{
	for (int i = 0; i < count; i++) {
		struct program p;
		if (load_program(&p, prefixes[i])) {
			printf("FAIL %s.cl: not there\n", prefixes[i]);
			totals.failed++;
			continue;
		}
		compare_program(&p);
		free(p.text);
	}
	if (totals.uncounted)
		printf("note: the report has no blocks[] for %d launches: their counts were not compared\n", totals.uncounted);
	printf("%d passed, %d failed, %d skipped\n", totals.passed, totals.failed, totals.skipped);
	return totals.failed > 0;
}

int main(int argc, char **argv)
{
	for (uint32_t i = 0; i < IN_WORDS; i++)
		in_words[i] = (i + 1) * 2654435761u ^ i >> 3;
	if (argc == 4 && !strcmp(argv[1], "launch"))
		return launch(argv[2], argv[3]);
	if (argc > 2 && !strcmp(argv[1], "compare"))
		return compare(argc - 2, argv + 2);
	fprintf(stderr, "usage: run launch ENDING PREFIX | run compare PREFIX...\n");
	return 2;
}
