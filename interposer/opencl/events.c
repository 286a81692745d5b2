/* Events: their times, waiting for them, and commands that only make events (markers, barriers). */
#include "interposer/opencl/interposer.h"

cl_int hook_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size)
{
	return event_profiling_info(event, what, room, value, size);
}

cl_int hook_clFinish(cl_command_queue queue)
{
	uint64_t begin = call_begins();
	cl_int result = cl.clFinish(queue);
	if (result == CL_SUCCESS)
		TELL(timeline_wait("clFinish", &(struct command_call){.queue = queue, .begin_ns = begin}));
	return result;
}

cl_int hook_clWaitForEvents(cl_uint count, const cl_event *events)
{
	uint64_t begin = call_begins();
	cl_int result = cl.clWaitForEvents(count, events);
	if (result == CL_SUCCESS)
		TELL(timeline_wait("clWaitForEvents", &(struct command_call){NULL, count, events, NULL, true, begin}));
	return result;
}

/* The common form of the hooks below: pass the call on and log it. */
#define MARKER(name, params, args, wait_count, wait, event, barrier) \
	cl_int hook_##name params \
	{ \
		uint64_t begin = call_begins(); \
		cl_int result = cl.name args; \
		if (result == CL_SUCCESS) \
			TELL(timeline_marker(&(struct command_call){queue, wait_count, wait, event, false, begin}, barrier)); \
		return result; \
	}

MARKER(clEnqueueMarkerWithWaitList, (cl_command_queue queue, cl_uint wait_count, const cl_event *wait, cl_event *event),
       (queue, wait_count, wait, event), wait_count, wait, event, false)
MARKER(clEnqueueBarrierWithWaitList, (cl_command_queue queue, cl_uint wait_count, const cl_event *wait, cl_event *event),
       (queue, wait_count, wait, event), wait_count, wait, event, true)
MARKER(clEnqueueMarker, (cl_command_queue queue, cl_event *event), (queue, event), 0, NULL, event, false)
MARKER(clEnqueueBarrier, (cl_command_queue queue), (queue), 0, NULL, NULL, true)
MARKER(clEnqueueWaitForEvents, (cl_command_queue queue, cl_uint count, const cl_event *events), (queue, count, events), count,
       events, NULL, true)
