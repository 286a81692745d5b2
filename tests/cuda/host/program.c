/*
 * A program that uses the CUDA driver, for tests with a driver of ours (driver.c).
 *   program opened    opens libcuda.so.1 and asks cuGetProcAddress for the rest, as the CUDA runtime does
 *   program linked    calls the driver's functions by their names
 *   program pinned    as opened, with memory of the host that kernels can write
 *   program shared    as opened, with memory of another process
 *   program ended     as opened; a context has ended that had memory
 *   program gpus      as opened, with memory of another GPU
 *   program threads   as opened; another thread reads memory that a kernel writes, first when a twin of that kernel runs
 * Prints what the driver returned. Of 7 launches one fails and one is only recorded; a graph is launched once. Then a kernel with PTX is launched 4 times.
 */
#include "tests/cuda/host/shared.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef int find_fn(const char *name, void **out, int version, unsigned long long flags, int *status);
typedef int load_fn(void **out, const void *image);
typedef int function_fn(void **out, void *module, const char *name);
typedef int launch_fn(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                      void **extra);
typedef int capture_fn(void *stream, int mode);
typedef int pair_fn(void *a, void *b);
typedef int destroy_fn(void *context);
typedef int allocate_fn(unsigned **out, size_t bytes);
typedef int free_fn(unsigned *address);

extern load_fn cuModuleLoadData;
extern function_fn cuModuleGetFunction;
extern launch_fn cuLaunchKernel, cuLaunchKernel_ptsz;
extern capture_fn cuStreamBeginCapture_v2;
extern int cuStreamEndCapture(void *stream, void **graph);
extern pair_fn cuGraphLaunch;
extern int cuGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags);
extern int cuGraphExecDestroy(void *executable);
extern destroy_fn cuCtxDestroy_v2;
extern allocate_fn cuMemAlloc_v2;
extern free_fn cuMemFree_v2;
typedef int pin_fn(void **out, size_t bytes, unsigned flags);
extern int cuCtxGetCurrent(void **out);

static struct {
	load_fn *load;
	function_fn *function;
	launch_fn *launch, *launch_thread;
	capture_fn *begin_capture;
	int (*end_capture)(void *, void **);
	pair_fn *launch_graph;
	int (*instantiate)(void **, void *, unsigned long long), (*destroy_graph)(void *);
	destroy_fn *destroy;
	allocate_fn *allocate;
	free_fn *free;
	pin_fn *pin;
	int (*open_shared)(uint64_t *out, struct shared_handle handle, unsigned flags);
	int (*read)(void *to, uint64_t from, size_t bytes);
	volatile int *twin_runs;
} cu;

static void *get(find_fn *find, const char *name, unsigned long long flags)
{
	void *found = NULL;
	int status, result = find(name, &found, 13000, flags, &status);
	if (result || !found)
		printf("%s is not there: %d\n", name, result);
	return found;
}

static int open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *again;
	find_fn *find = library ? (find_fn *)dlsym(library, "cuGetProcAddress_v2") : NULL;
	if (!find)
		return 1;
	again = get(find, "cuGetProcAddress", 0); /* as the runtime does */
	find = (find_fn *)again;
	cu.load = (load_fn *)get(find, "cuModuleLoadData", 0);
	cu.function = (function_fn *)get(find, "cuModuleGetFunction", 0);
	cu.launch = (launch_fn *)get(find, "cuLaunchKernel", 0);
	cu.launch_thread = (launch_fn *)get(find, "cuLaunchKernel", 2);
	cu.begin_capture = (capture_fn *)get(find, "cuStreamBeginCapture", 0);
	cu.end_capture = (int (*)(void *, void **))get(find, "cuStreamEndCapture", 0);
	cu.launch_graph = (pair_fn *)get(find, "cuGraphLaunch", 0);
	cu.instantiate = (int (*)(void **, void *, unsigned long long))get(find, "cuGraphInstantiate", 0);
	cu.destroy_graph = (int (*)(void *))get(find, "cuGraphExecDestroy", 0);
	cu.destroy = (destroy_fn *)get(find, "cuCtxDestroy", 0);
	cu.allocate = (allocate_fn *)get(find, "cuMemAlloc", 0);
	cu.free = (free_fn *)get(find, "cuMemFree", 0);
	cu.pin = (pin_fn *)get(find, "cuMemHostAlloc", 0);
	cu.open_shared = (int (*)(uint64_t *, struct shared_handle, unsigned))get(find, "cuIpcOpenMemHandle", 0);
	cu.read = (int (*)(void *, uint64_t, size_t))get(find, "cuMemcpyDtoH", 0);
	cu.twin_runs = (volatile int *)dlsym(library, "fake_twin_runs");
	return 0;
}

/* Threads of which some do nothing. Others add 1 to a word in each round of a loop. */
static const char step_image[] =
	".version 6.4\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry step(\n"
	".param .u64 step_param_0,\n"
	".param .u32 step_param_1\n"
	")\n"
	"{\n"
	".reg .pred %p<2>;\n"
	".reg .b32 %r<6>;\n"
	".reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [step_param_0];\n"
	"ld.param.u32 %r1, [step_param_1];\n"
	"mov.u32 %r2, %tid.x;\n"
	"setp.ge.u32 %p1, %r2, %r1;\n"
	"@%p1 bra $L_end;\n"
	"cvta.to.global.u64 %rd2, %rd1;\n"
	"mul.wide.u32 %rd3, %r2, 4;\n"
	"add.s64 %rd2, %rd2, %rd3;\n"
	"$L_loop:\n"
	"ld.global.u32 %r3, [%rd2];\n"
	"add.s32 %r3, %r3, 1;\n"
	"st.global.u32 [%rd2], %r3;\n"
	"add.s32 %r2, %r2, 1;\n"
	"setp.lt.u32 %p1, %r2, %r1;\n"
	"@%p1 bra $L_loop;\n"
	"$L_end:\n"
	"ret;\n"
	"}\n";

static void *read_meanwhile(void *data)
{
	unsigned word = 0;
	for (int ms = 0; ms < 1000 && !*cu.twin_runs; ms++)
		usleep(1000);
	int result = cu.read(&word, (uint64_t)(uintptr_t)data, sizeof word);
	printf("read: %d, a twin ran: %d, spoilt: %d\n", result, *cu.twin_runs, word > 4);
	return NULL;
}

/* The memory has what the kernel has written, whatever else ran there. */
static void launch_steps(bool threads)
{
	enum { WORDS = 1000, LAUNCHES = 4 };
	void *module, *step;
	unsigned *data, n = WORDS, sum = 0;
	if (cu.load(&module, step_image) || cu.function(&step, module, "step") || cu.allocate(&data, WORDS * sizeof *data))
		return;
	void *params[] = {&data, &n};
	pthread_t reader;
	threads = threads && !pthread_create(&reader, NULL, read_meanwhile, data);
	printf("no threads: %d\n", cu.launch(step, 8, 1, 1, 0, 1, 1, 0, NULL, params, NULL));
	for (int i = 0; i < LAUNCHES; i++)
		printf("step: %d\n", cu.launch(step, 8, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
	if (threads)
		pthread_join(reader, NULL);
	for (int i = 0; i < WORDS; i++)
		sum += data[i];
	printf("sum: %u\n", sum);
	printf("free: %d\n", cu.free(data));
}

static void launch(const char *what, launch_fn *f, void *function, unsigned groups, unsigned long ns)
{
	void *params[] = {&ns};
	printf("%s: %d\n", what, f(function, groups, 1, 1, 64, 2, 1, 256, NULL, params, NULL));
}

static int prepare(const char *way)
{
	void *pinned, *context;
	unsigned *elsewhere;
	uint64_t shared;
	struct shared_handle handle;
	for (size_t i = 0; i < sizeof handle.bytes; i++)
		handle.bytes[i] = (char)i;
	if (!strcmp(way, "pinned"))
		return cu.pin(&pinned, 64, 0);
	if (!strcmp(way, "gpus"))
		return cu.allocate(&elsewhere, OTHER_GPU);
	if (!strcmp(way, "ended"))
		return cuCtxGetCurrent(&context) || cu.allocate(&elsewhere, 64) || cu.destroy(context);
	if (strcmp(way, "shared"))
		return 0;
	int result = cu.open_shared(&shared, handle, 7);
	printf("shared: %llx\n", (unsigned long long)shared);
	return result;
}

int main(int argc, char **argv)
{
	void *module, *spin, *fails, *graph, *executable, *context = NULL;
	const char *way = argc > 1 ? argv[1] : "";
	if (strcmp(way, "linked")) {
		if (open_driver() || prepare(way))
			return 1;
	} else {
		cu.load = cuModuleLoadData;
		cu.function = cuModuleGetFunction;
		cu.launch = cuLaunchKernel;
		cu.launch_thread = cuLaunchKernel_ptsz;
		cu.begin_capture = cuStreamBeginCapture_v2;
		cu.end_capture = cuStreamEndCapture;
		cu.launch_graph = cuGraphLaunch;
		cu.instantiate = cuGraphInstantiateWithFlags;
		cu.destroy_graph = cuGraphExecDestroy;
		cu.destroy = cuCtxDestroy_v2;
		cu.allocate = cuMemAlloc_v2;
		cu.free = cuMemFree_v2;
	}
	if (cu.load(&module, "image") || cu.function(&spin, module, "_Z4spinm") || cu.function(&fails, module, "fails"))
		return 1;
	launch("spin", cu.launch, spin, 10, 10000);
	launch("spin", cu.launch, spin, 10, 20000);
	launch("spin of the thread", cu.launch_thread, spin, 10, 30000);
	launch("spin, larger", cu.launch, spin, 20, 4000);
	launch("fails", cu.launch, fails, 1, 5000);
	printf("capture: %d\n", cu.begin_capture(NULL, 0));
	launch("spin, recorded", cu.launch, spin, 10, 6000);
	printf("end: %d\n", cu.end_capture(NULL, &graph));
	printf("instantiate: %d\n", cu.instantiate(&executable, graph, 5));
	printf("graph: %d\n", cu.launch_graph(executable, NULL));
	printf("end of it: %d\n", cu.destroy_graph(executable));
	launch("spin", cu.launch, spin, 10, 10000);
	launch_steps(!strcmp(way, "threads"));
	cuCtxGetCurrent(&context);
	printf("destroy: %d\n", cu.destroy(context));
	return 0;
}
