/*
 * A program that uses the CUDA driver, for tests with a driver of ours (driver.c).
 *   program opened    opens libcuda.so.1 and asks cuGetProcAddress for the rest, as the CUDA runtime does
 *   program linked    calls the driver's functions by their names
 * Prints what the driver returned. Of 7 launches one fails and one is only recorded; a graph is launched once.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int find_fn(const char *name, void **out, int version, unsigned long long flags, int *status);
typedef int load_fn(void **out, const void *image);
typedef int function_fn(void **out, void *module, const char *name);
typedef int launch_fn(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                      void **extra);
typedef int capture_fn(void *stream, int mode);
typedef int pair_fn(void *a, void *b);
typedef int destroy_fn(void *context);

extern load_fn cuModuleLoadData;
extern function_fn cuModuleGetFunction;
extern launch_fn cuLaunchKernel, cuLaunchKernel_ptsz;
extern capture_fn cuStreamBeginCapture_v2;
extern int cuStreamEndCapture(void *stream, void **graph);
extern pair_fn cuGraphLaunch;
extern destroy_fn cuCtxDestroy_v2;
extern int cuCtxGetCurrent(void **out);

static struct {
	load_fn *load;
	function_fn *function;
	launch_fn *launch, *launch_thread;
	capture_fn *begin_capture;
	int (*end_capture)(void *, void **);
	pair_fn *launch_graph;
	destroy_fn *destroy;
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
	cu.destroy = (destroy_fn *)get(find, "cuCtxDestroy", 0);
	return 0;
}

static void launch(const char *what, launch_fn *f, void *function, unsigned groups, unsigned long ns)
{
	void *params[] = {&ns};
	printf("%s: %d\n", what, f(function, groups, 1, 1, 64, 2, 1, 256, NULL, params, NULL));
}

int main(int argc, char **argv)
{
	void *module, *spin, *fails, *graph, *context = NULL;
	if (argc > 1 && !strcmp(argv[1], "opened")) {
		if (open_driver())
			return 1;
	} else {
		cu.load = cuModuleLoadData;
		cu.function = cuModuleGetFunction;
		cu.launch = cuLaunchKernel;
		cu.launch_thread = cuLaunchKernel_ptsz;
		cu.begin_capture = cuStreamBeginCapture_v2;
		cu.end_capture = cuStreamEndCapture;
		cu.launch_graph = cuGraphLaunch;
		cu.destroy = cuCtxDestroy_v2;
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
	printf("graph: %d\n", cu.launch_graph(graph, NULL));
	launch("spin", cu.launch, spin, 10, 10000);
	cuCtxGetCurrent(&context);
	printf("destroy: %d\n", cu.destroy(context));
	return 0;
}
