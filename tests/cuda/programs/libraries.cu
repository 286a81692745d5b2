/* Libraries that are loaded at run time from PTX text: their kernels by name and by number, their variables, and their end. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void linked_in(int *v, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n)
		v[i] += 1000;
}
#endif

#ifdef WITH_HOST
#include <unistd.h>

KERNEL(linked_in)

/* v[i] = v[i] * factor, and v[i] = i + first */
#define INDEX \
	"\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n\tmad.lo.s32 %r5, %r2, %r3, %r4;\n" \
	"\tsetp.ge.u32 %p1, %r5, %r1;\n\t@%p1 bra done;\n\tmul.wide.u32 %rd2, %r5, 4;\n\tcvta.to.global.u64 %rd3, %rd1;\n\tadd.s64 %rd4, %rd3, %rd2;\n"
#define REGISTERS "\t.reg .pred %p<2>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<5>;\n"
static const char library_ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .u32 factor = 3;\n"
	".visible .entry scale(.param .u64 scale_v, .param .u32 scale_n)\n{\n" REGISTERS
	"\tld.param.u64 %rd1, [scale_v];\n\tld.param.u32 %r1, [scale_n];\n" INDEX
	"\tld.global.u32 %r6, [%rd4];\n\tld.global.u32 %r7, [factor];\n\tmul.lo.s32 %r8, %r6, %r7;\n\tst.global.u32 [%rd4], %r8;\ndone:\n\tret;\n}\n"
	".visible .entry count(.param .u64 count_v, .param .u32 count_n, .param .u32 count_first)\n{\n" REGISTERS
	"\tld.param.u64 %rd1, [count_v];\n\tld.param.u32 %r1, [count_n];\n" INDEX
	"\tld.param.u32 %r6, [count_first];\n\tadd.s32 %r7, %r5, %r6;\n\tst.global.u32 [%rd4], %r7;\ndone:\n\tret;\n}\n";

enum { N = 500, SYMBOL_NOT_FOUND = 500, FILE_MISSING = 301 };

static void launch(cudaKernel_t kernel, void **arguments)
{
	CALL(cudaLaunchKernel((const void *)kernel, dims(4, 1, 1), dims(128, 1, 1), arguments, 0, NULL));
}

static size_t differing(const int *v, int factor, int first, int more)
{
	static int values[N];
	size_t wrong = 0;
	fetch(values, v, sizeof values);
	for (int i = 0; i < N; i++)
		wrong += values[i] != factor * (i + first) + more;
	return wrong;
}

static void try_kernels(cudaLibrary_t library, int *v)
{
	cudaKernel_t scale, count, own, all[4] = {NULL, NULL, NULL, NULL};
	unsigned kernels = 0;
	int first = 7, n = N;
	void *arguments[3], *address = NULL;
	size_t bytes = 0;
	arguments[0] = &v;
	arguments[1] = &n;
	arguments[2] = &first;
	CALL(cudaLibraryGetKernel(&scale, library, "scale"));
	CALL(cudaLibraryGetKernel(&count, library, "count"));
	launch(count, arguments);
	launch(scale, arguments);
	report("kernels by their names", differing(v, 3, 7, 0));
	CALL(cudaLibraryGetGlobal(&address, &bytes, library, "factor"));
	int ten = 10;
	CALL(cudaMemcpy(address, &ten, sizeof ten, cudaMemcpyHostToDevice));
	launch(count, arguments);
	launch(scale, arguments);
	report("a variable of the library", differing(v, 10, 7, 0) + (bytes != 4));
	CALL(cudaLibraryGetKernelCount(&kernels, library));
	CALL(cudaLibraryEnumerateKernels(all, 4, library));
	report("all kernels", kernels != 2 || !((all[0] == scale && all[1] == count) || (all[0] == count && all[1] == scale)) || all[2] != NULL);
	CALL(cudaGetKernel(&own, HANDLE(linked_in)));
	launch(own, arguments);
	report("a kernel of the program itself", differing(v, 10, 7, 1000));
	report("a name that is missing", (int)cudaLibraryGetKernel(&own, library, "nothing") != SYMBOL_NOT_FOUND);
	cudaGetLastError();
}

static void try_file(int *v)
{
	char path[] = "/tmp/gpusim-library-XXXXXX";
	cudaLibrary_t library;
	cudaKernel_t count;
	int first = -3, n = N, file = mkstemp(path);
	void *arguments[3];
	arguments[0] = &v;
	arguments[1] = &n;
	arguments[2] = &first;
	if (file < 0 || write(file, library_ptx, sizeof library_ptx - 1) < 0 || close(file))
		exit(1);
	CALL(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
	unlink(path);
	CALL(cudaLibraryGetKernel(&count, library, "count"));
	launch(count, arguments);
	report("a library in a file", differing(v, 1, -3, 0));
	CALL(cudaLibraryUnload(library));
	report("a file that is missing", (int)cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0) != FILE_MISSING);
	cudaGetLastError();
}

int main(void)
{
	cudaLibrary_t library;
	begin();
	int *v = (int *)device_new(NULL, N * sizeof(int));
	CALL(cudaLibraryLoadData(&library, library_ptx, NULL, NULL, 0, NULL, NULL, 0));
	try_kernels(library, v);
	CALL(cudaLibraryUnload(library));
	try_file(v);
	return finish();
}
#endif
