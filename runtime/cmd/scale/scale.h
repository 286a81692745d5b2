/*
 * scale: the description of a GPU that does not exist, from one that does and what is to be different.
 *
 * What follows from a wish is a rule. Every key of the output that a rule changed names it, with its source. What nothing was said of stays as
 * in the base: a chip with more SMs is not otherwise a better one.
 */
#ifndef GPUSIM_RUNTIME_CMD_SCALE_SCALE_H
#define GPUSIM_RUNTIME_CMD_SCALE_SCALE_H

#include "models/gpu/gpu.h"

/* Wishes; 0 or NULL: none. */
struct scale_wishes {
	double sms, clock_mhz, dram_gbps, dram_channels, dram_gb, l2_mb, fp32_lanes, fp64_lanes, link_gbps;
	const char *node, *from_node; /* "5nm", "5" or "N5" */
};

/* A key that is not as in the base. */
struct scale_change {
	const char *key;
	double value;
	char rule[200];
};

enum { SCALE_MOST_CHANGES = 64 };
struct scale {
	struct gpu base;
	struct scale_change changes[SCALE_MOST_CHANGES];
	size_t count;
	double clock_mhz; /* of the result */
	struct gs_error error;
};

/* rules.c: the changes that follow from the wishes. Returns 0, or a negative errno value with a sentence in s->error. */
int scale_apply(struct scale *s, const struct scale_wishes *wishes);
/* The same change twice: the later counts. */
void scale_set(struct scale *s, const char *key, double value, const char *rule, ...) GS_PRINTF(4, 5);

/* nodes.c: how much faster at the same power, and how much less energy at the same speed, a process is than another. */
struct scale_node_step {
	double speed, energy;
	char source[160]; /* the steps in between */
};
/* Returns 0, or a negative errno value with a sentence in *err. */
int scale_nodes(const char *from, const char *to, struct scale_node_step *out, struct gs_error *err);
const char *scale_node_of(const char *arch); /* that NVIDIA made GPUs of the architecture in; NULL: not known */

#endif
