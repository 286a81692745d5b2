/* transfers: copies between host and device, and how long they take on a target's link. */
#ifndef GPUSIM_RUNTIME_TIMELINE_TRANSFERS_H
#define GPUSIM_RUNTIME_TIMELINE_TRANSFERS_H

#include "models/gpu/gpu.h"

#include <stdint.h>

enum transfer_kind {
	TRANSFER_READ,
	TRANSFER_WRITE,
	TRANSFER_COPY,
	TRANSFER_FILL,
	TRANSFER_MAP,   /* brings the device's contents to the host */
	TRANSFER_UNMAP, /* takes what the host may have written back */
	TRANSFER_PEER,  /* from one GPU of the program to another */
	TRANSFER_KINDS
};

struct transfer_stats {
	uint64_t commands, size_bytes;
};

const char *transfer_name(enum transfer_kind kind);
/* Time of a kind of transfer on a target's link, all commands together. */
double transfer_time_ns(const struct gpu *gpu, enum transfer_kind kind, const struct transfer_stats *t);

#endif
