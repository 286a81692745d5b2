/*
 * twins: kernels that count and trace, on a real GPU.
 *
 * The twin of a kernel is the same kernel in PTX that counts. It runs before a launch of the kernel itself, with the same parameters, on the same
 * memory. What it has written is then put back: all memory that the program has on the GPU was copied before. So the program's results are always
 * those of its own kernel, and no kernel ever sees memory that a twin has changed.
 *
 * That needs quiet: commands before it have ended, and no other thread of the program uses the GPU. Where this does not hold, or memory is of a kind
 * that we do not see being made, nothing is counted. Nor is it if kernels can write memory of the host: threads of the program may write that at the same
 * time, and what they wrote would be lost.
 */
#ifndef GPUSIM_RUNTIME_GUEST_NVIDIA_TWINS_H
#define GPUSIM_RUNTIME_GUEST_NVIDIA_TWINS_H

#include "runtime/guest/launches/launch.h"
#include "runtime/guest/nvidia/kernels.h"
#include "runtime/guest/nvidia/traces.h"
#include "runtime/nvidia.h"

/* Fills the counters of the record, and its trace where that is due. NULL: it has counters; else why not. */
const char *twin_count(struct gpu_kernel *k, const struct nvidia_launch *l, const void *parameters, const struct twin_bases *bases,
                       struct launch *record);

/* Memory on the GPU, and what else of the program matters. */
void twin_memory_made(void *address, uint64_t bytes, bool host);
void twin_memory_gone(const void *address);
void twin_memory_unknown(const char *function); /* memory of a kind that cannot be put back */
void twin_context_ends(void); /* its memory goes with it, and we do not know which that is */
void twin_stream_made(void *stream); /* one that does not wait for the default stream */
void twin_stream_gone(void *stream);
/* This thread uses the GPU. `wait`: if it is not the first that does, until no twin runs; none will afterwards. */
void twin_thread(bool wait);

#endif
