// The wave equation on strings, all time steps in one launch: a long string in the shared memory of a single block, and many short ones in registers.
// Hard for a GPU: hundreds of steps with a barrier each, one block on the whole machine in the first kernel, and halo exchange by shuffles in the second.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define ERR(x)                                                                            \
	do {                                                                              \
		cudaError_t r = (x);                                                      \
		if (r != cudaSuccess) {                                                   \
			printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(r)); \
			exit(1);                                                          \
		}                                                                         \
	} while (0)

__device__ __host__ inline float plucked(int i, int n, int where)
{
	return i < where ? (float)i / (float)where : (float)(n - 1 - i) / (float)(n - 1 - where);
}

// one block; the speed of the wave changes along the string, one end absorbs
template <int POINTS, int THREADS> __global__ void __launch_bounds__(THREADS) long_string(float *out, float *microphone, int steps)
{
	constexpr int PER = POINTS / THREADS;
	__shared__ float u[2][POINTS + 2];
	float old[PER], c2[PER];
	const int t = threadIdx.x;
	for (int k = 0; k < PER; k++) {
		int i = t + k * THREADS;
		u[0][i + 1] = plucked(i, POINTS, POINTS / 5);
		old[k] = u[0][i + 1];
		c2[k] = i < POINTS / 2 ? 0.81f : 0.36f;
	}
	if (t < 2)
		u[t][0] = u[t][POINTS + 1] = 0.f;
	__syncthreads();
	for (int s = 0; s < steps; s++) {
		const float *now = u[s & 1];
		float *next = u[(s + 1) & 1];
#pragma unroll
		for (int k = 0; k < PER; k++) {
			int i = t + k * THREADS + 1;
			float mid = now[i], v = 2.f * mid - old[k] + c2[k] * (now[i - 1] - 2.f * mid + now[i + 1]);
			if (i == POINTS)
				v = mid + 0.6f * (now[i - 1] - mid); // outgoing wave
			old[k] = mid;
			next[i] = v;
		}
		if (t == 0)
			microphone[s] = now[POINTS * 2 / 3];
		__syncthreads();
	}
	for (int i = t; i < POINTS; i += THREADS)
		out[i] = u[steps & 1][i + 1];
}

// one block a string, every thread keeps 5 neighbouring points; damped, with a hammer that hits from time to time
__global__ void short_strings(float *out, int points_per_string, int steps)
{
	constexpr int PER = 5;
	__shared__ float first[2][33], last[2][33];
	const int t = threadIdx.x, lane = t & 31, warp = t / 32, warps = blockDim.x / 32, string = blockIdx.x;
	const float c2 = 0.2f + 0.002f * (float)string, damping = 0.9995f;
	const int hammer = (string * 37 + 11) % points_per_string, period = 40 + string % 17;
	float now[PER], old[PER];
#pragma unroll
	for (int k = 0; k < PER; k++) {
		int i = t * PER + k;
		now[k] = old[k] = i > 0 && i < points_per_string - 1 ? plucked(i, points_per_string, 20 + 3 * string) : 0.f;
	}
	for (int s = 0; s < steps; s++) {
		// borders between warps go through shared memory, inside of a warp through shuffles
		int buf = s & 1;
		if (lane == 0)
			first[buf][warp] = now[0];
		if (lane == 31)
			last[buf][warp] = now[PER - 1];
		__syncthreads();
		float left = __shfl_up_sync(~0u, now[PER - 1], 1), right = __shfl_down_sync(~0u, now[0], 1);
		if (lane == 0)
			left = warp > 0 ? last[buf][warp - 1] : 0.f;
		if (lane == 31)
			right = warp < warps - 1 ? first[buf][warp + 1] : 0.f;
		float next[PER];
#pragma unroll
		for (int k = 0; k < PER; k++) {
			float l = k > 0 ? now[k - 1] : left, r = k < PER - 1 ? now[k + 1] : right;
			next[k] = now[k] + damping * (now[k] - old[k]) + c2 * (l - 2.f * now[k] + r);
		}
		if (s % period == 0 && hammer / PER == t) {
#pragma unroll
			for (int k = 0; k < PER; k++)
				next[k] += hammer % PER == k ? 0.25f : 0.f;
		}
#pragma unroll
		for (int k = 0; k < PER; k++) {
			int i = t * PER + k;
			old[k] = now[k];
			now[k] = i > 0 && i < points_per_string - 1 ? next[k] : 0.f;
		}
	}
#pragma unroll
	for (int k = 0; k < PER; k++)
		out[(size_t)string * points_per_string + t * PER + k] = now[k];
}

// zero crossings of each string and its largest point, one warp a string
__global__ void analyse(const float *strings, int points_per_string, int count, int *crossings, float *peak)
{
	int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
	if (s >= count)
		return;
	const float *u = strings + (size_t)s * points_per_string;
	int n = 0;
	float m = 0.f;
	for (int i = lane; i < points_per_string - 1; i += 32) {
		n += (u[i] < 0.f) != (u[i + 1] < 0.f);
		m = fmaxf(m, fabsf(u[i]));
	}
	for (int d = 16; d; d >>= 1) {
		n += __shfl_xor_sync(~0u, n, d);
		m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
	}
	if (lane == 0) {
		crossings[s] = n;
		peak[s] = m;
	}
}

static unsigned long long fnv(const float *v, size_t n)
{
	unsigned long long h = 0xcbf29ce484222325ull;
	for (size_t i = 0; i < n * sizeof(float); i++)
		h = (h ^ ((const unsigned char *)v)[i]) * 0x100000001b3ull;
	return h;
}

int main()
{
	const int long_points = 5120, long_steps = 700, strings = 150, threads = 224, points = threads * 5, short_steps = 1200;
	float *long_out, *microphone, *short_out, *peak;
	int *crossings;
	ERR(cudaMalloc(&long_out, long_points * sizeof(float)));
	ERR(cudaMalloc(&microphone, long_steps * sizeof(float)));
	ERR(cudaMalloc(&short_out, (size_t)strings * points * sizeof(float)));
	ERR(cudaMalloc(&peak, strings * sizeof(float)));
	ERR(cudaMalloc(&crossings, strings * sizeof(int)));
	long_string<long_points, 1024><<<1, 1024>>>(long_out, microphone, long_steps);
	ERR(cudaGetLastError());
	short_strings<<<strings, threads>>>(short_out, points, short_steps);
	ERR(cudaGetLastError());
	analyse<<<(strings + 1) / 2, 64>>>(short_out, points, strings, crossings, peak);
	ERR(cudaGetLastError());
	ERR(cudaDeviceSynchronize());
	std::vector<float> a(long_points + long_steps), b((size_t)strings * points), p(strings);
	std::vector<int> c(strings);
	ERR(cudaMemcpy(a.data(), long_out, long_points * sizeof(float), cudaMemcpyDeviceToHost));
	ERR(cudaMemcpy(a.data() + long_points, microphone, long_steps * sizeof(float), cudaMemcpyDeviceToHost));
	ERR(cudaMemcpy(b.data(), short_out, b.size() * sizeof(float), cudaMemcpyDeviceToHost));
	ERR(cudaMemcpy(p.data(), peak, strings * sizeof(float), cudaMemcpyDeviceToHost));
	ERR(cudaMemcpy(c.data(), crossings, strings * sizeof(int), cudaMemcpyDeviceToHost));
	long total = 0;
	for (int n : c)
		total += n;
	printf("long string %016llx\n", fnv(a.data(), a.size()));
	printf("short strings %016llx, peaks %016llx, %ld crossings\n", fnv(b.data(), b.size()), fnv(p.data(), p.size()), total);
	ERR(cudaFree(long_out));
	ERR(cudaFree(microphone));
	ERR(cudaFree(short_out));
	ERR(cudaFree(peak));
	ERR(cudaFree(crossings));
	return 0;
}
