/*
 * runtime: the CUDA runtime API for programs in plain C, which bring their kernels as PTX text. No CUDA toolkit is needed to build them.
 *
 * The functions are weak: a program starts without a CUDA runtime, and can say so (cuda_missing). What nvcc would write into a program is
 * done at run time: the PTX text is packed as a fat binary and registered, kernels and variables by their names in the PTX.
 */
#ifndef GPUSIM_KERNELS_CUDA_RUNTIME_H
#define GPUSIM_KERNELS_CUDA_RUNTIME_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	unsigned x, y, z;
} dim3;
typedef int cudaError_t;
typedef struct cuda_runtime_stream *cudaStream_t;
typedef struct cuda_runtime_event *cudaEvent_t;
enum { cudaSuccess = 0 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum { cudaStreamNonBlocking = 1, cudaMemAttachGlobal = 1, cudaHostAllocMapped = 2, cudaEventDisableTiming = 2 };

#define CUDA_FUNCTION extern __attribute__((weak)) cudaError_t
CUDA_FUNCTION cudaMalloc(void **address, size_t bytes);
CUDA_FUNCTION cudaFree(void *address);
CUDA_FUNCTION cudaMallocHost(void **address, size_t bytes);
CUDA_FUNCTION cudaFreeHost(void *address);
CUDA_FUNCTION cudaHostAlloc(void **address, size_t bytes, unsigned flags);
CUDA_FUNCTION cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
CUDA_FUNCTION cudaMallocManaged(void **address, size_t bytes, unsigned flags);
CUDA_FUNCTION cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height);
CUDA_FUNCTION cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
CUDA_FUNCTION cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
CUDA_FUNCTION cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind);
CUDA_FUNCTION cudaMemset(void *address, int value, size_t bytes);
CUDA_FUNCTION cudaMemsetAsync(void *address, int value, size_t bytes, cudaStream_t stream);
CUDA_FUNCTION cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind);
CUDA_FUNCTION cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind);
CUDA_FUNCTION cudaGetSymbolAddress(void **address, const void *symbol);
CUDA_FUNCTION cudaGetSymbolSize(size_t *bytes, const void *symbol);
CUDA_FUNCTION cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream);
CUDA_FUNCTION cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream);
CUDA_FUNCTION cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t shared);
CUDA_FUNCTION cudaDeviceGetAttribute(int *value, int attribute, int device);
CUDA_FUNCTION cudaLaunchHostFunc(cudaStream_t stream, void (*f)(void *), void *data);
CUDA_FUNCTION cudaDeviceSynchronize(void);
CUDA_FUNCTION cudaGetLastError(void);
CUDA_FUNCTION cudaPeekAtLastError(void);
CUDA_FUNCTION cudaStreamCreate(cudaStream_t *stream);
CUDA_FUNCTION cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
CUDA_FUNCTION cudaStreamDestroy(cudaStream_t stream);
CUDA_FUNCTION cudaStreamSynchronize(cudaStream_t stream);
CUDA_FUNCTION cudaStreamQuery(cudaStream_t stream);
CUDA_FUNCTION cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
CUDA_FUNCTION cudaEventCreate(cudaEvent_t *event);
CUDA_FUNCTION cudaEventDestroy(cudaEvent_t event);
CUDA_FUNCTION cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
CUDA_FUNCTION cudaEventSynchronize(cudaEvent_t event);
CUDA_FUNCTION cudaEventQuery(cudaEvent_t event);
CUDA_FUNCTION cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
CUDA_FUNCTION cudaGetDeviceCount(int *count);
CUDA_FUNCTION cudaSetDevice(int device);

enum { cudaLaunchAttributeClusterDimension = 4 };
typedef struct {
	int id, padding;
	union {
		char bytes[64];
		dim3 clusterDim;
	} val;
} cudaLaunchAttribute;
typedef struct {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	cudaLaunchAttribute *attrs;
	unsigned numAttrs;
} cudaLaunchConfig_t;
CUDA_FUNCTION cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments);

typedef struct cuda_runtime_library *cudaLibrary_t;
typedef struct cuda_runtime_kernel *cudaKernel_t;
CUDA_FUNCTION cudaLibraryLoadData(cudaLibrary_t *library, const void *image, int *options, void **values, unsigned count, int *own, void **own_values,
                                  unsigned own_count);
CUDA_FUNCTION cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path, int *options, void **values, unsigned count, int *own,
                                      void **own_values, unsigned own_count);
CUDA_FUNCTION cudaLibraryUnload(cudaLibrary_t library);
CUDA_FUNCTION cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name);
CUDA_FUNCTION cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library);
CUDA_FUNCTION cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned room, cudaLibrary_t library);
CUDA_FUNCTION cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library, const char *name);
CUDA_FUNCTION cudaGetKernel(cudaKernel_t *kernel, const void *function);

typedef struct cuda_runtime_graph *cudaGraph_t;
typedef struct cuda_runtime_exec *cudaGraphExec_t;
typedef struct cuda_runtime_node *cudaGraphNode_t;
struct cudaKernelNodeParams {
	void *func;
	dim3 gridDim, blockDim;
	unsigned sharedMemBytes;
	void **kernelParams, **extra;
};
struct cudaMemsetParams {
	void *dst;
	size_t pitch;
	unsigned value, elementSize;
	size_t width, height;
};
struct cudaHostNodeParams {
	void (*fn)(void *);
	void *userData;
};
typedef struct {
	int result;
	cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
enum { cudaStreamCaptureModeGlobal };
CUDA_FUNCTION cudaStreamBeginCapture(cudaStream_t stream, int mode);
CUDA_FUNCTION cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
CUDA_FUNCTION cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
CUDA_FUNCTION cudaGraphDestroy(cudaGraph_t graph);
CUDA_FUNCTION cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph);
CUDA_FUNCTION cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
CUDA_FUNCTION cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                     const struct cudaKernelNodeParams *what);
CUDA_FUNCTION cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                     const struct cudaMemsetParams *what);
struct cudaMemAllocNodeParams {
	struct cudaMemPoolProps {
		int allocType, handleTypes;
		struct {
			int type, id;
		} location;
		long long reserved[9];
	} poolProps;
	const void *accessDescs;
	size_t accessDescCount, bytesize;
	void *dptr;
};
CUDA_FUNCTION cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                       struct cudaMemAllocNodeParams *what);
CUDA_FUNCTION cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *address);
CUDA_FUNCTION cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to,
                                       const void *from, size_t bytes, enum cudaMemcpyKind kind);
CUDA_FUNCTION cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaHostNodeParams *what);
CUDA_FUNCTION cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                         cudaGraph_t child);
CUDA_FUNCTION cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const void *data,
                                          size_t count);
CUDA_FUNCTION cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
CUDA_FUNCTION cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *what);
CUDA_FUNCTION cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result);
struct cudaMemcpy3DParms;
enum { cudaGraphNodeTypeKernel };
typedef struct {
	int type, reserved0[3];
	union {
		long long reserved1[29];
		struct cudaKernelNodeParams kernel;
	};
	long long reserved2;
} cudaGraphNodeParams;
CUDA_FUNCTION cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const void *symbol,
                                             const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind);
CUDA_FUNCTION cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to,
                                               const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind);
CUDA_FUNCTION cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaEvent_t event);
CUDA_FUNCTION cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaEvent_t event);
CUDA_FUNCTION cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, const void *data, size_t count,
                                  cudaGraphNodeParams *what);
CUDA_FUNCTION cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes, void *data, size_t *count);
CUDA_FUNCTION cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes, void *data, size_t *count);
CUDA_FUNCTION cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *out);
CUDA_FUNCTION cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *what);
CUDA_FUNCTION cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *out);
CUDA_FUNCTION cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *out);
CUDA_FUNCTION cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *out);
CUDA_FUNCTION cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *out);
CUDA_FUNCTION cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *what);
CUDA_FUNCTION cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event);
CUDA_FUNCTION cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled);
CUDA_FUNCTION cudaGraphExecDestroy(cudaGraphExec_t exec);
CUDA_FUNCTION cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
#undef CUDA_FUNCTION
extern __attribute__((weak)) const char *cudaGetErrorString(cudaError_t error);
extern __attribute__((weak)) const char *cudaGetErrorName(cudaError_t error);

extern __attribute__((weak)) void **__cudaRegisterFatBinary(void *wrapper);
extern __attribute__((weak)) void __cudaRegisterFatBinaryEnd(void **module);
extern __attribute__((weak)) void __cudaUnregisterFatBinary(void **module);
extern __attribute__((weak)) void __cudaRegisterFunction(void **module, const char *handle, char *device_function, const char *name,
                                                         int thread_limit, void *tid, void *bid, void *block, void *grid, int *warp_size);
extern __attribute__((weak)) void __cudaRegisterVar(void **module, char *handle, char *address, const char *name, int external, size_t bytes,
                                                    int constant, int global);
extern __attribute__((weak)) void __cudaRegisterManagedVar(void **module, void **handle, char *address, const char *name, int external,
                                                           size_t bytes, int constant, int global);
extern __attribute__((weak)) char __cudaInitModule(void **module);

static inline int cuda_missing(void)
{
	return !__cudaRegisterFatBinary || !cudaLaunchKernel || !cudaMalloc;
}

/* A fat binary with one image: PTX text, plain. */
struct packed_image {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* of all that follows */
	uint16_t kind, image_version; /* kind 1: PTX */
	uint32_t image_header_bytes;
	uint64_t padded_bytes;
	uint32_t compressed_bytes, options_at;
	uint16_t minor, major; /* of PTX */
	uint32_t architecture, name_at, name_bytes;
	uint64_t flags, zero, uncompressed_bytes;
	uint32_t option_text_at, no_options[3]; /* options of the assembler: none */
	char text[];
};
struct packed_wrapper {
	uint32_t magic, version;
	const void *image;
	const void *unused;
};

/* In memory of its own, which a program keeps until its end. NULL: memory is short. */
static inline struct packed_wrapper *pack_ptx(const char *text, size_t length)
{
	size_t padded = (length + 1 + 7) / 8 * 8;
	const char *version = strstr(text, ".version ");
	unsigned major = 6, minor = 4;
	struct packed_image *image = calloc(1, sizeof *image + padded);
	struct packed_wrapper *wrapper = calloc(1, sizeof *wrapper);
	if (!image || !wrapper) {
		free(image);
		free(wrapper);
		return NULL;
	}
	if (version)
		sscanf(version, ".version %u.%u", &major, &minor);
	*image = (struct packed_image){.magic = 0xBA55ED50, .version = 1, .header_bytes = 16, .bytes = sizeof *image - 16 + padded, .kind = 1,
	                               .image_version = 0x101, .image_header_bytes = 80, .padded_bytes = padded, .options_at = 64,
	                               .option_text_at = 72, .major = (uint16_t)major, .minor = (uint16_t)minor,
	                               .architecture = 70, .flags = 0x11};
	memcpy(image->text, text, length);
	*wrapper = (struct packed_wrapper){.magic = 0x466243B1, .version = 1, .image = image};
	return wrapper;
}

/* Registers PTX text as a module. */
static inline void **register_ptx(const char *text, size_t length)
{
	struct packed_wrapper *wrapper = pack_ptx(text, length);
	return wrapper ? __cudaRegisterFatBinary(wrapper) : NULL;
}

/* The handle is any address of the program's own: cudaLaunchKernel takes it. */
static inline void register_kernel(void **module, const char *handle, const char *name)
{
	__cudaRegisterFunction(module, handle, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

#endif
