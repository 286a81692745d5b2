/* Several commands of ours around one launch of the application; see commands.h. */
#include "runtime/guest/launches/commands.h"

#include "runtime/guest/launches/launch.h"

#include <stdlib.h>

void commands_begin(struct commands *c, const struct request *r)
{
	*c = (struct commands){.request = r, .in_order = !(r->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)};
}

cl_uint commands_wait(const struct commands *c, const cl_event **list)
{
	*list = !c->count ? c->request->wait : c->in_order ? NULL : &c->events[c->count - 1];
	return !c->count ? c->request->wait_count : !c->in_order;
}

/* If there is no memory to keep the event, the next command waits for an earlier one, or the event is released early. Nothing
 * else can be done. */
void commands_done(struct commands *c, cl_event event)
{
	if (c->count == c->room) {
		size_t room = c->room ? c->room * 2 : 8;
		cl_event *grown = realloc(c->events, room * sizeof *grown);
		if (!grown) {
			cl.clReleaseEvent(event);
			return;
		}
		c->events = grown;
		c->room = room;
	}
	c->events[c->count++] = event;
}

void events_release(cl_event *events, size_t count)
{
	while (count)
		cl.clReleaseEvent(events[--count]);
	free(events);
}
