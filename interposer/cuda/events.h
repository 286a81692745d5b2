/* events: what other files want to know of the application's events. */
#ifndef GPUSIM_INTERPOSER_CUDA_EVENTS_H
#define GPUSIM_INTERPOSER_CUDA_EVENTS_H

#include "interposer/cuda/graphs/captures.h"
#include "interposer/cuda/interposer.h"

/* What was recorded last, retained for the caller; NULL: nothing was. Returns an error number. */
int event_recorded(void *event, struct cuda_event **out);
/* Whether it was recorded last in a stream that captured. */
bool event_is_captured(void *event);
/* A stream of this place waits for such an event. */
int event_join(void *event, struct capture_place *stream);

#endif
