/*
 * Accesses at addresses that are no multiple of their size, one kernel for each kind:
 *   misaligned KERNEL
 * Prints the numbers of errors that the first synchronisation and a launch after it return.
 */
#include "kernels/cuda/runtime.h"

/* %rd1 is memory, %rd2 and %r1 the thread, 0 to 31, and %p1 is false. */
#define KERNEL(name, code) \
	".visible .entry " name "(.param .u64 " name "_memory)\n{\n\t.reg .pred %p<2>;\n\t.reg .b16 %h<2>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n" \
	"\t.shared .align 16 .b8 " name "_tile[512];\n\tld.param.u64 %rd1, [" name "_memory];\n\tcvta.to.global.u64 %rd1, %rd1;\n\tmov.u32 %r1, %tid.x;\n" \
	"\tcvt.u64.u32 %rd2, %r1;\n\tsetp.gt.u32 %p1, %r1, 31;\n" code "\tret;\n}\n"
static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	KERNEL("aligned", "\tshl.b64 %rd3, %rd2, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tst.global.v4.u32 [%rd4], {%r1, %r1, %r1, %r1};\n")
	KERNEL("bytes", "\tadd.s64 %rd4, %rd1, %rd2;\n\tld.global.u8 %r2, [%rd4+3];\n\tst.global.u8 [%rd4+1], %r2;\n")
	KERNEL("off", "\tadd.s64 %rd4, %rd1, %rd2;\n\t@%p1 st.global.u32 [%rd4], %r1;\n")
	KERNEL("rows", "\tshl.b64 %rd3, %rd2, 2;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tst.global.u32 [%rd4+2], %r1;\n")
	KERNEL("wide", "\tshl.b64 %rd3, %rd2, 2;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tld.global.v2.u32 {%r2, %r3}, [%rd4];\n\tst.global.u32 [%rd4], %r3;\n")
	KERNEL("one", "\tmul.lo.s64 %rd3, %rd2, %rd2;\n\tshr.u64 %rd3, %rd3, 9;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tst.global.u16 [%rd4], %h1;\n") /* 23 * 23 is the first of 512 or more */
	KERNEL("same", "\tld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+8];\n\tshl.b64 %rd3, %rd2, 2;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tst.global.u32 [%rd4], %r5;\n")
	KERNEL("atomic", "\tatom.global.add.u32 %r2, [%rd1+2], 1;\n")
	KERNEL("tile", "\tmov.u32 %r2, tile_tile;\n\tshl.b32 %r3, %r1, 2;\n\tadd.s32 %r4, %r2, %r3;\n\tst.shared.u64 [%r4], %rd1;\n")
	KERNEL("some", "\tsetp.lt.u32 %p1, %r1, 3;\n\t@%p1 bra $L_end;\n\tmul.lo.s64 %rd3, %rd2, %rd2;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tst.global.u32 [%rd4], %r1;\n$L_end:\n");

int main(int argc, char **argv)
{
	static char kernel;
	void *memory = NULL, *arguments[] = {&memory}, **module = cuda_missing() || argc < 2 ? NULL : register_ptx(ptx, sizeof ptx - 1);
	if (!module)
		return 77;
	register_kernel(module, &kernel, argv[1]);
	__cudaRegisterFatBinaryEnd(module);
	if (cudaMalloc(&memory, 2048) || cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0, NULL))
		return 1;
	int first = cudaDeviceSynchronize();
	printf("%d %d\n", first, cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0, NULL));
	return 0;
}
