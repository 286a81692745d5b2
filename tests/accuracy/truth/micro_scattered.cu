/*
 * micro_scattered: words anywhere in a region, each in a sector of its own, loaded, stored and added to by full SMs.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_scattered tests/accuracy/truth/micro_scattered.cu
 *   micro_scattered               prints bench,what,a,b,c,value
 *
 * rate      what: load, store, red (add without a result), atom (with); a: KB of the region; b: bytes from one word to the next; c: 0; value: words per ns, of
 *           launches that differ by 16 words a thread
 * time      the same; c: 1: the region was filled before; value: us of a launch of 16 words a thread, by events
 * column    what: store; lanes store to rows of their own, one word after the other. a: bytes from row to row; b: bytes of a store;
 *           c: warps of an SM; value: stores of lanes per ns, of launches that differ by 16 stores a thread
 */
#include "tests/accuracy/truth/micro.h"

enum { BLOCKS = 2 * SMS, THREADS = 1024, WORDS = 16, LOAD = 0, STORE, RED, ATOM };

static __device__ unsigned mixed(unsigned x)
{
	x = (x ^ x >> 16) * 0x45d9f3bu;
	x = (x ^ x >> 15) * 0x2c1b3c6du;
	return x ^ x >> 16;
}

template <int WHAT> __global__ void __launch_bounds__(THREADS) scatter(unsigned *data, unsigned mask, unsigned apart, unsigned *out, int rounds)
{
	unsigned thread = blockIdx.x * THREADS + threadIdx.x, sum = 0;
	for (int r = 0; r < rounds; r++) {
		unsigned *p = data + (size_t)(mixed(thread * 64 + r) & mask) * apart;
		if (WHAT == LOAD)
			sum += *(volatile unsigned *)p;
		else if (WHAT == STORE)
			*(volatile unsigned *)p = thread;
		else if (WHAT == RED)
			atomicAdd(p, 1u);
		else
			sum += atomicAdd(p, 1u);
	}
	if (WHAT == LOAD || WHAT == ATOM)
		out[thread] = sum;
}

template <int WHAT> static void measure(const char *what, unsigned *data, unsigned *out)
{
	for (unsigned apart : {32, 128})
		for (unsigned kb = 2; kb <= 8192; kb *= 4) {
			double us[2];
			for (int twice = 0; twice < 2; twice++)
				us[twice] = median_us_of([&] { scatter<WHAT><<<BLOCKS, THREADS>>>(data, kb * 1024 / apart - 1, apart / 4, out, WORDS << twice); }, 7, 2);
			row("rate", what, kb, apart, 0, 1e-3 * BLOCKS * THREADS * WORDS / (us[1] - us[0]));
		}
	for (unsigned filled : {0, 1})
		for (unsigned mb : {1, 8, 32, 64, 128, 256}) {
			std::vector<double> found;
			for (int r = 0; r < 7; r++) {
				if (filled)
					CHECK(cudaMemset(data, 0, (size_t)mb << 20));
				found.push_back(median_us_of([&] { scatter<WHAT><<<BLOCKS, THREADS>>>(data, (mb << 15) - 1, 8, out, WORDS); }, 1, 0));
			}
			std::sort(found.begin(), found.end());
			row("time", what, mb * 1024, 32, filled, found[3]);
		}
}

template <typename WORD> __global__ void column(char *data, unsigned row_bytes, unsigned most, int rounds)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	char *p = data + (size_t)(thread % (most / row_bytes)) * row_bytes;
	for (int r = 0; r < rounds; r++) {
		WORD word = {};
		*(WORD *)(p + (r * sizeof word & 127)) = word;
		asm volatile("" ::: "memory");
	}
}

template <typename WORD> static void measure_columns(char *data)
{
	for (unsigned bytes : {128, 144, 256, 512, 784, 1024, 2048, 4096, 4112, 8192, 16384})
		for (int warps : {8, 32, 64}) {
			double us[2];
			for (int twice = 0; twice < 2; twice++)
				us[twice] = median_us_of([&] { column<WORD><<<SMS * warps / 8, 256>>>(data, bytes, 32 << 20, WORDS * 4 << twice); }, 7, 2);
			row("column", "store", bytes, sizeof(WORD), warps, 1e-3 * SMS * warps * 32 * WORDS * 4 / (us[1] - us[0]));
		}
}

int main()
{
	unsigned *data, *out;
	CHECK(cudaMalloc(&data, 256 << 20));
	CHECK(cudaMalloc(&out, BLOCKS * THREADS * sizeof *out));
	CHECK(cudaMemset(data, 0, 256 << 20));
	clocks_up(out, 100);
	measure<LOAD>("load", data, out);
	measure<STORE>("store", data, out);
	measure_columns<unsigned>((char *)data);
	measure_columns<uint4>((char *)data);
	measure<RED>("red", data, out);
	measure<ATOM>("atom", data, out);
	return 0;
}
