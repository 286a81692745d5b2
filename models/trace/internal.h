/* What the files of trace_warps share. */
#ifndef GPUSIM_MODELS_TRACE_INTERNAL_H
#define GPUSIM_MODELS_TRACE_INTERNAL_H

#include "models/code/code_map.h"
#include "models/code/costs.h"
#include "models/trace/warps.h"

/* ---- models/trace/paths.c: the paths of warps, and what they point to ---- */

/* What one warp did, as it is written down. */
struct recorded_path {
	struct gs_buf blocks, accesses, first, parts; /* as in struct warp_path and struct path_requests */
	struct gs_buf lanes;    /* uint8_t per block: lanes that are on, less one, and DIVERGES where they part after it */
	struct gs_buf before;   /* uint32_t per block: accesses before it */
	struct gs_buf firsts;   /* struct first_lane per access */
	struct gs_buf gaps;     /* struct recorded_gap, until gaps_finish; then struct path_gap */
	struct gs_buf shifts;   /* struct round_shift, of all gaps */
	struct gs_buf weights;  /* double per block, where there are gaps */
	uint64_t lane_instructions;
};
enum { DIVERGES = 128 };

/* Where the first lane of an access goes. */
struct first_lane {
	uint32_t instruction;
	bool known;
	uint64_t address;
};

/* ---- models/trace/moves/gaps.c: what paths leave out ---- */

/* A gap of some lanes, as it is found: of lanes that went through one window together, the longest counts. */
struct recorded_gap {
	uint32_t from, at, body;
	double rounds, iterations; /* as in struct path_gap */
	bool thinned;      /* the window is a copy of the blocks before it, without some arms; of a window in gaps_thin: it has such a copy */
	uint32_t copy_end; /* and where that ends */
};
/* Notes a gap before block `at` of the path. Returns 0 or -ENOMEM. */
int gaps_add(struct recorded_path *r, const struct recorded_gap *gap);
/* The path is complete: its gaps in order, nested, with the shifts of their accesses and the weights of blocks. What its accesses move
 * to by chance is filled in later, by gaps_place. Returns 0 or -ENOMEM. */
struct shift_finder;
struct gap_finish {
	const struct kernel_code *code;
	const struct launch_trace *trace;
	struct shift_finder *ranges; /* gets what instructions touch in gaps; NULL: requests are not kept */
	const struct arm_shares *shares; /* NULL: rounds do what their windows did */
};
int gaps_finish(const struct gap_finish *f, struct recorded_path *r);
/*
 * Iterations that were left out need not have done as much as those of the window before them, if there are loops in them. `counted`: the
 * instructions of all these paths' warps, by counters. What is left out between two windows with loops inside is shared by both; then the rounds of windows inside,
 * or of those without any, become more or fewer, so that the paths come to that. Returns how many times what they had that is; 1: nothing changes.
 */
double gaps_fit(const struct kernel_code *code, struct warp_path *const *paths, size_t count, double counted);
/* thin.c: rounds that take some arms more rarely than their windows did. */
struct arm_shares {
	double *keep;  /* by block: of its executions in rounds, those that remain */
	double *carry; /* by block: lanes that windows so far should have kept more */
};
/* Gives outermost windows copies with fewer arms, which rounds then do. gaps: in their order, room for twice as many. Returns 0 or -ENOMEM. */
int gaps_thin(const struct kernel_code *code, const struct arm_shares *shares, struct recorded_path *r, struct recorded_gap *gaps, size_t *count);
/* Adds executions by lanes of a finished path, by block: those that are in it, and those of its rounds. */
void arms_note(const struct recorded_path *r, double *once, double *more);
/* What is to be kept of rounds, if counters say so many executions by lanes. Returns whether that is worth the trouble. */
bool arms_share(const struct kernel_code *code, const double *counted, const double *once, const double *more, double *keep);
/* What an instruction was seen to touch, where an address of it is. */
typedef struct memory_span gaps_range_fn(void *ctx, uint32_t instruction, uint64_t address);
void gaps_place(const struct launch_trace *trace, struct round_shift *shifts, size_t count, gaps_range_fn *range, void *ctx);

struct trace_store {
	struct warp_path *paths;
	struct path_requests *requests; /* by path, where they are kept */
	uint32_t *path_of;
	uint64_t *pattern_ids;
	struct address_shift *shifts;
	struct memory_span spans[SPANNED_ARGUMENTS]; /* of shifts */
	uint64_t *starts;           /* of shifts; NULL: none are of lists */
	struct list_place *places;
	struct line_set common;
	struct store_piece {
		void *memory;
		size_t used, room;
	} *owned; /* what paths point to, in pieces of which the last is being filled */
	size_t path_count, path_room, owned_count, owned_room;
	size_t owned_bytes; /* room of all pieces */
	struct path_slot {
		uint64_t hash;
		uint32_t path; /* + 1; 0: free */
	} *slots;
	size_t slot_count;
	uint64_t part_count, block_count; /* of all paths */
	struct shift_list {
		struct round_shift *shifts;
		size_t count;
	} *lists; /* of paths with gaps */
	size_t list_count, list_room;
};
/* Keeps a path. With requests each has its own, but for its blocks; else one that is the same is found again. */
int trace_store_keep(struct trace_store *s, const struct recorded_path *r, bool requests, uint32_t *path);
/* Keeps a path that is as another one, but does its outermost windows so much more or less often that it does `times` as much, or as
 * near to it as can be. actual: what it does over what the other does. */
int trace_store_vary(struct trace_store *s, const struct kernel_code *code, uint32_t of, double times, uint32_t *path, double *actual);
size_t trace_store_bytes(const struct trace_store *s); /* of memory, nearly */
void trace_store_free(struct trace_store *s); /* NULL is fine */
bool trace_store_has_gaps(const struct trace_store *s);
/* A path that the store keeps has other rounds now: weighs it anew. before: its instructions. */
void trace_store_reweigh(const struct kernel_code *code, struct warp_path *path, double before);

/* ---- models/trace/moves/shifts.c: how addresses move from group to group ---- */

struct shift_finder;
struct shift_finder *shift_finder_new(const struct kernel_code *code, size_t groups, const uint64_t grid[3]);
void shift_finder_free(struct shift_finder *f);
/* A request: where its lanes go, by their numbers in the warp, ascending. */
struct lane_addresses {
	const uint32_t *lanes;
	const uint64_t *addresses;
	uint32_t count;
	uint64_t bytes; /* of one */
};
/* An execution of an instruction by a warp of the n-th traced group. */
void shift_finder_add(struct shift_finder *f, uint32_t instruction, size_t n, uint32_t warp, const struct lane_addresses *addresses);
/* Its addresses are those of texels, row after row, of an image (models/accesses/image.h). */
void shift_finder_image(struct shift_finder *f, uint32_t instruction, uint64_t image);
/* An instruction touches all of this, too. */
void shift_finder_widen(struct shift_finder *f, uint32_t instruction, uint64_t low, uint64_t high);
/* The part of memory that an instruction was seen to touch, where this address of it is; bytes 0: none. */
struct memory_span shift_finder_range(const struct shift_finder *f, uint32_t instruction, uint64_t address);
void shift_finder_spans(const struct shift_finder *f, struct memory_span out[SPANNED_ARGUMENTS]);
/* ids: of the traced groups. out has code_count entries. */
void shift_finder_finish(const struct shift_finder *f, const struct launch_trace *trace, const uint64_t *ids, struct address_shift *out);

/*
 * Lists that groups have one after the other, as rows of a sparse matrix: instructions that follow no steps, but whose lowest address rises from
 * each of the first `count` traced groups to the next. Fills their shifts, but for places. Returns the starts that they point to, which the caller
 * frees with them; NULL: there are none.
 */
uint64_t *shift_finder_lists(struct shift_finder *f, const struct launch_trace *trace, const uint64_t *ids, size_t count, struct address_shift *out);

/* ---- models/trace/moves/common.c ---- */

/* The lines that most traced groups touch, of a launch with requests. The caller frees out->slots. */
int common_lines(const struct launch_warps *w, struct line_set *out);

/* ---- group_work.c: how much groups did, by their counters ---- */

struct work_shape {
	const struct kernel_code *code;
	const struct lane_counts *lanes;
	uint64_t groups; /* that are asked for, about. Of many groups, only some work-items are read */
	uint32_t items, warp_size; /* of a group */
	const bool *seen; /* of the counters, those that count; NULL: all */
	const struct code_map *map; /* of map_group_work: what is compared must be of one */
	const double *cycles; /* of blocks: cycles_alone; NULL: not known */
	const double *keep;   /* of blocks: struct arm_shares, for traced groups; NULL: rounds do what their windows did */
	bool by_blocks;       /* work is compared with that of events, which say blocks and no edges: branches that fall through count, too */
};
struct counted_work {
	double threads; /* instructions of work-items */
	double warps;   /* of warps, by the lanes that do most */
	double cycles, longest; /* of warps that are alone: all of them in sum, and the one that takes longest; 0: not known */
};
/* From some work-items of these groups. shape has no map yet. Returns 0 or -ENOMEM; code_map_free in any case. */
int map_group_work(const struct work_shape *shape, const uint64_t *ids, size_t count, struct code_map *out);
/* by_warp: of single warps, a group's one after the other; NULL: not wanted. */
int count_group_work(const struct work_shape *shape, const uint64_t *ids, size_t count, struct counted_work *out, float *by_warp);
/* Whether all work-items of so many groups are read. */
bool counts_all_lanes(uint32_t items, uint64_t groups);
/* The same of groups of a trace, by their events: the counters are another launch's. ids: of some of its groups, ascending. Events have
 * blocks of the source alone: to be compared with the work of others, those must be counted by blocks that were seen in the trace, unless every
 * block of the code has an event of its own. */
/* blocks: executions by work-items of these groups, in sum. */
int sum_group_blocks(const struct work_shape *shape, const uint64_t *ids, size_t count, double *blocks);
void find_seen(const struct launch_trace *trace, uint32_t counters, bool *seen);
int count_traced_work(const struct work_shape *shape, const struct launch_trace *trace, const uint64_t *ids, size_t count,
                      struct counted_work *out, float *by_warp);

/* ---- models/trace/alone.c ---- */

/* By block, the cycles that it takes a warp that is alone, about; the caller frees. NULL when out of memory. */
double *cycles_alone(const struct gpu *gpu, const struct kernel_code *code, const struct trace_store *s, bool requests);

/* ---- models/trace/groups.c: which traced group stands for which ---- */

/* Groups of a launch that have a place in the pattern: all of them, or `count` that are spread evenly. */
struct group_sample {
	const struct trace_shape *shape;
	uint64_t count;
	uint32_t warp_size;
	const double *cycles; /* struct work_shape */
};
uint64_t group_of_sample(const struct group_sample *s, uint64_t n);

struct traced_ids {
	const uint64_t *ids;
	size_t count;
	const struct address_shift *shifts; /* per instruction of the code; NULL: not known */
	uint32_t line_bytes;                /* of L1 */
	bool other;                         /* groups of another launch, which did otherwise */
	const struct launch_trace *events;  /* not all have counters: what they did is counted by their events; NULL: by counters */
	const double *least;                /* of each: fit_least; NULL: loops are as long as they were */
	const double *keep;                 /* struct work_shape */
};

/* How much groups did: those of the sample first, then those that were traced. */
struct pattern_counts {
	struct counted_work *work; /* NULL: not known */
	float *by_warp; /* instructions of single warps; NULL: not known, or not of all of their lanes */
};
void pattern_counts_free(struct pattern_counts *c);

/* What stands for a group of the sample. */
struct group_stand_in {
	uint32_t traced; /* index of the traced group */
	double work, of_traced; /* instructions of the group's warps, and of the traced one's, by counters; 0: not known */
	double cycles, longest, longest_traced; /* struct counted_work, of the group and of the traced one */
	double added;    /* instructions that what stands for the group does more than the traced group did */
};
/* Fills a stand-in for every group of the sample, with the traced group's own paths. needed: groups that no traced one stands for well.
 * The caller frees the counts. */
int trace_groups(const struct kernel_code *code, const struct group_sample *sample, const struct lane_counts *lanes,
                 const struct traced_ids *traced, struct group_stand_in *out, struct pattern_counts *counts, struct needed_groups *needed);

/* See struct trace_warps. */
double share_represented(const struct group_stand_in *list, uint64_t count);
double longest_represented(const struct gpu *gpu, const struct launch_warps *w, const struct group_stand_in *list, uint64_t count,
                           uint64_t *group);
/* blocks: executions by as many work-items as were traced, in sum: of these, or where not all of them have counters, of all groups'. Returns 0 or -ENOMEM. */
int count_traced_blocks(const struct kernel_code *code, const struct lane_counts *lanes, const struct group_sample *sample,
                        const struct traced_ids *traced, double *blocks);

/* ---- models/trace/moves/lists.c ---- */

/* Where the lists of a launch's groups begin: after what those before them did. work: of all groups; NULL: as much each. Fills the places of shifts
 * that have starts. Returns 0 or -ENOMEM. */
int lists_place(struct trace_store *s, const struct kernel_code *code, const struct traced_ids *traced, const struct counted_work *work,
                uint64_t groups);

/* ---- models/trace/stand_ins.c: as much as groups did ---- */

struct fit_input {
	const struct kernel_code *code;
	struct trace_store *store;
	const uint32_t *paths; /* of the traced groups, per_group each */
	uint32_t per_group;
	struct group_stand_in *list;
	uint64_t count;
	const float *by_warp;  /* struct pattern_counts */
	bool together;         /* warps of a group wait for one another */
};
/* The least that what stands for a group with such paths can do over what they do; 1: they have no windows that can be done more or less
 * often. */
double fit_least(const struct kernel_code *code, const struct trace_store *s, const uint32_t *paths, uint32_t count);
/* Where groups did more or less than the traced ones that stand for them, loops are made longer or shorter. Fills path_of, per_group
 * entries each, and what is added in the list. Returns 0 or -ENOMEM. */
int stand_ins_fit(const struct fit_input *in, uint32_t *path_of);

#endif
