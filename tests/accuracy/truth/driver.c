/*
 * driver - launches cases by CUDA's driver API with the code that NVIDIA's OpenCL made of them, because Nsight Compute does not see OpenCL.
 *
 *   driver -p PTX_FOLDER [-o OPENCL_CSV] [-w PLAN] [-b BYTES] cases.txt [name...]     (shell patterns: '*-s')
 *
 * PTX_FOLDER and OPENCL_CSV are what `opencl` wrote: the CSV has the local sizes that the driver chose. PLAN has a letter for every launch
 * of a case: P where a profiler counts it, u where not (ncu --profile-from-start off). Launches go on with what the first one left.
 * BYTES: where shared memory that a launch asks for begins, 1024 on a GPU of sm_90. Under the library it is 0.
 * Prints a line per case: case,kernel,launches that were counted,checksum after the first,local. Cases with images are left out: CUDA
 * has none of OpenCL's kind.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernels/cases.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <unistd.h>

enum { CHECKED_BYTES = 64 << 20, MAX_MODULES = 64 };
/* What the system keeps of shared memory for itself lies before what a kernel declares. */
enum { SHARED_BEGIN = 1024, STATIC_SHARED_BYTES = 1 };

#define DRIVER(X)                                                                                                      \
	X(cuInit, (unsigned flags))                                                                                    \
	X(cuDeviceGet, (int *device, int ordinal))                                                                     \
	X(cuDevicePrimaryCtxRetain, (void **context, int device))                                                      \
	X(cuCtxSetCurrent, (void *context))                                                                            \
	X(cuCtxSynchronize, (void))                                                                                    \
	X(cuModuleLoadData, (void **module, const void *image))                                                        \
	X(cuModuleGetFunction, (void **function, void *module, const char *name))                                      \
	X(cuFuncGetAttribute, (int *value, int attribute, void *function))                                             \
	X(cuMemAlloc_v2, (uint64_t *address, size_t bytes))                                                            \
	X(cuMemFree_v2, (uint64_t address))                                                                            \
	X(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))                                              \
	X(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))                                                    \
	X(cuLaunchKernel, (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
	                   void *stream, void **parameters, void **extra))                                             \
	X(cuProfilerStart, (void))                                                                                     \
	X(cuProfilerStop, (void))                                                                                      \
	X(cuGetErrorString, (int error, const char **text))

#define MEMBER(name, arguments) int(*name) arguments;
struct profiled_driver {
	DRIVER(MEMBER)
	const char *ptx_dir, *plan;
	char *chosen; /* text of the CSV, or NULL */
	uint64_t shared_begin;
	struct {
		char file[64];
		void *module; /* NULL: the driver does not take it */
	} modules[MAX_MODULES];
	int module_count;
};

static bool went_well(struct profiled_driver *d, int error, const char *what)
{
	const char *text = "";
	if (!error)
		return true;
	d->cuGetErrorString(error, &text);
	fprintf(stderr, "error: %s: %s (%d)\n", what, text ? text : "", error);
	return false;
}

static bool open_driver(struct profiled_driver *d)
{
	void *context, *library = dlopen("libcuda.so.1", RTLD_NOW);
	int device;
	if (!library) {
		fprintf(stderr, "error: %s\n", dlerror());
		return false;
	}
#define FIND(name, arguments)                                                                                          \
	*(void **)&d->name = dlsym(library, #name);                                                                    \
	if (!d->name)                                                                                                  \
		return false;
	DRIVER(FIND)
	return went_well(d, d->cuInit(0), "cuInit") && went_well(d, d->cuDeviceGet(&device, 0), "cuDeviceGet") &&
	       went_well(d, d->cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain") &&
	       went_well(d, d->cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

/* Overwrites every `what` of the text by `by`, with blanks up to the same length. */
static void replace(char *text, const char *what, const char *by)
{
	size_t length = strlen(what), rest = strlen(by);
	for (char *p = text; (p = strstr(p, what)); p += length) {
		memset(p, ' ', length);
		memcpy(p, by, rest);
	}
}

/* OpenCL's own registers have the offset of a launch, which is 0 here. CUDA has no such registers, and another kind of textures. */
static void make_cuda(char *text)
{
	replace(text, ", texmode_independent", "");
	for (char *p = text; (p = strstr(p, "%envreg")); p++) {
		size_t length = strlen("%envreg") + strspn(p + strlen("%envreg"), "0123456789");
		memset(p, ' ', length);
		*p = '0';
	}
}

static void *find_module(struct profiled_driver *d, const char *file)
{
	char path[4096], *text;
	size_t size;
	void *module = NULL;
	for (int i = 0; i < d->module_count; i++)
		if (!strcmp(d->modules[i].file, file))
			return d->modules[i].module;
	if (d->module_count == MAX_MODULES)
		return NULL;
	snprintf(path, sizeof path, "%s/%.*s.ptx", d->ptx_dir, (int)strcspn(file, "."), file);
	text = access(path, R_OK) ? NULL : read_file(path, &size);
	if (text) {
		make_cuda(text);
		if (!went_well(d, d->cuModuleLoadData(&module, text), path))
			module = NULL;
		free(text);
	}
	snprintf(d->modules[d->module_count].file, sizeof d->modules[0].file, "%s", file);
	return d->modules[d->module_count++].module = module;
}

/* The fourth column of the case's line. */
static bool chosen_size(struct profiled_driver *d, struct test_case *c)
{
	char start[160];
	snprintf(start, sizeof start, "\n%s,", c->name);
	char *line = d->chosen ? strstr(d->chosen, start) : NULL;
	for (int comma = 0; line && comma < 3; comma++)
		line = strchr(line, ',') ? strchr(line, ',') + 1 : NULL;
	for (uint32_t k = 0; line && k < c->dims; k++)
		c->local[k] = strtoul(line + (k > 0), &line, 10);
	return c->local[0] > 0;
}

/* Arguments as the driver takes them. An argument in local memory is its address there. */
struct prepared {
	uint64_t memory[MAX_ARGS];
	void *parameters[MAX_ARGS];
	unsigned shared, grid[3], block[3];
};

static bool prepare(struct profiled_driver *d, void *function, struct test_case *c, struct prepared *p)
{
	int fixed = 0;
	if (!went_well(d, d->cuFuncGetAttribute(&fixed, STATIC_SHARED_BYTES, function), "cuFuncGetAttribute"))
		return false;
	for (int i = 0; i < c->arg_count; i++) {
		struct arg *a = &c->args[i];
		p->parameters[i] = a->kind == 'F' ? (void *)&a->f : (void *)&a->i;
		if (a->kind == 'L') {
			p->memory[i] = d->shared_begin + (uint64_t)((fixed + 15) / 16 * 16) + p->shared;
			p->shared += (unsigned)((a->count + 15) / 16 * 16);
			p->parameters[i] = &p->memory[i];
		} else if (a->init) {
			if (!went_well(d, d->cuMemAlloc_v2(&p->memory[i], a->size_bytes), "cuMemAlloc") ||
			    !went_well(d, d->cuMemcpyHtoD_v2(p->memory[i], a->init, a->size_bytes), "cuMemcpyHtoD"))
				return false;
			p->parameters[i] = &p->memory[i];
		}
	}
	for (uint32_t k = 0; k < 3; k++) {
		p->block[k] = k < c->dims ? (unsigned)c->local[k] : 1;
		p->grid[k] = k < c->dims ? (unsigned)(c->global[k] / c->local[k]) : 1;
	}
	return true;
}

static bool launch(struct profiled_driver *d, void *function, struct prepared *p, bool profiled)
{
	if (profiled)
		d->cuProfilerStart();
	bool done = went_well(d, d->cuLaunchKernel(function, p->grid[0], p->grid[1], p->grid[2], p->block[0], p->block[1], p->block[2], p->shared, NULL,
	                                      p->parameters, NULL), "cuLaunchKernel") &&
	            went_well(d, d->cuCtxSynchronize(), "the kernel");
	if (profiled)
		d->cuProfilerStop();
	return done;
}

static bool checksum(struct profiled_driver *d, struct test_case *c, struct prepared *p, uint32_t *sum)
{
	size_t bytes = 0;
	*sum = 0;
	for (int i = 0; i < c->arg_count; i++)
		bytes += c->args[i].size_bytes;
	for (int i = 0; i < c->arg_count && bytes <= CHECKED_BYTES; i++) {
		struct arg *a = &c->args[i];
		if (a->init && !went_well(d, d->cuMemcpyDtoH_v2(a->init, p->memory[i], a->size_bytes), "cuMemcpyDtoH"))
			return false;
		for (size_t e = 0; a->init && e < a->size_bytes / 4; e++)
			*sum = *sum * 31 + (uint32_t)a->init[e];
	}
	return true;
}

static bool run_case(struct profiled_driver *d, struct test_case *c)
{
	struct prepared p = {.shared = 0};
	uint32_t sum = 0;
	void *module, *function;
	bool done = (c->local[0] || chosen_size(d, c)) && (module = find_module(d, c->file)) &&
	            went_well(d, d->cuModuleGetFunction(&function, module, c->kernel), c->kernel) && prepare(d, function, c, &p);
	int counted = 0;
	for (const char *step = d->plan; done && *step; step++) {
		done = launch(d, function, &p, *step == 'P');
		counted += done && *step == 'P';
		if (done && step == d->plan)
			done = checksum(d, c, &p, &sum);
	}
	printf("%s,%s,%d,%08x,%ux%ux%u\n", c->name, c->kernel, counted, sum, p.block[0], p.block[1], p.block[2]);
	fflush(stdout);
	for (int i = 0; i < c->arg_count; i++) {
		if (c->args[i].init && p.memory[i])
			d->cuMemFree_v2(p.memory[i]);
		free(c->args[i].init);
	}
	return done;
}

static bool has_image(const struct test_case *c)
{
	for (int i = 0; i < c->arg_count; i++)
		if (strchr("mw", c->args[i].kind))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	static struct profiled_driver d = {.plan = "P", .shared_begin = SHARED_BEGIN};
	struct test_case c;
	char *save, *cases;
	size_t size;
	int option, lost = 0;
	while ((option = getopt(argc, argv, "p:o:w:b:")) != -1) {
		if (option == 'p')
			d.ptx_dir = optarg;
		else if (option == 'o')
			d.chosen = read_file(optarg, &size);
		else if (option == 'w')
			d.plan = optarg;
		else if (option == 'b')
			d.shared_begin = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind >= argc || !d.ptx_dir) {
		fprintf(stderr, "usage: driver -p PTX_FOLDER [-o OPENCL_CSV] [-w PLAN] [-b BYTES] cases.txt [name...]\n");
		return 2;
	}
	if (!open_driver(&d))
		return 1;
	cases = read_file(argv[optind++], &size);
	for (char *line = strtok_r(cases, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == '#' || !strcspn(line, " \t") || !wanted(line, argc - optind, argv + optind))
			continue;
		parse_case(&c, line);
		if (!has_image(&c))
			lost += !run_case(&d, &c);
	}
	return lost ? 1 : 0;
}
