/*
 * runtime: what the interposer reports about the application's OpenCL objects. Twins, counters, modelling and reports follow from it.
 *
 * The runtime lives in somebody else's process. It never ends or aborts it, writes nothing to stdout, and its threads take none of the
 * application's signals. Where a signal would end the process, reports are written first; a handler of the application's replaces
 * that. It parses neither C nor PTX.
 * Any thread may call every function here at any time.
 */
#ifndef GPUSIM_RUNTIME_RUNTIME_H
#define GPUSIM_RUNTIME_RUNTIME_H

#include "runtime/config/options.h"
#include "runtime/guest/driver/cl.h"
#include "runtime/timeline/transfers.h"

#include <stdbool.h>

/* At the first OpenCL call, when `cl` is filled; or before, by a CUDA program on a real GPU. Later calls do nothing. */
void runtime_start(void);
/* False when GPUSIM_OFF=1 and in a forked child: calls are passed on and nothing is kept. */
bool runtime_active(void);
const struct gs_options *runtime_options(void);
/* The smallest max_threads_per_block of the targets. */
size_t runtime_work_group_limit(void);
/* What the first target would answer, in the units of clGetDeviceInfo; 0 or NULL: what it would say is not known. */
const char *runtime_target_text(cl_device_info what);
uint64_t runtime_target_number(cl_device_info what);

enum program_origin { FROM_SOURCE, FROM_BINARY, FROM_IL, FROM_BUILT_IN };

void program_created(cl_program handle, cl_context context, enum program_origin origin);
void program_source(cl_program handle, cl_uint count, const char **strings, const size_t *lengths);
/* The bytes of one device's binary: a program we know, in this process or an earlier one, is recognised. */
void program_binary(cl_program handle, const void *binary, size_t length);
void program_binary_read(cl_program handle, const void *binary, size_t length);
/* The application is about to release the device, perhaps for the last time. */
void device_released(cl_device_id device);
/* A build begins: its twin is made while the driver builds the application's own program. The token goes to
 * program_built, once, when the outcome is known; it may be NULL. */
struct build *program_build_begins(cl_program handle, const char *options, cl_uint count, const cl_device_id *devices);
void program_built(cl_program handle, struct build *token, bool succeeded);
/* The driver is about to compile the program, to be linked later: its twin is annotated meanwhile. */
void program_compile_begins(cl_program handle, const char *options, cl_uint count, const cl_device_id *devices, cl_uint header_count,
                            const cl_program *headers, const char **header_names);
/* The driver has linked it. */
void program_linked(cl_program handle, cl_context context, cl_uint input_count, const cl_program *inputs,
                    cl_uint count, const cl_device_id *devices);
void program_retained(cl_program handle);
void program_released(cl_program handle);

void kernel_created(cl_kernel handle, cl_program program);
void kernel_cloned(cl_kernel handle, cl_kernel from);
void kernel_retained(cl_kernel handle);
void kernel_released(cl_kernel handle);
void kernel_arg_set(cl_kernel handle, cl_uint index, size_t size, const void *value);
void kernel_svm_arg_set(cl_kernel handle, cl_uint index, const void *value);
void kernel_exec_info_set(cl_kernel handle, cl_kernel_exec_info what, size_t size, const void *value);

/* Launches the twin, or the original kernel where there is none. The result is the driver's. Without a
 * global size it is clEnqueueTask. */
cl_int kernel_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
                     const size_t *local, cl_uint wait_count, const cl_event *wait, cl_event *event);
/* The driver's answer about an event, with the times that the application is to see. */
cl_int event_profiling_info(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size);
/* Something that ran and that we cannot model at all. */
void launch_not_modelled(const char *kernel, const char *reason);

/* A call that enqueues something, or waits, for the timeline. */
struct command_call {
	cl_command_queue queue; /* NULL: clWaitForEvents */
	cl_uint wait_count;
	const cl_event *wait;
	const cl_event *event; /* that the application got; NULL: none */
	bool blocking;
	uint64_t begin_ns; /* call_begins, before the driver's */
};
uint64_t call_begins(void);
/* What sets things up, and would take another time elsewhere: in the log of an MPI program it is a call, not work of the host. */
void timeline_setup(uint64_t begin_ns);
void timeline_marker(const struct command_call *call, bool barrier);
void timeline_wait(const char *name, const struct command_call *call);

void timeline_transfer(enum transfer_kind kind, uint64_t size_bytes, const struct command_call *call);
/* Contents that memory is made with. They get a lane of their own for each context. */
void timeline_contents(cl_context context, uint64_t size_bytes, uint64_t begin_ns);
void transfer_enqueued(enum transfer_kind kind, uint64_t size_bytes);
void memory_made(cl_mem mem);
/* A copy between memory objects. Where GPUs of the program have them that are not the same, it is one from the one to the other. */
void transfer_copied(cl_mem from, cl_mem to, uint64_t size_bytes, const struct command_call *call);
/* A command of the queue, other than a copy between memory objects, uses the memory: its GPU has it then. */
void memory_at(cl_mem mem, cl_command_queue queue);
/* What a transfer brings to memory. */
void memory_changed(cl_mem mem, enum transfer_kind kind, uint64_t size_bytes);
/* Both return the bytes that move. */
uint64_t transfer_mapped(const void *pointer, cl_map_flags flags, uint64_t size_bytes);
uint64_t transfer_unmapped(const void *pointer);

#endif
