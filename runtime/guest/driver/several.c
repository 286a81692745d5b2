#include "runtime/guest/driver/several.h"

#include "runtime/guest/driver/simulation.h"

#include <pthread.h>
#include <stdlib.h>

bool several_wanted(void)
{
	return simulation.options.devices.number > 1;
}

/* POCL has as many devices as this variable names, and passes over names that it does not know: its device is `pthread` up to version 3, `cpu` from 4 on.
 * It reads it when the program first asks for platforms, which is after this. */
static void ask_for_devices(void)
{
	struct gs_buf list = {0};
	for (uint64_t i = 0; i < simulation.options.devices.number && i < SCHEDULE_DEVICES; i++)
		gs_buf_puts(&list, i ? " pthread cpu" : "pthread cpu");
	if (several_wanted() && !list.failed)
		setenv("POCL_DEVICES", list.data, 0);
	gs_buf_free(&list);
}

void several_start(void (*complain)(const char *line))
{
	struct gs_error err;
	uint64_t wanted = simulation.options.devices.number;
	_Static_assert((int)TOPOLOGY_GPUS == (int)SCHEDULE_DEVICES, "as many as a schedule has");
	ask_for_devices();
	if (*simulation.options.topology.text &&
	    topology_load(&simulation.topology, simulation.options.topology.text, wanted < SCHEDULE_DEVICES ? (uint32_t)wanted : SCHEDULE_DEVICES, &err))
		complain(err.text);
}

uint32_t several_of_queue(cl_command_queue queue)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static cl_device_id seen[SCHEDULE_DEVICES];
	cl_device_id device = NULL;
	uint32_t i = 0;
	if (!several_wanted() || cl.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS)
		return 0;
	pthread_mutex_lock(&lock);
	while (i + 1 < SCHEDULE_DEVICES && seen[i] && seen[i] != device)
		i++;
	seen[i] = device;
	pthread_mutex_unlock(&lock);
	return i;
}
