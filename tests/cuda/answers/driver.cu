/* The driver's own interface: its numbers for the same mistakes, and modules that are wrong. */
#include "answers.h"

#include <cuda.h>
#include <dlfcn.h>

static void *driver;

template <typename F> static F function(const char *name)
{
	F found = (F)dlsym(driver, name);
	if (!found)
		printf("%s is missing\n", name);
	return found;
}

#define TEXT_OF(x) #x
#define NAME_OF(x) TEXT_OF(x)
#define CU(name) function<decltype(&name)>(NAME_OF(name))
#define ASK(title, name, ...) answered(title, CU(name) ? CU(name)(__VA_ARGS__) : (CUresult)-1)

static void answered(const char *name, CUresult result)
{
	printf("driver %s %d\n", name, (int)result);
	fflush(stdout);
}

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .b8 table[40];\n"
						   ".visible .entry store(.param .u64 p) {\n.reg .u64 %a;\nld.param.u64 %a, [p];\ncvta.to.global.u64 %a, %a;\nst.global.u32 [%a], 7;\nret;\n}\n";

static void before_init(void)
{
	CUcontext context;
	CUdevice device;
	int n = -1;
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	ASK("count_before_init", cuDeviceGetCount, &n);
	ASK("current_before_init", cuCtxGetCurrent, &context);
	ASK("init_flags", cuInit, 5);
	ASK("init", cuInit, 0);
	ASK("device", cuDeviceGet, &device, 0);
	ASK("device_none", cuDeviceGet, &device, 99);
	CUdeviceptr p;
	ASK("malloc_without_context", cuMemAlloc, &p, 16);
	ASK("synchronize_without_context", cuCtxSynchronize);
	ASK("current", cuCtxGetCurrent, &context);
	is("no_context", context == NULL);
	unsigned flags = 99;
	ASK("primary", cuDevicePrimaryCtxGetState, device, &flags, &n);
	is("active", n);
	ASK("release", cuDevicePrimaryCtxRelease, device);
	ASK("pop", cuCtxPopCurrent, &context);
}

static void modules(void)
{
	CUcontext context;
	CUmodule module;
	CUfunction f;
	CUdeviceptr p, q;
	size_t bytes;
	int value = -7;
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	ASK("init", cuInit, 0);
	ASK("retain", cuDevicePrimaryCtxRetain, &context, 0);
	ASK("current", cuCtxSetCurrent, context);
	ASK("load", cuModuleLoadData, &module, text);
	ASK("function", cuModuleGetFunction, &f, module, "store");
	ASK("function_none", cuModuleGetFunction, &f, module, "nothing");
	ASK("function_null", cuModuleGetFunction, &f, module, NULL);
	ASK("global", cuModuleGetGlobal, &p, &bytes, module, "table");
	is("global_bytes", (long long)bytes);
	ASK("global_none", cuModuleGetGlobal, &p, &bytes, module, "nothing");
	CUmodule wrong;
	ASK("load_garbage", cuModuleLoadData, &wrong, "this is no module at all");
	ASK("load_wrong_ptx", cuModuleLoadData, &wrong, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { nonsense; }\n");
	ASK("load_later_ptx", cuModuleLoadData, &wrong, ".version 99.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n");
	ASK("load_later_target", cuModuleLoadData, &wrong, ".version 8.8\n.target sm_120\n.address_size 64\n.visible .entry k() { ret; }\n");
	ASK("load_file", cuModuleLoad, &wrong, "/no/such/file.ptx");
	ASK("malloc", cuMemAlloc, &p, 1000);
	ASK("malloc_0", cuMemAlloc, &q, 0);
	ASK("malloc_huge", cuMemAlloc, &q, (size_t)1 << 50);
	void *arguments[] = {&p};
	ASK("function_again", cuModuleGetFunction, &f, module, "store");
	ASK("launch", cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
	ASK("launch_0", cuLaunchKernel, f, 0, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
	ASK("launch_2000", cuLaunchKernel, f, 1, 1, 1, 2000, 1, 1, 0, NULL, arguments, NULL);
	ASK("launch_grid_y", cuLaunchKernel, f, 1, 65536, 1, 32, 1, 1, 0, NULL, arguments, NULL);
	ASK("launch_shared", cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 1 << 20, NULL, arguments, NULL);
	ASK("launch_null", cuLaunchKernel, NULL, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
	ASK("launch_without_arguments", cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	ASK("attribute", cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
	is("threads", value);
	ASK("attribute_ptx", cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_PTX_VERSION, f);
	is("ptx_version", value);
	ASK("attribute_binary", cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, f);
	is("binary_version", value);
	ASK("attribute_77", cuFuncGetAttribute, &value, (CUfunction_attribute)77, f);
	ASK("range", cuMemGetAddressRange, &q, &bytes, p + 100);
	is("range_starts", q == p);
	is("range_bytes", (long long)bytes);
	ASK("range_none", cuMemGetAddressRange, &q, &bytes, 0x1234);
	CUmemorytype type;
	ASK("pointer", cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
	ASK("pointer_none", cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&value);
	ASK("fill", cuMemsetD32, p, 1, 250);
	ASK("fill_misaligned", cuMemsetD32, p + 1, 1, 10);
	ASK("fill_beyond", cuMemsetD32, p, 1, (size_t)1 << 33);
	ASK("free_inside", cuMemFree, p + 16);
	ASK("free", cuMemFree, p);
	ASK("free_twice", cuMemFree, p);
	ASK("free_0", cuMemFree, 0);
	ASK("unload", cuModuleUnload, module);
	ASK("query_null", cuStreamQuery, NULL);
	ASK("synchronize", cuCtxSynchronize);
	const char *name = NULL;
	ASK("error_name", cuGetErrorName, (CUresult)700, &name);
	printf("error_name %s\n", name ? name : "null");
	ASK("error_name_none", cuGetErrorName, (CUresult)123456, &name);
}

/* What was made in a context, when none is current any more; and the forms of CUDA 13, which name the context. */
static void without_context(void)
{
	CUcontext context, none;
	CUmodule module;
	CUstream stream, other;
	CUevent event;
	CUdevice device = -1;
	CUdeviceptr p, q;
	CUmemorytype type;
	void *host;
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	ASK("init", cuInit, 0);
	ASK("retain", cuDevicePrimaryCtxRetain, &context, 0);
	ASK("current", cuCtxSetCurrent, context);
	ASK("load", cuModuleLoadData, &module, text);
	ASK("malloc", cuMemAlloc, &p, 1000);
	ASK("malloc_host", cuMemAllocHost, &host, 1000);
	ASK("stream", cuStreamCreate, &stream, 1);
	ASK("event", cuEventCreate, &event, 0);
	ASK("none", cuCtxSetCurrent, NULL);
	ASK("get_none", cuCtxGetCurrent, &none);
	is("is_none", none == NULL);
	ASK("device_none", cuCtxGetDevice, &device);
	ASK("device_named", cuCtxGetDevice_v2, &device, context);
	is("device", device);
	ASK("device_null", cuCtxGetDevice_v2, &device, NULL);
	ASK("synchronize_named", cuCtxSynchronize_v2, context);
	ASK("synchronize_null", cuCtxSynchronize_v2, NULL);
	ASK("malloc_none", cuMemAlloc, &q, 16);
	ASK("fill", cuMemsetD8, p, 1, 1000);
	ASK("copy", cuMemcpyDtoH, host, p, 1000);
	ASK("copy_async", cuMemcpyDtoHAsync, host, p, 1000, stream);
	ASK("pointer", cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
	ASK("record", cuEventRecord, event, stream);
	ASK("wait", cuStreamSynchronize, stream);
	ASK("query", cuStreamQuery, stream);
	ASK("event_wait", cuEventSynchronize, event);
	ASK("stream_none", cuStreamCreate, &other, 1);
	ASK("event_destroy", cuEventDestroy, event);
	ASK("stream_destroy", cuStreamDestroy, stream);
	ASK("free", cuMemFree, p);
	ASK("free_host", cuMemFreeHost, host);
	ASK("unload", cuModuleUnload, module);
	ASK("again", cuCtxSetCurrent, context);
	ASK("device_again", cuCtxGetDevice_v2, &device, NULL);
	ASK("synchronize_again", cuCtxSynchronize_v2, NULL);
}

/* The most registers of a thread, as an option of loading and of linking. The kernel loads 48 numbers before it uses the last first. */
static void registers(void)
{
	static char ptx[8192];
	char *at = ptx;
	CUcontext context;
	CUmodule module;
	CUlinkState link;
	CUfunction f;
	CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
	void *values[] = {(void *)24}, *image;
	size_t bytes;
	int value = 0;
	at += sprintf(at, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry many(.param .u64 p)\n{\n.reg .b32 %%r<48>;\n.reg .b64 %%a;\n"
			  "ld.param.u64 %%a, [p];\ncvta.to.global.u64 %%a, %%a;\n");
	for (int i = 0; i < 48; i++)
		at += sprintf(at, "ld.volatile.global.b32 %%r%d, [%%a+%d];\n", i, 4 * i);
	for (int i = 47; i >= 0; i--)
		at += sprintf(at, "st.volatile.global.b32 [%%a+%d], %%r%d;\n", 4 * i, i);
	sprintf(at, "ret;\n}\n");
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	ASK("init", cuInit, 0);
	ASK("retain", cuDevicePrimaryCtxRetain, &context, 0);
	ASK("current", cuCtxSetCurrent, context);
	ASK("load", cuModuleLoadData, &module, ptx);
	ASK("function", cuModuleGetFunction, &f, module, "many");
	ASK("attribute", cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
	is("more_than_47", value > 47);
	ASK("load_bounded", cuModuleLoadDataEx, &module, ptx, 1, options, values);
	ASK("function_bounded", cuModuleGetFunction, &f, module, "many");
	ASK("attribute_bounded", cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
	is("up_to_24", value <= 24);
	ASK("link", cuLinkCreate, 1, options, values, &link);
	ASK("add", cuLinkAddData, link, CU_JIT_INPUT_PTX, ptx, strlen(ptx) + 1, "many", 0, NULL, NULL);
	ASK("complete", cuLinkComplete, link, &image, &bytes);
	ASK("load_linked", cuModuleLoadData, &module, image);
	ASK("function_linked", cuModuleGetFunction, &f, module, "many");
	ASK("attribute_linked", cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
	is("linked_up_to_24", value <= 24);
}

const struct group driver_groups[] = {{"driver_before_init", before_init}, {"driver_modules", modules}, {"driver_without_context", without_context},
				      {"driver_registers", registers}, {NULL, NULL}};
