/* A design space: every combination of the values of some keys, and the time of a profile on each. */
#ifndef GPUSIM_RUNTIME_CMD_SWEEP_SWEEP_H
#define GPUSIM_RUNTIME_CMD_SWEEP_SWEEP_H

#include "runtime/base/base.h"

enum { SWEEP_KEYS = 8, SWEEP_VALUES = 64, SWEEP_MOST = 4096 };

struct sweep_key {
	char *name, *values[SWEEP_VALUES];
	size_t count;
};

/* The result of one configuration. */
struct sweep_result {
	bool done;
	double time_ns;     /* of all kernels of the profile */
	char limiter[32];   /* of the kernel that takes longest */
	char kernel[64];    /* the kernel that takes longest */
	char *by_kernel;    /* lines NAME TIME_NS; owned */
};

struct sweep {
	const char *profile, *gpu, *set; /* set: overrides for all configurations */
	struct sweep_key keys[SWEEP_KEYS];
	size_t key_count, configurations;
	size_t jobs; /* how many configurations run at once; 0: as many as there are cores */
	size_t done;
	int stopped_by; /* the number of a signal; 0: none */
	struct sweep_result *results; /* by the configuration's number; the values of the last key change fastest */
};

/* The index of the value that a configuration has for a key. */
size_t sweep_value(const struct sweep *s, size_t configuration, size_t key);
/* "sm_count=8,clock_mhz=700", after the overrides for all configurations. */
void sweep_overrides(const struct sweep *s, size_t configuration, struct gs_buf *out);
/* Plots time over the values of the first key, with a line for each combination of the others. */
void sweep_svg(const struct sweep *s, struct gs_buf *out);
void sweep_csv(const struct sweep *s, struct gs_buf *out);
void sweep_table(const struct sweep *s, struct gs_buf *out);
/* Runs all configurations, until a signal comes. Returns an exit code. */
int sweep_run(struct sweep *s);
/* Ends the process by the signal that stopped the sweep. */
void sweep_stop(const struct sweep *s);

#endif
