/* network: one direction of the interconnect. */
#ifndef GPUSIM_MODELS_MEMORY_NETWORK_H
#define GPUSIM_MODELS_MEMORY_NETWORK_H

#include "models/memory/request.h"

#include <stdbool.h>

struct network;
struct crossbar_timing;
/* Between SMs and slices; back: from slices to SMs. A packet is a request: its time says when it is ready, its ticks how long it
 * takes a port. Of one that passes, the fields are the caller's again. apart: packets are as far apart as their input lets them be when they are pushed. */
struct network *network_new(const struct memory_requests *requests, uint32_t sms, uint32_t slices, bool back, bool apart,
                            const struct crossbar_timing *in_order);
void network_free(struct network *n);
/* Packets of an input are pushed in the order in which they are ready. */
void network_push(struct network *n, uint32_t request);
/* Calls on_packet for all packets that pass until then, with when they begin to. It must not send requests. */
typedef void network_fn(void *ctx, uint32_t request, uint64_t start);
void network_advance(struct network *n, uint64_t until, network_fn *on_packet, void *ctx);
uint64_t network_waiting(const struct network *n, uint32_t input); /* ticks of packets that wait */

#endif
