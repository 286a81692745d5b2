/*
 * trace_warps: what the warps of a launch execute and which memory they touch, from the traces of some of its groups.
 *
 * Every traced work-item's events become its way through the target's code and the addresses of its memory instructions
 * (models/trace/lanes.h), and 32 ways the warp's (replay.h). Groups that were not traced do as one that was.
 */
#ifndef GPUSIM_MODELS_TRACE_WARPS_H
#define GPUSIM_MODELS_TRACE_WARPS_H

#include "models/accesses/accesses.h"
#include "models/warps/synthesise.h"
#include "models/trace/trace.h"

/* What the traced warps did, by instruction and block of the code. */
struct instruction_statistics {
	uint64_t executions;   /* by warps */
	uint64_t active_lanes; /* sum over executions */
	uint64_t accesses;     /* of memory instructions: parts, or turns of the banks */
};
struct warp_statistics {
	struct instruction_statistics *instructions; /* code_count entries */
	uint64_t *divergent;  /* per block: executions after which lanes went different ways */
	uint64_t warps;       /* that were traced */
	uint64_t warp_instructions, lane_instructions;
	uint64_t addresses, unknown_addresses; /* of lanes; the latter are in no trace */
	uint64_t lanes, guessed_lanes;         /* the latter's traces no way agreed with */
};

struct trace_shape {
	uint64_t groups[3], local[3];
	bool requests; /* keep the parts of requests; else only how many there are, and warps that do the same share a path */
	bool other;    /* the trace is of a launch that did otherwise: what its groups did, its events say, and counters say of this one's */
};

struct trace_warps {
	struct launch_warps warps; /* points into the members below */
	struct warp_statistics statistics;
	double lane_efficiency;    /* active lanes over lanes, all executed instructions */
	uint64_t traced_groups;    /* that could be used */
	bool complete;             /* all groups were traced, in this launch, and nothing of them is left out */
	bool cut;                  /* paths of traced groups end early; their groups did more */
	double fitted;             /* what counters say of a group over what its windows said, of the one where that is farthest from 1 */
	double represented;        /* warps' instructions of all groups over those that the warps stand for, by counters; 0: not known */
	/* Where the launch ends with its longest warp: what that one did over the longest of those that stand for groups, and the group of the
	 * pattern that has the latter. 0: not known, or time is what all warps take together. */
	double longest_represented;
	uint64_t longest_group;
	struct needed_groups needed;
	/* Of computed warps: */
	double fraction;           /* of the blocks of the ways of lanes that are kept: 1 unless they were cut */
	bool inconsistent;         /* counters of a work-item contradict the code */
	uint32_t accessing, drawn; /* instructions on global memory that were executed; those of them that went where chance says */
	struct trace_store *store;
};

/* usual: accesses by instruction, for instructions without a trace (accesses.h). lanes: the counters of work-items, or NULL. Returns 0,
 * -ENOENT where no group's trace can be used, or another negative errno value. The caller frees with trace_warps_free. */
int trace_warps(const struct gpu *gpu, const struct kernel_code *code, const struct launch_trace *trace,
                const struct trace_shape *shape, const struct lane_counts *lanes, const uint16_t *usual,
                struct trace_warps *out, struct gs_error *err);
/* The same for a launch that has no trace: some groups' warps from counters, their addresses from the code (computed.h). */
int computed_warps(const struct gpu *gpu, const struct kernel_code *code, const struct launch_arguments *arguments,
                   const struct trace_shape *shape, const struct lane_counts *lanes, const uint16_t *usual,
                   struct trace_warps *out, struct gs_error *err);
/* Whether every block of the code has an event of its own, as in code that was lifted. */
bool code_is_traced_whole(const struct kernel_code *code);
size_t trace_warps_bytes(const struct trace_warps *t); /* of memory, nearly */
void trace_warps_free(struct trace_warps *t);

/*
 * A launch ends with a warp that is `times` as long as the one that stands for it. While all groups run, it does so much of that as the longest group
 * does in the launch; then it goes on alone. Cycles: of the launch, of the longest group in it, and of the group that stands for it if it is alone.
 */
struct longest_warp {
	double times, launch, group, alone;
	bool begins_at_once; /* all groups do; else it is taken to begin so late that it is done once when the others end */
};
double longest_goes_on(const struct longest_warp *w); /* cycles after the end of the launch */

/* Branches of one line of the source after which lanes of a warp went different ways. */
struct line_divergence {
	uint32_t line;
	uint16_t file; /* index of the code's */
	double executions, divergent; /* by warps, all branches of the line */
};
/* The lines with the most, each number times `scale`; unused entries have divergent 0. */
void trace_divergence(const struct kernel_code *code, const struct warp_statistics *s, double scale,
                      struct line_divergence *out, size_t room);
/* Executions of instructions in a space by warps, and what these fell into. */
void trace_space_totals(const struct kernel_code *code, const struct warp_statistics *s, enum code_space space,
                        double *requests, double *accesses);

#endif
