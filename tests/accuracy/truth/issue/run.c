/*
 * run: times the cubins that issue.py made, by CUDA's driver API.
 *   run FOLDER >issue.csv        FOLDER/list: name, file, copies and instructions of each
 * Prints name,copies,instructions,warps,cycles: of a round of the loop, by the longest span of a block; warps: on each SM.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMS = 132, ROUNDS = 512, REPEATS = 5, WARM_UP = 400, MOST_BYTES = 1 << 20, SHARED_BYTES = 8192 };

static int (*init)(unsigned), (*get_device)(int *, int), (*retain)(void **, int), (*set_current)(void *),
	(*load)(void **, const char *), (*unload)(void *), (*get_function)(void **, void *, const char *), (*allocate)(uint64_t *, size_t),
	(*to_host)(void *, uint64_t, size_t), (*fill)(uint64_t, unsigned char, size_t), (*synchronize)(void), (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static uint64_t spans, out;
static long long *noted;

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "error %d: %s\n", error, what);
	exit(1);
}

static void start(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
	int device;
	const struct {
		void *to;
		const char *name;
	} names[] = {{&init, "cuInit"}, {&get_device, "cuDeviceGet"}, {&retain, "cuDevicePrimaryCtxRetain"}, {&set_current, "cuCtxSetCurrent"},
		     {&load, "cuModuleLoad"}, {&unload, "cuModuleUnload"}, {&get_function, "cuModuleGetFunction"}, {&allocate, "cuMemAlloc_v2"},
		     {&to_host, "cuMemcpyDtoH_v2"}, {&fill, "cuMemsetD8_v2"}, {&synchronize, "cuCtxSynchronize"}, {&launch, "cuLaunchKernel"}};
	check(!driver, "no driver");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		*(void **)names[i].to = dlsym(driver, names[i].name);
	check(init(0) || get_device(&device, 0) || retain(&context, device) || set_current(context), "no device");
	check(allocate(&spans, MOST_BYTES) || allocate(&out, MOST_BYTES) || fill(out, 0x3f, MOST_BYTES), "no memory");
	noted = malloc(MOST_BYTES);
}

static void start_kernel(void *kernel, int blocks, int warps)
{
	int rounds = ROUNDS;
	void *arguments[] = {&spans, &out, &rounds};
	check(launch(kernel, (unsigned)blocks, 1, 1, (unsigned)warps * 32, 1, 1, SHARED_BYTES, NULL, arguments, NULL), "launch");
}

static double longest_span(int blocks, int warps)
{
	long long most = 0;
	check(synchronize() || to_host(noted, spans, (size_t)blocks * (size_t)warps * 16), "run");
	for (int b = 0; b < blocks; b++) {
		const long long *of = &noted[2 * b * warps];
		long long begin = of[0], end = of[1];
		for (int w = 1; w < warps; w++) {
			begin = of[2 * w] < begin ? of[2 * w] : begin;
			end = of[2 * w + 1] > end ? of[2 * w + 1] : end;
		}
		most = end - begin > most ? end - begin : most;
	}
	return (double)most;
}

static int compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double measure(void *kernel, int warps)
{
	int blocks = warps > 32 ? 2 * SMS : SMS, each = warps > 32 ? warps / 2 : warps;
	double spans_of[REPEATS];
	for (int k = 0; k < REPEATS; k++) {
		start_kernel(kernel, blocks, each);
		spans_of[k] = longest_span(blocks, each);
	}
	qsort(spans_of, REPEATS, sizeof *spans_of, compare);
	return spans_of[REPEATS / 2] / ROUNDS;
}

int main(int argc, char **argv)
{
	static const int warps[] = {1, 4, 16, 32, 64};
	char path[600], name[64], file[80];
	int copies, instructions;
	snprintf(path, sizeof path, "%s/list", argc > 1 ? argv[1] : ".");
	FILE *list = fopen(path, "r");
	check(!list, "no list");
	start();
	for (int first = 1; fscanf(list, "%63s %79s %d %d", name, file, &copies, &instructions) == 4; first = 0) {
		void *module, *kernel;
		snprintf(path, sizeof path, "%s/%s", argv[1], file);
		check(load(&module, path) || get_function(&kernel, module, "timed"), file);
		for (int i = 0; i < WARM_UP && first; i++)
			start_kernel(kernel, SMS, 4);
		for (size_t i = 0; i < sizeof warps / sizeof *warps; i++)
			printf("%s,%d,%d,%d,%.4f\n", name, copies, instructions, warps[i], measure(kernel, warps[i]));
		fflush(stdout);
		check(unload(module), "unload");
	}
	return 0;
}
