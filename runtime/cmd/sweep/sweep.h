/* A design space: every combination of some keys' values, and what a profile takes on each. */
#ifndef GPUSIM_RUNTIME_CMD_SWEEP_SWEEP_H
#define GPUSIM_RUNTIME_CMD_SWEEP_SWEEP_H

#include "runtime/base/base.h"

enum { SWEEP_KEYS = 8, SWEEP_VALUES = 64, SWEEP_MOST = 4096 };

struct sweep_key {
	char *name, *values[SWEEP_VALUES];
	size_t count;
};

/* What one configuration gave. */
struct sweep_result {
	bool done;
	double time_ns;     /* all kernels of the profile */
	char limiter[32];   /* of the kernel that takes longest */
	char kernel[64];    /* which that is */
	char *by_kernel;    /* lines NAME TIME_NS; owned */
};

struct sweep {
	const char *profile, *gpu, *set; /* set: overrides that all have */
	struct sweep_key keys[SWEEP_KEYS];
	size_t key_count, configurations;
	size_t jobs; /* configurations at once; 0: as many as cores */
	size_t done;
	int stopped_by; /* a signal; 0: none */
	struct sweep_result *results; /* by number; the last key's values change fastest */
};

/* Which value of a key a configuration has. */
size_t sweep_value(const struct sweep *s, size_t configuration, size_t key);
/* "sm_count=8,clock_mhz=700", after what all have. */
void sweep_overrides(const struct sweep *s, size_t configuration, struct gs_buf *out);
/* Time over the values of the first key, a line for each combination of the others. */
void sweep_svg(const struct sweep *s, struct gs_buf *out);
void sweep_csv(const struct sweep *s, struct gs_buf *out);
void sweep_table(const struct sweep *s, struct gs_buf *out);
/* Runs all configurations, until a signal comes. Returns an exit code. */
int sweep_run(struct sweep *s);
/* Ends the process by the signal. */
void sweep_stop(const struct sweep *s);

#endif
