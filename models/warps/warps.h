/*
 * warps: what the warps of a launch execute, one block after the other, as the timing models take it.
 *
 * A path is the sequence of target blocks (struct code_block) that a warp goes through, divergent arms one after
 * the other. Warps that do the same share a path. Where a path has accesses, they say for each executed memory
 * instruction into how many accesses (lines, sectors, bank conflicts: cycles of the load/store unit) it falls apart;
 * else every execution of an instruction takes `usual_accesses` of it.
 *
 * Long loops are in a path for some of their iterations only (windows); gaps say how many more there were.
 */
#ifndef GPUSIM_MODELS_WARPS_WARPS_H
#define GPUSIM_MODELS_WARPS_WARPS_H

#include "models/code/code.h"
#include "models/gpu/gpu.h"
#include "models/history/memory_history.h"
#include "models/accesses/requests.h"
#include "models/warps/line_set.h"

/* How the address of an access moves from one round of a window to the next: evenly, or by chance. */
struct round_shift {
	bool chance;
	int64_t step;        /* bytes per round, where it moves evenly */
	uint64_t low, bytes; /* the memory that it stays in: at the end it begins again; bytes 0: not known */
};
/* Where it is after so many rounds, of so many iterations each. The last of them may be a part of one: it moves by whole iterations.
 * What goes by chance stays where it is in its line, and all that a group does in a round moves by as much: what met in the window, as the steps of
 * a search or the warps that read one list, meets there, too. */
uint64_t round_address(const struct round_shift *s, uint64_t address, double rounds, double iterations, uint64_t group, uint64_t line_bytes);

/* Iterations of a loop that a path leaves out: after block at - 1 the warp does blocks from..at-1, its window, so many rounds more.
 * Windows of inner loops lie within those of outer ones, and are done as often as these say. */
struct path_gap {
	uint32_t from, at;     /* indices into the blocks of the path */
	uint32_t first_access; /* accesses of the path before block `from` */
	uint32_t access_count; /* accesses of the window */
	int32_t outer;         /* the gap whose window is the next one around this; -1: none */
	double rounds;         /* need not be whole */
	double work;           /* instructions of a round, with those of inner windows' rounds; path_weigh fills it */
	double iterations;     /* of the loop, in a round */
	/* Of the windows of one loop that follow one another and do as much in an iteration: the first, the next one or -1, and iterations
	 * of the loop in those before; path_weigh fills these. */
	int32_t first, next;
	double before;
	bool enters_next; /* the next window has the same blocks in the same order, again and again, and there are no windows inside of either */
	const struct round_shift *shifts; /* per access of the window; NULL: without requests */
};

struct warp_path {
	const uint32_t *blocks;
	size_t block_count;
	const struct path_gap *gaps; /* by `at`, inner ones first where they end at the same block */
	size_t gap_count;
	const double *weights;    /* per block: how often the warp does it, with the rounds of gaps; NULL: once each */
	const uint16_t *accesses; /* one for each executed CODE_load, store, atomic, texture; NULL: the usual ones */
	/* Cycles that each of these takes beyond a hit in L1 until its value is there, or its store acknowledged; NULL: the
	 * usual ones. */
	const uint16_t *waits;
	size_t access_count;
	const struct path_requests *requests; /* where they go, as the group of the pattern had them; NULL: not known */
	uint64_t active_lanes;    /* sum over executed instructions of lanes that are on, with gaps; 0: all of the warp */
};

/* How often a warp does a block of its path. */
static inline double path_weight(const struct warp_path *path, size_t block)
{
	return path->weights ? path->weights[block] : 1;
}
double path_instructions(const struct kernel_code *code, const struct warp_path *path); /* that a warp executes, with the rounds of gaps */
/* Fills weights, an entry per block, and the work and order of gaps, which have all the rest. A window without instructions has no rounds. */
void path_weigh(const struct kernel_code *code, const uint32_t *blocks, size_t block_count, struct path_gap *gaps, size_t gap_count,
                double *weights);

/* Launches, groups and SMs that are alike in all that is counted still differ, with the memory hierarchy, by what caches hold and
 * which channels they meet in. Measured: docs/sampling.md. */
#define MEMORY_CHANCE 0.04

/* Where a list that groups have one after the other begins for a group: a part of the way between the lists of two that were traced. */
struct list_place {
	uint32_t from, to; /* their numbers */
	double part;       /* < 0: before both, > 1: after both */
};

/*
 * How the addresses of an instruction move from group to group: by so many bytes for each step in a dimension; or, where
 * that is not so, to anywhere in the part of memory that the instruction was seen to touch.
 */
/* What a launch was seen to touch of the memory of each argument; bytes 0: nothing. */
enum { SPANNED_ARGUMENTS = 32 };
struct memory_span {
	uint64_t low, bytes;
};

struct address_shift {
	bool linear;
	int64_t step[3];     /* linear: bytes per group */
	uint64_t split;      /* linear: 0, or groups of dimension 0, the only one, after which step[1] is made: it is a plane so many groups wide */
	/* linear: the buffer, which steps do not lead out of; bytes 0: not known. Else: what was touched; bytes 0: the same for all groups. */
	uint64_t low, bytes;
	const struct memory_span *spans; /* not linear: by argument; NULL: not known */
	uint64_t image;      /* linear: 0, or the shape (models/accesses/image.h) of the image whose texels, row after row, step is of */
	/* linear: NULL, or groups go through lists that follow one another: step is the mean, and this the truth. Where the lists of traced groups
	 * begin, and the places of the launch's own groups. */
	const uint64_t *starts;
	const struct list_place *places;
	uint64_t place_count;
};

/* The memory that an address stays in whose instruction goes anywhere. One instruction may ask for memory of several arguments, where the pointer
 * was chosen before. */
static inline struct memory_span shift_span(const struct address_shift *s, uint64_t address)
{
	uint64_t argument = argument_of_address(address);
	bool other = argument != argument_of_address(s->low) || s->bytes >> ARGUMENT_BITS;
	return other && s->spans && argument < SPANNED_ARGUMENTS ? s->spans[argument] : (struct memory_span){s->low, s->bytes};
}

/* Where the group's list begins. What advice adds to a launch comes after its last group. */
static inline uint64_t shift_start(const struct address_shift *s, uint64_t group)
{
	uint64_t known = group < s->place_count ? group : s->place_count - 1;
	const struct list_place *p = &s->places[known];
	uint64_t begin = s->starts[p->from] + (uint64_t)(int64_t)(p->part * (double)(int64_t)(s->starts[p->to] - s->starts[p->from]));
	return begin + (uint64_t)s->step[0] * (group - known);
}

/* A group's place as the steps of a shift have it. grid: of the launch. */
static inline void shift_place(const struct address_shift *s, const uint64_t grid[3], uint64_t group, uint64_t out[3])
{
	uint64_t width = s->split ? s->split : grid[0] ? grid[0] : 1, height = !s->split && grid[1] ? grid[1] : UINT64_MAX;
	out[0] = group % width;
	out[1] = group / width % height;
	out[2] = group / width / height;
}
/* The grid as the steps of a shift have it. */
static inline void shift_grid(const struct address_shift *s, const uint64_t grid[3], uint64_t out[3])
{
	for (int d = 0; d < 3; d++)
		out[d] = grid[d] ? grid[d] : 1;
	if (s->split) {
		out[1] = (out[0] + s->split - 1) / s->split;
		out[0] = s->split;
	}
}

struct launch_warps {
	const struct kernel_code *code;
	const struct warp_path *paths;
	uint32_t path_count;
	uint64_t groups;           /* of the launch */
	uint32_t warps_per_group;
	/* The path of warp w of group g is path_of[warps_pattern(g) * warps_per_group + w]. */
	const uint32_t *path_of;
	double stand_in;           /* by how much the time may be off because traced groups stand for others, relative; 0: none does */
	uint64_t pattern_groups;
	bool pattern_in_order; /* its groups are evenly from all of the launch */
	uint64_t grid[3];            /* groups by dimension; 0 where paths have no requests */
	const uint64_t *pattern_ids; /* of the groups that the pattern's requests are from, by pattern group; NULL: without requests */
	const struct address_shift *shifts; /* per instruction of code; NULL: without requests */
	const struct line_set *common;      /* lines that are not moved from group to group; NULL: none */
	/* What L2 may hold from before the launch, the oldest first; NULL: what the requests touch. */
	const struct memory_range *warm;
	size_t warm_count;
	const uint64_t *argument_bytes; /* of the memory that arguments point to (models/memory/places.h); NULL: not known */
	uint32_t argument_count;
	const struct memory_before *before; /* what L2 lacks of these, by argument; NULL: not known */
	const uint16_t *usual_accesses; /* per instruction of code; NULL: 1 each */
	const uint16_t *usual_waits;    /* per instruction of code; NULL: 0 each */
	/* Cycles that L2, and DRAM, need for the launch at least, for models without requests; 0: not known. */
	double l2_cycles, dram_cycles;
	uint32_t code_offset; /* instructions of the module before the kernel: where lines of the instruction cache begin */
};

/* Whether it is known what came before the launch. */
static inline bool launch_knows_l2(const struct launch_warps *warps)
{
	return warps->before && warps->before->known;
}

/*
 * The group of the pattern that stands for a group of the launch: g modulo pattern_groups; of a pattern in order, windows of
 * WARPS_WINDOW of its groups repeat in the part of the launch that they are from. So a part keeps what it does, and neighbours are as
 * different as they were.
 */
enum { WARPS_WINDOW = 32 }; /* about what an SM holds at once */
uint64_t warps_pattern(const struct launch_warps *warps, uint64_t group);
/* How many groups of the launch a group of the pattern stands for. */
uint64_t warps_pattern_times(const struct launch_warps *warps, uint64_t pattern);

/* Where the cycles of an SM go; each cycle is counted once, in this order of precedence. With the memory hierarchy,
 * unit_ldst is divided (shared: bank conflicts; l1: parts of requests), and so is what warps wait for memory: memory
 * is the latency alone, l2, dram and atomics are the queues in front of them. pages: no SM can go on before the driver has
 * brought pages of managed memory. */
#define CYCLE_KINDS(X)                                                                                                 \
	X(issue) X(fetch) X(unit_fp32) X(unit_int) X(unit_fp64) X(unit_sfu) X(unit_tensor) X(unit_ldst) X(collectors) X(bank_conflicts)    \
	X(shared) X(l1) X(l2) X(dram) X(atomics) X(dependency) X(memory) X(barrier) X(launch) X(tail) X(pages)
#define CYCLE_KIND(name) CYCLES_##name,
enum cycle_kind { CYCLE_KINDS(CYCLE_KIND) CYCLE_KIND_COUNT };
#undef CYCLE_KIND

#endif
