/*
 * rates: loops that go on as they do are not stepped through to their end.
 *
 * Paths have windows of long loops, which warps do for many rounds (struct path_gap). While all warps of some SMs are in windows,
 * what they do is the same all the time, but for chance. So two units of time are measured. If they agree, the rounds that are
 * left are charged at the rate of the second, up to the first warp that leaves its loop: then begins another phase. An SM's own time
 * stands still meanwhile, with all that is under way in it.
 * Source: Liu et al., Photon, MICRO 2023; Baddouh et al., Principal Kernel Analysis, MICRO 2021: stable rates recur, equal states do not.
 */
#ifndef GPUSIM_MODELS_GRID_RATES_H
#define GPUSIM_MODELS_GRID_RATES_H

#include "models/sm/state/sm.h"

enum { RATE_LEVELS = 4 }; /* of loops in one another that have rates of their own; further ones are stepped through */

/* Where a warp is in a loop. Its windows that follow one another are one loop. */
struct rate_place {
	int32_t gap; /* -1: the slot has no warp, or one that is in no loop that goes on */
	double rounds; /* done of it */
	int32_t loop; /* the first of the loop's gaps */
	double iterations; /* done of the loop; of a warp in none, the place in its path */
};

struct rates {
	struct ov_sm **sms;
	uint32_t count, slots;
	uint64_t step; /* cycles after which rates_look is called, about */
	uint64_t time, jumped; /* of the launch, and of that what was jumped over. An SM without groups does not know it: it has ended */
	struct rate_level {
		bool open;
		uint32_t units;
		uint64_t time;            /* the unit's begin */
		double rate;              /* instructions per cycle of the unit before; 0: there was none */
		bool changed;             /* that was of another phase */
		double difference;        /* of that one from the one before it */
		bool begun_again;         /* because units parted */
		double cap, jump_rate;    /* cycles that the last jump could be long, and the rate before it */
		double jump_end;          /* time of the launch at which the last jump ended */
		double jumped;            /* cycles that it was long */
		bool capped;              /* as long as it could be */
		uint32_t drifts;          /* jumps in a row after which the rate was another one */
		struct rate_place *from;  /* by SM and slot: where its warp was */
		struct rate_sums *sums;   /* by SM: what it had done */
		double dram_read, dram_written; /* bytes */
		uint64_t fetches;               /* up to its begin (memory_fetches) */
		uint64_t looked_up, hits;       /* in L1, parts of requests */
		struct warp_rate *rates;  /* by SM and slot */
	} levels[RATE_LEVELS];
	uint32_t jumps;
	double part;      /* of what jumps usually leave in caches: 1, or less where a trial has fewer SMs, and the caches of these */
	uint64_t touched; /* parts of requests that were jumped over and left their lines in caches */
	double dram_read, dram_written; /* bytes of what was jumped over */
	double spread_cycles; /* by which the cycles that were jumped may be wrong, added up */
};

/* For SMs that run in step; none: nothing is jumped over. Returns 0 or -ENOMEM; rates_free in any case. sms stays the caller's. */
int rates_init(struct rates *r, struct ov_sm **sms, uint32_t count, uint64_t step);
void rates_free(struct rates *r);
/* The SMs have run up to this cycle of their own time, and pause. Where their loops have a rate, they jump. */
void rates_look(struct rates *r, uint64_t cycle);

#endif
