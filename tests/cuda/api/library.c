/*
 * A library that contains the runtime, as nvcc makes one: its functions are not exported, and the library registers its fat binary when it
 * is loaded, which may be before gpusim is ready.
 */
#include <stdio.h>

void **__cudaRegisterFatBinary(void *wrapper);
int cudaGetDeviceCount(int *count);
int cudaRuntimeGetVersion(int *version);

static void **handle __asm__("_ZL20__cudaFatCubinHandle");
static char wrapper[64];

__attribute__((constructor, used)) static void register_all(void) __asm__("_ZL24__sti____cudaRegisterAllv");
static void register_all(void)
{
	handle = __cudaRegisterFatBinary(wrapper);
}

__attribute__((visibility("default"))) int use_library(void);
int use_library(void)
{
	int count = 0, version = 0, error = cudaGetDeviceCount(&count);
	cudaRuntimeGetVersion(&version);
	/* the runtime that does nothing returns 77 */
	int good = !error && count == 1 && version / 1000 == 12 && handle && handle != (void **)77;
	puts(good ? "PASS" : "FAIL");
	return !good;
}
