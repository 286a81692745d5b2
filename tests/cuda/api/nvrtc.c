/*
 * A program that compiles its kernel when it runs, with NVIDIA's NVRTC, and launches it by the driver. Its argument is the library. Ends with "PASS"
 * or exit status 1.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char source[] = "template <class T> __device__ T square(T x) { return x * x; }\n"
			     "extern \"C\" __global__ void squares(int *out, int n)\n"
			     "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = square(i); }\n";

static void *nvrtc, *driver;

static void *find(void *library, const char *name)
{
	void *f = library ? dlsym(library, name) : NULL;
	if (!f) {
		printf("FAIL no %s: %s\n", name, dlerror());
		exit(1);
	}
	return f;
}
#define RTC(name, ...) ((int (*)(__VA_ARGS__))find(nvrtc, #name))
#define CU(name, ...) ((int (*)(__VA_ARGS__))find(driver, #name))

static void must(int error, const char *what)
{
	if (error) {
		printf("FAIL %s: %d\n", what, error);
		exit(1);
	}
}
#define MUST(call) must(call, #call)

static char *compile(void)
{
	void *program;
	size_t bytes = 0;
	const char *options[] = {"--gpu-architecture=compute_80"};
	MUST(RTC(nvrtcCreateProgram, void **, const char *, const char *, int, const char *const *, const char *const *)(&program, source, "squares.cu", 0, NULL, NULL));
	MUST(RTC(nvrtcCompileProgram, void *, int, const char *const *)(program, 1, options));
	MUST(RTC(nvrtcGetPTXSize, void *, size_t *)(program, &bytes));
	char *ptx = malloc(bytes);
	MUST(RTC(nvrtcGetPTX, void *, char *)(program, ptx));
	MUST(RTC(nvrtcDestroyProgram, void **)(&program));
	return ptx;
}

int main(int argc, char **argv)
{
	enum { N = 500 };
	void *context, *module, *function;
	uint64_t out;
	int values[N], n = N, wrong = 0;
	nvrtc = dlopen(argc > 1 ? argv[1] : "libnvrtc.so", RTLD_NOW);
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	char *ptx = compile();
	MUST(CU(cuInit, unsigned)(0));
	MUST(CU(cuCtxCreate_v2, void **, unsigned, int)(&context, 0, 0));
	MUST(CU(cuModuleLoadDataEx, void **, const void *, unsigned, int *, void **)(&module, ptx, 0, NULL, NULL));
	MUST(CU(cuModuleGetFunction, void **, void *, const char *)(&function, module, "squares"));
	MUST(CU(cuMemAlloc_v2, uint64_t *, size_t)(&out, sizeof values));
	void *args[] = {&out, &n};
	MUST(CU(cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)(
		function, 4, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
	MUST(CU(cuMemcpyDtoH_v2, void *, uint64_t, size_t)(values, out, sizeof values));
	for (int i = 0; i < N; i++)
		wrong += values[i] != i * i;
	if (wrong)
		printf("FAIL %d of %d are wrong\n", wrong, N);
	else
		puts("PASS");
	free(ptx);
	return wrong != 0;
}
