/*
 * oracle: runs a kernel's PTX, for tests. Its results are the truth that counts, paths and accesses are compared with.
 *
 * It runs a launch work-group by work-group and warp by warp. The lanes of a warp are 32 consecutive linear local ids. A warp
 * that diverges runs the taken way first, then the other. It joins at the immediate post-dominator of the branch, as in
 * GPGPU-Sim 4. The oracle uses only the PTX reader of the product's analysis. It computes blocks and post-dominators itself, in
 * another way. Functions must have been inlined.
 */
#ifndef GPUSIM_TESTS_ORACLE_ORACLE_H
#define GPUSIM_TESTS_ORACLE_ORACLE_H

#include "analysis/ptx/ptx.h"
#include "models/warps/warps.h"

enum { ORACLE_WARP = 32 };

/* A block begins at the entry, at a label that some branch names, and after a branch. A branch ends its block. */
struct oracle_block {
	uint32_t first, count;
	uint32_t next[2]; /* successors: the branch's target, then the next block; block_count: the end */
	uint32_t next_count;
	uint32_t join; /* immediate post-dominator; block_count: the end */
};

/* A kernel ready to run. */
struct oracle;
int oracle_create(const char *ptx, size_t length, const char *kernel, struct oracle **out, struct gs_error *err);
void oracle_free(struct oracle *o);
const struct ptx_function *oracle_function(const struct oracle *o);
const struct oracle_block *oracle_blocks(const struct oracle *o, uint32_t *count);
/* Its code for the models, without the terms of edges. The caller frees it with oracle_code_free. */
struct kernel_code *oracle_code(const struct oracle *o);
void oracle_code_free(struct kernel_code *code);

enum oracle_argument_kind { ORACLE_BUFFER, ORACLE_VALUE, ORACLE_LOCAL };
struct oracle_argument {
	enum oracle_argument_kind kind;
	void *data; /* buffers: the contents before and after the launch; ORACLE_LOCAL: NULL */
	size_t bytes;
};

/* One memory instruction of a warp. */
struct oracle_access {
	uint64_t group;
	uint32_t warp, instruction;
	uint32_t mask;             /* lanes that access */
	uint32_t bytes;            /* per lane */
	const uint64_t *addresses; /* per lane */
	uint8_t space;             /* the real space of the addresses, never generic */
	uint8_t class;             /* CODE_load, CODE_store or CODE_atomic */
};

struct oracle_events {
	void (*block)(void *user, uint64_t group, uint32_t warp, uint32_t block, uint32_t mask);
	void (*memory)(void *user, const struct oracle_access *access);
	void *user;
};

struct oracle_launch {
	const struct oracle_argument *arguments;
	uint32_t argument_count;
	uint64_t global[3], local[3]; /* 1 in unused dimensions; global a multiple of local */
	struct oracle_events events;  /* each may be NULL */
};

/* By GPGPU-Sim's rules. A warp instruction counts once for any number of lanes. It counts as many thread instructions as lanes
 * that its guard leaves on. So a branch that falls through counts none. */
struct oracle_counts {
	uint64_t thread_instructions, warp_instructions;
	uint64_t *block_warps, *block_threads; /* block_count entries in the caller's memory, or NULL */
};
int oracle_run(const struct oracle *o, const struct oracle_launch *launch, struct oracle_counts *counts,
               struct gs_error *err);

/*
 * How often a memory instruction occupies the load/store unit of a GTX 480 in GPGPU-Sim 4:
 *   global and local  distinct lines of 128 bytes (of 32 for bytes and 64 for halves)
 *   shared            the most distinct words in one of 32 banks
 *   constants and parameters  distinct lines of 64 bytes
 *   atomics on global memory  segments of 32 bytes, each as often as its most frequent address occurs in it
 * The result is 0 if no lane accesses memory.
 */
uint32_t oracle_gtx480_accesses(const struct oracle_access *access);

/* The parts of a request, at most ORACLE_PARTS, in the order in which they are sent: highest address first. A part is a line of
 * 128 bytes. It is a sector of 32 bytes if the GPU's load/store unit takes sectors one by one. Shared memory has no parts. */
enum { ORACLE_PARTS = 512 };
uint32_t oracle_parts(const struct gpu *gpu, const struct oracle_access *access, struct memory_part *parts);

/*
 * The first-level cache of a GTX 480, for the order in which the oracle runs warps. With perfect memory, GPGPU-Sim answers a
 * load that misses 4 cycles later than a load that hits. Stores write through and drop the line.
 */
enum { ORACLE_L1_SETS = 32, ORACLE_L1_WAYS = 4 };
struct oracle_l1 {
	uint64_t lines[ORACLE_L1_SETS][ORACLE_L1_WAYS]; /* number of the line + 1, most recently used first; 0: none */
};
uint32_t oracle_gtx480_wait(struct oracle_l1 *cache, const struct oracle_access *access);

/* What every warp of the launch executes, for the timing models. The caller frees it with oracle_trace_free. */
struct oracle_trace {
	struct launch_warps warps;
	struct oracle_counts counts;
	uint64_t accesses; /* in the whole launch */
};
/* gpu: its rules split requests into parts, with their addresses. NULL: only accesses of a GTX 480; then warps that do the same
 * share a path. */
int oracle_trace_for(const struct oracle *o, const struct oracle_launch *launch, const struct gpu *gpu,
                     struct oracle_trace *out, struct gs_error *err);
int oracle_trace(const struct oracle *o, const struct oracle_launch *launch, struct oracle_trace *out,
                 struct gs_error *err);
void oracle_trace_free(struct oracle_trace *t);

#endif
