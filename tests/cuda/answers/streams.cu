/* Streams, events and graphs that are used in a wrong way. */
#include "answers.h"

#include <unistd.h>

__global__ void one_more(int *p, int n)
{
	for (int k = 0; k < n; k++)
		p[threadIdx.x] += 1;
}

static void CUDART_CB wait_a_little(void *data)
{
	usleep((unsigned)(uintptr_t)data);
}

static void CUDART_CB called(cudaStream_t stream, cudaError_t error, void *data)
{
	(void)stream;
	*(int *)data = 100 + (int)error;
}

static void streams(void)
{
	cudaStream_t stream = NULL, other = NULL;
	unsigned flags = 99;
	int priority = 99, result = 0;
	unsigned long long id = 0, id_of_null = 0;
	said("create", cudaStreamCreate(&stream));
	said("create_null", cudaStreamCreate(NULL));
	said("create_flags", cudaStreamCreateWithFlags(&other, 77));
	said("create_priority", cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, -100));
	said("priority", cudaStreamGetPriority(other, &priority));
	is("priority_of_-100", priority);
	said("flags", cudaStreamGetFlags(other, &flags));
	is("flags_of", flags);
	said("create_priority_high", cudaStreamCreateWithPriority(&other, 0, 100));
	said("priority_high", cudaStreamGetPriority(other, &priority));
	is("priority_of_100", priority);
	said("flags_of_null", cudaStreamGetFlags(NULL, &flags));
	is("flags_null", flags);
	said("id", cudaStreamGetId(stream, &id));
	said("id_null", cudaStreamGetId(NULL, &id_of_null));
	is("ids_differ", id != id_of_null);
	said("query", cudaStreamQuery(stream));
	said("query_null", cudaStreamQuery(NULL));
	said("sleep", cudaLaunchHostFunc(stream, wait_a_little, (void *)(uintptr_t)200000));
	said("query_busy", cudaStreamQuery(stream));
	said("query_default_busy", cudaStreamQuery(NULL));
	said("query_other", cudaStreamQuery(other));
	said("synchronize", cudaStreamSynchronize(stream));
	said("query_done", cudaStreamQuery(stream));
	said("host_function_null", cudaLaunchHostFunc(stream, NULL, NULL));
	said("callback", cudaStreamAddCallback(stream, called, &result, 0));
	said("callback_flags", cudaStreamAddCallback(stream, called, &result, 1));
	said("callback_null", cudaStreamAddCallback(stream, NULL, &result, 0));
	said("synchronize_again", cudaStreamSynchronize(stream));
	is("called", result);
	said("wait_null_event", cudaStreamWaitEvent(stream, NULL, 0));
	said("destroy", cudaStreamDestroy(stream));
	said("destroy_null", cudaStreamDestroy(NULL));
	said("destroy_legacy", cudaStreamDestroy(cudaStreamLegacy));
	said("synchronize_null", cudaStreamSynchronize(NULL));
	said("end", cudaDeviceSynchronize());
}

static void destroyed_stream(void)
{
	cudaStream_t stream;
	cudaStreamCreate(&stream);
	cudaStreamDestroy(stream);
	said("query_destroyed", cudaStreamQuery(stream));
	said("destroy_twice", cudaStreamDestroy(stream));
	one_more<<<1, 1, 0, stream>>>(NULL, 0);
	said("launch_destroyed", cudaSuccess);
	said("synchronize_destroyed", cudaStreamSynchronize(stream));
}

static void garbage_stream(void)
{
	static char nothing[4096];
	said("query_garbage", cudaStreamQuery((cudaStream_t)nothing));
	said("synchronize_garbage", cudaStreamSynchronize((cudaStream_t)nothing));
	one_more<<<1, 1, 0, (cudaStream_t)nothing>>>(NULL, 0);
	said("launch_garbage", cudaSuccess);
}

static void events(void)
{
	cudaEvent_t a = NULL, b = NULL, untimed = NULL, none = NULL;
	float ms = -1;
	cudaStream_t stream;
	cudaStreamCreate(&stream);
	said("create", cudaEventCreate(&a));
	said("create_b", cudaEventCreate(&b));
	said("create_null", cudaEventCreate(NULL));
	said("create_flags", cudaEventCreateWithFlags(&none, 77));
	said("create_interprocess", cudaEventCreateWithFlags(&none, cudaEventInterprocess));
	said("create_untimed", cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
	said("query_unrecorded", cudaEventQuery(a));
	said("synchronize_unrecorded", cudaEventSynchronize(a));
	said("elapsed_unrecorded", cudaEventElapsedTime(&ms, a, b));
	said("record_a", cudaEventRecord(a, 0));
	said("elapsed_one_recorded", cudaEventElapsedTime(&ms, a, b));
	said("sleep", cudaLaunchHostFunc(0, wait_a_little, (void *)(uintptr_t)200000));
	said("record_b", cudaEventRecord(b, 0));
	said("query_busy", cudaEventQuery(b));
	said("elapsed_busy", cudaEventElapsedTime(&ms, a, b));
	said("synchronize_b", cudaEventSynchronize(b));
	said("elapsed", cudaEventElapsedTime(&ms, a, b));
	is("elapsed_plausible", ms > 150 && ms < 20000);
	said("elapsed_back", cudaEventElapsedTime(&ms, b, a));
	is("elapsed_negative", ms < 0);
	said("elapsed_to_null", cudaEventElapsedTime(NULL, a, b));
	said("elapsed_of_null", cudaEventElapsedTime(&ms, NULL, b));
	said("record_untimed", cudaEventRecord(untimed, 0));
	said("synchronize_untimed", cudaEventSynchronize(untimed));
	said("elapsed_untimed", cudaEventElapsedTime(&ms, untimed, b));
	said("record_null", cudaEventRecord(NULL, 0));
	said("record_flags", cudaEventRecordWithFlags(a, 0, 77));
	said("query_null", cudaEventQuery(NULL));
	said("synchronize_null", cudaEventSynchronize(NULL));
	said("wait_flags", cudaStreamWaitEvent(stream, a, 77));
	said("wait", cudaStreamWaitEvent(stream, a, 0));
	said("destroy", cudaEventDestroy(a));
	said("destroy_null", cudaEventDestroy(NULL));
}

static void destroyed_event(void)
{
	cudaEvent_t event;
	float ms;
	cudaEventCreate(&event);
	cudaEventDestroy(event);
	said("query_destroyed", cudaEventQuery(event));
	said("record_destroyed", cudaEventRecord(event, 0));
	said("elapsed_destroyed", cudaEventElapsedTime(&ms, event, event));
	said("destroy_twice", cudaEventDestroy(event));
}

const struct group stream_groups[] = {{"streams", streams}, {"destroyed_stream", destroyed_stream}, {"garbage_stream", garbage_stream}, {"events", events},
	{"destroyed_event", destroyed_event}, {NULL, NULL}};

static void captures(void)
{
	cudaStream_t stream, other;
	cudaGraph_t graph = NULL;
	cudaStreamCaptureStatus status;
	cudaEvent_t event;
	int *p, host;
	cudaStreamCreate(&stream);
	cudaStreamCreate(&other);
	cudaEventCreate(&event);
	cudaMalloc(&p, 4096);
	said("first", cudaSuccess);
	said("begin_legacy", cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
	said("end_without_begin", cudaStreamEndCapture(stream, &graph));
	said("begin_mode_77", cudaStreamBeginCapture(stream, (cudaStreamCaptureMode)77));
	said("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	said("begin_twice", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	said("capturing", cudaStreamIsCapturing(stream, &status));
	is("status", status);
	one_more<<<1, 32, 0, stream>>>(p, 1);
	said("launch", cudaSuccess);
	said("end", cudaStreamEndCapture(stream, &graph));
	is("graph", graph != NULL);
	said("begin_again", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	said("malloc_while_captured", cudaMalloc(&p, 16));
	said("capturing_after_malloc", cudaStreamIsCapturing(stream, &status));
	is("status_after_malloc", status);
	said("end_after_malloc", cudaStreamEndCapture(stream, &graph));
	said("begin_3", cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	said("synchronize_captured", cudaStreamSynchronize(stream));
	is("status_query", cudaStreamIsCapturing(stream, &status));
	is("status_after_synchronize", status);
	said("end_3", cudaStreamEndCapture(stream, &graph));
	said("begin_4", cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	said("query_captured", cudaStreamQuery(stream));
	said("end_4", cudaStreamEndCapture(stream, &graph));
	said("begin_5", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	said("legacy_while_captured", cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
	said("end_5", cudaStreamEndCapture(stream, &graph));
	said("begin_6", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	said("record_6", cudaEventRecord(event, stream));
	said("wait_6", cudaStreamWaitEvent(other, event, 0));
	one_more<<<1, 32, 0, other>>>(p, 1);
	said("launch_6", cudaSuccess);
	said("end_unjoined", cudaStreamEndCapture(stream, &graph));
	said("begin_7", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	said("device_synchronize_captured", cudaDeviceSynchronize());
	said("end_7", cudaStreamEndCapture(stream, &graph));
	said("after", cudaDeviceSynchronize());
}

static void graphs(void)
{
	cudaGraph_t graph = NULL, other = NULL;
	cudaGraphExec_t exec = NULL;
	cudaGraphNode_t a = NULL, b = NULL, nodes[8];
	size_t count = 8;
	int *p, n = 1;
	void *arguments[] = {&p, &n};
	cudaMalloc(&p, 4096);
	said("create", cudaGraphCreate(&graph, 0));
	said("create_flags", cudaGraphCreate(&other, 5));
	said("create_null", cudaGraphCreate(NULL, 0));
	said("instantiate_empty", cudaGraphInstantiate(&exec, graph, 0));
	said("launch_empty", cudaGraphLaunch(exec, 0));
	said("instantiate_null", cudaGraphInstantiate(&exec, NULL, 0));
	said("launch_null", cudaGraphLaunch(NULL, 0));
	cudaKernelNodeParams params = {};
	said("kernel_of_nothing", cudaGraphAddKernelNode(&a, graph, NULL, 0, &params));
	params.func = (void *)one_more;
	params.gridDim = dim3(1);
	params.blockDim = dim3(2000);
	params.kernelParams = arguments;
	said("kernel_too_large", cudaGraphAddKernelNode(&a, graph, NULL, 0, &params));
	params.blockDim = dim3(0);
	said("kernel_of_0", cudaGraphAddKernelNode(&a, graph, NULL, 0, &params));
	params.blockDim = dim3(32);
	said("kernel", cudaGraphAddKernelNode(&a, graph, NULL, 0, &params));
	said("empty_after", cudaGraphAddEmptyNode(&b, graph, &a, 1));
	said("circle", cudaGraphAddDependencies(graph, &b, &a, NULL, 1));
	said("dependency_twice", cudaGraphAddDependencies(graph, &a, &b, NULL, 1));
	said("dependency_of_itself", cudaGraphAddDependencies(graph, &a, &a, NULL, 1));
	said("nodes", cudaGraphGetNodes(graph, nodes, &count));
	is("count", (long long)count);
	said("memcpy_node_wrong", cudaGraphAddMemcpyNode1D(&b, graph, NULL, 0, NULL, p, 16, cudaMemcpyDeviceToDevice));
	cudaMemsetParams fill = {};
	fill.dst = p;
	fill.elementSize = 3;
	fill.width = 4;
	fill.height = 1;
	said("memset_node_size_3", cudaGraphAddMemsetNode(&b, graph, NULL, 0, &fill));
	cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);
	said("instantiate", error);
	if (error == cudaSuccess) {
		cudaGraphExecUpdateResultInfo info = {};
		said("launch", cudaGraphLaunch(exec, 0));
		said("create_other", cudaGraphCreate(&other, 0));
		said("update_with_other", cudaGraphExecUpdate(exec, other, &info));
		is("update_result", info.result);
		said("destroy_exec", cudaGraphExecDestroy(exec));
	}
	said("destroy_node", cudaGraphDestroyNode(a));
	said("destroy", cudaGraphDestroy(graph));
	said("destroy_null", cudaGraphDestroy(NULL));
	said("destroy_exec_null", cudaGraphExecDestroy(NULL));
	said("end", cudaDeviceSynchronize());
}

const struct group graph_groups[] = {{"captures", captures}, {"graphs", graphs}, {NULL, NULL}};
