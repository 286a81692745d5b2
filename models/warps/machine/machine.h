/*
 * machine: the paths of warps in the instructions that a chip executes, not in those of PTX.
 *
 * Counters, walks and traces speak of the PTX's blocks. Where the kernel's code has machine instructions
 * (struct code_machine_block), the paths are written anew for the timing models: blocks become those of the machine, executions
 * of an unrolled loop in a row become one of a longer block, and arms that became predicates are executed wherever the
 * branch was. Accesses, waits and requests go along with their instructions; of a predicated instruction whose lanes
 * are all off, one access without waiting or requests remains.
 */
#ifndef GPUSIM_MODELS_WARPS_MACHINE_MACHINE_H
#define GPUSIM_MODELS_WARPS_MACHINE_MACHINE_H

#include "models/warps/warps.h"

/* The pipes that Nsight Compute counts instructions by (inst_executed_pipe_*). */
#define MACHINE_PIPES(X) X(fma) X(alu) X(xu) X(fp64) X(lsu) X(other)
#define MACHINE_PIPE(name) PIPE_##name,
enum machine_pipe { MACHINE_PIPES(MACHINE_PIPE) MACHINE_PIPE_COUNT };
#undef MACHINE_PIPE

struct machine_paths {
	struct launch_warps warps; /* for the models; its arrays live as long as this and the launch_warps that it is of */
	double ptx_per_instruction; /* PTX instructions of the warps over their machine instructions */
	double by_pipe[MACHINE_PIPE_COUNT]; /* shares of the machine instructions; add up to 1 */
	struct machine_store *store;
};

/* Whether the chip's instructions are others than the PTX's. */
bool machine_has(const struct kernel_code *code);
/* Whether the machine has instructions for a block of the PTX: its own, or pieces of its loop. */
bool machine_executes(const struct kernel_code *code, uint32_t block);
/* Which of the `left` executions copy `copy` of a CODE_REST is, where the longest piece stands for so many; UINT32_MAX: none, it is off. */
uint32_t machine_execution_of_rest(uint32_t longest, uint32_t copy, uint32_t left);
/* The code as if the machine's instructions were the PTX's; `blocks` has room for machine_block_count, and *view lives as long as
 * both. From code->block_count on are the unrolled loops. */
void machine_view(const struct kernel_code *code, struct code_block *blocks, struct kernel_code *view);
/* Returns 0 or a negative errno value; the caller frees with machine_paths_free. in->code has machine code. */
int machine_paths_make(const struct gpu *gpu, const struct launch_warps *in, struct machine_paths *out);
void machine_paths_free(struct machine_paths *m);

/* The same shares for paths of code that is the chip's itself, as that of traces is. Returns 0 or -ENOMEM. */
int machine_share_pipes(const struct launch_warps *w, double by_pipe[MACHINE_PIPE_COUNT]);

enum machine_pipe machine_pipe_of(const struct code_instruction *in);
const char *machine_pipe_name(enum machine_pipe pipe);

#endif
