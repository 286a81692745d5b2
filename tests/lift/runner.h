/*
 * runner: lifts a module of PTX, builds the text with plain OpenCL (POCL), and runs its kernels on host memory. For tests of the lifter,
 * without the library, gpusim-cc or the CUDA runtime.
 */
#ifndef GPUSIM_TESTS_LIFT_RUNNER_H
#define GPUSIM_TESTS_LIFT_RUNNER_H

#include "annotator/lift/lift.h"

struct lift_runner;

int runner_create(const char *ptx, size_t length, enum lift_form form, struct lift_runner **out, struct gs_error *err);
void runner_free(struct lift_runner *r);
const struct lifted *runner_lifted(const struct lift_runner *r);
const struct lift_kernel *runner_kernel(const struct lift_runner *r, const char *name); /* NULL: there is none */
const char *runner_text(const struct lift_runner *r);
double runner_build_seconds(const struct lift_runner *r);
/* Where a .global or .const variable is, or NULL. */
void *runner_variable(const struct lift_runner *r, const char *name);

enum { MOST_SLOTS = 64 };
struct lift_run {
	const char *kernel;
	uint64_t grid[3], block[3]; /* 0 counts as 1 */
	uint64_t dynamic_shared;
	const void *const *arguments; /* per parameter: its bytes. Addresses are those of the process */
	uint32_t argument_count;
	const uint32_t *order;  /* the groups to run, or NULL: all */
	uint32_t order_count;
	uint32_t held;          /* one work-item runs all groups in turn, so many at a time; 0: each has its own. At most MOST_SLOTS */
	bool uncounted;         /* nothing is counted: rows and words are 0 */
	bool whole;             /* of traced text: loops have no windows */
	uint32_t chunks;        /* of traced text: size of the trace buffer */
	/* Results. The caller frees them with runner_run_free. */
	uint64_t *rows;         /* per row of the module: executions by all threads */
	uint32_t *words;        /* word c of thread i at c * threads + i, for the columns of the kernel */
	uint64_t threads;       /* of the launch */
	struct lifted_fault fault;
	char *printed;          /* records (struct lifted_prints) */
	uint64_t printed_bytes;
	uint64_t *trace;        /* the trace buffer */
	uint64_t trace_words;
	double seconds;         /* of the launch, without compilation for its size */
	double cpu_seconds;     /* of the process, from the enqueueing to the end. The first run of a kernel compiles it */
};
/* The first run builds the text. -ENODEV: there is no CPU device. -EINVAL: the driver does not take the text; err has the begin of its log. */
int runner_run(struct lift_runner *r, struct lift_run *run, struct gs_error *err);
void runner_run_free(struct lift_run *run);

#endif
