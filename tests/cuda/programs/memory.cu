/* Memory of all kinds: pitched, mapped, managed, fills, copies of rectangles and within the device. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void add_one(int *v, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n)
		v[i]++;
}

extern "C" __global__ void add_coordinates(char *rows, unsigned long long pitch, int width, int height)
{
	int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
	if (x < width && y < height)
		((int *)(rows + y * pitch))[x] += 1000 * y + x;
}
#endif

#ifdef WITH_HOST
KERNEL(add_one)
KERNEL(add_coordinates)

enum { WIDTH = 33, HEIGHT = 21, N = 1000 };

static size_t try_pitched(void)
{
	int host[HEIGHT][WIDTH], w = WIDTH, h = HEIGHT;
	char *d = NULL;
	size_t pitch = 0, wrong = 0;
	unsigned long long long_pitch;
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			host[y][x] = 7 * x;
	CALL(cudaMallocPitch((void **)&d, &pitch, WIDTH * sizeof(int), HEIGHT));
	CALL(cudaMemcpy2D(d, pitch, host, sizeof host[0], sizeof host[0], HEIGHT, cudaMemcpyHostToDevice));
	long_pitch = pitch;
	LAUNCH(add_coordinates, dims(5, 3, 1), dims(8, 8, 1), 0, 0, &d, &long_pitch, &w, &h);
	memset(host, 0, sizeof host);
	CALL(cudaMemcpy2D(host, sizeof host[0], d, pitch, sizeof host[0], HEIGHT, cudaMemcpyDeviceToHost));
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			wrong += host[y][x] != 8 * x + 1000 * y;
	CALL(cudaFree(d));
	return wrong + (size_t)(pitch < WIDTH * sizeof(int) || pitch % 32);
}

static size_t count_wrong(const int *v, int plus)
{
	size_t wrong = 0;
	for (int i = 0; i < N; i++)
		wrong += v[i] != i + plus;
	return wrong;
}

int main(void)
{
	int *managed, *mapped, *view, *a, *b, host[N], n = N;
	begin();
	report("pitched memory and rectangles", try_pitched());
	CALL(cudaMallocManaged((void **)&managed, sizeof host, cudaMemAttachGlobal));
	CALL(cudaHostAlloc((void **)&mapped, sizeof host, cudaHostAllocMapped));
	CALL(cudaHostGetDevicePointer((void **)&view, mapped, 0));
	for (int i = 0; i < N; i++)
		managed[i] = mapped[i] = i;
	LAUNCH(add_one, dims(8, 1, 1), dims(128, 1, 1), 0, 0, &managed, &n);
	LAUNCH(add_one, dims(8, 1, 1), dims(128, 1, 1), 0, 0, &view, &n);
	CALL(cudaDeviceSynchronize());
	report("managed memory", count_wrong(managed, 1));
	report("mapped memory", count_wrong(mapped, 1));
	a = (int *)device_new(managed, sizeof host);
	b = (int *)device_new(NULL, sizeof host);
	CALL(cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice));
	LAUNCH(add_one, dims(8, 1, 1), dims(128, 1, 1), 0, 0, &b, &n);
	CALL(cudaMemcpy(host, b, sizeof host, cudaMemcpyDefault));
	report("copies within the device", count_wrong(host, 2));
	CALL(cudaMemset(a, 0x7f, sizeof host));
	fetch(host, a, sizeof host);
	report("a fill", (size_t)((host[0] != 0x7f7f7f7f) + (host[N - 1] != 0x7f7f7f7f)));
	CALL(cudaFree(a));
	CALL(cudaFree(b));
	CALL(cudaFree(managed));
	CALL(cudaFreeHost(mapped));
	return finish();
}
#endif
