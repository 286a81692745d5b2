/* packed_counters: the counters of a launch that waits to be modelled, in less memory. Most work-items do about the same. */
#ifndef GPUSIM_RUNTIME_MODEL_PACKED_COUNTERS_H
#define GPUSIM_RUNTIME_MODEL_PACKED_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

struct packed_counters;

struct packed_counters *counters_pack(const uint64_t *words, size_t count); /* NULL when out of memory */
uint64_t *counters_unpack(const struct packed_counters *p); /* the caller frees them; NULL when out of memory */
size_t counters_packed_bytes(const struct packed_counters *p);
void packed_counters_free(struct packed_counters *p); /* NULL: nothing */

#endif
