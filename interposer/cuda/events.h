/* events: what other files want to know of the application's events. */
#ifndef GPUSIM_INTERPOSER_CUDA_EVENTS_H
#define GPUSIM_INTERPOSER_CUDA_EVENTS_H

#include "interposer/cuda/interposer.h"

/* What was recorded last, retained for the caller; NULL: nothing was. Returns an error number. */
int event_recorded(void *event, struct cuda_event **out);

#endif
