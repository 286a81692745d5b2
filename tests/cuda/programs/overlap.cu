/* Launches of several streams, and nodes of a graph, run beside each other, unless something orders them. With the argument `times`, the times of events say so:
 * for a run in which they are those of the GPU (GPUSIM_PROFILING=simulated), or on a GPU. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void spin(unsigned *v, int n)
{
	unsigned x = v[threadIdx.x];
	for (int i = 0; i < n; i++)
		x = x * 1664525u + 1013904223u;
	v[threadIdx.x] = x;
}
#endif

#ifdef WITH_HOST
KERNEL(spin)

enum { N = 64, STEPS = 100000, LAUNCHES = 4 };
static unsigned *memory[LAUNCHES];
static int launches[LAUNCHES];
static cudaEvent_t from, to[2];

static void launch(int which, cudaStream_t s)
{
	int n = STEPS;
	LAUNCH(spin, dims(1, 1, 1), dims(N, 1, 1), 0, s, &memory[which], &n);
	launches[which]++;
}

/* From the first event to the later of those in two streams. */
static double elapsed(cudaStream_t a, cudaStream_t b)
{
	float ms[2];
	CALL(cudaEventRecord(to[0], a));
	CALL(cudaEventRecord(to[1], b));
	CALL(cudaDeviceSynchronize());
	for (int i = 0; i < 2; i++)
		CALL(cudaEventElapsedTime(&ms[i], from, to[i]));
	return ms[0] > ms[1] ? ms[0] : ms[1];
}

static double one(cudaStream_t s)
{
	CALL(cudaEventRecord(from, s));
	launch(0, s);
	return elapsed(s, s);
}

static double two(cudaStream_t a, cudaStream_t b, int wait)
{
	CALL(cudaEventRecord(from, a));
	launch(0, a);
	CALL(cudaEventRecord(to[0], a));
	if (wait)
		CALL(cudaStreamWaitEvent(b, to[0], 0));
	launch(1, b);
	return elapsed(a, b);
}

/* The legacy default stream waits for both, and they wait for it. */
static double with_default(cudaStream_t a, cudaStream_t b)
{
	CALL(cudaEventRecord(from, a));
	launch(0, a);
	launch(1, b);
	launch(2, 0);
	launch(0, a);
	launch(1, b);
	return elapsed(a, b);
}

/* Three nodes; the last comes after the others, and so may the second after the first. */
static cudaGraphExec_t graph_of(int ordered)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t nodes[3];
	int n = STEPS;
	CALL(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < 3; i++) {
		struct cudaKernelNodeParams p;
		void *arguments[2];
		arguments[0] = &memory[i];
		arguments[1] = &n;
		memset(&p, 0, sizeof p);
		p.func = (void *)HANDLE(spin);
		p.gridDim = dims(1, 1, 1);
		p.blockDim = dims(N, 1, 1);
		p.kernelParams = arguments;
		CALL(cudaGraphAddKernelNode(&nodes[i], graph, nodes, i == 1 ? ordered : i, &p));
	}
	CALL(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	CALL(cudaGraphDestroy(graph));
	return exec;
}

static double graph(cudaGraphExec_t exec, cudaStream_t s)
{
	CALL(cudaEventRecord(from, s));
	CALL(cudaGraphLaunch(exec, s));
	for (int i = 0; i < 3; i++)
		launches[i]++;
	return elapsed(s, s);
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static size_t outside(const char *what, double ms, double alone, double least, double most)
{
	if (ms < least * alone || ms > most * alone)
		printf("%s: %.4f ms, alone %.4f\n", what, ms, alone);
	return ms < least * alone || ms > most * alone;
}

static size_t differing(int which)
{
	unsigned host[N], x;
	size_t wrong = 0;
	fetch(host, memory[which], sizeof host);
	for (int i = 0; i < N; i++) {
		x = 0;
		for (int k = 0; k < launches[which] * STEPS; k++)
			x = x * 1664525u + 1013904223u;
		wrong += host[i] != x;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	static const unsigned zeroes[N] = {0};
	cudaStream_t free_a, free_b, a, b;
	int times = argc > 1 && !strcmp(argv[1], "times");
	begin();
	for (int i = 0; i < LAUNCHES; i++)
		memory[i] = (unsigned *)device_new(zeroes, sizeof zeroes);
	CALL(cudaStreamCreateWithFlags(&free_a, cudaStreamNonBlocking));
	CALL(cudaStreamCreateWithFlags(&free_b, cudaStreamNonBlocking));
	CALL(cudaStreamCreate(&a));
	CALL(cudaStreamCreate(&b));
	CALL(cudaEventCreate(&from));
	for (int i = 0; i < 2; i++)
		CALL(cudaEventCreate(&to[i]));
	/* What else the machine does can only make the host later, and with it what it calls: the least of several counts. */
	double alone = 1e9, beside = 1e9, same = 1e9, waiting = 1e9, around = 1e9, joined = 1e9, ordered = 1e9;
	cudaGraphExec_t graphs[2];
	for (int i = 0; i < 2; i++)
		graphs[i] = graph_of(i);
	for (int i = 0; i < (times ? 8 : 1); i++) {
		alone = least(alone, one(free_a));
		beside = least(beside, two(free_a, free_b, 0));
		same = least(same, two(free_a, free_a, 0));
		waiting = least(waiting, two(free_a, free_b, 1));
		around = least(around, with_default(a, b));
		joined = least(joined, graph(graphs[0], a));
		ordered = least(ordered, graph(graphs[1], a));
	}
	size_t wrong = outside("two streams", beside, alone, 0.8, 1.4) + outside("one stream", same, alone, 1.6, 2.4) +
	               outside("a stream that waits", waiting, alone, 1.6, 2.4) + outside("the default stream between two", around, alone, 2.6, 3.6) +
	               outside("a graph", joined, alone, 1.6, 2.4) + outside("a graph in order", ordered, alone, 2.6, 3.4);
	report("the times of launches", times ? wrong : 0);
	report("the results of one stream", differing(0));
	report("the results of the other", differing(1));
	report("the results of the default stream", differing(2));
	return finish();
}
#endif
