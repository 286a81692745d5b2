/* Constant memory: initial values, copies to and from symbols, with offsets, and addresses of symbols. */
#include "tests/cuda/programs/program.h"

#define PRIMES 2, 3, 5, 7, 11, 13, 17, 19
struct setting {
	char kind;
	double scale;
	short table[3];
};

#ifdef WITH_KERNELS
__constant__ int primes[8] = {PRIMES};
__constant__ float weights[16];
__constant__ setting settings[2] = {{'a', 1.5, {1, 2, 3}}, {'b', -2.25, {-4, 5, -6}}};

extern "C" __global__ void use_constants(double *out)
{
	int t = (int)threadIdx.x;
	const setting *s = &settings[t & 1];
	out[t] = primes[t & 7] * weights[t & 15] + s->kind * s->scale + s->table[t % 3];
}
#endif

#ifdef WITH_HOST
KERNEL(use_constants)
VARIABLE(primes, int[8], 1)
VARIABLE(weights, float[16], 1)
VARIABLE(settings, struct setting[2], 1)

static size_t try_kernel(const int *primes_now, const float *weights_now)
{
	static const struct setting s[2] = {{'a', 1.5, {1, 2, 3}}, {'b', -2.25, {-4, 5, -6}}};
	double out[64];
	size_t wrong = 0;
	double *d = (double *)device_new(NULL, sizeof out);
	LAUNCH(use_constants, dims(1, 1, 1), dims(64, 1, 1), 0, 0, &d);
	fetch(out, d, sizeof out);
	for (int t = 0; t < 64; t++)
		wrong += out[t] != primes_now[t & 7] * (double)weights_now[t & 15] + s[t & 1].kind * s[t & 1].scale + s[t & 1].table[t % 3];
	CALL(cudaFree(d));
	return wrong;
}

int main(void)
{
	int now[8] = {PRIMES}, back[8] = {0}, two[2] = {23, 29};
	float w[16] = {0};
	void *address = NULL;
	size_t bytes = 0;
	begin();
	report("initial values", try_kernel(now, w));
	for (int i = 0; i < 16; i++)
		w[i] = (float)i * 0.5f;
	CALL(cudaMemcpyToSymbol(SYMBOL(weights), w, sizeof w, 0, cudaMemcpyHostToDevice));
	report("a copy to a symbol", try_kernel(now, w));
	CALL(cudaMemcpyToSymbol(SYMBOL(primes), two, sizeof two, 3 * sizeof(int), cudaMemcpyHostToDevice));
	now[3] = 23;
	now[4] = 29;
	report("a copy to the middle of a symbol", try_kernel(now, w));
	CALL(cudaMemcpyFromSymbol(back, SYMBOL(primes), sizeof back, 0, cudaMemcpyDeviceToHost));
	report("a copy from a symbol", (size_t)(memcmp(back, now, sizeof now) != 0));
	CALL(cudaGetSymbolAddress(&address, SYMBOL(primes)));
	CALL(cudaGetSymbolSize(&bytes, SYMBOL(primes)));
	fetch(back, address, sizeof back);
	report("the address and the size of a symbol", (size_t)(memcmp(back, now, sizeof now) != 0) + (bytes != sizeof now));
	return finish();
}
#endif
