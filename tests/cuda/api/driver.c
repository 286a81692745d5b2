/*
 * The CUDA driver's interface, as a program uses it that opens the library itself. It needs no header of CUDA and no compiler for it: its kernels are
 * PTX. By the real driver of a GPU it passes as well. Ends with "PASS" or exit status 1.
 */
#include "tests/cuda/api/driver.h"

#include <string.h>
#include <unistd.h>

enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, FILE_NOT_FOUND = 301,
       NOT_FOUND = 500 };

static const char saxpy_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .align 4 .f32 offset = 0f3F800000;\n"
	".visible .entry saxpy(.param .u64 saxpy_x, .param .u64 saxpy_y, .param .f32 saxpy_a, .param .u32 saxpy_n)\n"
	"{\n\t.reg .pred %p<2>;\n\t.reg .f32 %f<6>;\n\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<8>;\n"
	"\tld.param.u64 %rd1, [saxpy_x];\n\tld.param.u64 %rd2, [saxpy_y];\n\tld.param.f32 %f1, [saxpy_a];\n\tld.param.u32 %r1, [saxpy_n];\n"
	"\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n\tmad.lo.s32 %r5, %r2, %r3, %r4;\n"
	"\tsetp.ge.u32 %p1, %r5, %r1;\n\t@%p1 bra done;\n"
	"\tmul.wide.u32 %rd3, %r5, 4;\n\tcvta.to.global.u64 %rd4, %rd1;\n\tcvta.to.global.u64 %rd5, %rd2;\n\tadd.s64 %rd6, %rd4, %rd3;\n\tadd.s64 %rd7, %rd5, %rd3;\n"
	"\tld.global.f32 %f2, [%rd6];\n\tld.global.f32 %f3, [%rd7];\n\tld.global.f32 %f4, [offset];\n"
	"\tfma.rn.f32 %f5, %f1, %f2, %f3;\n\tadd.f32 %f5, %f5, %f4;\n\tst.global.f32 [%rd7], %f5;\ndone:\n\tret;\n}\n";
/* Two texts for the linker: a kernel, and the function that it calls. */
static const char caller_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.extern .func (.param .b32 result) twice (.param .b32 value);\n"
	".visible .entry linked(.param .u64 linked_out)\n{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n"
	"\tld.param.u64 %rd1, [linked_out];\n\tcvta.to.global.u64 %rd1, %rd1;\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n"
	"\t{\n\t.param .b32 in;\n\t.param .b32 back;\n\tst.param.b32 [in], %r1;\n\tcall.uni (back), twice, (in);\n\tld.param.b32 %r2, [back];\n\t}\n"
	"\tst.global.u32 [%rd3], %r2;\n\tret;\n}\n";
static const char called_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .func (.param .b32 result) twice (.param .b32 value)\n"
				 "{\n\t.reg .b32 %r<3>;\n\tld.param.b32 %r1, [value];\n\tadd.s32 %r2, %r1, %r1;\n\tst.param.b32 [result], %r2;\n\tret;\n}\n";

/* ---- what is checked ---- */

static void before_and_after_init(void)
{
	int count = 0, version = 0, device = -1, value = 0;
	char name[64] = "";
	size_t bytes = 0;
	const char *text = NULL;
	EXPECT(CU(cuDeviceGetCount, int *)(&count), NOT_INITIALIZED);
	GOOD(CU(cuDriverGetVersion, int *)(&version));
	EXPECT(version >= 12000, true);
	EXPECT(CU(cuInit, unsigned)(1), INVALID_VALUE);
	GOOD(CU(cuInit, unsigned)(0));
	GOOD(CU(cuDeviceGetCount, int *)(&count));
	EXPECT(count >= 1, true);
	GOOD(CU(cuDeviceGet, int *, int)(&device, 0));
	EXPECT(CU(cuDeviceGet, int *, int)(&device, 99), INVALID_DEVICE);
	GOOD(CU(cuDeviceGetName, char *, int, int)(name, sizeof name, 0));
	EXPECT(*name != 0, true);
	GOOD(CU(cuDeviceTotalMem_v2, size_t *, int)(&bytes, 0));
	EXPECT(bytes > 1000000, true);
	GOOD(CU(cuDeviceGetAttribute, int *, int, int)(&value, 10, 0)); /* threads of a warp */
	EXPECT(value, 32);
	GOOD(CU(cuGetErrorName, int, const char **)(INVALID_CONTEXT, &text));
	EXPECT(text && !strcmp(text, "CUDA_ERROR_INVALID_CONTEXT"), true);
	EXPECT(CU(cuGetErrorName, int, const char **)(12345, &text), INVALID_VALUE);
}

static void contexts(void)
{
	void *first, *second, *now, *primary;
	unsigned flags;
	int active;
	address a;
	EXPECT(CU(cuMemAlloc_v2, address *, size_t)(&a, 16), INVALID_CONTEXT);
	GOOD(CU(cuCtxCreate_v2, void **, unsigned, int)(&first, 0, 0));
	GOOD(CU(cuCtxCreate_v2, void **, unsigned, int)(&second, 0, 0));
	GOOD(CU(cuCtxGetCurrent, void **)(&now));
	EXPECT(now == second, true);
	GOOD(CU(cuCtxPopCurrent_v2, void **)(&now));
	EXPECT(now == second, true);
	GOOD(CU(cuCtxGetCurrent, void **)(&now));
	EXPECT(now == first, true);
	GOOD(CU(cuCtxDestroy_v2, void *)(second));
	GOOD(CU(cuCtxSetCurrent, void *)(NULL));
	GOOD(CU(cuCtxGetCurrent, void **)(&now));
	EXPECT(now == NULL, true);
	GOOD(CU(cuCtxDestroy_v2, void *)(first));
	GOOD(CU(cuDevicePrimaryCtxGetState, int, unsigned *, int *)(0, &flags, &active));
	EXPECT(active, 0);
	GOOD(CU(cuDevicePrimaryCtxRetain, void **, int)(&primary, 0));
	GOOD(CU(cuCtxSetCurrent, void *)(primary));
	GOOD(CU(cuDevicePrimaryCtxGetState, int, unsigned *, int *)(0, &flags, &active));
	EXPECT(active, 1);
}

enum { N = 1000 };

static void check_saxpy(address y, float offset, const char *how)
{
	float result[N];
	int wrong = 0;
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(result, y, sizeof result));
	for (int i = 0; i < N; i++)
		wrong += result[i] != 2.5f * (float)i + 7 + offset;
	if (wrong)
		failures++, printf("FAIL %s: %d of %d are wrong\n", how, wrong, N);
}

static void fill(address x, address y)
{
	float values[N];
	for (int i = 0; i < N; i++)
		values[i] = (float)i;
	GOOD(CU(cuMemcpyHtoD_v2, address, const void *, size_t)(x, values, sizeof values));
	GOOD(CU(cuMemsetD32_v2, address, unsigned, size_t)(y, 0x40e00000, N)); /* 7.0 */
}

/* A file with the mark of a fat binary's wrapper, which has a pointer that leads nowhere. */
static int load_damaged_file(void **module)
{
	static const uint64_t words[3] = {0x1466243b1, 8, 0};
	char path[] = "/tmp/gpusim-driver.XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, words, sizeof words) != sizeof words)
		return -1;
	close(fd);
	int error = CU(cuModuleLoad, void **, const char *)(module, path);
	unlink(path);
	return error;
}

/* An SM has two blocks of 1024 threads, or one of the clusters of two: at most as many as there are SMs. A driver knows which SMs form a cluster. */
static void check_clusters(void *f)
{
	enum { CLUSTER = 4, SM_COUNT = 16 };
	struct {
		int id, reserved;
		unsigned size[16];
	} cluster = {CLUSTER, 0, {2, 1, 1}};
	struct {
		unsigned grid[3], block[3], dynamic_shared;
		void *stream, *attributes;
		unsigned attribute_count;
	} config = {{8, 1, 1}, {1024, 1, 1}, 0, NULL, &cluster, 1};
	int most = 0, clusters = 0, sms = 0;
	GOOD(CU(cuDeviceGetAttribute, int *, int, int)(&sms, SM_COUNT, 0));
	GOOD(CU(cuOccupancyMaxPotentialClusterSize, int *, void *, const void *)(&most, f, &config));
	EXPECT(most, 8);
	GOOD(CU(cuOccupancyMaxActiveClusters, int *, void *, const void *)(&clusters, f, &config));
	EXPECT(clusters > 0 && clusters <= sms, true);
}

static void modules(void)
{
	void *module, *f, *stream, *begin, *end;
	address x, y, global;
	size_t bytes = 0;
	int value = 0, blocks = 0, block = 0, grid = 0;
	float a = 2.5f, three = 3, ms = -1;
	unsigned n = N;
	EXPECT(CU(cuModuleLoadData, void **, const void *)(&module, "this is no image\n"), INVALID_IMAGE);
	EXPECT(CU(cuModuleLoad, void **, const char *)(&module, "/nonexistent.cubin"), FILE_NOT_FOUND);
	EXPECT(load_damaged_file(&module), INVALID_IMAGE);
	GOOD(CU(cuModuleLoadData, void **, const void *)(&module, saxpy_ptx));
	EXPECT(CU(cuModuleGetFunction, void **, void *, const char *)(&f, module, "nobody"), NOT_FOUND);
	GOOD(CU(cuModuleGetFunction, void **, void *, const char *)(&f, module, "saxpy"));
	GOOD(CU(cuFuncGetAttribute, int *, int, void *)(&value, 0, f)); /* threads of a block, at most */
	EXPECT(value, 1024);
	EXPECT(CU(cuModuleGetGlobal_v2, address *, size_t *, void *, const char *)(&global, &bytes, module, "nobody"), NOT_FOUND);
	GOOD(CU(cuModuleGetGlobal_v2, address *, size_t *, void *, const char *)(&global, &bytes, module, "offset"));
	EXPECT(bytes, sizeof(float));
	GOOD(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *, void *, int, size_t)(&blocks, f, 256, 0));
	EXPECT(blocks, 8);
	GOOD(CU(cuOccupancyMaxPotentialBlockSize, int *, int *, void *, void *, size_t, int)(&grid, &block, f, NULL, 0, 0));
	EXPECT(block, 1024);
	check_clusters(f);

	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&x, N * sizeof(float)));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&y, N * sizeof(float)));
	fill(x, y);
	void *args[] = {&x, &y, &a, &n};
	GOOD(((launch *)function("cuLaunchKernel"))(f, 8, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
	check_saxpy(y, 1, "parameters by pointers");

	/* The same with a buffer of parameters, on a stream, between two events, with another value of the variable. */
	struct {
		address x, y;
		float a;
		unsigned n;
	} buffer = {x, y, a, n};
	size_t size = sizeof buffer;
	void *extra[] = {(void *)1, &buffer, (void *)2, &size, (void *)0};
	fill(x, y);
	GOOD(CU(cuMemcpyHtoD_v2, address, const void *, size_t)(global, &three, sizeof three));
	GOOD(CU(cuStreamCreate, void **, unsigned)(&stream, 1));
	GOOD(CU(cuEventCreate, void **, unsigned)(&begin, 0));
	GOOD(CU(cuEventCreate, void **, unsigned)(&end, 0));
	GOOD(CU(cuCtxSynchronize, void)());
	GOOD(CU(cuEventRecord, void *, void *)(begin, stream));
	GOOD(((launch *)function("cuLaunchKernel"))(f, 8, 1, 1, 128, 1, 1, 0, stream, NULL, extra));
	GOOD(CU(cuEventRecord, void *, void *)(end, stream));
	GOOD(CU(cuEventSynchronize, void *)(end));
	GOOD(CU(cuEventElapsedTime, float *, void *, void *)(&ms, begin, end));
	EXPECT(ms > 0, true);
	check_saxpy(y, 3, "a buffer of parameters");
	EXPECT(((launch *)function("cuLaunchKernel"))(f, 8, 1, 1, 2048, 1, 1, 0, stream, args, NULL), INVALID_VALUE);

	GOOD(CU(cuEventDestroy_v2, void *)(begin));
	GOOD(CU(cuEventDestroy_v2, void *)(end));
	GOOD(CU(cuStreamDestroy_v2, void *)(stream));
	GOOD(CU(cuMemFree_v2, address)(x));
	GOOD(CU(cuMemFree_v2, address)(y));
	GOOD(CU(cuModuleUnload, void *)(module));
}

static void libraries_and_links(void)
{
	void *link, *image = NULL, *lib, *kernel, *f;
	size_t bytes = 0;
	address out;
	unsigned values[64];
	int wrong = 0;
	GOOD(CU(cuLinkCreate_v2, unsigned, int *, void **, void **)(0, NULL, NULL, &link));
	GOOD(CU(cuLinkAddData_v2, void *, int, const void *, size_t, const char *, unsigned, int *, void **)(link, 1, caller_ptx, sizeof caller_ptx, "caller", 0,
	                                                                                                      NULL, NULL));
	GOOD(CU(cuLinkAddData_v2, void *, int, const void *, size_t, const char *, unsigned, int *, void **)(link, 1, called_ptx, sizeof called_ptx, "called", 0,
	                                                                                                      NULL, NULL));
	GOOD(CU(cuLinkComplete, void *, void **, size_t *)(link, &image, &bytes));
	EXPECT(image && bytes, true);
	GOOD(CU(cuLibraryLoadData, void **, const void *, int *, void **, unsigned, int *, void **, unsigned)(&lib, image, NULL, NULL, 0, NULL, NULL, 0));
	GOOD(CU(cuLinkDestroy, void *)(link));
	GOOD(CU(cuLibraryGetKernel, void **, void *, const char *)(&kernel, lib, "linked"));
	GOOD(CU(cuKernelGetFunction, void **, void *)(&f, kernel));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&out, sizeof values));
	void *args[] = {&out};
	GOOD(((launch *)function("cuLaunchKernel"))(f, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(values, out, sizeof values));
	for (unsigned i = 0; i < 64; i++)
		wrong += values[i] != 2 * i;
	EXPECT(wrong, 0);
	GOOD(CU(cuMemFree_v2, address)(out));
	GOOD(CU(cuLibraryUnload, void *)(lib));
}

static void memory(void)
{
	address rows, begin;
	size_t pitch = 0, bytes = 0;
	unsigned char there[4][10], back[2][5];
	unsigned kind = 0, short_value = 0;
	void *host;
	GOOD(CU(cuMemAllocPitch_v2, address *, size_t *, size_t, size_t, unsigned)(&rows, &pitch, 10, 4, 4));
	EXPECT(pitch >= 10, true);
	for (int i = 0; i < 40; i++)
		there[i / 10][i % 10] = (unsigned char)i;
	struct copy2d in = {{0, 0, 1, there, 0, NULL, 10}, {0, 0, 2, NULL, rows, NULL, pitch}, 10, 4};
	GOOD(CU(cuMemcpy2D_v2, const struct copy2d *)(&in));
	struct copy2d out = {{3, 1, 2, NULL, rows, NULL, pitch}, {0, 0, 1, back, 0, NULL, 5}, 5, 2};
	GOOD(CU(cuMemcpy2D_v2, const struct copy2d *)(&out));
	EXPECT(back[0][0], 13);
	EXPECT(back[1][4], 27);
	GOOD(CU(cuMemsetD2D16_v2, address, size_t, unsigned short, size_t, size_t)(rows, pitch, 0x1234, 3, 2));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(&short_value, rows + pitch + 4, 2));
	EXPECT(short_value, 0x1234);
	GOOD(CU(cuMemGetAddressRange_v2, address *, size_t *, address)(&begin, &bytes, rows + 17));
	EXPECT(begin == rows, true);
	GOOD(CU(cuPointerGetAttribute, void *, int, address)(&kind, 2, rows));
	EXPECT(kind, 2);
	GOOD(CU(cuMemAllocHost_v2, void **, size_t)(&host, 64));
	GOOD(CU(cuPointerGetAttribute, void *, int, address)(&kind, 2, (address)host));
	EXPECT(kind, 1);
	GOOD(CU(cuMemFreeHost, void *)(host));
	GOOD(CU(cuMemFree_v2, address)(rows));
	EXPECT(CU(cuMemFree_v2, address)(rows + 1), INVALID_VALUE);
	EXPECT(CU(cuMemAlloc_v2, address *, size_t)(&rows, 0), INVALID_VALUE);
}

/* CUDA_KERNEL_NODE_PARAMS_v2, CUDA_MEMSET_NODE_PARAMS and CUDA_MEMCPY3D */
struct kernel_node {
	void *f;
	unsigned grid[3], block[3], shared;
	void **args, **extra;
	void *kernel, *context;
};
struct fill_node {
	address to;
	size_t pitch;
	unsigned value, unit;
	size_t width, height;
};

static int wrong_sums(const float *result, float a)
{
	int wrong = 0;
	for (int i = 0; i < N; i++)
		wrong += result[i] != a * (float)i + 7 + 1;
	return wrong;
}

/* Fills y, computes and copies back, as a graph that was made node by node. */
static void graphs(void)
{
	static float result[N];
	void *module, *f, *graph, *exec, *stream, *context, *filled, *computed, *copied, *found[2] = {NULL, NULL};
	address x, y;
	float a = 2.5f;
	unsigned n = N;
	size_t count = 2;
	struct kernel_node read;
	GOOD(CU(cuCtxGetCurrent, void **)(&context));
	GOOD(CU(cuModuleLoadData, void **, const void *)(&module, saxpy_ptx));
	GOOD(CU(cuModuleGetFunction, void **, void *, const char *)(&f, module, "saxpy"));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&x, sizeof result));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&y, sizeof result));
	GOOD(CU(cuStreamCreate, void **, unsigned)(&stream, 1));
	fill(x, y);
	GOOD(CU(cuCtxSynchronize, void)());
	void *args[] = {&x, &y, &a, &n};
	struct kernel_node kernel = {f, {8, 1, 1}, {128, 1, 1}, 0, args, NULL, NULL, NULL};
	struct fill_node seven = {y, 0, 0x40e00000, 4, N, 1};
	struct copy3d back = {{0, 0, 0, 0, 2, NULL, y, NULL, NULL, sizeof result, 1}, {0, 0, 0, 0, 1, result, 0, NULL, NULL, sizeof result, 1}, sizeof result, 1, 1};
	GOOD(CU(cuGraphCreate, void **, unsigned)(&graph, 0));
	GOOD(CU(cuGraphAddMemsetNode, void **, void *, void **, size_t, struct fill_node *, void *)(&filled, graph, NULL, 0, &seven, context));
	GOOD(CU(cuGraphAddKernelNode_v2, void **, void *, void **, size_t, struct kernel_node *)(&computed, graph, &filled, 1, &kernel));
	GOOD(CU(cuGraphAddMemcpyNode, void **, void *, void **, size_t, struct copy3d *, void *)(&copied, graph, &computed, 1, &back, context));
	GOOD(CU(cuGraphNodeGetDependencies_v2, void *, void **, void *, size_t *)(copied, found, NULL, &count));
	EXPECT(count == 1 && found[0] == computed, true);
	GOOD(CU(cuGraphKernelNodeGetParams_v2, void *, struct kernel_node *)(computed, &read));
	EXPECT(read.f == f && read.grid[0] == 8 && *(float *)read.args[2] == 2.5f, true);
	GOOD(CU(cuGraphInstantiateWithFlags, void **, void *, unsigned long long)(&exec, graph, 0));
	GOOD(CU(cuGraphLaunch, void *, void *)(exec, stream));
	GOOD(CU(cuStreamSynchronize, void *)(stream));
	EXPECT(wrong_sums(result, 2.5f), 0);
	a = 4;
	GOOD(CU(cuGraphExecKernelNodeSetParams_v2, void *, void *, struct kernel_node *)(exec, computed, &kernel));
	GOOD(CU(cuGraphLaunch, void *, void *)(exec, stream));
	GOOD(CU(cuStreamSynchronize, void *)(stream));
	EXPECT(wrong_sums(result, 4), 0);
	GOOD(CU(cuGraphExecDestroy, void *)(exec));
	GOOD(CU(cuGraphDestroy, void *)(graph));
	GOOD(CU(cuStreamDestroy_v2, void *)(stream));
	GOOD(CU(cuMemFree_v2, address)(x));
	GOOD(CU(cuMemFree_v2, address)(y));
	unsigned functions = 0;
	GOOD(CU(cuModuleGetFunctionCount, unsigned *, void *)(&functions, module));
	EXPECT(functions, 1);
	GOOD(CU(cuModuleUnload, void *)(module));
}

/* A fill that is captured is the one node that the next one would follow. */
static void captures(void)
{
	enum { NONE = 0, ACTIVE = 1 };
	void *stream, *graph = NULL, *made;
	void *const *nodes = NULL;
	unsigned long long id = 0;
	size_t count = 0;
	int status = -1;
	address a;
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&a, 16));
	GOOD(CU(cuStreamCreate, void **, unsigned)(&stream, 1));
	GOOD(CU(cuStreamGetCaptureInfo_v2, void *, int *, unsigned long long *, void **, void *const **, size_t *)(stream, &status, &id, NULL, NULL, NULL));
	EXPECT(status, NONE);
	GOOD(CU(cuStreamBeginCapture_v2, void *, int)(stream, 0));
	GOOD(CU(cuMemsetD8Async, address, unsigned char, size_t, void *)(a, 7, 16, stream));
	GOOD(CU(cuStreamGetCaptureInfo_v2, void *, int *, unsigned long long *, void **, void *const **, size_t *)(stream, &status, &id, &graph, &nodes, &count));
	EXPECT(status, ACTIVE);
	EXPECT(count == 1 && graph && nodes && nodes[0], true);
	GOOD(CU(cuStreamEndCapture, void *, void **)(stream, &made));
	EXPECT(made == graph, true);
	GOOD(CU(cuGraphDestroy, void *)(made));
	GOOD(CU(cuStreamDestroy_v2, void *)(stream));
	GOOD(CU(cuMemFree_v2, address)(a));
}

/* A stream keeps what is set of it, and another one gets that by a copy. */
static void attributes(void)
{
	enum { WINDOW = 1, COOPERATIVE = 2, HOW_TO_WAIT = 3, YIELDING = 3, INVALID = 1 };
	union {
		struct {
			address begin;
			size_t bytes;
			float share;
			int hit, miss;
		} window;
		int number;
		char room[64];
	} v = {.window = {0, 4096, 0.5f, 2, 1}}, w;
	void *first, *second;
	GOOD(CU(cuStreamCreate, void **, unsigned)(&first, 1));
	GOOD(CU(cuStreamCreate, void **, unsigned)(&second, 1));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&v.window.begin, 4096));
	GOOD(CU(cuStreamGetAttribute, void *, int, void *)(first, WINDOW, &w));
	EXPECT(w.window.bytes, 0);
	GOOD(CU(cuStreamSetAttribute, void *, int, const void *)(first, WINDOW, &v));
	GOOD(CU(cuStreamSetAttribute, void *, int, const void *)(first, HOW_TO_WAIT, &(int[16]){YIELDING}));
	GOOD(CU(cuStreamCopyAttributes, void *, void *)(second, first));
	GOOD(CU(cuStreamGetAttribute, void *, int, void *)(second, WINDOW, &w));
	EXPECT(w.window.begin == v.window.begin && w.window.bytes == 4096 && w.window.hit == 2, true);
	GOOD(CU(cuStreamGetAttribute, void *, int, void *)(second, HOW_TO_WAIT, &w));
	EXPECT(w.number, YIELDING);
	EXPECT(CU(cuStreamSetAttribute, void *, int, const void *)(first, COOPERATIVE, &v), INVALID);
	GOOD(CU(cuMemFree_v2, address)(v.window.begin));
	GOOD(CU(cuStreamDestroy_v2, void *)(first));
	GOOD(CU(cuStreamDestroy_v2, void *)(second));
}

static void by_name(void)
{
	static int (*find_by_driver)(const char *, void **, int, unsigned long long, int *);
	void *f = NULL;
	int status = -1;
	find_by_driver = function("cuGetProcAddress_v2");
	GOOD(find_by_driver("cuMemAlloc", &f, 12000, 0, &status));
	EXPECT(status, 0);
	address a;
	GOOD(((int (*)(address *, size_t))f)(&a, 16));
	GOOD(find_by_driver("cuMemFree", &f, 12000, 0, &status));
	GOOD(((int (*)(address))f)(a));
	void *context = NULL;
	GOOD(find_by_driver("cuCtxCreate", &f, 12000, 0, &status)); /* of 12.0: an affinity and its length come second; of 11.0 they do not */
	GOOD(((int (*)(void **, void *, int, unsigned, int))f)(&context, NULL, 0, 0, 0));
	GOOD(CU(cuCtxDestroy_v2, void *)(context));
	GOOD(find_by_driver("cuCtxCreate", &f, 11000, 0, &status));
	GOOD(((int (*)(void **, unsigned, int))f)(&context, 0, 0));
	GOOD(CU(cuCtxDestroy_v2, void *)(context));
	find_by_driver("cuNoSuchFunction", &f, 12000, 0, &status);
	EXPECT(status, 1);
	EXPECT(f == NULL, true);
}

/* A kernel that loads 48 numbers before it stores the last one first: it needs as many registers, and an address. */
static void write_many(char *at)
{
	at += sprintf(at, ".version 7.0\n.target sm_70\n.address_size 64\n// not this .entry { here\n.visible .entry many(.param .u64 p)\n"
			  "{\n.reg .b32 %%r<48>;\n.reg .b64 %%a;\nld.param.u64 %%a, [p];\ncvta.to.global.u64 %%a, %%a;\n");
	for (int i = 0; i < 48; i++)
		at += sprintf(at, "ld.volatile.global.b32 %%r%d, [%%a+%d];\n", i, 4 * i);
	for (int i = 47; i >= 0; i--)
		at += sprintf(at, "st.volatile.global.b32 [%%a+%d], %%r%d;\n", 4 * i, i);
	/* launch bounds are there to be kept */
	strcpy(at, "ret;\n}\n.visible .entry free_of_it(.param .u64 p) .maxntid 32, 1, 1\n{\nret;\n}\n");
}

static int registers_of(void *module, const char *kernel)
{
	enum { REGISTERS = 4 };
	void *f;
	int value = -1;
	GOOD(CU(cuModuleGetFunction, void **, void *, const char *)(&f, module, kernel));
	GOOD(CU(cuFuncGetAttribute, int *, int, void *)(&value, REGISTERS, f));
	return value;
}

/* CU_JIT_MAX_REGISTERS, of modules, of all that is linked, and of one text of it. */
static void registers_are_bounded(void)
{
	enum { MAX_REGISTERS = 0, PTX = 1 };
	static char ptx[8192];
	int option = MAX_REGISTERS;
	void *most = (void *)40, *less = (void *)32, *module, *link, *image;
	size_t bytes;
	write_many(ptx);
	GOOD(CU(cuModuleLoadDataEx, void **, const void *, unsigned, int *, void **)(&module, ptx, 0, NULL, NULL));
	EXPECT(registers_of(module, "many") > 48, true);
	GOOD(CU(cuModuleUnload, void *)(module));
	GOOD(CU(cuModuleLoadDataEx, void **, const void *, unsigned, int *, void **)(&module, ptx, 1, &option, &most));
	EXPECT(registers_of(module, "many"), 40);
	GOOD(CU(cuModuleUnload, void *)(module));
	for (int own = 0; own < 2; own++) {
		GOOD(CU(cuLinkCreate_v2, unsigned, int *, void **, void **)(1, &option, &most, &link));
		GOOD(CU(cuLinkAddData_v2, void *, int, const void *, size_t, const char *, unsigned, int *, void **)(link, PTX, ptx, strlen(ptx) + 1, "many",
														     (unsigned)own, &option, &less));
		GOOD(CU(cuLinkComplete, void *, void **, size_t *)(link, &image, &bytes));
		GOOD(CU(cuModuleLoadData, void **, const void *)(&module, image));
		EXPECT(registers_of(module, "many"), own ? 32 : 40);
		GOOD(CU(cuModuleUnload, void *)(module));
		GOOD(CU(cuLinkDestroy, void *)(link));
	}
}

/* What was made in a context goes when none is current, as Python's garbage collector has it. CUDA 13 names the context. */
static void without_context(void)
{
	void *context, *module, *stream, *event, *host;
	address a;
	int device = -1;
	GOOD(CU(cuCtxGetCurrent, void **)(&context));
	GOOD(CU(cuModuleLoadData, void **, const void *)(&module, saxpy_ptx));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&a, 16));
	GOOD(CU(cuMemAllocHost_v2, void **, size_t)(&host, 16));
	GOOD(CU(cuStreamCreate, void **, unsigned)(&stream, 1));
	GOOD(CU(cuEventCreate, void **, unsigned)(&event, 0));
	GOOD(CU(cuCtxSetCurrent, void *)(NULL));
	EXPECT(CU(cuCtxGetDevice, int *)(&device), INVALID_CONTEXT);
	GOOD(CU(cuCtxGetDevice_v2, int *, void *)(&device, context));
	EXPECT(device, 0);
	GOOD(CU(cuCtxSynchronize_v2, void *)(context));
	GOOD(CU(cuEventDestroy_v2, void *)(event));
	GOOD(CU(cuStreamDestroy_v2, void *)(stream));
	GOOD(CU(cuMemFree_v2, address)(a));
	GOOD(CU(cuMemFreeHost, void *)(host));
	GOOD(CU(cuModuleUnload, void *)(module));
	GOOD(CU(cuCtxSetCurrent, void *)(context));
	GOOD(CU(cuCtxGetDevice_v2, int *, void *)(&device, NULL));
}

int main(void)
{
	open_driver();
	before_and_after_init();
	contexts();
	modules();
	libraries_and_links();
	memory();
	graphs();
	captures();
	attributes();
	by_name();
	registers_are_bounded();
	without_context();
	return verdict();
}
