/*
 * families: launches of one kernel whose size changes slowly, as in eliminations, wavefronts and reductions. A few of them are
 * simulated, the others are interpolated.
 *
 * A family is a curve: the time of a launch over its size. Its members have the same kind, and what else is known of them from
 * counters changes gradually along the curve. Launches wait until enough have come. Then the ends of the curve are simulated, and a
 * member between them. If its time is within a tolerance of the interpolated one, the members on both sides of it are
 * interpolated; if not, both sides are divided in the same way.
 *
 * A launch goes through here like this:
 *   family_enter      it has come. FAMILY_SIMULATE: simulate it now. FAMILY_WAIT: keep what a simulation of it would need
 *   family_next       a waiting launch that is to be simulated now; call it until it returns NULL
 *   family_simulated  what its simulation gave. More launches may be next, or decided, after it
 *   family_decided    a waiting launch that need not be simulated, and what its estimate follows from; call it until it returns false
 *   family_flush      no more launches come for now: decide all that wait. Or somebody waits for them: family_hurry
 * Several simulations may be under way at a time. Which launches are simulated, and what the others follow from, depends on the order of
 * family_enter, family_flush and family_hurry and on the simulated times, never on the order in which simulations end. One thread at a time.
 */
#ifndef GPUSIM_MODELS_SAMPLING_FAMILIES_H
#define GPUSIM_MODELS_SAMPLING_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAMILY_PARTS = 16 };

/* What is known of a launch from its counters, before its warps are made (launch_family in models/models.h). */
struct family_features {
	uint64_t kind;  /* launches of different kinds are never in one family: a hash of what must be equal */
	uint64_t steps; /* work-groups of the SM that has most: time may jump where it changes. Equal for launches that are near */
	double size;    /* instructions of work-items: where it is on the curve */
	double warps;
	double together, longest; /* struct launch_profile */
	double sectors; /* and lines that its accesses touch, per access, by its addresses or the trace it is modelled from (trace_sectors); 0: not known */
	bool borrowed;  /* it hangs on few work-items, and others stand for them: to simulate it tells no more than to simulate another one did */
	double parts[FAMILY_PARTS]; /* of size: instructions by block, blocks folded into so many parts */
};

/* Whether the longest warp does so many times as much as the mean that the launch's time is what the work-items in it meet. */
static inline bool few_are_longer(double longest, double together, double warps)
{
	return together > 0 && longest * warps > 4 * together;
}

struct family_limits {
	double tolerance;  /* of the time of a launch: what an interpolated one may be off where it is tested */
	double near;       /* sizes that differ by less, relative: one may take the other's cycles per instruction untested */
	double hurried;    /* the same of launches that somebody waits for */
	double all;        /* sizes of a kernel's launches, added up: so far, all are simulated where those of one size differ by more than that */
	double few;        /* the same of launches that hang on few work-items, which are their own: nothing else tells how long one takes */
	uint32_t least, most; /* launches of a family that wait until they are decided: first, and at most; doubles between */
	uint64_t waiting, bytes; /* all that may wait; beyond, the family with most bytes is decided early */
	uint32_t nodes;    /* simulated members that a family keeps */
	void (*free_estimate)(void *estimate); /* of estimates that family_simulated was given */
};
/* tolerance: the accuracy that sampling is asked for; hurried: TBPoint's (V-A); near: a fifth of that, because nothing tests it;
 * all: half a second, where an instruction of a work-item takes 50 ns, as in bfs of kernels/shapes; few: five seconds, its 80 launches. */
#define FAMILY_LIMITS ((struct family_limits){0.02, 0.02, 0.1, 10e6, 100e6, 32, 1024, 4096, 64 << 20, 64, NULL})

struct families;      /* of one kernel on one target */
struct family_member; /* a launch that waits or is being simulated */

enum family_answer { FAMILY_SIMULATE, FAMILY_WAIT };

/* How the estimate of a launch follows from one or two that were simulated. The estimates stay valid until the next call of any
 * function here but family_decided. */
struct family_decision {
	void *launch; /* the caller's, of family_enter */
	const void *a, *b; /* estimates; the same: it is near a, and has its cycles per instruction */
	double a_size, b_size, weight; /* b's share: (size - a_size) / (b_size - a_size), between 0 and 1; 0 where a and b are the same */
	double times; /* its time over what follows from a and b: where launches that are as large differ, it has the mean of all that are near; else 1 */
	double error; /* relative, of time: by how much a member between a and b was off, or how far a is away */
};

struct families *families_new(const struct family_limits *limits); /* NULL when out of memory */
/* Launches that wait are forgotten: flush before. */
void families_free(struct families *f);

/* bytes: what the caller keeps while it waits. *member: what family_simulated wants; NULL with FAMILY_SIMULATE: it belongs to no
 * family (there are too many, or memory is short), and family_simulated is not called. */
enum family_answer family_enter(struct families *f, const struct family_features *x, void *launch, uint64_t bytes,
                                struct family_member **member);
/* Each member is returned once, and must be answered by family_simulated. */
struct family_member *family_next(struct families *f);
void *family_launch(const struct family_member *m);
/* Frees the member. The estimate stays here, and is freed with limits.free_estimate. NULL: it could not be simulated. time_ns: of the
 * launch, overhead included. */
void family_simulated(struct families *f, struct family_member *m, double time_ns, void *estimate);
bool family_decided(struct families *f, struct family_decision *out); /* frees the member */
void family_flush(struct families *f);
/* The same, because somebody waits for the estimates. */
void family_hurry(struct families *f);
/* Launches that were entered and are neither simulated nor decided yet; those of them that no decision has begun for, because more may
 * come. */
uint64_t family_waiting(const struct families *f);
uint64_t family_open(const struct families *f);

#endif
