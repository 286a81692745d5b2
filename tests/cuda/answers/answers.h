/*
 * answers: what the CUDA runtime answers to questions and mistakes. A program prints a line for each: its name, what the call returned, and what
 * cudaGetLastError gave after it, or a value. An H200's own answers are in h200.txt.
 */
#ifndef GPUSIM_TESTS_CUDA_ANSWERS_H
#define GPUSIM_TESTS_CUDA_ANSWERS_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

/* What a call returned, and the last error after it, which is cleared. */
static inline void said(const char *name, cudaError_t error)
{
	printf("%s %d %d\n", name, (int)error, (int)cudaGetLastError());
	fflush(stdout);
}

static inline void is(const char *name, long long value)
{
	printf("%s = %lld\n", name, value);
	fflush(stdout);
}

/* A group of questions runs in a process of its own, so that nothing is left of what another did. */
struct group {
	const char *name;
	void (*ask)(void);
};

extern const struct group device_groups[], launch_groups[], memory_groups[], stream_groups[], graph_groups[], driver_groups[], fault_groups[];

#endif
