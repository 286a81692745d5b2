/* Events and their times. */
#include "tests/cuda/api/api.h"

#include <unistd.h>

static void sleep_for(void *data)
{
	usleep(*(useconds_t *)data);
}

int main(void)
{
	cudaEvent_t begin, end, plain, never;
	float ms = -1, back;
	useconds_t pause = 30000;
	EXPECT(cudaEventCreate(&begin), 0);
	EXPECT(cudaEventCreate(&end), 0);
	EXPECT(cudaEventCreate(&never), 0);
	EXPECT(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming), 0);
	EXPECT(cudaEventCreateWithFlags(&plain, 64), invalid_value);
	EXPECT(cudaEventCreateWithFlags(&plain, 4), invalid_value); /* between processes: only without times */
	EXPECT(cudaEventQuery(never), 0);
	EXPECT(cudaEventSynchronize(never), 0);
	EXPECT(cudaEventElapsedTime(&ms, begin, end), invalid_handle);
	EXPECT(cudaEventRecord(begin, NULL), 0);
	EXPECT(cudaLaunchHostFunc(NULL, sleep_for, &pause), 0);
	EXPECT(cudaEventRecord(end, NULL), 0);
	EXPECT(cudaEventRecord(plain, NULL), 0);
	EXPECT(cudaEventQuery(end), not_ready);
	EXPECT(cudaEventElapsedTime(&ms, begin, end), not_ready);
	EXPECT(cudaEventElapsedTime(&ms, begin, never), invalid_handle);
	EXPECT(cudaEventSynchronize(end), 0);
	EXPECT(cudaEventQuery(end), 0);
	EXPECT(cudaEventElapsedTime(&ms, begin, end), 0);
	EXPECT(ms > 29 && ms < 10000, true);
	EXPECT(cudaEventElapsedTime(&back, end, begin), 0);
	EXPECT(back == -ms, true);
	EXPECT(cudaDeviceSynchronize(), 0);
	EXPECT(cudaEventElapsedTime(&ms, begin, plain), invalid_handle);
	EXPECT(cudaEventElapsedTime(NULL, begin, end), invalid_value);
	EXPECT(cudaEventDestroy(begin), 0);
	EXPECT(cudaEventDestroy(begin), invalid_handle);
	EXPECT(cudaEventRecord(begin, NULL), invalid_handle);
	EXPECT(cudaEventRecord(end, (cudaStream_t)&ms), invalid_handle);
	EXPECT(cudaEventDestroy(NULL), invalid_handle);
	return verdict();
}
