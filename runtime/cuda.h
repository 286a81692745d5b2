/*
 * cuda: what the CUDA interposer (interposer/cuda) asks of the runtime: memory, modules, streams, and commands on them.
 *
 * There is no CUDA below us. Kernels are lifted PTX (runtime/format/lifted.h), built by the OpenCL driver of a CPU device and launched on
 * it. Device memory is host memory, and a device pointer is its address. Nothing here knows CUDA's error numbers or structs: the interposer
 * does. Any thread may call every function at any time. Functions that fail return a negative errno value and a sentence in *err.
 */
#ifndef GPUSIM_RUNTIME_CUDA_H
#define GPUSIM_RUNTIME_CUDA_H

#include "runtime/base/base.h"
#include "models/gpu/gpu.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once, at the first CUDA call: starts the runtime (runtime.h) and finds the OpenCL device. Later calls return the same answer. */
int cuda_start(struct gs_error *err);
bool cuda_active(void); /* false: GPUSIM_OFF=1, a forked child, or cuda_start failed */
/* The GPU that the program is to see: the first target. It lives as long as the process. */
const struct gpu *cuda_gpu(void);

/* ---- memory ---- */

enum cuda_memory_kind { CUDA_DEVICE_MEMORY, CUDA_HOST_MEMORY, CUDA_MANAGED_MEMORY, CUDA_REGISTERED_MEMORY };
struct cuda_allocation {
	void *address;
	size_t bytes;
	enum cuda_memory_kind kind;
	unsigned flags; /* the interposer's own */
	uint32_t device; /* that was current when it was made */
};
/* Aligned to 512 bytes, contents undefined. Bounded by the target's memory for CUDA_DEVICE_MEMORY: -ENOMEM. */
int cuda_allocate(size_t bytes, enum cuda_memory_kind kind, unsigned flags, void **out, struct gs_error *err);
/* Memory of the application's own, for cudaHostRegister. */
int cuda_register(void *address, size_t bytes, unsigned flags, struct gs_error *err);
/* Device memory that the interposer mapped itself. It is not counted. */
int cuda_adopt(void *address, size_t bytes, struct gs_error *err);
int cuda_release(void *address, struct gs_error *err); /* -EINVAL: not the begin of an allocation. Waits for all commands first */
bool cuda_find_allocation(const void *address, struct cuda_allocation *out); /* the one that contains the address */
/* Pages of managed memory go to the GPU, or to the host. */
void cuda_prefetched(const void *address, size_t bytes, bool to_gpu);
void cuda_memory_info(size_t *free_bytes, size_t *total_bytes);

/* ---- textures ---- */

/* An object of the program is the address of a struct lifted_texture, which is told here when it is whole, and again before it goes. written: it is a surface.
 * by_rows: of memory that the program has as rows, not of an array. Models need it; kernels do not. */
struct lifted_texture;
void cuda_texture_made(const struct lifted_texture *t, bool written, bool by_rows);
void cuda_texture_gone(uint64_t object);

/* ---- modules ---- */

struct cuda_module;
struct cuda_kernel;
/* A fat binary, a cubin or PTX text. It is copied. Nothing is compiled before something of it is needed. */
struct cuda_module *cuda_module_new(const void *image, size_t bytes);
void cuda_module_free(struct cuda_module *m); /* waits for commands that use it */
enum cuda_module_problem {
	CUDA_MODULE_FINE,
	CUDA_NO_PTX,       /* SASS only, or no PTX that the target can run */
	CUDA_NOT_AN_IMAGE, /* neither a fat binary nor PTX */
	CUDA_CANNOT_BUILD, /* gpusim-cc or the driver failed */
};
/* Lifts and builds it, if that has not been done. err has one line that tells a user what to do. */
enum cuda_module_problem cuda_module_prepare(struct cuda_module *m, struct gs_error *err);
/* -ENOENT: there is none of that name. -ENOTSUP: it cannot be lifted; err names the instruction. */
int cuda_module_kernel(struct cuda_module *m, const char *name, struct cuda_kernel **out, struct gs_error *err);
/* The kernels of a module that was prepared, also those that cannot be lifted. NULL: there are not so many. */
unsigned cuda_module_kernel_count(const struct cuda_module *m);
const char *cuda_module_kernel_name(const struct cuda_module *m, unsigned number);
int cuda_module_variable(struct cuda_module *m, const char *name, void **address, size_t *bytes, struct gs_error *err);

struct cuda_kernel_facts {
	const char *name;
	unsigned parameter_count;
	const struct cuda_parameter {
		uint32_t offset, bytes;
	} *parameters;
	uint32_t parameter_bytes, shared_bytes, local_bytes, const_bytes;
	uint32_t registers;   /* per thread, on the first target */
	uint32_t max_threads; /* of a block: what registers and .maxntid allow on the first target */
	int ptx_version, binary_version; /* 10 * major + minor */
	uint32_t cluster[3];             /* blocks of its clusters, where the kernel fixes them; else 0 */
};
const struct cuda_kernel_facts *cuda_kernel_facts(const struct cuda_kernel *k);
/* Blocks of this size that one SM of the first target can hold. */
unsigned cuda_occupancy(const struct cuda_kernel *k, unsigned threads, size_t dynamic_shared);

/* The heap of malloc and free in kernels. -EBUSY: it has blocks in use. */
int cuda_set_heap_size(size_t bytes);

/* ---- streams and commands ---- */

/*
 * A stream executes its commands one after the other, on a thread of ours. A command may also wait for events of other streams. The rules
 * of CUDA's default streams are made of that by the interposer.
 */
struct cuda_stream;
/* The GPUs of the program (GPUSIM_DEVICES), and the one that this thread uses: streams that it makes are of that. They have one memory. */
enum { CUDA_MOST_DEVICES = 16 };
void cuda_set_device(uint32_t device);
uint32_t cuda_current_device(void);
uint32_t cuda_device_count(void);
int cuda_stream_new(const char *name, struct cuda_stream **out, struct gs_error *err); /* the name is that of its lane in the timeline */
void cuda_stream_set_priority(struct cuda_stream *s, int priority); /* of its launches in the timeline; before its first command. 0: usual */
void cuda_stream_free(struct cuda_stream *s); /* what it has to do is still done */
int cuda_stream_wait(struct cuda_stream *s, struct gs_error *err); /* the caller waits for all that was enqueued before */
bool cuda_stream_idle(struct cuda_stream *s);
/* All streams. Writes what kernels have printed to stdout. An error is that of a kernel (a trap, an assertion): it stays. */
int cuda_wait_all(struct gs_error *err);
/* What all functions of this part return (negative, as errors are) after a fault of a kernel has been noticed. */
int cuda_fault_now(struct gs_error *err); /* 0: none has been noticed */
enum cuda_fault {
	CUDA_FAULT_TRAP = EILSEQ,        /* trap */
	CUDA_FAULT_ASSERT = ECANCELED,   /* an assertion */
	CUDA_FAULT_STACK = EOVERFLOW,    /* calls are too deep */
	CUDA_FAULT_DEADLOCK = EDEADLK,   /* a barrier that can never open */
	CUDA_FAULT_BAD_TARGET = EFAULT,  /* an indirect call or branch leads nowhere */
	CUDA_FAULT_ADDRESS = ENXIO,      /* memory is accessed where there is none */
	CUDA_FAULT_MISALIGNED = EDOM,    /* an address is no multiple of what an access needs */
};

/* A place in a stream: it has happened when all commands before it have ended. Counted references. */
struct cuda_event;
struct cuda_event *cuda_event_retain(struct cuda_event *e);
void cuda_event_release(struct cuda_event *e);
int cuda_event_wait(struct cuda_event *e, struct gs_error *err);
bool cuda_event_done(struct cuda_event *e);
/* When it happened: in simulated time under GPUSIM_PROFILING=simulated, else in that of the host. It must have happened. */
uint64_t cuda_event_ns(struct cuda_event *e);

/* What every command takes: what it waits for beside its stream, and where its own event goes (NULL: it is not wanted). */
struct cuda_call {
	struct cuda_stream *stream;
	struct cuda_event *const *wait;
	unsigned wait_count;
	struct cuda_event **event;
	bool blocking; /* the call returns when the command has ended; for the timeline as well */
	bool records;  /* of cuda_mark: an event's time, which takes the stream a while in the timeline */
};

/* What this thread enqueues from `begins` on, until it is called without, is one call of the application, as a launch of a graph is: in the
 * timeline, all of it is enqueued at its begin. */
void cuda_one_call(bool begins);
int cuda_mark(const struct cuda_call *c, struct gs_error *err); /* does nothing, in its turn */
/* A function of the application, on the stream's thread, in its turn. */
int cuda_host_call(const struct cuda_call *c, void (*f)(void *), void *data, struct gs_error *err);

enum cuda_copy_kind { CUDA_TO_DEVICE, CUDA_TO_HOST, CUDA_WITHIN_DEVICE, CUDA_WITHIN_HOST };
/* `depth` slices of `height` rows of `width` bytes. Where the source is pageable memory of the application, it is read before the call
 * returns, as CUDA does. */
struct cuda_copy {
	enum cuda_copy_kind kind;
	void *to;
	const void *from;
	size_t width, height, depth;
	size_t to_pitch, to_slice, from_pitch, from_slice; /* bytes */
	bool peer;    /* from one GPU of the program to another, as the call says: */
	uint32_t to_device, from_device;
	bool in_turn; /* memory of the application is read and written when the command's turn comes, whatever memory it is */
};
int cuda_enqueue_copy(const struct cuda_call *c, const struct cuda_copy *copy, struct gs_error *err);
/* The same shape; every `unit` (1, 2 or 4) bytes become `value`. */
int cuda_enqueue_fill(const struct cuda_call *c, const struct cuda_copy *shape, uint32_t value, unsigned unit, struct gs_error *err);

struct cuda_launch {
	struct cuda_kernel *kernel;
	uint32_t grid[3], block[3];
	size_t dynamic_shared;
	const void *parameters; /* parameter_bytes of them, laid out; copied */
	bool cooperative;       /* its blocks may wait for one another */
	uint32_t cluster[3];    /* blocks of a cluster, which share their shared memory; 0: it has none */
};
/* -EINVAL: sizes that the first target does not allow. */
int cuda_enqueue_launch(const struct cuda_call *c, const struct cuda_launch *l, struct gs_error *err);

#endif
