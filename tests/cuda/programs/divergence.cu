/* Loops that lanes leave at different times, with votes inside, and branches in branches. */
#include "tests/cuda/programs/program.h"

FUNCTION int collatz_step(int x)
{
	return x & 1 ? 3 * x + 1 : x / 2;
}

/* Nested loops with break and continue, which every lane walks in its own way. */
FUNCTION int wander(int t)
{
	int sum = 0;
	for (int i = 0; i < 20; i++) {
		if ((i + t) % 3 == 0)
			continue;
		for (int j = 0; j < t % 7 + 1; j++) {
			if (j * i > t + 10)
				break;
			if (j & 1)
				sum += i;
			else
				sum ^= j + t;
		}
		if (sum > 1000 + t)
			break;
	}
	return sum;
}

#ifdef WITH_KERNELS
/* How often each thread steps, and the number of lanes that still step, added up. */
extern "C" __global__ void ballots(int *steps, int *lanes)
{
	int t = threadIdx.x, x = t, n = 0, sum = 0;
	while (x > 1) {
		sum += __popc(__ballot_sync(__activemask(), x > 0));
		x = collatz_step(x);
		n++;
	}
	steps[t] = n;
	lanes[t] = sum;
}

extern "C" __global__ void wandering(int *out)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x;
	out[t] = wander(t);
}
#endif

#ifdef WITH_HOST
KERNEL(ballots)
KERNEL(wandering)

static int steps_of(int x)
{
	int n = 0;
	for (; x > 1; x = collatz_step(x))
		n++;
	return n;
}

int main(void)
{
	enum { THREADS = 256, WANDERERS = 1000 };
	int steps[THREADS], lanes[THREADS], out[WANDERERS];
	size_t wrong = 0, wrong_lanes = 0;
	begin();
	int *a = (int *)device_new(NULL, sizeof steps), *b = (int *)device_new(NULL, sizeof lanes);
	LAUNCH(ballots, dims(1, 1, 1), dims(THREADS, 1, 1), 0, 0, &a, &b);
	fetch(steps, a, sizeof steps);
	fetch(lanes, b, sizeof lanes);
	for (int t = 0; t < THREADS; t++) {
		/* in round r those lanes of the warp are on which have more than r steps */
		int sum = 0;
		for (int r = 0; r < steps_of(t); r++)
			for (int l = t / 32 * 32; l < t / 32 * 32 + 32; l++)
				sum += steps_of(l) > r;
		wrong += steps[t] != steps_of(t);
		wrong_lanes += lanes[t] != sum;
	}
	report("steps of divergent loops", wrong);
	report("lanes that vote in divergent loops", wrong_lanes);
	int *c = (int *)device_new(NULL, sizeof out);
	LAUNCH(wandering, dims(8, 1, 1), dims(125, 1, 1), 0, 0, &c);
	fetch(out, c, sizeof out);
	wrong = 0;
	for (int t = 0; t < WANDERERS; t++)
		wrong += out[t] != wander(t);
	report("nested loops with break and continue", wrong);
	return finish();
}
#endif
