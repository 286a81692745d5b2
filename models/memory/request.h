/* request: what an SM asks of L2, and the answer. */
#ifndef GPUSIM_MODELS_MEMORY_REQUEST_H
#define GPUSIM_MODELS_MEMORY_REQUEST_H

#include "models/memory/ticks.h"

enum memory_kind { MEMORY_READ, MEMORY_WRITE, MEMORY_ATOMIC };

/* What an SM asks of L2: sectors of one line. */
struct memory_request {
	uint64_t time;    /* ticks: when it leaves the SM; then, when it is at L2 */
	uint64_t address; /* of the line */
	uint32_t sectors; /* 32 bytes each */
	uint32_t sm, id;  /* id: the SM's own */
	uint16_t bytes, lanes; /* lanes: of an atomic, operations that follow one another */
	uint8_t kind;
	uint8_t asked, left; /* sectors, all and those not yet answered */
	uint32_t next;
	uint64_t queued_l2, queued_dram;
};
/* The answer to all sectors of a request. */
struct memory_reply {
	uint64_t time; /* ticks */
	uint32_t sm, id;
	uint8_t kind, sectors;
	uint32_t slice; /* of its channel; then, of all */
	uint64_t queued_l2, queued_dram; /* ticks of its time that it waited there */
};
typedef void memory_reply_fn(void *ctx, const struct memory_reply *reply);

#endif
