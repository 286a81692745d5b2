/* Structures as arguments of kernels, by value: small, with holes, with arrays, and large ones between other arguments. */
#include "tests/cuda/programs/program.h"

struct small {
	char c;
	short s;
};
struct holes {
	char a;
	double d;
	char b;
	int i;
	char e;
};
struct large {
	int values[100];
	struct holes inner;
	float *out;
};

FUNCTION float value_of(const struct large *l, const struct holes *h, const struct small *s, char extra, int t)
{
	return (float)(l->values[t % 100] + l->inner.i + l->inner.b) + (float)(h->d + h->a + h->e) + (float)(s->c * s->s) + (float)extra;
}

#ifdef WITH_KERNELS
extern "C" __global__ void take_structs(struct small s, struct large l, char extra, struct holes h)
{
	int t = (int)threadIdx.x;
	l.values[t % 100] += t; /* a copy of the thread's own */
	l.out[t] = value_of(&l, &h, &s, extra, t);
}
#endif

#ifdef WITH_HOST
KERNEL(take_structs)

int main(void)
{
	enum { THREADS = 160 };
	struct small s = {3, -7};
	struct holes h = {1, 2.5, 3, 4, 5};
	struct large l;
	char extra = 9;
	float out[THREADS];
	size_t wrong = 0;
	begin();
	memset(&l, 0, sizeof l);
	for (int i = 0; i < 100; i++)
		l.values[i] = i * 3;
	l.inner = h;
	l.inner.i = 50;
	l.out = (float *)device_new(NULL, sizeof out);
	LAUNCH(take_structs, dims(1, 1, 1), dims(THREADS, 1, 1), 0, 0, &s, &l, &extra, &h);
	fetch(out, l.out, sizeof out);
	for (int t = 0; t < THREADS; t++) {
		struct large mine = l;
		mine.values[t % 100] += t;
		wrong += out[t] != value_of(&mine, &h, &s, extra, t);
	}
	report("structures by value", wrong);
	return finish();
}
#endif
