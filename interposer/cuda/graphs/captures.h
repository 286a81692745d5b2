/*
 * captures: streams whose commands become nodes of a graph, instead of being executed.
 *
 * A place is where a stream, or an event that was recorded in it, is in a capture: its next command comes after these nodes. A stream joins
 * a capture by waiting for such an event. The capture ends for all streams when it ends in the one where it began. A zeroed place is in
 * no capture.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_GRAPHS_CAPTURES_H
#define GPUSIM_INTERPOSER_CUDA_GRAPHS_CAPTURES_H

#include "interposer/cuda/graphs/graphs.h"

#include <stdatomic.h>

struct stream_capture;
struct capture_place {
	_Atomic(struct stream_capture *) capture; /* it may have ended */
	struct graph_node **nodes;
	size_t count, room;
};

/* These take the lock of graphs, and return error numbers. */
bool capture_active(struct capture_place *p);
bool capture_was(struct capture_place *p); /* its capture is under way, or has ended */
enum capture_mode { CAPTURE_GLOBAL, CAPTURE_OF_THREAD, CAPTURE_RELAXED }; /* as cudaStreamCaptureMode */
int capture_begin(struct capture_place *p, enum capture_mode mode, bool blocking); /* blocking: the legacy stream waits for the stream */
enum capture_mode capture_exchange_mode(enum capture_mode mode); /* of the thread; the one before */
/* A call that may wait for the device (cudaMalloc), or a command in the legacy stream: an error where captures forbid it, which are invalid then. */
int capture_check_unsafe(void);
int capture_check_legacy(void);
/* A call that no capture takes: cudaSuccess outside of one. Otherwise an error, and the capture is invalid from now on. */
int capture_refuse(struct capture_place *p);
int capture_end(struct capture_place *p, void **graph);
int capture_add(struct capture_place *p, const struct graph_command *c); /* takes the command over */
/* `to` becomes the same place as `from`. */
int capture_mark(struct capture_place *from, struct capture_place *to);
/* A stream waits for an event that was recorded in a capture. */
int capture_join(struct capture_place *stream, struct capture_place *event);
void capture_leave(struct capture_place *p);
enum capture_status { NO_CAPTURE, CAPTURE_TAKES, CAPTURE_INVALID }; /* as cudaStreamCaptureStatus */
/* What cudaStreamGetCaptureInfo tells. All are optional. The nodes stay until the next command. */
enum capture_status capture_info(struct capture_place *p, unsigned long long *id, void **graph, void *const **nodes, size_t *count);

#endif
