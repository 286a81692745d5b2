/*
 * cuda: the NVIDIA GPU, or the simulated one, that the second half of gpusim tune measures (docs/tuning.md).
 *
 * NVIDIA's driver assembles the PTX of kernels/micro; no toolkit is needed. It is found at run time. Under the library, its functions are ours.
 */
#ifndef GPUSIM_RUNTIME_CMD_TUNE_CUDA_H
#define GPUSIM_RUNTIME_CMD_TUNE_CUDA_H

#include "runtime/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUDA_NUMBERS = 3, CUDA_MODULES = 8, CUDA_AREA = 4 << 20 };

struct cuda_functions;

struct cuda_machine {
	struct cuda_functions *calls;
	void *context, *stream, *from, *to; /* from, to: events around a launch */
	uint64_t area, room; /* device memory: for kernels, and that copies fill while launches are put into the stream */
	void *pinned;
	struct {
		const char *file;
		void *module;
	} modules[CUDA_MODULES];
	size_t module_count;
	char name[128], driver[32];
	int units, shared_bytes, clock_khz;
	bool simulated; /* by the library that this process has loaded: clocks inside of kernels do not show the GPU's time */
	struct gs_error error;
};

/* The first parameter of every kernel is the area. */
struct machine_launch {
	const char *file, *kernel;
	unsigned groups, threads;
	size_t shared; /* dynamic local memory of a group */
	unsigned count; /* of numbers */
	bool bare;      /* it has no parameters */
	union {
		uint32_t number;
		float real;
	} numbers[CUDA_NUMBERS];
};

/* Each returns 0 or a negative errno value with a line in m->error. */
int cuda_open(struct cuda_machine *m);
void cuda_close(struct cuda_machine *m);
/* What a launch takes, by events, with all commands in the stream before the first of them begins. On a real GPU it is the mean of 16 in a row, which
 * includes what is between two. */
int cuda_time(struct cuda_machine *m, const struct machine_launch *l, double *ns);
/* Launches, waits, and copies what is in the area. */
int cuda_run(struct cuda_machine *m, const struct machine_launch *l, void *out, size_t bytes);
/* Keeps all SMs busy for about a second, so that the clock is up. */
int cuda_warm(struct cuda_machine *m);

#endif
