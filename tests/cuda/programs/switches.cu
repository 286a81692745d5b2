/* Switches that become tables of jumps, a machine that is interpreted, and a long kernel without any loop. */
#include "tests/cuda/programs/program.h"

FUNCTION unsigned interpret(unsigned program, unsigned x)
{
	for (int pc = 0; pc < 10; pc++) {
		unsigned op = program >> pc * 3 & 7;
		switch (op) {
		case 0: x += 17; break;
		case 1: x ^= x << 5; break;
		case 2: x *= 2654435761u; break;
		case 3: x = x >> 3 | x << 29; break;
		case 4: x -= program; /* fall through */
		case 5: x = ~x; break;
		case 6: if (x & 1) return x; x |= 0x80; break;
		default: x = x % 1000003;
		}
	}
	return x;
}

#define ROUND(k) x = (x ^ (x >> ((k) % 13 + 1))) * (2246822519u + 2u * (k)); y += x << (k) % 7; if (y & 1u << (k) % 31) x += y;
#define ROUNDS8(k) ROUND(k) ROUND(k + 1) ROUND(k + 2) ROUND(k + 3) ROUND(k + 4) ROUND(k + 5) ROUND(k + 6) ROUND(k + 7)
#define ROUNDS64(k) ROUNDS8(k) ROUNDS8(k + 8) ROUNDS8(k + 16) ROUNDS8(k + 24) ROUNDS8(k + 32) ROUNDS8(k + 40) ROUNDS8(k + 48) ROUNDS8(k + 56)

FUNCTION unsigned long_way(unsigned x)
{
	unsigned y = 1;
	ROUNDS64(0u) ROUNDS64(64u) ROUNDS64(128u)
	return x ^ y;
}

#ifdef WITH_KERNELS
extern "C" __global__ void interpret_all(const unsigned *programs, unsigned *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = interpret(programs[i], i * 77);
}

extern "C" __global__ void long_kernel(unsigned *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = long_way(i + 1);
}
#endif

#ifdef WITH_HOST
KERNEL(interpret_all)
KERNEL(long_kernel)

int main(void)
{
	enum { N = 512 };
	unsigned programs[N], out[N], state = 9;
	size_t wrong = 0, wrong_long = 0;
	begin();
	for (int i = 0; i < N; i++)
		programs[i] = next_number(&state) ^ next_number(&state) << 8;
	void *a = device_new(programs, sizeof programs), *b = device_new(NULL, sizeof out);
	LAUNCH(interpret_all, dims(4, 1, 1), dims(N / 4, 1, 1), 0, 0, &a, &b);
	fetch(out, b, sizeof out);
	for (unsigned i = 0; i < N; i++)
		wrong += out[i] != interpret(programs[i], i * 77);
	report("tables of jumps", wrong);
	LAUNCH(long_kernel, dims(4, 1, 1), dims(N / 4, 1, 1), 0, 0, &b);
	fetch(out, b, sizeof out);
	for (unsigned i = 0; i < N; i++)
		wrong_long += out[i] != long_way(i + 1);
	report("a long kernel", wrong_long);
	return finish();
}
#endif
