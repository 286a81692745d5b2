/*
 * gpusim tune: measures a GPU with the kernels of kernels/micro and describes it (docs/tuning.md).
 *
 * A benchmark runs launches (runtime/cmd/tune/cl.c), takes slopes of their times (runtime/cmd/tune/fit.c) and reports values of
 * keys (runtime/cmd/tune/values.c), where they are checked. The base is the description to start from. A value that cannot be
 * measured stays as in the base, with the reason. Nothing here is linked with OpenCL.
 */
#ifndef GPUSIM_RUNTIME_CMD_TUNE_TUNE_H
#define GPUSIM_RUNTIME_CMD_TUNE_TUNE_H

#include "models/gpu/gpu.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

struct micro_source {
	const char *name, *text;
};
extern const struct micro_source micro_sources[]; /* kernels/micro, ends with a NULL name; made by the Makefile */

/* ---- runtime/cmd/tune/tune.c ---- */
bool tune_is_listed(const char *list, const char *name); /* in names with commas */

/* ---- runtime/cmd/tune/cl.c: the device ---- */

enum { TUNE_ARGUMENTS = 8, TUNE_PROGRAMS = 16 };

struct tune_argument {
	enum { TUNE_END, TUNE_MEM, TUNE_UINT, TUNE_ULONG, TUNE_LOCAL } kind;
	union {
		cl_mem mem;
		cl_uint number;
		cl_ulong wide;
		size_t bytes;
	};
};
#define MEM(m) {.kind = TUNE_MEM, .mem = (m)}
#define UINT(n) {.kind = TUNE_UINT, .number = (cl_uint)(n)}
#define ULONG(n) {.kind = TUNE_ULONG, .wide = (n)}
#define LOCAL(n) {.kind = TUNE_LOCAL, .bytes = (n)}

struct tune_job {
	const char *file, *options, *kernel; /* options of the build; NULL: none */
	size_t global, local;
	struct tune_argument arguments[TUNE_ARGUMENTS + 1];
};

/* A median of repeats, and their spread: (largest - smallest) / median, without the worst. */
struct tune_sample {
	double ns, spread;
};

struct tune_cl; /* OpenCL's functions and objects */

struct tune_device {
	char name[128], platform[128], driver[64];
	cl_uint units, clock_mhz;
	size_t group_size;
	cl_ulong memory_bytes, most_bytes, local_bytes;
	bool is_nvidia;       /* NVIDIA's OpenCL: it takes PTX in the source, and reports registers in the build's log */
	cl_uint major, minor; /* compute capability, if is_nvidia */
};

struct tuner {
	struct tune_cl *cl;
	struct tune_device device;
	const char *base_name, *api; /* api: what measures */
	struct gpu base;
	struct gpu_origin *origins; /* where the values of base come from */
	struct tune_value *values;  /* one for each key */
	cl_mem out;                 /* where kernels would store results */
	size_t out_items;           /* the largest global size */
	double clock_mhz;           /* used to turn times into cycles */
	unsigned repeats;
	bool quick;  /* a CPU executes every work-item, so launches are small */
	FILE *log;   /* gets every time that was measured */
	struct gs_error error;
	char date[16];
};

/* Opens a device: number `index` over all platforms. -1: the first GPU, or the first device if there is no GPU. Its queue has
 * profiling. */
int tune_open(struct tuner *t, int index);
void tune_close(struct tuner *t);
/* Prints one line per device on stdout. */
int tune_list(struct tuner *t);
/* The messages of the compiler; "" if there are none. */
int tune_build_log(struct tuner *t, const char *file, const char *options, char *text, size_t size);
/* Runs a job 1 + repeats times. */
int tune_run(struct tuner *t, const struct tune_job *job, struct tune_sample *s);
/* Allocates device memory. tune_free frees it. `data` may be NULL. Returns NULL after an error. */
cl_mem tune_buffer(struct tuner *t, size_t bytes, const void *data);
void tune_free(struct tuner *t, cl_mem mem);
int tune_read(struct tuner *t, cl_mem mem, void *data, size_t bytes);
/* Measures a copy from pinned memory, if the driver pins memory. */
int tune_copy(struct tuner *t, size_t bytes, struct tune_sample *s);
void tune_say(struct tuner *t, const char *fmt, ...) GS_PRINTF(2, 3); /* writes a line to the log */

/* ---- runtime/cmd/tune/fit.c ---- */

void tune_median(double *samples, size_t count, struct tune_sample *s);
/* Cycles (in the member `ns`) of one step. The second loop has `steps` more of them than the first. */
struct tune_sample tune_step(const struct tuner *t, const struct tune_sample slopes[2], unsigned steps);
/* Measures how much longer a job takes for each step of its argument from `low` to `high`. */
int tune_slope(struct tuner *t, struct tune_job *job, unsigned argument, uint32_t low, uint32_t high, struct tune_sample *s);
double tune_cycles(const struct tuner *t, double ns);

/* ---- runtime/cmd/tune/values.c: results ---- */

enum { TUNE_HOW_SIZE = 112 };

struct tune_value {
	bool measured, told, taken; /* told: the log has it; taken: in the description already, with another */
	double value, spread;
	char word[16];           /* the value, where it is a word; "": it is a number */
	char how[TUNE_HOW_SIZE]; /* how it was measured, or why it was not */
};

/* Reports a value. The latest one counts. least and most are the limits of what is physically plausible. */
void tune_put(struct tuner *t, const char *key, double value, double spread, double least, double most, const char *fmt, ...)
	GS_PRINTF(7, 8);
/* The same of a value that is given as text: a number or a word. */
void tune_put_text(struct tuner *t, const char *key, const char *text, const char *fmt, ...) GS_PRINTF(4, 5);
/* Adds the text of a measured value. False: it was not measured. */
bool tune_value_text(const struct tuner *t, const char *key, struct gs_buf *out);
void tune_keep(struct tuner *t, const char *key, const char *fmt, ...) GS_PRINTF(3, 4);
/* The measured value, or the base's. */
double tune_value(const struct tuner *t, const char *key);
/* The whole description as text. */
int tune_describe(struct tuner *t, const char *name, struct gs_buf *out);

/* Rounds cycles. Latencies are whole cycles if one is near. Initiation intervals are powers of two, because numbers of lanes
 * are. */
double tune_whole(double cycles);
double tune_power(double value, double tolerance);
/* Sizes are round. Returns the multiple of the largest power of two between the two, which are whole. */
double tune_roundest(double least, double most);

/* ---- runtime/cmd/tune/chase.c ---- */

/* A chase: nodes in memory, each with the address of the next (kernels/micro/memory.cl). */
struct tune_chase {
	cl_mem area;
	size_t slot;          /* offset of one more node, after all others, at which chases begin */
	size_t stride, apart; /* bytes from node to node; for pairs, from pair to pair and within a pair */
	uint32_t count, step; /* number of nodes; how many nodes further the next one is */
	uint32_t low, high;   /* rounds of 16 loads; the slope is taken between the two */
};

/* A step that visits all nodes and goes far each time. */
uint32_t tune_golden_step(uint32_t count);
int tune_link_nodes(struct tuner *t, const struct tune_chase *c);
/* Links the nodes and measures the cycles of a load. */
int tune_chase_cycles(struct tuner *t, const struct tune_chase *c, struct tune_sample *s);
/* A number of bytes that do not fit into L1 but fit into L2, far from both sizes. */
size_t tune_l2_room(const struct tuner *t);
/* Reads the bytes of the area from `from` to `to`. L2 has them afterwards. */
int tune_touch(struct tuner *t, cl_mem area, size_t from, size_t to);

/* ---- benchmarks ---- */

int tune_clock(struct tuner *t);
int tune_device_facts(struct tuner *t);
int tune_compute(struct tuner *t);
int tune_issue(struct tuner *t);
int tune_warp(struct tuner *t);
int tune_barrier(struct tuner *t);
int tune_local(struct tuner *t);
int tune_l1(struct tuner *t);
int tune_l2(struct tuner *t);
int tune_dram(struct tuner *t);
int tune_lines(struct tuner *t);
int tune_bandwidth(struct tuner *t);
int tune_atomics(struct tuner *t);
int tune_limits(struct tuner *t);
int tune_launch(struct tuner *t);
int tune_link(struct tuner *t);

#endif
