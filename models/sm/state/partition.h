/*
 * partition: instructions between issue and their result: ports, operand collectors, banks and units.
 *
 * A partition is what schedulers with units of their own have for themselves, or what all of them share.
 */
#ifndef GPUSIM_MODELS_SM_STATE_PARTITION_H
#define GPUSIM_MODELS_SM_STATE_PARTITION_H

#include "models/sm/state/read_ports.h"
#include "models/sm/state/sizes.h"

/* An instruction on its way from issue to its unit. */
struct ov_flight {
	uint32_t op, uid;
	uint32_t request; /* of the warp's path, if it has them; else OV_NONE */
	uint16_t slot, kind;
};

/* For one kind of units in one partition: issued, and collected. Both are in the order of issue. */
struct ov_lane {
	struct ov_flight *port, *collected; /* collected: with one place more */
	uint16_t port_count, collected_count, size, pool; /* size: of either */
	uint32_t partition;
};

struct ov_collector {
	struct ov_flight flight;
	uint16_t more; /* how many of its max_reads places are in use: banks to be read once more */
	uint16_t partition;
	uint32_t pool; /* of the partition */
	uint64_t bit;  /* in its pool */
};

struct ov_reading {
	uint64_t need; /* banks still to be read */
	uint32_t collector;
};

struct ov_pool {
	uint32_t first, size; /* collectors of the SM */
	uint32_t dispatchers;
	uint16_t last[OV_MAX_BANKS]; /* which each dispatcher served last */
};

struct ov_partition {
	_Alignas(64) uint64_t waiting_banks, written_banks;
	/* Kinds of units, or pools, that have something to do, and those that cannot, so that stages skip the rest: kinds
	 * with something in the port, without a free collector, that cannot take what is collected. */
	uint32_t port_kinds, starved_kinds, choked_kinds, ready_pools;
	uint64_t refused; /* of the last pool: ready collectors that no lane had room for */
	uint64_t open[OV_KINDS]; /* all bits, where the port has room */
	uint64_t read_until[READ_PORT_BANKS]; /* cycle from which on nothing is read from the bank */
	uint64_t turn_free, turn_until[READ_PORT_BANKS], held_until, half_free[2], sync_free; /* cycles, as ov_needs has it; halves: heavy, lite */
	/* Collectors that are reading, in the order of their allocation, which is that of the banks' queues. */
	uint32_t reading_count;
	struct ov_reading *reading;
	struct ov_lane lanes[OV_KINDS];
	uint64_t free[OV_KINDS + 1], ready[OV_KINDS + 1]; /* collectors of each pool */
	struct ov_pool pools[OV_KINDS + 1]; /* the last is for kinds without collectors of their own */
};

struct ov_unit {
	uint64_t free_at; /* 1/OV_FRACTION cycles */
	uint64_t bit;     /* in ov_bus; 0: without completion slots */
};

/* Results that leave units in a cycle, and the units that finish one. */
struct ov_bus {
	uint32_t time, count; /* time: the stamp */
	uint64_t units;
};

#endif
