/* With GPUSIM_OFF=1 every call reaches the runtime below, with all of its parameters. */
#include <stdio.h>

int cudaGetDeviceCount(int *count);
int cudaLibraryLoadData(long a, long b, long c, long d, long e, long f, long g, long h);
int cudaGraphMemAllocNodeGetParams(long a, long b, long c, long d, long e, long f, long g, long h, double x, double y);

int main(void)
{
	int count = 0, simple = cudaGetDeviceCount(&count);
	int many = cudaGraphMemAllocNodeGetParams(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	int some = cudaLibraryLoadData(1, 2, 3, 4, 5, 6, 7, 8);
	printf("%d %d %d\n", simple, many, some);
	return 0;
}
