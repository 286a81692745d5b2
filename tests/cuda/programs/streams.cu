/* Streams, events and asynchronous copies: order within a stream, waits across streams, host functions, the default stream. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void scale_add(int *v, int factor, int addend, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n)
		v[i] = v[i] * factor + addend;
}

extern "C" __global__ void sum_of(const int *a, const int *b, int *c, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n)
		c[i] = a[i] + b[i];
}
#endif

#ifdef WITH_HOST
KERNEL(scale_add)
KERNEL(sum_of)

enum { N = 10000 };
static int host_calls;

static void count_call(void *data)
{
	host_calls += *(int *)data;
}

static void enqueue(cudaStream_t s, int *v, int factor, int addend)
{
	int n = N;
	LAUNCH(scale_add, dims((N + 127) / 128, 1, 1), dims(128, 1, 1), 0, s, &v, &factor, &addend, &n);
}

static size_t differing(const int *v, int factor, int addend)
{
	size_t wrong = 0;
	for (int i = 0; i < N; i++)
		wrong += v[i] != i * factor + addend;
	return wrong;
}

/* c = (2 i + 1) + (3 i): two streams compute, a third one waits for both. */
static size_t try_three_streams(int *host, int *a, int *b, int *c)
{
	cudaStream_t s[3];
	cudaEvent_t e[2];
	int n = N;
	for (int i = 0; i < 3; i++)
		CALL(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
	for (int i = 0; i < 2; i++)
		CALL(cudaEventCreate(&e[i]));
	CALL(cudaMemcpyAsync(a, host, N * sizeof(int), cudaMemcpyHostToDevice, s[0]));
	CALL(cudaMemcpyAsync(b, host, N * sizeof(int), cudaMemcpyHostToDevice, s[1]));
	enqueue(s[0], a, 2, 1);
	enqueue(s[1], b, 3, 0);
	CALL(cudaEventRecord(e[0], s[0]));
	CALL(cudaEventRecord(e[1], s[1]));
	CALL(cudaStreamWaitEvent(s[2], e[0], 0));
	CALL(cudaStreamWaitEvent(s[2], e[1], 0));
	LAUNCH(sum_of, dims((N + 127) / 128, 1, 1), dims(128, 1, 1), 0, s[2], &a, &b, &c, &n);
	CALL(cudaMemcpyAsync(host, c, N * sizeof(int), cudaMemcpyDeviceToHost, s[2]));
	CALL(cudaStreamSynchronize(s[2]));
	size_t wrong = differing(host, 5, 1);
	wrong += cudaStreamQuery(s[2]) != cudaSuccess;
	for (int i = 0; i < 3; i++)
		CALL(cudaStreamDestroy(s[i]));
	for (int i = 0; i < 2; i++)
		CALL(cudaEventDestroy(e[i]));
	return wrong;
}

/* Twenty commands in one stream, with a host function between them. */
static size_t try_order(int *host, int *a)
{
	cudaStream_t s;
	int one = 1, factor = 1, addend = 0;
	for (int i = 0; i < N; i++)
		host[i] = i;
	CALL(cudaStreamCreate(&s));
	CALL(cudaMemcpyAsync(a, host, N * sizeof(int), cudaMemcpyHostToDevice, s));
	for (int k = 0; k < 20; k++) {
		enqueue(s, a, k % 3 == 0 ? 2 : 1, k);
		factor *= k % 3 == 0 ? 2 : 1;
		addend = addend * (k % 3 == 0 ? 2 : 1) + k;
		CALL(cudaLaunchHostFunc(s, count_call, &one));
	}
	CALL(cudaMemcpyAsync(host, a, N * sizeof(int), cudaMemcpyDeviceToHost, s));
	CALL(cudaStreamSynchronize(s));
	CALL(cudaStreamDestroy(s));
	return differing(host, factor, addend) + (size_t)(host_calls != 20);
}

/* A blocking stream and the default stream wait for one another. */
static size_t try_default(int *host, int *a)
{
	cudaStream_t s;
	cudaEvent_t from, to;
	float ms = -1;
	for (int i = 0; i < N; i++)
		host[i] = i;
	CALL(cudaStreamCreate(&s));
	CALL(cudaEventCreate(&from));
	CALL(cudaEventCreate(&to));
	CALL(cudaMemcpy(a, host, N * sizeof(int), cudaMemcpyHostToDevice));
	CALL(cudaEventRecord(from, 0));
	enqueue(s, a, 2, 0);
	enqueue(0, a, 1, 5);
	enqueue(s, a, 3, 0);
	enqueue(0, a, 1, 7);
	CALL(cudaEventRecord(to, 0));
	CALL(cudaEventSynchronize(to));
	CALL(cudaEventElapsedTime(&ms, from, to));
	fetch(host, a, N * sizeof(int));
	CALL(cudaEventDestroy(from));
	CALL(cudaEventDestroy(to));
	CALL(cudaStreamDestroy(s));
	return differing(host, 6, 22) + (size_t)!(ms > 0 && ms < 60000);
}

int main(void)
{
	int *host, *a, *b, *c;
	begin();
	CALL(cudaMallocHost((void **)&host, N * sizeof(int)));
	a = (int *)device_new(NULL, N * sizeof(int));
	b = (int *)device_new(NULL, N * sizeof(int));
	c = (int *)device_new(NULL, N * sizeof(int));
	for (int i = 0; i < N; i++)
		host[i] = i;
	CALL(cudaDeviceSynchronize());
	report("three streams with events", try_three_streams(host, a, b, c));
	report("the order of a stream", try_order(host, a));
	report("the default stream", try_default(host, a));
	CALL(cudaFreeHost(host));
	return finish();
}
#endif
