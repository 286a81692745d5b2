/* What the first target would answer to clGetDeviceInfo (GPUSIM_IDENTITY=target). The interposer makes sure that the answers do
 * not promise more than the host device has. */
#include "runtime/runtime.h"

#include "runtime/guest/driver/simulation.h"

const char *runtime_target_text(cl_device_info what)
{
	switch (what) {
	case CL_DEVICE_NAME:
		return simulation.targets[0].gpu.title;
	case CL_DEVICE_VENDOR:
		return "NVIDIA Corporation"; /* all descriptions are of NVIDIA's GPUs */
	default:
		return NULL;
	}
}

uint64_t runtime_target_number(cl_device_info what)
{
	const struct gpu *g = &simulation.targets[0].gpu;
	switch (what) {
	case CL_DEVICE_TYPE:
		return CL_DEVICE_TYPE_GPU;
	case CL_DEVICE_VENDOR_ID:
		return 0x10de;
	case CL_DEVICE_MAX_COMPUTE_UNITS:
		return g->sm_count;
	case CL_DEVICE_MAX_CLOCK_FREQUENCY:
		return (uint64_t)(g->clock_mhz + 0.5);
	case CL_DEVICE_MAX_WORK_GROUP_SIZE:
	case CL_DEVICE_MAX_WORK_ITEM_SIZES:
		return g->max_threads_per_block;
	case CL_DEVICE_LOCAL_MEM_SIZE:
		return g->max_shared_bytes_per_block;
	case CL_DEVICE_GLOBAL_MEM_SIZE:
		return g->dram_bytes;
	case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
		return g->dram_bytes / 4; /* what NVIDIA's OpenCL answers */
	case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
		return g->l2_bytes;
	case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
		return g->l2_line_bytes;
	default:
		return 0;
	}
}
