/*
 * A driver for tests of interposer/cuda/host: libcuda.so.1 without a GPU. It has a clock instead. A kernel takes as many ns as its first parameter
 * says; one of gpusim's that does nothing 1400, as on a GPU. An event takes 500 ns. A command on an idle stream begins 3000 ns after the one
 * before, because the processor is slow; a stream is busy for as long as a kernel with a name of gpusim's ran just before.
 *
 * With FAKE_DRIVER_LOG=FILE, what kernels the program itself launched, in their order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static double now_ns;
static int busy;

enum { KERNELS = 16 };
static struct kernel {
	char name[64];
} kernels[KERNELS];
static int kernel_count;

static int context;
struct event {
	double ns;
};

EXPORT int cuInit(unsigned flags);
EXPORT int cuCtxGetCurrent(void **out);
EXPORT int cuCtxGetId(void *c, unsigned long long *id);
EXPORT int cuEventCreate(void **out, unsigned flags);
EXPORT int cuEventRecord(void *event, void *stream);
EXPORT int cuEventQuery(void *event);
EXPORT int cuEventElapsedTime(float *ms, void *begin, void *end);
EXPORT int cuStreamCreate(void **out, unsigned flags);
EXPORT int cuStreamQuery(void *stream);
EXPORT int cuStreamIsCapturing(void *stream, int *status);
EXPORT int cuStreamBeginCapture_v2(void *stream, int mode);
EXPORT int cuStreamEndCapture(void *stream, void **graph);
EXPORT int cuGraphLaunch(void *graph, void *stream);
EXPORT int cuModuleLoadData(void **out, const void *image);
EXPORT int cuModuleGetFunction(void **out, void *module, const char *name);
EXPORT int cuFuncGetName(const char **name, const void *function);
EXPORT int cuCtxDestroy_v2(void *c);
EXPORT int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long long flags, int *status);
EXPORT int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                          void **params, void **extra);
EXPORT int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                               void **params, void **extra);

static int capturing;

int cuInit(unsigned flags)
{
	return (int)flags;
}

int cuCtxGetCurrent(void **out)
{
	*out = &context;
	return 0;
}

int cuCtxGetId(void *c, unsigned long long *id)
{
	*id = c == &context ? 7 : 0;
	return 0;
}

int cuCtxDestroy_v2(void *c)
{
	return c != &context;
}

int cuEventCreate(void **out, unsigned flags)
{
	*out = calloc(1, sizeof(struct event));
	return (int)flags;
}

static void idle_begin(void)
{
	now_ns += busy ? 0 : 3000;
}

int cuEventRecord(void *event, void *stream)
{
	(void)stream;
	if (capturing)
		return 900;
	idle_begin();
	now_ns += 500;
	((struct event *)event)->ns = now_ns;
	return 0;
}

int cuEventQuery(void *event)
{
	return !event;
}

int cuEventElapsedTime(float *ms, void *begin, void *end)
{
	*ms = (float)((((struct event *)end)->ns - ((struct event *)begin)->ns) / 1e6);
	return 0;
}

int cuStreamCreate(void **out, unsigned flags)
{
	*out = &busy;
	return flags != 1;
}

int cuStreamQuery(void *stream)
{
	(void)stream;
	busy = 0;
	return 0;
}

int cuStreamIsCapturing(void *stream, int *status)
{
	(void)stream;
	*status = capturing;
	return 0;
}

int cuStreamBeginCapture_v2(void *stream, int mode)
{
	(void)stream;
	capturing = 1;
	return mode;
}

int cuStreamEndCapture(void *stream, void **graph)
{
	*graph = stream;
	capturing = 0;
	return 0;
}

int cuModuleLoadData(void **out, const void *image)
{
	*out = kernels;
	return !image;
}

int cuModuleGetFunction(void **out, void *module, const char *name)
{
	if (module != kernels || kernel_count == KERNELS)
		return 500;
	snprintf(kernels[kernel_count].name, sizeof kernels->name, "%s", name);
	*out = &kernels[kernel_count++];
	return 0;
}

int cuFuncGetName(const char **name, const void *function)
{
	*name = ((const struct kernel *)function)->name;
	return 0;
}

static int run(struct kernel *k, unsigned groups, void **params, const char *form)
{
	const char *log = getenv("FAKE_DRIVER_LOG");
	idle_begin();
	if (!strncmp(k->name, "gpusim_", 7)) {
		busy = 1;
		now_ns += !strcmp(k->name, "gpusim_empty") ? 1400 : (double)*(unsigned long *)params[0];
		return 0;
	}
	FILE *f = log ? fopen(log, "a") : NULL;
	if (f) {
		fprintf(f, "%s %s %u\n", form, k->name, groups);
		fclose(f);
	}
	if (!strcmp(k->name, "fails"))
		return 719;
	now_ns += capturing ? 0 : (double)*(unsigned long *)params[0];
	return 0;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                   void **extra)
{
	(void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)extra;
	return run(f, gx * gy * gz, params, "plain");
}

int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                        void **params, void **extra)
{
	(void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)extra;
	return run(f, gx * gy * gz, params, "thread");
}

int cuGraphLaunch(void *graph, void *stream)
{
	(void)graph, (void)stream;
	idle_begin();
	now_ns += 7000;
	return 0;
}

int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long long flags, int *status)
{
	static const struct {
		const char *name;
		void *plain, *thread;
	} list[] = {
		{"cuLaunchKernel", (void *)cuLaunchKernel, (void *)cuLaunchKernel_ptsz}, {"cuModuleLoadData", (void *)cuModuleLoadData, NULL},
		{"cuModuleGetFunction", (void *)cuModuleGetFunction, NULL},             {"cuGraphLaunch", (void *)cuGraphLaunch, NULL},
		{"cuStreamBeginCapture", (void *)cuStreamBeginCapture_v2, NULL},        {"cuStreamEndCapture", (void *)cuStreamEndCapture, NULL},
		{"cuGetProcAddress", (void *)cuGetProcAddress_v2, NULL},                {"cuCtxDestroy", (void *)cuCtxDestroy_v2, NULL},
	};
	(void)version;
	*out = NULL;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (!strcmp(list[i].name, name))
			*out = flags & 2 && list[i].thread ? list[i].thread : list[i].plain;
	if (status)
		*status = !*out;
	return *out ? 0 : 500;
}
