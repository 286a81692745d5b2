/*
 * traces: which groups of a launch its twin traces on a real GPU, and how their traces come back.
 *
 * Threads of groups that are traced write columns (runtime/format/traces.h) into a buffer of the GPU's memory.
 */
#ifndef GPUSIM_RUNTIME_GUEST_NVIDIA_TRACES_H
#define GPUSIM_RUNTIME_GUEST_NVIDIA_TRACES_H

#include "runtime/guest/cuda/groups.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/traced.h"

/* What is the same for all threads of a launch: pairs of an argument and the address of its memory (runtime/guest/cuda/launches.h). */
struct twin_bases {
	const uint64_t *pairs;
	uint64_t count;
};

struct twin_trace {
	bool wanted;
	struct trace_plan plan;
	struct group_lists lists; /* of a launch that is traced in part */
	const struct twin_bases *bases;
	uint64_t told;            /* words that the first thread of a group leaves to us */
	size_t words;             /* of the buffer */
	uint64_t buffer, table;   /* on the GPU; 0: none */
	uint32_t *slots;          /* the table, here */
};

/* Decides whether to trace the launch, and which groups of it. */
void trace_choose(struct twin_trace *t, struct launch *l, const struct twin_bases *bases);
/* Before the twin: memory, and the variable of its module that says where it is. `alone`: other groups do nothing. Where there is no room, nothing is
 * traced: `wanted` is false. */
bool trace_prepare(struct twin_trace *t, const struct launch *l, void *module, bool alone, void *stream);
/* After the twin has ended: brings the trace into l->trace_buffer. */
void trace_fetch(struct twin_trace *t, struct launch *l, void *stream);
void trace_release(struct twin_trace *t);

#endif
