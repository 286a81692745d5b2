/*
 * accesses: into how many accesses a warp's memory instruction falls apart, from the addresses of its lanes.
 */
#ifndef GPUSIM_MODELS_ACCESSES_ACCESSES_H
#define GPUSIM_MODELS_ACCESSES_ACCESSES_H

#include "models/code/code.h"
#include "models/gpu/gpu.h"

/* Where an instruction goes and how much of it. */
struct access_kind {
	enum code_space space;
	bool atomic, store;
	uint32_t bytes; /* per lane */
};

/* Cycles of the load/store unit: lines or sectors touched, or the fullest bank of shared memory; at least 1. */
uint32_t gpu_accesses(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, uint32_t lanes);

/* The same of shared memory. `numbers`: which lane of the warp each address is of; NULL: the first ones. */
uint32_t shared_cycles(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, const uint32_t *numbers, uint32_t lanes);

/* Fragments of 16 by 16 halves (wmma.load) are read in pieces of half a line, two for each line. They come as four matrices of 8 by 8, for each of
 * which eight lanes give the places of its lines. Returns the lane for piece n. */
enum { FRAGMENT_PIECE = 16 /* bytes */ };
uint32_t fragment_place(uint32_t n);

/* The same of an access that coalesce has made so many parts of. Not for shared memory. `numbers`: as of shared_cycles. */
uint32_t unit_cycles(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, const uint32_t *numbers, uint32_t lanes,
                     uint32_t parts);

/* The same of a read of an image by so many lanes: of texels of so many bytes (0: not known), of which a lane gets at most those that it asks for; filtered:
 * by a sampler that weighs neighbours. */
uint32_t texture_cycles(const struct gpu *gpu, uint32_t lanes, uint32_t texel_bytes, uint32_t asked_bytes, bool filtered);

/* What addresses are computed from: a launch's shape and the values of the kernel's arguments. */
struct launch_arguments {
	uint64_t local[3], groups[3];
	const uint64_t *values; /* of each argument, its first 8 bytes; buffers: any address, aligned */
	const bool *known;
	const uint64_t *bytes; /* of the memory that each points to; 0: not known; NULL: of none */
	uint32_t count;
};

/* What stands for a number of accesses that does not follow from the code: as many as lanes are on; as many as parts of a
 * list lie in, one part per lane; or, of shared memory at places that were loaded, what chance brings (chance.h). */
enum { ACCESSES_BY_LANE = 0, ACCESSES_BY_CHANCE = UINT16_MAX - 1, ACCESSES_OF_LIST = UINT16_MAX };

/* The accesses of a warp with only some lanes on; by chance: one. */
uint16_t accesses_of_lanes(uint32_t usual, uint32_t active, uint32_t lanes);

/* For every instruction of the code, the accesses of an average warp, as far as they follow from the code alone; `out` has
 * code_count entries. *unknown counts the memory instructions whose addresses do not follow from it. Returns 0 or -ENOMEM. */
int usual_accesses(const struct gpu *gpu, const struct kernel_code *code, const struct launch_arguments *launch,
                   uint16_t *out, uint32_t *unknown);

#endif
