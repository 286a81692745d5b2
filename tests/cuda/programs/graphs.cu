/* Graphs: captured from streams and made node by node, launched more than once, changed, copied. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void scale_by(int *v, int factor, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n)
		v[i] *= factor;
}

extern "C" __global__ void add_to(int *v, const int *w, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n)
		v[i] += w[i];
}
#endif

#ifdef WITH_HOST
KERNEL(scale_by)
KERNEL(add_to)

#if !defined(__NVCC__)
#define ADD_EDGE(graph, from, to) cudaGraphAddDependencies_v2(graph, from, to, NULL, 1)
#elif CUDART_VERSION >= 13000
#define ADD_EDGE(graph, from, to) cudaGraphAddDependencies(graph, from, to, NULL, 1)
#else
#define ADD_EDGE(graph, from, to) cudaGraphAddDependencies(graph, from, to, 1)
#endif

enum { N = 1000, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_UNJOINED = 904, UPDATE_FAILURE = 910 };
static int *input, *output; /* pinned: copies from other memory may happen before their turn, and do on a GPU */
static const size_t bytes = N * sizeof(int);

static void count_up(void *data)
{
	int *v = (int *)data;
	for (int i = 0; i < N; i++)
		v[i]++;
}

static size_t differing(int first, int step)
{
	size_t wrong = 0;
	for (int i = 0; i < N; i++)
		wrong += output[i] != first + step * i;
	return wrong;
}

static cudaStream_t new_stream(void)
{
	cudaStream_t s;
	CALL(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	return s;
}

static void scale(cudaStream_t s, int *v, int factor)
{
	int n = N;
	LAUNCH(scale_by, dims(8, 1, 1), dims(128, 1, 1), 0, s, &v, &factor, &n);
}

static void add(cudaStream_t s, int *v, int *w)
{
	int n = N;
	LAUNCH(add_to, dims(8, 1, 1), dims(128, 1, 1), 0, s, &v, &w, &n);
}

/* output = 2 (input + 1) + 3 (input + 1), in two streams; each launch counts input up first. */
static cudaGraph_t capture(cudaStream_t s, cudaStream_t t, int *a, int *b, int factor)
{
	cudaGraph_t graph;
	cudaEvent_t fork, join;
	CALL(cudaEventCreate(&fork));
	CALL(cudaEventCreate(&join));
	CALL(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	CALL(cudaLaunchHostFunc(s, count_up, input));
	CALL(cudaEventRecord(fork, s));
	CALL(cudaStreamWaitEvent(t, fork, 0));
	CALL(cudaMemcpyAsync(a, input, bytes, cudaMemcpyHostToDevice, s));
	CALL(cudaMemcpyAsync(b, input, bytes, cudaMemcpyHostToDevice, t));
	scale(s, a, 2);
	scale(t, b, factor);
	CALL(cudaEventRecord(join, t));
	CALL(cudaStreamWaitEvent(s, join, 0));
	add(s, a, b);
	CALL(cudaMemcpyAsync(output, a, bytes, cudaMemcpyDeviceToHost, s));
	CALL(cudaStreamEndCapture(s, &graph));
	CALL(cudaEventDestroy(fork));
	CALL(cudaEventDestroy(join));
	return graph;
}

static void try_capture(cudaStream_t s, cudaStream_t t, int *a, int *b)
{
	cudaGraphExec_t exec;
	cudaGraphExecUpdateResultInfo info;
	size_t nodes = 0, wrong = 0;
	for (int i = 0; i < N; i++)
		input[i] = i;
	cudaGraph_t graph = capture(s, t, a, b, 3), other = capture(s, t, a, b, 10), third;
	for (int i = 0; i < N; i++)
		wrong += input[i] != i || output[i];
	report("nothing is executed while streams capture", wrong);
	CALL(cudaGraphGetNodes(graph, NULL, &nodes));
	report("one node for each command", nodes != 7);
	CALL(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	for (int k = 1; k <= 3; k++) {
		CALL(cudaGraphLaunch(exec, s));
		CALL(cudaStreamSynchronize(s));
		wrong += differing(5 * k, 5);
	}
	report("a captured graph, three times", wrong);
	CALL(cudaGraphExecUpdate(exec, other, &info));
	CALL(cudaGraphLaunch(exec, s));
	CALL(cudaStreamSynchronize(s));
	report("a graph that was updated", differing(12 * 4, 12));
	CALL(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	report("waiting is an error while a stream captures", cudaStreamSynchronize(s) != CAPTURE_UNSUPPORTED);
	wrong = (int)cudaMemsetAsync(a, 0, bytes, s) != CAPTURE_INVALIDATED || (int)cudaStreamEndCapture(s, &third) != CAPTURE_INVALIDATED || third;
	report("and the capture is lost", wrong);
	cudaGetLastError();
	CALL(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	scale(s, a, 2);
	CALL(cudaStreamEndCapture(s, &third));
	wrong = (int)cudaGraphExecUpdate(exec, third, &info) != UPDATE_FAILURE || !info.result;
	report("a graph of another shape does not update it", wrong);
	cudaGetLastError();
	CALL(cudaGraphExecDestroy(exec));
	CALL(cudaGraphDestroy(graph));
	CALL(cudaGraphDestroy(other));
	CALL(cudaGraphDestroy(third));
}

static void try_unjoined(cudaStream_t s, cudaStream_t t, int *a)
{
	cudaGraph_t graph = NULL;
	cudaEvent_t fork;
	CALL(cudaEventCreate(&fork));
	CALL(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	CALL(cudaEventRecord(fork, s));
	CALL(cudaStreamWaitEvent(t, fork, 0));
	scale(t, a, 2);
	report("a stream that was not joined", (int)cudaStreamEndCapture(s, &graph) != CAPTURE_UNJOINED || graph != NULL);
	cudaGetLastError();
	CALL(cudaEventDestroy(fork));
	CALL(cudaStreamSynchronize(t)); /* it captures no more */
}

static struct cudaKernelNodeParams scaling(void **arguments)
{
	struct cudaKernelNodeParams p;
	memset(&p, 0, sizeof p);
	p.func = (void *)HANDLE(scale_by);
	p.gridDim = dims(8, 1, 1);
	p.blockDim = dims(128, 1, 1);
	p.kernelParams = arguments;
	return p;
}

/* The nodes are added in the opposite order of their execution: copy, child (scale by 5), scale, fill. */
static void try_nodes(cudaStream_t s, int *a)
{
	cudaGraph_t graph, child, clone;
	cudaGraphNode_t copy, inner, scaled, fill, of_child;
	cudaGraphExec_t exec, second;
	int factor = 7, five = 5, n = N;
	void *arguments[3], *child_arguments[3];
	struct cudaMemsetParams filling;
	arguments[0] = child_arguments[0] = &a;
	arguments[1] = &factor;
	child_arguments[1] = &five;
	arguments[2] = child_arguments[2] = &n;
	struct cudaKernelNodeParams params = scaling(arguments), child_params = scaling(child_arguments);
	memset(&filling, 0, sizeof filling);
	filling.dst = a;
	filling.value = 3;
	filling.elementSize = 4;
	filling.width = N;
	filling.height = 1;
	CALL(cudaGraphCreate(&graph, 0));
	CALL(cudaGraphCreate(&child, 0));
	CALL(cudaGraphAddKernelNode(&of_child, child, NULL, 0, &child_params));
	CALL(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, output, a, bytes, cudaMemcpyDeviceToHost));
	CALL(cudaGraphAddChildGraphNode(&inner, graph, NULL, 0, child));
	CALL(cudaGraphAddKernelNode(&scaled, graph, NULL, 0, &params));
	CALL(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &filling));
	CALL(ADD_EDGE(graph, &fill, &scaled));
	CALL(ADD_EDGE(graph, &scaled, &inner));
	CALL(ADD_EDGE(graph, &inner, &copy));
	CALL(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	CALL(cudaGraphClone(&clone, graph));
	factor = 1000; /* the node has its own */
	CALL(cudaGraphLaunch(exec, s));
	CALL(cudaStreamSynchronize(s));
	report("nodes in the order of their edges, with a child graph", differing(3 * 7 * 5, 0));
	factor = 9;
	CALL(cudaGraphExecKernelNodeSetParams(exec, scaled, &params));
	CALL(cudaGraphLaunch(exec, s));
	CALL(cudaStreamSynchronize(s));
	report("a node with other parameters", differing(3 * 9 * 5, 0));
	CALL(cudaGraphDestroy(graph));
	CALL(cudaGraphDestroy(child));
	CALL(cudaGraphInstantiateWithFlags(&second, clone, 0));
	CALL(cudaGraphLaunch(second, s));
	CALL(cudaStreamSynchronize(s));
	report("a copy of a graph that is gone", differing(3 * 7 * 5, 0));
	CALL(cudaGraphExecDestroy(exec));
	CALL(cudaGraphExecDestroy(second));
	CALL(cudaGraphDestroy(clone));
}

int main(void)
{
	begin();
	CALL(cudaMallocHost((void **)&input, bytes));
	CALL(cudaMallocHost((void **)&output, bytes));
	memset(output, 0, bytes);
	int *a = (int *)device_new(NULL, bytes), *b = (int *)device_new(NULL, bytes);
	cudaStream_t s = new_stream(), t = new_stream();
	try_capture(s, t, a, b);
	try_unjoined(s, t, a);
	try_nodes(s, a);
	return finish();
}
#endif
