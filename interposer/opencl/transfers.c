/* Copies between host and device. Calls are passed on. The bytes are noted if the driver accepted the command. */
#include "interposer/opencl/interposer.h"

/* to: the memory that changes; NULL: none, or it is not known. */
static cl_int note(cl_int result, enum transfer_kind kind, uint64_t size_bytes, cl_mem to, const struct command_call *call)
{
	if (result == CL_SUCCESS)
		TELL(transfer_enqueued(kind, size_bytes); timeline_transfer(kind, size_bytes, call));
	if (result == CL_SUCCESS && to)
		TELL(memory_changed(to, kind, size_bytes); memory_at(to, call->queue));
	return result;
}

static cl_int note_copy(cl_int result, uint64_t size_bytes, cl_mem from, cl_mem to, const struct command_call *call)
{
	if (result == CL_SUCCESS)
		TELL(transfer_copied(from, to, size_bytes, call); memory_changed(to, TRANSFER_COPY, size_bytes));
	return result;
}

/* The call of a hook below. All of them have the same names for their parameters. */
#define CALL(blocking) (&(struct command_call){queue, wait_count, wait, event, blocking, begin})

static uint64_t region_bytes(const size_t *region, uint64_t element_bytes)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] * element_bytes : 0;
}

static uint64_t image_bytes(cl_mem image, const size_t *region)
{
	size_t element = 0;
	cl.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
	return region_bytes(region, element);
}

/* Memory that is made with contents is a copy to the device, which no queue has. */
static cl_mem note_contents(cl_mem made, cl_context context, cl_mem_flags flags, uint64_t begin)
{
	size_t bytes = 0;
	if (made)
		TELL(memory_made(made));
	if (made && (flags & CL_MEM_COPY_HOST_PTR) && cl.clGetMemObjectInfo(made, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) == CL_SUCCESS)
		TELL(transfer_enqueued(TRANSFER_WRITE, bytes); memory_changed(made, TRANSFER_WRITE, bytes); timeline_contents(context, bytes, begin));
	return made;
}

cl_mem hook_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
	uint64_t begin = call_begins();
	return note_contents(cl.clCreateBuffer(context, flags, size, host, error), context, flags, begin);
}

cl_mem hook_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *shape, void *host, cl_int *error)
{
	uint64_t begin = call_begins();
	return note_contents(cl.clCreateImage(context, flags, format, shape, host, error), context, flags, begin);
}

/* The common form of every hook below: pass the call on, note its kind, its size and the memory that it changes. */
#define TRANSFER(name, params, args, kind, size, changed, blocking) \
	cl_int hook_##name params \
	{ \
		uint64_t begin = call_begins(); \
		return note(cl.name args, kind, size, changed, CALL(blocking)); \
	}
#define COPY(name, params, args, size) \
	cl_int hook_##name params \
	{ \
		uint64_t begin = call_begins(); \
		return note_copy(cl.name args, size, from, to, CALL(false)); \
	}

TRANSFER(clEnqueueReadBuffer,
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *host,
          cl_uint wait_count, const cl_event *wait, cl_event *event),
         (queue, buffer, blocking, offset, size, host, wait_count, wait, event), TRANSFER_READ, size, NULL, blocking)

TRANSFER(clEnqueueWriteBuffer,
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *host,
          cl_uint wait_count, const cl_event *wait, cl_event *event),
         (queue, buffer, blocking, offset, size, host, wait_count, wait, event), TRANSFER_WRITE, size, buffer, blocking)

TRANSFER(clEnqueueReadBufferRect,
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
          const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice, size_t host_row,
          size_t host_slice, void *host, cl_uint wait_count, const cl_event *wait, cl_event *event),
         (queue, buffer, blocking, buffer_origin, host_origin, region, buffer_row, buffer_slice, host_row, host_slice,
          host, wait_count, wait, event),
         TRANSFER_READ, region_bytes(region, 1), NULL, blocking)

TRANSFER(clEnqueueWriteBufferRect,
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
          const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice, size_t host_row,
          size_t host_slice, const void *host, cl_uint wait_count, const cl_event *wait, cl_event *event),
         (queue, buffer, blocking, buffer_origin, host_origin, region, buffer_row, buffer_slice, host_row, host_slice,
          host, wait_count, wait, event),
         TRANSFER_WRITE, region_bytes(region, 1), buffer, blocking)

TRANSFER(clEnqueueFillBuffer,
         (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset, size_t size,
          cl_uint wait_count, const cl_event *wait, cl_event *event),
         (queue, buffer, pattern, pattern_size, offset, size, wait_count, wait, event), TRANSFER_FILL, size, buffer, false)

COPY(clEnqueueCopyBuffer,
     (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size,
      cl_uint wait_count, const cl_event *wait, cl_event *event),
     (queue, from, to, from_offset, to_offset, size, wait_count, wait, event), size)

COPY(clEnqueueCopyBufferRect,
     (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin, const size_t *to_origin,
      const size_t *region, size_t from_row, size_t from_slice, size_t to_row, size_t to_slice,
      cl_uint wait_count, const cl_event *wait, cl_event *event),
     (queue, from, to, from_origin, to_origin, region, from_row, from_slice, to_row, to_slice, wait_count, wait,
      event),
     region_bytes(region, 1))

TRANSFER(clEnqueueReadImage,
         (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin, const size_t *region,
          size_t row, size_t slice, void *host, cl_uint wait_count, const cl_event *wait, cl_event *event),
         (queue, image, blocking, origin, region, row, slice, host, wait_count, wait, event), TRANSFER_READ,
         image_bytes(image, region), NULL, blocking)

TRANSFER(clEnqueueWriteImage,
         (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin, const size_t *region,
          size_t row, size_t slice, const void *host, cl_uint wait_count, const cl_event *wait, cl_event *event),
         (queue, image, blocking, origin, region, row, slice, host, wait_count, wait, event), TRANSFER_WRITE,
         image_bytes(image, region), image, blocking)

TRANSFER(clEnqueueFillImage,
         (cl_command_queue queue, cl_mem image, const void *colour, const size_t *origin, const size_t *region,
          cl_uint wait_count, const cl_event *wait, cl_event *event),
         (queue, image, colour, origin, region, wait_count, wait, event), TRANSFER_FILL, image_bytes(image, region), image, false)

COPY(clEnqueueCopyImage,
     (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin, const size_t *to_origin,
      const size_t *region, cl_uint wait_count, const cl_event *wait, cl_event *event),
     (queue, from, to, from_origin, to_origin, region, wait_count, wait, event), image_bytes(from, region))

COPY(clEnqueueCopyImageToBuffer,
     (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin, const size_t *region, size_t offset,
      cl_uint wait_count, const cl_event *wait, cl_event *event),
     (queue, from, to, origin, region, offset, wait_count, wait, event), image_bytes(from, region))

COPY(clEnqueueCopyBufferToImage,
     (cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin, const size_t *region,
      cl_uint wait_count, const cl_event *wait, cl_event *event),
     (queue, from, to, offset, origin, region, wait_count, wait, event), image_bytes(to, region))

/* The pointers of an SVM copy do not show which side they are on. It counts as a copy within the device's memory. */
TRANSFER(clEnqueueSVMMemcpy,
         (cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t size, cl_uint wait_count,
          const cl_event *wait, cl_event *event),
         (queue, blocking, to, from, size, wait_count, wait, event), TRANSFER_COPY, size, NULL, blocking)

TRANSFER(clEnqueueSVMMemFill,
         (cl_command_queue queue, void *to, const void *pattern, size_t pattern_size, size_t size, cl_uint wait_count,
          const cl_event *wait, cl_event *event),
         (queue, to, pattern, pattern_size, size, wait_count, wait, event), TRANSFER_FILL, size, NULL, false)

static void *note_map(void *pointer, cl_map_flags flags, uint64_t size_bytes, const struct command_call *call)
{
	if (pointer)
		TELL(timeline_transfer(TRANSFER_MAP, transfer_mapped(pointer, flags, size_bytes), call));
	return pointer;
}

void *hook_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                              size_t offset, size_t size, cl_uint wait_count, const cl_event *wait, cl_event *event,
                              cl_int *error)
{
	uint64_t begin = call_begins();
	return note_map(cl.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, wait_count, wait, event,
	                                      error), flags, size, CALL(blocking));
}

void *hook_clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                             const size_t *origin, const size_t *region, size_t *row, size_t *slice,
                             cl_uint wait_count, const cl_event *wait, cl_event *event, cl_int *error)
{
	uint64_t begin = call_begins();
	return note_map(cl.clEnqueueMapImage(queue, image, blocking, flags, origin, region, row, slice, wait_count, wait,
	                                     event, error), flags, image_bytes(image, region), CALL(blocking));
}

cl_int hook_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem, void *host, cl_uint wait_count,
                                    const cl_event *wait, cl_event *event)
{
	uint64_t bytes = 0, begin = call_begins();
	TELL(bytes = transfer_unmapped(host)); /* before the driver's unmap: the address may be mapped again at once */
	cl_int result = cl.clEnqueueUnmapMemObject(queue, mem, host, wait_count, wait, event);
	if (result == CL_SUCCESS)
		TELL(memory_changed(mem, TRANSFER_UNMAP, bytes); timeline_transfer(TRANSFER_UNMAP, bytes, CALL(false)));
	return result;
}

cl_int hook_clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer, size_t size,
                            cl_uint wait_count, const cl_event *wait, cl_event *event)
{
	uint64_t begin = call_begins();
	cl_int result = cl.clEnqueueSVMMap(queue, blocking, flags, pointer, size, wait_count, wait, event);
	if (result == CL_SUCCESS)
		note_map(pointer, flags, size, CALL(blocking));
	return result;
}

cl_int hook_clEnqueueSVMUnmap(cl_command_queue queue, void *pointer, cl_uint wait_count, const cl_event *wait,
                              cl_event *event)
{
	uint64_t bytes = 0, begin = call_begins();
	TELL(bytes = transfer_unmapped(pointer));
	cl_int result = cl.clEnqueueSVMUnmap(queue, pointer, wait_count, wait, event);
	if (result == CL_SUCCESS)
		TELL(timeline_transfer(TRANSFER_UNMAP, bytes, CALL(false)));
	return result;
}

/* A migration goes to the host, or to the queue's device. Contents that need not be kept are not moved. */
cl_int hook_clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem *mems,
                                       cl_mem_migration_flags flags, cl_uint wait_count, const cl_event *wait,
                                       cl_event *event)
{
	uint64_t bytes = 0, begin = call_begins();
	cl_int result = cl.clEnqueueMigrateMemObjects(queue, count, mems, flags, wait_count, wait, event);
	for (cl_uint i = 0; result == CL_SUCCESS && i < count; i++) {
		size_t size = 0;
		cl.clGetMemObjectInfo(mems[i], CL_MEM_SIZE, sizeof size, &size, NULL);
		bytes += flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED ? 0 : size;
	}
	return note(result, flags & CL_MIGRATE_MEM_OBJECT_HOST ? TRANSFER_READ : TRANSFER_WRITE, bytes, NULL, CALL(false));
}
