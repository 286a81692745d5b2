/* request: what an SM asks of L2, and the answer. */
#ifndef GPUSIM_MODELS_MEMORY_REQUEST_H
#define GPUSIM_MODELS_MEMORY_REQUEST_H

#include "models/memory/ticks.h"
#include "models/util/pool.h"

#include <stdbool.h>

enum memory_kind { MEMORY_READ, MEMORY_WRITE, MEMORY_ATOMIC, MEMORY_ATOMIC_RESULT }; /* result: of an atomic whose lanes want what was there */
static inline bool memory_is_atomic(uint8_t kind)
{
	return kind >= MEMORY_ATOMIC;
}

/* What an SM asks of L2: sectors of one line. The same record is on its way until the SM has the answer; 64 bytes. */
struct memory_request {
	uint64_t time;    /* ticks: when it leaves the SM; when it is at L2; when it is answered */
	uint64_t address; /* of the line */
	uint64_t queued_l2, queued_dram; /* ticks of its time that it waited there */
	uint32_t sectors; /* 32 bytes each; in L2, those not yet looked up */
	uint32_t id;      /* the SM's own */
	uint32_t next;
	uint32_t set;     /* of its slice */
	uint32_t ticks;   /* of the ports that it passes */
	uint16_t sm, slice; /* slice: of all */
	uint16_t bytes, lanes; /* lanes: of an atomic, operations that follow one another */
	uint8_t kind;
	bool far;         /* of a read: L2 has it in another partition */
	uint8_t asked, left; /* sectors, all and those not yet answered */
};
/* All that are on their way. */
struct memory_requests {
	struct memory_request *all;
	struct pool pool; /* linked through `next` */
};
/* The answer to all sectors of a request. */
struct memory_reply {
	uint64_t time; /* cycles */
	uint32_t sm, id;
};
typedef void memory_reply_fn(void *ctx, const struct memory_reply *reply);

#endif
