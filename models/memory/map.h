/* map: where addresses are. */
#ifndef GPUSIM_MODELS_MEMORY_MAP_H
#define GPUSIM_MODELS_MEMORY_MAP_H

#include "models/gpu/gpu.h"
#include "models/memory/places.h"
#include "models/memory/ticks.h"

struct memory_place {
	uint32_t channel, slice; /* slice: of the channel */
	uint64_t local;          /* address within the slice: what sets, banks and rows are taken from */
};
struct memory_map {
	uint32_t channels, slices; /* slices: of a channel */
	uint64_t interleave_bytes;
	uint64_t turn_bytes; /* half of interleave_bytes, or a quarter and so on; 0: pieces lie one after the other */
	bool hash;
	uint32_t polynomial, degree; /* of a hash over a power of two of slices */
	uint16_t remainders[256]; /* of byte * x^degree by the polynomial */
	struct memory_places places;
};
/* Channels of a part of the GPU. Without a hash, strides of powers of two meet in fewer channels the more such factors their number
 * has, so a part of them must not have more of these than all: the nearest such number. What it is off by, they are slower or faster. */
uint32_t memory_channels(const struct gpu *gpu, double share);
void memory_map_init(struct memory_map *m, uint32_t channels, uint32_t slices, uint64_t interleave_bytes, bool hash);
struct memory_place memory_map_find(const struct memory_map *m, uint64_t address);
/* The address within its slice alone. */
uint64_t memory_map_local(const struct memory_map *m, uint64_t address);
/* The set of a line, with higher bits of its address mixed in where hash says so. */
uint32_t memory_set(uint64_t line, uint32_t sets, bool hash);

#endif
