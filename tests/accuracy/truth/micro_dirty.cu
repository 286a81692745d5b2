/*
 * micro_dirty: what lines that a launch stored to, and left in L2, cost the launch after it.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_dirty tests/accuracy/truth/micro_dirty.cu
 *   micro_dirty                prints bench,what,a,b,c,value; about 10 s
 *
 * dirty: microseconds of a launch, by events around it (nothing: what these show around next to nothing). Before each, 512 MB are read, so that
 * L2 has no dirty lines, then comes what `what` says, and 5 us of nothing.
 *   after_stores       a MB were stored to; b MB of another array are read
 *   after_idle         32 MB were stored to, then a us of nothing; b MB of another array are read
 *   after_anywhere     a sixteenth of the words of a MB were changed, anywhere; b MB of another array are read
 *   same_anywhere      the same; that array is read
 *   update_again, read_again, store_again     the third of three equal launches, on a MB
 *   to_and_fro         the third of three copies between two arrays, of a MB together
 */
#include "tests/accuracy/truth/micro.h"

enum { MB = 1 << 20, THREADS = 256, LAUNCHES = 15 };
typedef unsigned long long word;

static __device__ size_t number() { return (size_t)blockIdx.x * THREADS + threadIdx.x; }

__global__ void store(float4 *p) { p[number()] = make_float4(1, 1, 1, 1); }
__global__ void update(float *p) { p[number()] += 1; }
__global__ void copy(const float *from, float *to) { to[number()] = from[number()]; }

template <typename T> __global__ void load(const T *p, float *out)
{
	T v = p[number()];
	if (*(float *)&v == 1.2345e30f) /* it never is */
		*out = 1;
}

__global__ void change_anywhere(word *p, word mask, word seed)
{
	word x = (number() + seed) * 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
	atomicXor(&p[(x ^ x >> 32) & mask], x);
}

__global__ void idle(unsigned long long ns)
{
	unsigned long long begin = nanoseconds();
	while (nanoseconds() - begin < ns)
		;
}

static unsigned blocks_of(int mb, size_t bytes) { return (unsigned)(mb * (MB / bytes) / THREADS); }

/* The median time of `launch`, `before` each of which something else is launched. */
template <typename BEFORE, typename LAUNCH> static void time_of(const char *what, int a, int b, BEFORE before, LAUNCH launch)
{
	std::vector<float> found;
	cudaEvent_t from, to;
	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	for (int n = 0; n < LAUNCHES; n++) {
		float ms;
		before();
		CHECK(cudaEventRecord(from));
		launch();
		CHECK(cudaEventRecord(to));
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaEventElapsedTime(&ms, from, to));
		found.push_back(ms);
	}
	CHECK(cudaGetLastError());
	CHECK(cudaEventDestroy(from));
	CHECK(cudaEventDestroy(to));
	std::sort(found.begin(), found.end());
	row("dirty", what, a, b, 0, 1e3 * found[found.size() / 2]);
}

static void *zeroed(size_t bytes)
{
	void *p;
	CHECK(cudaMalloc(&p, bytes));
	CHECK(cudaMemset(p, 0, bytes));
	return p;
}

int main()
{
	void *x = zeroed(512ull * MB), *y = zeroed(512ull * MB), *z = zeroed(512ull * MB);
	float *out = (float *)zeroed(MB);
	word seed = 0;
	auto load_of = [&](void *p, int mb) { load<<<blocks_of(mb, 16), THREADS>>>((float4 *)p, out); };
	auto clean = [&] {
		load_of(z, 256);
		load_of(z, 256);
	};
	auto stores = [&](int mb, int us) {
		clean();
		if (mb)
			store<<<blocks_of(mb, 16), THREADS>>>((float4 *)x);
		idle<<<1, 1>>>(1000ull * us);
	};
	auto anywhere = [&](int mb) {
		clean();
		change_anywhere<<<blocks_of(mb, 32), THREADS>>>((word *)x, mb * (MB / 8ull) - 1, seed++ << 32);
		idle<<<1, 1>>>(5000);
	};
	auto thrice = [&](const char *what, int mb, auto launch) {
		time_of(what, mb, 0, [&] { launch(), launch(); }, launch);
	};

	for (int n = 0; n < 200; n++)
		clean();
	time_of("nothing", 0, 0, [&] { stores(0, 5); }, [&] { idle<<<1, 1>>>(0); });
	for (int mb : {0, 4, 8, 16, 24, 32, 40, 48, 56, 64, 96, 256})
		for (int read : {16, 32, 64, 128})
			time_of("after_stores", mb, read, [&] { stores(mb, 5); }, [&] { load_of(y, read); });
	for (int us : {0, 20, 100, 1000, 10000})
		time_of("after_idle", us, 64, [&] { stores(32, us); }, [&] { load_of(y, 64); });
	for (int mb : {16, 32, 64, 128}) {
		time_of("after_anywhere", mb, 64, [&] { anywhere(mb); }, [&] { load_of(y, 64); });
		time_of("same_anywhere", mb, mb, [&] { anywhere(mb); }, [&] { load_of(x, mb); });
	}
	for (int mb : {8, 16, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 80, 96, 128}) {
		thrice("update_again", mb, [&] { update<<<blocks_of(mb, 4), THREADS>>>((float *)x); });
		thrice("read_again", mb, [&] { load<<<blocks_of(mb, 4), THREADS>>>((float *)x, out); });
		thrice("store_again", mb, [&] { store<<<blocks_of(mb, 16), THREADS>>>((float4 *)x); });
		time_of("to_and_fro", mb, 0,
		        [&] {
			        copy<<<blocks_of(mb, 8), THREADS>>>((float *)x, (float *)y);
			        copy<<<blocks_of(mb, 8), THREADS>>>((float *)y, (float *)x);
		        },
		        [&] { copy<<<blocks_of(mb, 8), THREADS>>>((float *)x, (float *)y); });
	}
	return 0;
}
