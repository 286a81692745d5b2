/* Events. */
#include "interposer.h"

cl_int hook_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size)
{
	return event_profiling_info(event, what, room, value, size);
}
