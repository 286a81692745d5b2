/* Graphs node by node: events, variables, parameters that are read back and changed, what nodes wait for, and nodes of any kind by one call. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
__device__ int bias;

extern "C" __global__ void scale_and_add(int *v, int factor, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n)
		v[i] = v[i] * factor + bias;
}
#endif

#ifdef WITH_HOST
KERNEL(scale_and_add)
VARIABLE(bias, int, 0)

#if !defined(__NVCC__)
#include "tests/cuda/programs/arrays.h"
enum { PINNED_MEMORY = 1, DEVICE_MEMORY = 1 };
#define ADD_NODE(node, graph, after, count, what) cudaGraphAddNode_v2(node, graph, after, NULL, count, what)
#define WAITS_FOR(node, nodes, count) cudaGraphNodeGetDependencies_v2(node, nodes, NULL, count)
#define FOLLOWERS(node, nodes, count) cudaGraphNodeGetDependentNodes_v2(node, nodes, NULL, count)
#elif CUDART_VERSION >= 13000
#define ADD_NODE(node, graph, after, count, what) cudaGraphAddNode(node, graph, after, NULL, count, what)
#define WAITS_FOR(node, nodes, count) cudaGraphNodeGetDependencies(node, nodes, NULL, count)
#define FOLLOWERS(node, nodes, count) cudaGraphNodeGetDependentNodes(node, nodes, NULL, count)
#else
#define ADD_NODE(node, graph, after, count, what) cudaGraphAddNode(node, graph, after, count, what)
#define WAITS_FOR(node, nodes, count) cudaGraphNodeGetDependencies(node, nodes, count)
#define FOLLOWERS(node, nodes, count) cudaGraphNodeGetDependentNodes(node, nodes, count)
#endif

#if defined(__NVCC__)
#define PINNED_MEMORY cudaMemAllocationTypePinned
#define DEVICE_MEMORY cudaMemLocationTypeDevice
#endif

enum { N = 1000 };
static const size_t bytes = N * sizeof(int);
static int *output, *new_bias, *seen_bias; /* pinned */
static int counted;

static void count(void *data)
{
	++*(int *)data;
}

static size_t differing(int value)
{
	size_t wrong = 0;
	for (int i = 0; i < N; i++)
		wrong += output[i] != value;
	return wrong;
}

static void launch(cudaGraphExec_t exec, cudaStream_t s)
{
	CALL(cudaGraphLaunch(exec, s));
	CALL(cudaStreamSynchronize(s));
}

static struct cudaKernelNodeParams kernel(void **arguments)
{
	struct cudaKernelNodeParams p;
	memset(&p, 0, sizeof p);
	p.func = (void *)HANDLE(scale_and_add);
	p.gridDim = dims(8, 1, 1);
	p.blockDim = dims(128, 1, 1);
	p.kernelParams = arguments;
	return p;
}

static struct cudaMemsetParams filling(int *to, int value)
{
	struct cudaMemsetParams p;
	memset(&p, 0, sizeof p);
	p.dst = to;
	p.value = (unsigned)value;
	p.elementSize = 4;
	p.width = N;
	p.height = 1;
	return p;
}

/* fill with 3, set bias, scale and add, record, copy back, read bias, count */
struct nodes {
	cudaGraphNode_t fill, set, scaled, record, copy, get, host;
};

static cudaGraph_t build(struct nodes *n, int *v, void **arguments, cudaEvent_t done)
{
	cudaGraph_t graph;
	cudaGraphNode_t both[2];
	struct cudaKernelNodeParams params = kernel(arguments);
	struct cudaMemsetParams fill = filling(v, 3);
	struct cudaHostNodeParams host;
	host.fn = count;
	host.userData = &counted;
	CALL(cudaGraphCreate(&graph, 0));
	CALL(cudaGraphAddMemsetNode(&n->fill, graph, NULL, 0, &fill));
	CALL(cudaGraphAddMemcpyNodeToSymbol(&n->set, graph, NULL, 0, SYMBOL(bias), new_bias, sizeof(int), 0, cudaMemcpyHostToDevice));
	both[0] = n->fill;
	both[1] = n->set;
	CALL(cudaGraphAddKernelNode(&n->scaled, graph, both, 2, &params));
	CALL(cudaGraphAddEventRecordNode(&n->record, graph, &n->scaled, 1, done));
	CALL(cudaGraphAddMemcpyNode1D(&n->copy, graph, &n->record, 1, output, v, bytes, cudaMemcpyDeviceToHost));
	CALL(cudaGraphAddMemcpyNodeFromSymbol(&n->get, graph, &n->scaled, 1, seen_bias, SYMBOL(bias), sizeof(int), 0, cudaMemcpyDeviceToHost));
	both[0] = n->copy;
	both[1] = n->get;
	CALL(cudaGraphAddHostNode(&n->host, graph, both, 2, &host));
	return graph;
}

static void try_questions(const struct nodes *n)
{
	cudaGraphNode_t found[3];
	size_t number = 3, none = 0;
	struct cudaKernelNodeParams params;
	struct cudaMemsetParams fill;
	struct cudaHostNodeParams host;
	struct cudaMemcpy3DParms copy;
	CALL(WAITS_FOR(n->scaled, found, &number));
	size_t wrong = number != 2 || (found[0] != n->fill && found[1] != n->fill) || (found[0] != n->set && found[1] != n->set) || found[2] != NULL;
	CALL(FOLLOWERS(n->scaled, NULL, &number));
	CALL(FOLLOWERS(n->host, NULL, &none));
	report("what nodes wait for", wrong + (number != 2) + none);
	CALL(cudaGraphKernelNodeGetParams(n->scaled, &params));
	wrong = params.func != (void *)HANDLE(scale_and_add) || params.gridDim.x != 8 || params.blockDim.x != 128 || params.blockDim.y != 1;
	report("parameters of a kernel", wrong + (*(int *)params.kernelParams[1] != 5) + (*(int *)params.kernelParams[2] != N));
	CALL(cudaGraphMemsetNodeGetParams(n->fill, &fill));
	report("parameters of a fill", fill.value != 3 || fill.elementSize != 4 || fill.width != N || fill.height != 1);
	CALL(cudaGraphHostNodeGetParams(n->host, &host));
	report("parameters of a function", host.fn != count || host.userData != &counted);
	CALL(cudaGraphMemcpyNodeGetParams(n->copy, &copy));
	report("parameters of a copy", copy.dstPtr.ptr != output || copy.extent.width != bytes || copy.extent.height != 1 || copy.extent.depth != 1);
}

static void try_graph(cudaStream_t s, int *v)
{
	struct nodes n;
	cudaEvent_t done, other;
	cudaGraphExec_t exec;
	int factor = 5, number = N;
	void *arguments[3];
	arguments[0] = &v;
	arguments[1] = &factor;
	arguments[2] = &number;
	CALL(cudaEventCreate(&done));
	CALL(cudaEventCreate(&other));
	*new_bias = 2;
	cudaGraph_t graph = build(&n, v, arguments, done);
	try_questions(&n);
	CALL(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	launch(exec, s);
	report("nodes of seven kinds", differing(3 * 5 + 2) + (*seen_bias != 2) + (counted != 1));
	report("an event that a node records", (int)cudaEventQuery(done) != 0);
	struct cudaMemsetParams fill = filling(v, 4);
	CALL(cudaGraphExecMemsetNodeSetParams(exec, n.fill, &fill));
	*new_bias = 10;
	launch(exec, s);
	report("another value, read when its turn comes", differing(4 * 5 + 10) + (*seen_bias != 10));
	CALL(cudaGraphNodeSetEnabled(exec, n.set, 0));
	*new_bias = 99;
	launch(exec, s);
	report("a node that is switched off", differing(4 * 5 + 10) + (*seen_bias != 10) + (counted != 3));
	factor = 6;
	struct cudaKernelNodeParams params = kernel(arguments);
	CALL(cudaGraphKernelNodeSetParams(n.scaled, &params));
	CALL(cudaGraphExecEventRecordNodeSetEvent(exec, n.record, other));
	launch(exec, s);
	report("the graph changes, not what was made of it", differing(4 * 5 + 10));
	cudaGraphExecUpdateResultInfo info;
	CALL(cudaGraphExecUpdate(exec, graph, &info));
	CALL(cudaGraphNodeSetEnabled(exec, n.set, 1));
	launch(exec, s);
	report("until it is updated", differing(3 * 6 + 99));
	CALL(cudaGraphExecDestroy(exec));
	CALL(cudaGraphDestroy(graph));
}

/* A wait for an event of another stream, which fills; then a kernel, added by the call for any kind; both in a child. */
static void try_child(cudaStream_t s, cudaStream_t t, int *v)
{
	cudaGraph_t graph, child, own;
	cudaGraphNode_t wait, scaled, inner, copy;
	cudaGraphExec_t exec;
	cudaEvent_t filled;
	cudaGraphNodeParams any = {cudaGraphNodeTypeKernel};
	int factor = 7, number = N;
	void *arguments[3];
	size_t count = 0;
	arguments[0] = &v;
	arguments[1] = &factor;
	arguments[2] = &number;
	struct cudaKernelNodeParams params = kernel(arguments);
	any.kernel.func = params.func;
	any.kernel.gridDim = params.gridDim;
	any.kernel.blockDim = params.blockDim;
	any.kernel.kernelParams = arguments;
	CALL(cudaEventCreate(&filled));
	CALL(cudaGraphCreate(&child, 0));
	CALL(cudaGraphAddEventWaitNode(&wait, child, NULL, 0, filled));
	CALL(ADD_NODE(&scaled, child, &wait, 1, &any));
	CALL(cudaGraphCreate(&graph, 0));
	CALL(cudaGraphAddChildGraphNode(&inner, graph, NULL, 0, child));
	CALL(cudaGraphAddMemcpyNode1D(&copy, graph, &inner, 1, output, v, bytes, cudaMemcpyDeviceToHost));
	CALL(cudaGraphChildGraphNodeGetGraph(inner, &own));
	CALL(cudaGraphGetNodes(own, NULL, &count));
	report("the graph of a node is a copy", own == child || count != 2);
	CALL(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	*new_bias = 1;
	CALL(cudaMemcpyToSymbol(SYMBOL(bias), new_bias, sizeof(int), 0, cudaMemcpyHostToDevice));
	CALL(cudaMemsetAsync(v, 1, bytes, t));
	CALL(cudaEventRecord(filled, t));
	launch(exec, s);
	report("a child that waits for another stream", differing(0x01010101 * 7 + 1));
	CALL(cudaGraphExecDestroy(exec));
	CALL(cudaGraphDestroy(graph));
	CALL(cudaGraphDestroy(child));
}

/* Memory of the graph's own: it is there at once, and again at every launch. */
static void try_memory(cudaStream_t s)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t made, filled, scaled, copied, freed;
	struct cudaMemAllocNodeParams p;
	int factor = 3, n = N;
	memset(&p, 0, sizeof p);
	p.poolProps.allocType = PINNED_MEMORY;
	p.poolProps.location.type = DEVICE_MEMORY;
	p.bytesize = bytes;
	CALL(cudaGraphCreate(&graph, 0));
	CALL(cudaGraphAddMemAllocNode(&made, graph, NULL, 0, &p));
	report("memory of a graph has an address", !p.dptr);
	void *arguments[] = {&p.dptr, &factor, &n};
	struct cudaMemsetParams fill;
	memset(&fill, 0, sizeof fill);
	fill.dst = p.dptr;
	fill.value = 2;
	fill.elementSize = 4;
	fill.width = N;
	fill.height = 1;
	struct cudaKernelNodeParams what = kernel(arguments);
	CALL(cudaGraphAddMemsetNode(&filled, graph, &made, 1, &fill));
	CALL(cudaGraphAddKernelNode(&scaled, graph, &filled, 1, &what));
	CALL(cudaGraphAddMemcpyNode1D(&copied, graph, &scaled, 1, output, p.dptr, bytes, cudaMemcpyDeviceToHost));
	CALL(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, p.dptr));
	CALL(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	*new_bias = 5;
	CALL(cudaMemcpyToSymbol(SYMBOL(bias), new_bias, sizeof(int), 0, cudaMemcpyHostToDevice));
	for (int k = 0; k < 2; k++) {
		memset(output, 0, bytes);
		launch(exec, s);
		report("a kernel in memory of the graph", differing(2 * 3 + 5));
	}
	CALL(cudaGraphExecDestroy(exec));
	CALL(cudaGraphDestroy(graph));
}

int main(void)
{
	cudaStream_t s, t;
	begin();
	CALL(cudaMallocHost((void **)&output, bytes));
	CALL(cudaMallocHost((void **)&new_bias, sizeof(int)));
	CALL(cudaMallocHost((void **)&seen_bias, sizeof(int)));
	CALL(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CALL(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	int *v = (int *)device_new(NULL, bytes);
	try_graph(s, v);
	try_child(s, t, v);
	try_memory(s);
	return finish();
}
#endif
