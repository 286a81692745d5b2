/* crossbar: one direction of an interconnect whose packets keep their order. */
#ifndef GPUSIM_MODELS_MEMORY_CROSSBAR_H
#define GPUSIM_MODELS_MEMORY_CROSSBAR_H

#include "models/memory/network.h"

struct crossbar;
/*
 * How its packets go: a flit takes flit_ticks of a port, and of the crossbar itself a speedup-th of them, as does the
 * way that each packet is given; speedup 0: a packet takes the crossbar for as long as a port. queue: ticks of packets
 * that may wait at an output.
 */
struct crossbar_timing {
	uint64_t flit_ticks, queue;
	double speedup;
};
/* The functions are those of network.h. What a request sends is `left` packets of `ticks` each. */
struct crossbar *crossbar_new(const struct memory_requests *requests, uint32_t inputs, uint32_t outputs, bool back,
			      const struct crossbar_timing *timing);
void crossbar_free(struct crossbar *c);
void crossbar_push(struct crossbar *c, uint32_t request);
void crossbar_advance(struct crossbar *c, uint64_t until, network_fn *on_packet, void *ctx);
uint64_t crossbar_waiting(const struct crossbar *c, uint32_t input);

#endif
