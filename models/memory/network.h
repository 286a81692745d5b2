/* network: one direction of the interconnect. */
#ifndef GPUSIM_MODELS_MEMORY_NETWORK_H
#define GPUSIM_MODELS_MEMORY_NETWORK_H

#include "models/memory/ticks.h"
#include <stdbool.h>

struct network_packet {
	uint64_t ready;
	uint32_t from, to, ticks; /* ticks: of its ports */
	uint32_t payload, next;
};
struct network;
struct network *network_new(uint32_t inputs, uint32_t outputs, bool in_order);
void network_free(struct network *n);
/* Packets of an input are pushed in the order in which they are ready. Returns 0 or -ENOMEM. */
int network_push(struct network *n, const struct network_packet *packet);
/* Calls on_packet for all packets that pass until then, with when they begin to. */
typedef void network_fn(void *ctx, const struct network_packet *packet, uint64_t start);
void network_advance(struct network *n, uint64_t until, network_fn *on_packet, void *ctx);
uint64_t network_waiting(const struct network *n, uint32_t input); /* ticks of packets that wait */

#endif
