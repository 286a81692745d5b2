// Levenshtein distance of many short DNA string pairs: dynamic programming with a row in local memory, the same with
// the row in shared memory, and the bit-parallel algorithm of Myers.
// Hard for a GPU: dynamically indexed local arrays, loop lengths that differ between lanes, long serial dependences.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

namespace {

constexpr int kMax = 40;
constexpr int kPairs = 30000;

inline void check(cudaError_t e, int line)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
		exit(1);
	}
}
#define CHECK(e) check((e), __LINE__)

__device__ uint32_t lcg(uint32_t &s)
{
	s = s * 1664525u + 1013904223u;
	return s >> 10;
}

__global__ void make_pairs(char *a, char *b, int *la, int *lb)
{
	int p = blockIdx.x * blockDim.x + threadIdx.x;
	if (p >= kPairs) return;
	uint32_t s = p * 2246822519u + 97u;
	const uint32_t letters = 'A' | 'C' << 8 | 'G' << 16 | 'T' << 24;
	int n = 18 + lcg(s) % (kMax - 18 + 1);
	for (int i = 0; i < n; i++)
		a[p * kMax + i] = (char)(letters >> 8 * (lcg(s) & 3));
	// b is a mutated copy of a
	int m = 0;
	for (int i = 0; i < n && m < kMax; i++) {
		uint32_t r = lcg(s) % 20;
		if (r == 0) continue;
		b[p * kMax + m++] = r < 4 ? (char)(letters >> 8 * (lcg(s) & 3)) : a[p * kMax + i];
		if (r == 5 && m < kMax) b[p * kMax + m++] = 'A';
	}
	la[p] = n;
	lb[p] = m;
}

__global__ void lev_local(const char *a, const char *b, const int *la, const int *lb, int *dist)
{
	int p = blockIdx.x * blockDim.x + threadIdx.x;
	if (p >= kPairs) return;
	int row[kMax + 1];
	char sb[kMax];
	int n = la[p], m = lb[p];
	for (int j = 0; j < m; j++) sb[j] = b[p * kMax + j];
	for (int j = 0; j <= m; j++) row[j] = j;
	for (int i = 1; i <= n; i++) {
		char c = a[p * kMax + i - 1];
		int diag = row[0];
		row[0] = i;
		for (int j = 1; j <= m; j++) {
			int up = row[j];
			int best = diag + (c != sb[j - 1]);
			best = min(best, min(up, row[j - 1]) + 1);
			diag = up;
			row[j] = best;
		}
	}
	dist[p] = row[m];
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) lev_shared(const char *__restrict__ a, const char *__restrict__ b,
	const int *__restrict__ la, const int *__restrict__ lb, int *__restrict__ dist)
{
	__shared__ uint16_t row[kMax + 1][THREADS];
	__shared__ char text[kMax][THREADS];
	const int t = threadIdx.x, p = blockIdx.x * THREADS + t;
	if (p >= kPairs) return; // no barrier below: each thread uses its own column
	const int n = la[p], m = lb[p];
	row[0][t] = 0;
	for (int j = 0; j < m; j++) {
		text[j][t] = b[p * kMax + j];
		row[j + 1][t] = (uint16_t)(j + 1);
	}
	for (int i = 1; i <= n; i++) {
		const char c = a[p * kMax + i - 1];
		int diag = i - 1, left = i;
		row[0][t] = (uint16_t)i;
#pragma unroll 4
		for (int j = 0; j < m; j++) {
			int up = row[j + 1][t];
			left = min(min(up, left) + 1, diag + (c != text[j][t]));
			diag = up;
			row[j + 1][t] = (uint16_t)left;
		}
	}
	dist[p] = row[m][t];
}

__global__ void lev_myers(const char *__restrict__ a, const char *__restrict__ b, const int *__restrict__ la,
	const int *__restrict__ lb, int *__restrict__ dist)
{
	int p = blockIdx.x * blockDim.x + threadIdx.x;
	if (p >= kPairs) return;
	int n = la[p], m = lb[p];
	uint64_t peq[4] = {0, 0, 0, 0};
	for (int i = 0; i < n; i++)
		peq[(a[p * kMax + i] >> 1) & 3] |= 1ull << i;
	uint64_t pv = ~0ull, mv = 0, last = 1ull << (n - 1);
	int score = n;
	for (int j = 0; j < m; j++) {
		uint64_t eq = peq[(b[p * kMax + j] >> 1) & 3];
		uint64_t xv = eq | mv, xh = (((eq & pv) + pv) ^ pv) | eq;
		uint64_t ph = mv | ~(xh | pv), mh = pv & xh;
		score += (ph & last) ? 1 : 0;
		score -= (mh & last) ? 1 : 0;
		ph = ph << 1 | 1;
		mh <<= 1;
		pv = mh | ~(xv | ph);
		mv = ph & xv;
	}
	dist[p] = score;
}

void report(const char *name, const int *device)
{
	std::vector<int> d(kPairs);
	CHECK(cudaMemcpy(d.data(), device, kPairs * sizeof(int), cudaMemcpyDeviceToHost));
	uint64_t h = 0;
	long sum = 0;
	for (int v : d) {
		h = h * 1000003u + (uint64_t)v;
		sum += v;
	}
	printf("%-7s sum %ld hash %016llx\n", name, sum, (unsigned long long)h);
}

} // namespace

int main()
{
	char *a, *b;
	int *la, *lb, *dist;
	CHECK(cudaMalloc(&a, kPairs * kMax));
	CHECK(cudaMalloc(&b, kPairs * kMax));
	CHECK(cudaMalloc(&la, kPairs * sizeof(int)));
	CHECK(cudaMalloc(&lb, kPairs * sizeof(int)));
	CHECK(cudaMalloc(&dist, kPairs * sizeof(int)));
	make_pairs<<<(kPairs + 127) / 128, 128>>>(a, b, la, lb);
	CHECK(cudaGetLastError());
	lev_local<<<(kPairs + 127) / 128, 128>>>(a, b, la, lb, dist);
	CHECK(cudaGetLastError());
	report("local", dist);
	lev_shared<64><<<(kPairs + 63) / 64, 64>>>(a, b, la, lb, dist);
	CHECK(cudaGetLastError());
	report("shared", dist);
	for (int i = 0; i < 2; i++)
		lev_myers<<<(kPairs + 255) / 256, 256>>>(a, b, la, lb, dist);
	CHECK(cudaGetLastError());
	report("myers", dist);
	return 0;
}
