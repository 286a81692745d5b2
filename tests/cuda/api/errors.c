/* Errors: texts, the last one of a thread, calls that are refused, functions that nobody registered. */
#include "tests/cuda/api/api.h"

#include <pthread.h>

static void *other_thread(void *data)
{
	(void)data;
	EXPECT(cudaPeekAtLastError(), 0);
	EXPECT(cudaSetDevice(5), invalid_device);
	EXPECT(cudaPeekAtLastError(), invalid_device);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	void *graph, *nothing;
	char attributes[512];
	dim3 one = {1, 1, 1};
	EXPECT_TEXT(cudaGetErrorString(0), "no error");
	EXPECT_TEXT(cudaGetErrorName(0), "cudaSuccess");
	EXPECT_TEXT(cudaGetErrorString(1), "invalid argument");
	EXPECT_TEXT(cudaGetErrorString(2), "out of memory");
	EXPECT_TEXT(cudaGetErrorString(98), "invalid device function");
	EXPECT_TEXT(cudaGetErrorString(209), "no kernel image is available for execution on the device");
	EXPECT_TEXT(cudaGetErrorName(719), "cudaErrorLaunchFailure");
	EXPECT_TEXT(cudaGetErrorString(719), "unspecified launch failure");
	EXPECT_TEXT(cudaGetErrorString(123456), "unrecognized error code");
	EXPECT(cudaGetLastError(), 0);
	EXPECT(cudaMalloc(NULL, 1), invalid_value);
	EXPECT(cudaDeviceSynchronize(), 0); /* success leaves the last error */
	EXPECT(cudaPeekAtLastError(), invalid_value);
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	EXPECT(cudaGetLastError(), invalid_value);
	EXPECT(cudaGetLastError(), 0);
	EXPECT(cudaUserObjectCreate(&graph, 0), not_supported);
	EXPECT(cudaUserObjectCreate(&graph, 0), not_supported);
	EXPECT(cudaGetLastError(), not_supported);
	EXPECT(cudaLaunchKernel(&thread, one, one, NULL, 0, NULL), invalid_function);
	EXPECT(cudaLaunchKernel(NULL, one, one, NULL, 0, NULL), invalid_function);
	EXPECT(cudaFuncGetAttributes(attributes, &thread), invalid_function);
	EXPECT(cudaGetSymbolAddress(&nothing, &thread), invalid_symbol);
	EXPECT(cudaMemcpyToSymbol(&thread, attributes, 4, 0, cudaMemcpyHostToDevice), invalid_symbol);
	return verdict();
}
