/*
 * micro_clocks: at which clock SMs run while their units are busy.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_clocks tests/accuracy/truth/micro_clocks.cu
 *   micro_clocks                prints bench,what,a,b,c,value
 *
 * All SMs do the same for some time. what: fma, dfma, int, hmma (m16n8k16 of halves), imma (m16n8k32 of bytes), dmma; a: warps of an SM; b: rounds;
 * c: which launch, of five in a row after 50 ms of nothing; value: MHz, by the SM's clock and the GPU's timer
 */
#include "tests/accuracy/truth/micro.h"

#include <unistd.h>

enum kind { FMA, DFMA, INT, HMMA, IMMA, DMMA };

struct sample {
	long long cycles;
	unsigned long long ns;
};

template <int KIND> __global__ void busy(int rounds, sample *samples, unsigned *out)
{
	float f[4] = {1, 2, 3, 4};
	double d[4] = {1, 2, 3, 4};
	unsigned a[4] = {threadIdx.x, 2, 3, 4}, b[2] = {5, 6};
	int n[4] = {1, 2, 3, 4};
	unsigned long long from = nanoseconds();
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int s = 0; s < 8; s++) {
			if (KIND == FMA)
				for (float &x : f)
					asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
			else if (KIND == DFMA)
				for (double &x : d)
					asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(x));
			else if (KIND == INT)
				for (int &x : n)
					asm volatile("mad.lo.s32 %0, %0, %0, %0;" : "+r"(x));
			else if (KIND == HMMA)
				asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
				             : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
				             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
			else if (KIND == IMMA)
				asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
				             : "+r"(n[0]), "+r"(n[1]), "+r"(n[2]), "+r"(n[3])
				             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
			else
				asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
				             : "+d"(d[0]), "+d"(d[1])
				             : "d"(d[2]), "d"(d[3]));
		}
	long long end = cycles();
	unsigned long long to = nanoseconds();
	if (f[0] + f[1] + f[2] + f[3] + d[0] + d[1] + d[2] + d[3] + n[0] + n[1] + n[2] + n[3] == 12345.678)
		*out = 1;
	if (!threadIdx.x)
		samples[blockIdx.x] = {end - begin, to - from};
}

template <int KIND> static void all(const char *what, sample *samples, unsigned *out)
{
	for (int warps : {4, 8, 32})
		for (int rounds : {300, 3000, 100000}) {
			usleep(50000);
			for (int l = 0; l < 5; l++) {
				std::vector<sample> found(SMS);
				busy<KIND><<<SMS, warps * 32>>>(rounds, samples, out);
				CHECK(cudaMemcpy(found.data(), samples, SMS * sizeof(sample), cudaMemcpyDeviceToHost));
				double c = 0, ns = 0;
				for (const sample &s : found)
					c += s.cycles, ns += s.ns;
				row("clocks", what, warps, rounds, l, 1e3 * c / ns);
			}
		}
}

int main()
{
	sample *samples;
	unsigned *out;
	CHECK(cudaMalloc(&samples, SMS * sizeof *samples));
	CHECK(cudaMalloc(&out, 4096));
	clocks_up(out, 100);
	all<FMA>("fma", samples, out);
	all<DFMA>("dfma", samples, out);
	all<INT>("int", samples, out);
	all<HMMA>("hmma", samples, out);
	all<IMMA>("imma", samples, out);
	all<DMMA>("dmma", samples, out);
	return 0;
}
