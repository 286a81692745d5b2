/* MPI calls of a recorded program; see runtime/mpi.h. */
#include "runtime/mpi.h"

#include "runtime/config/log.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/timeline.h"
#include "runtime/process/thread.h"
#include "runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "mpi"

/* A driver takes its time to start, and not that of a GPU's. So it starts before the clock does: in MPI_Init. */
static void start_driver(void)
{
	enum { MOST = 16 };
	cl_platform_id platforms[MOST];
	cl_uint count = 0, devices;
	cl_int (*get_platforms)(cl_uint, cl_platform_id *, cl_uint *) = (cl_int(*)(cl_uint, cl_platform_id *, cl_uint *))(uintptr_t)dlsym(RTLD_DEFAULT, "clGetPlatformIDs");
	cl_int (*get_devices)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *) =
		(cl_int(*)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *))(uintptr_t)dlsym(RTLD_DEFAULT, "clGetDeviceIDs");
	if (!get_platforms || !get_devices || get_platforms(MOST, platforms, &count) != CL_SUCCESS)
		return;
	for (cl_uint i = 0; i < count && i < MOST; i++)
		get_devices(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL, &devices);
}

static void start_recording(void)
{
	const char *record = getenv("GPUSIM_RECORD");
	if (!record || !*record)
		return;
	runtime_start();
	if (runtime_active())
		start_driver();
	simulation.mpi.recorded = runtime_active() && *simulation.options.record.text;
}

bool mpi_recorded(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start_recording);
	return simulation.mpi.recorded && runtime_active();
}

void mpi_about(int rank, int ranks, const char *library)
{
	simulation.mpi.rank = rank;
	simulation.mpi.ranks = ranks;
	snprintf(simulation.mpi.library, sizeof simulation.mpi.library, "%s", library);
}

uint64_t mpi_call_begins(void)
{
	return clock_ns();
}

/* Programs ask again and again whether a message has come. Such a run of questions is one call that waits. */
struct schedule_command *mpi_called(uint64_t begin_ns, const char *operation)
{
	enum { ASKS_AGAIN_NS = 2000 };
	if (!strcmp(operation, "wait") && timeline_host_call_goes_on("mpi", operation, begin_ns, ASKS_AGAIN_NS))
		return NULL;
	return timeline_host_call("mpi", operation, begin_ns);
}

void mpi_amend(struct schedule_command *call, const char *operation)
{
	timeline_rename(call, operation);
}

void timeline_setup(uint64_t begin_ns)
{
	if (simulation.mpi.recorded)
		timeline_host_call("setup", NULL, begin_ns);
}

void mpi_not_recorded(const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char *known = simulation.mpi.left_out;
	size_t used;
	pthread_mutex_lock(&lock);
	used = strlen(known);
	bool new = !strstr(known, name) && used + strlen(name) + 3 < sizeof simulation.mpi.left_out;
	if (new)
		snprintf(known + used, sizeof simulation.mpi.left_out - used, "%s%s", used ? ", " : "", name);
	pthread_mutex_unlock(&lock);
	if (new)
		log_warning("%s: not recorded", name);
}
