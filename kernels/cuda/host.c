/*
 * host - runs the cases of cases.txt as an ordinary program of the CUDA runtime API: suite.c, with the kernels of this folder.
 *
 *   host [-k PTX folder] [-r repeats] [-w launches [-u ms]] [-d folder] cases.txt [name...]     (shell patterns: '*-s')
 *
 * It prints the same lines as suite: name,kernel,global,local,checksum,median_ns,min_ns. The times are those of CUDA events. The PTX of a case
 * is FILE.ptx in the folder (default: cuda/ptx beside the cases file), where cases.txt has FILE.cl. Local memory that the OpenCL kernel has
 * as an argument is dynamic shared memory here, and images are buffers of float4. -d writes the buffers after each case to
 * FOLDER/NAME, one after the other.
 *
 * -w measures with warm caches: a repeat is so many launches in a row, on what the launches before left in memory, and its time is that of
 * one of them. -u lets launches go on for so long before the first repeat, so that clocks are up.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernels/cases.h"
#include "kernels/cuda/runtime.h"

#include <libgen.h>
#include <time.h>
#include <unistd.h>

enum { MAX_REPEATS = 64, MAX_MODULES = 32, MAX_KERNELS = 128 };

struct host {
	const char *ptx_dir, *dump_dir;
	int repeats, in_a_row; /* in_a_row: 0: each launch gets fresh data */
	double warm_up_ms;
	void *memory[MAX_ARGS]; /* of the current case */
	struct module {
		char file[64];
		void **handle;
	} modules[MAX_MODULES];
	int module_count;
	struct kernel {
		char name[64]; /* its address is the kernel's handle */
		const struct module *module;
	} kernels[MAX_KERNELS];
	int kernel_count;
};

static void check(cudaError_t err, const char *what)
{
	if (err)
		fail(cudaGetErrorString(err), what, err);
}

/* All kernels of the text, before anything is launched: a runtime takes none later. */
static void register_kernels(struct host *h, const struct module *m, const char *text)
{
	for (const char *p = text; (p = strstr(p, ".entry ")); p++) {
		const char *name = p + strlen(".entry ");
		if (h->kernel_count == MAX_KERNELS)
			fail("too many kernels", m->file, 0);
		struct kernel *k = &h->kernels[h->kernel_count++];
		snprintf(k->name, sizeof k->name, "%.*s", (int)strcspn(name, "( \n"), name);
		k->module = m;
		register_kernel(m->handle, k->name, k->name);
	}
}

static const struct module *find_module(struct host *h, const char *file)
{
	char path[4096], *text;
	size_t size, stem = strcspn(file, ".");
	for (int i = 0; i < h->module_count; i++)
		if (!strcmp(h->modules[i].file, file))
			return &h->modules[i];
	if (h->module_count == MAX_MODULES)
		fail("too many modules", file, 0);
	struct module *m = &h->modules[h->module_count++];
	snprintf(m->file, sizeof m->file, "%s", file);
	snprintf(path, sizeof path, "%s/%.*s.ptx", h->ptx_dir, (int)stem, file);
	text = read_file(path, &size);
	m->handle = register_ptx(text, size);
	if (!m->handle)
		fail("cannot be registered", path, 0);
	register_kernels(h, m, text);
	free(text);
	__cudaRegisterFatBinaryEnd(m->handle);
	return m;
}

static const void *find_kernel(struct host *h, const char *file, const char *name)
{
	const struct module *m = find_module(h, file);
	for (int i = 0; i < h->kernel_count; i++)
		if (h->kernels[i].module == m && !strcmp(h->kernels[i].name, name))
			return h->kernels[i].name;
	fail("no such kernel", name, 0);
	return NULL;
}

/* Buffers get their contents. Returns what CUDA takes as the argument's address, or NULL for local memory. */
static void *argument(struct host *h, int index, struct arg *a)
{
	if (a->kind == 'L')
		return NULL;
	if (!a->init)
		return a->kind == 'F' ? (void *)&a->f : (void *)&a->i;
	if (!h->memory[index])
		check(cudaMalloc(&h->memory[index], a->size_bytes), "cudaMalloc");
	check(cudaMemcpy(h->memory[index], a->init, a->size_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
	return &h->memory[index];
}

/* A launch as CUDA takes it. */
struct ready_launch {
	const void *kernel;
	void *arguments[MAX_ARGS];
	dim3 grid, block;
	size_t shared;
};

/* Buffers get their contents anew. */
static struct ready_launch prepare(struct host *h, const void *kernel, struct test_case *c)
{
	struct ready_launch l = {.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}};
	int count = 0;

	for (int i = 0; i < c->arg_count; i++) {
		void *a = argument(h, i, &c->args[i]);
		if (a)
			l.arguments[count++] = a;
		else
			l.shared += c->args[i].count;
	}
	if (!c->local[0])
		fail("has no local size", c->name, 0);
	for (uint32_t d = 0; d < c->dims; d++) {
		(&l.block.x)[d] = (unsigned)c->local[d];
		(&l.grid.x)[d] = (unsigned)(c->global[d] / c->local[d]);
	}
	return l;
}

/* Returns the time of one launch in ns. */
static double launch(struct ready_launch *l, int in_a_row)
{
	cudaEvent_t from, to;
	float ms = 0;

	check(cudaEventCreate(&from), "cudaEventCreate");
	check(cudaEventCreate(&to), "cudaEventCreate");
	check(cudaEventRecord(from, NULL), "cudaEventRecord");
	for (int i = 0; i < in_a_row; i++)
		check(cudaLaunchKernel(l->kernel, l->grid, l->block, l->arguments, l->shared, NULL), "cudaLaunchKernel");
	check(cudaEventRecord(to, NULL), "cudaEventRecord");
	check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
	check(cudaEventElapsedTime(&ms, from, to), "cudaEventElapsedTime");
	check(cudaEventDestroy(from), "cudaEventDestroy");
	check(cudaEventDestroy(to), "cudaEventDestroy");
	return (double)ms * 1e6 / in_a_row;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void warm_up(struct host *h, struct ready_launch *l)
{
	double end = now_ms() + h->warm_up_ms;

	while (now_ms() < end)
		launch(l, h->in_a_row);
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_range(const size_t *range, uint32_t dims)
{
	for (uint32_t d = 0; d < dims; d++)
		printf("%s%zu", d ? "x" : "", range[d]);
	putchar(',');
}

/* Reads the buffers back, and releases the memory of the case. Returns the checksum of all of them. */
static uint32_t take_results(struct host *h, struct test_case *c)
{
	char path[4096];
	uint32_t sum = 0;
	FILE *f = NULL;

	snprintf(path, sizeof path, "%s/%s", h->dump_dir ? h->dump_dir : ".", c->name);
	if (h->dump_dir && !(f = fopen(path, "w")))
		fail("cannot write", path, 0);
	for (int i = 0; i < c->arg_count; i++) {
		struct arg *a = &c->args[i];
		if (!a->init)
			continue;
		check(cudaMemcpy(a->init, h->memory[i], a->size_bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
		for (size_t e = 0; e < a->size_bytes / 4; e++)
			sum = sum * 31 + (uint32_t)a->init[e];
		if (f)
			fwrite(a->init, 1, a->size_bytes, f);
		check(cudaFree(h->memory[i]), "cudaFree");
		h->memory[i] = NULL;
		free(a->init);
	}
	if (f)
		fclose(f);
	return sum;
}

static void run_case(struct host *h, struct test_case *c)
{
	double times[MAX_REPEATS] = {0};
	struct ready_launch l = {.kernel = find_kernel(h, c->file, c->kernel)};

	for (int r = 0; r < h->repeats; r++) {
		if (!r || !h->in_a_row)
			l = prepare(h, l.kernel, c);
		if (!r && h->in_a_row)
			warm_up(h, &l);
		times[r] = launch(&l, h->in_a_row ? h->in_a_row : 1);
	}
	qsort(times, (size_t)h->repeats, sizeof times[0], compare_times);
	printf("%s,%s,", c->name, c->kernel);
	print_range(c->global, c->dims);
	print_range(c->local, c->dims);
	printf("%08x,%.0f,%.0f\n", take_results(h, c), times[h->repeats / 2], times[0]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct host h = {.repeats = 1};
	char *cases, *save, *path, folder[4096];
	struct test_case c;
	size_t size;
	int option;

	while ((option = getopt(argc, argv, "k:r:w:u:d:")) != -1) {
		if (option == 'k')
			h.ptx_dir = optarg;
		else if (option == 'r')
			h.repeats = atoi(optarg);
		else if (option == 'w')
			h.in_a_row = atoi(optarg);
		else if (option == 'u')
			h.warm_up_ms = atof(optarg);
		else if (option == 'd')
			h.dump_dir = optarg;
		else
			return 2;
	}
	if (optind >= argc || h.repeats < 1 || h.repeats > MAX_REPEATS || h.in_a_row < 0) {
		fprintf(stderr, "usage: host [-k PTX folder] [-r repeats] [-w launches [-u ms]] [-d folder] cases.txt [name...]\n");
		return 2;
	}
	if (cuda_missing()) {
		fprintf(stderr, "There is no CUDA runtime in this process.\n");
		return 77;
	}
	path = strdup(argv[optind]);
	snprintf(folder, sizeof folder, "%s/cuda/ptx", dirname(path));
	h.ptx_dir = h.ptx_dir ? h.ptx_dir : folder;
	cases = read_file(argv[optind++], &size);
	for (char *line = strtok_r(cases, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == '#' || !strcspn(line, " \t") || !wanted(line, argc - optind, argv + optind))
			continue;
		parse_case(&c, line);
		run_case(&h, &c);
	}
	for (int i = 0; i < h.module_count; i++)
		__cudaUnregisterFatBinary(h.modules[i].handle);
	free(cases);
	free(path);
	return 0;
}
