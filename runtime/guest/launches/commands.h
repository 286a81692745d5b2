/* commands: several commands of ours, one after the other, around one launch of the application. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_COMMANDS_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_COMMANDS_H

#include "runtime/guest/driver/cl.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

/*
 * The first command waits for what the launch waits for. In a queue that keeps order, the others need not wait for anything. In
 * other queues, each waits for the one before it. POCL 3.1 crashes after a failed wait in two cases: if a command waits in two
 * ways for the same thing, or if the event of the command that failed has been released. So we avoid both, and hold events
 * until the launch has completed.
 */
struct commands {
	const struct request *request;
	bool in_order;
	cl_event *events; /* events of all commands so far */
	size_t count, room;
};

void commands_begin(struct commands *c, const struct request *r);
/* The list of events that the next command waits for. */
cl_uint commands_wait(const struct commands *c, const cl_event **list);
/* Takes over the event of a command that the driver has accepted. */
void commands_done(struct commands *c, cl_event event);
void events_release(cl_event *events, size_t count);

#endif
