// Multi-level 2D wavelet transforms on integers: Haar with one thread for each 2x2 block, and the reversible 5/3 lifting
// scheme (JPEG 2000) with rows in shared memory and columns marched by one thread each.
// Hard for a GPU: each level has a quarter of the parallelism; the column pass has few threads and long strides.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define WIDTH 2000
#define HEIGHT 1504
#define LEVELS 4

#define SAFE(x) { cudaError_t err = x; if (err != cudaSuccess) { fprintf(stderr, "error at line %d: %s\n", __LINE__, cudaGetErrorString(err)); exit(1); } }

__global__ void synth_image(int *img)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x >= WIDTH) return;
	unsigned n = (y * WIDTH + x) * 0x01000193u;
	n ^= n >> 13;
	n *= 0x5bd1e995u;
	int ramp = (x * 3 + y * 5) / 40, blob = ((x / 70) ^ (y / 90)) & 1 ? 60 : 0;
	img[y * WIDTH + x] = (ramp + blob + (int)(n >> 28)) & 255;
}

// reads a compact w x h plane, writes LL compact, details in their place in the big picture
__global__ void haar_level(const int *__restrict__ src, int src_pitch, int w2, int h2, int *__restrict__ ll, int *__restrict__ detail)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w2 || y >= h2) return;
	int2 top = *(const int2 *)(src + 2 * y * src_pitch + 2 * x);
	int2 bottom = *(const int2 *)(src + (2 * y + 1) * src_pitch + 2 * x);
	int a = top.x + top.y, b = bottom.x + bottom.y, c = top.x - top.y, d = bottom.x - bottom.y;
	ll[y * w2 + x] = a + b;
	detail[y * WIDTH + x + w2] = c + d;
	detail[(y + h2) * WIDTH + x] = a - b;
	detail[(y + h2) * WIDTH + x + w2] = c - d;
}

__global__ void lift_rows(const int *__restrict__ src, int *__restrict__ dst, int w)
{
	__shared__ int even[WIDTH / 2 + 1], odd[WIDTH / 2 + 1];
	const int *row = src + blockIdx.x * WIDTH;
	int *out = dst + blockIdx.x * WIDTH;
	int half = w / 2;
	for (int i = threadIdx.x; i < w; i += blockDim.x) {
		int v = row[i];
		if (i & 1) odd[i >> 1] = v;
		else even[i >> 1] = v;
	}
	__syncthreads();
	for (int i = threadIdx.x; i < half; i += blockDim.x) {
		int right = i + 1 < half ? even[i + 1] : even[i];
		odd[i] -= (even[i] + right) >> 1;
	}
	__syncthreads();
	for (int i = threadIdx.x; i < half; i += blockDim.x) {
		int left = odd[i > 0 ? i - 1 : 0];
		out[i] = even[i] + ((left + odd[i] + 2) >> 2);
		out[half + i] = odd[i];
	}
}

__global__ void lift_columns(const int *__restrict__ src, int *__restrict__ dst, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	if (x >= w) return;
	int half = h / 2;
	int even = src[x], before = 0;
	for (int i = 0; i < half; i++) {
		int odd = src[(2 * i + 1) * WIDTH + x];
		int next = i + 1 < half ? src[(2 * i + 2) * WIDTH + x] : even;
		int d = odd - ((even + next) >> 1);
		if (i == 0) before = d;
		dst[i * WIDTH + x] = even + ((before + d + 2) >> 2);
		dst[(half + i) * WIDTH + x] = d;
		before = d;
		even = next;
	}
}

static unsigned long long digest(const int *d)
{
	std::vector<int> h(WIDTH * HEIGHT);
	SAFE(cudaMemcpy(h.data(), d, h.size() * sizeof(int), cudaMemcpyDeviceToHost));
	unsigned long long s = 1;
	for (size_t i = 0; i < h.size(); i++)
		s = (s ^ (unsigned)h[i]) * 0x9E3779B97F4A7C15ull, s ^= s >> 29;
	return s;
}

int main()
{
	int *img, *work, *ll[2];
	const size_t bytes = sizeof(int) * WIDTH * HEIGHT;
	SAFE(cudaMalloc(&img, bytes));
	SAFE(cudaMalloc(&work, bytes));
	SAFE(cudaMalloc(&ll[0], bytes / 4));
	SAFE(cudaMalloc(&ll[1], bytes / 4));
	SAFE(cudaMemset(work, 0, bytes));
	synth_image<<<dim3((WIDTH + 255) / 256, HEIGHT), 256>>>(img);
	SAFE(cudaGetLastError());

	const int *from = img;
	int pitch = WIDTH, w = WIDTH, h = HEIGHT;
	for (int level = 0; level < LEVELS; level++) {
		w /= 2;
		h /= 2;
		int *to = ll[level & 1];
		haar_level<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(from, pitch, w, h, to, work);
		SAFE(cudaGetLastError());
		from = to;
		pitch = w;
	}
	std::vector<int> approx(w * h);
	SAFE(cudaMemcpy(approx.data(), from, approx.size() * sizeof(int), cudaMemcpyDeviceToHost));
	unsigned sum = 0;
	for (int v : approx) sum = sum * 131 + v;
	printf("haar %016llx approx %08x\n", digest(work), sum);

	w = WIDTH;
	h = HEIGHT;
	for (int level = 0; level < LEVELS; level++) {
		lift_rows<<<h, 320>>>(img, work, w);
		lift_columns<<<(w + 63) / 64, 64>>>(work, img, w, h);
		SAFE(cudaGetLastError());
		w /= 2;
		h /= 2;
	}
	printf("5/3  %016llx\n", digest(img));
	cudaFree(img); cudaFree(work); cudaFree(ll[0]); cudaFree(ll[1]);
	return 0;
}
