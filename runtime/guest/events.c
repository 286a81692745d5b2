/* Times of events: the driver's, or with GPUSIM_PROFILING=simulated those of the first target. */
#include "runtime/guest/timeline.h"

#include <string.h>

cl_int event_profiling_info(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size)
{
	cl_int result = cl.clGetEventProfilingInfo(event, what, room, value, size);
	cl_ulong simulated;
	if (result == CL_SUCCESS && value && room >= sizeof simulated && timeline_profiling(event, what, &simulated))
		memcpy(value, &simulated, sizeof simulated); /* value may lie anywhere */
	return result;
}
