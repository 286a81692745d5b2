/* A design space: every combination of GPUs and of the values of some keys, and the time of a profile on each. */
#ifndef GPUSIM_RUNTIME_CMD_SWEEP_SWEEP_H
#define GPUSIM_RUNTIME_CMD_SWEEP_SWEEP_H

#include "models/gpu/gpu.h"
#include "runtime/base/base.h"
#include "runtime/config/options.h"

#include <jansson.h>
#include <sys/types.h>
#include <time.h>

enum { SWEEP_KEYS = 8, SWEEP_VALUES = 1024, SWEEP_MOST = 100000, SWEEP_COSTS = 16 };

/* The key "gpu", which is the last if there are several GPUs, has their names. All texts are owned. */
struct sweep_key {
	char *name, *values[SWEEP_VALUES];
	size_t count;
};

/* The cost of a configuration is the sum of these: a weight times the value of a key of the GPU, or the price of a GPU of that name. */
struct sweep_cost {
	const char *name; /* not terminated */
	size_t length;
	double weight;
};

/* The result of one configuration. */
struct sweep_result {
	bool done, claimed; /* claimed: it runs in this process (ranks.c) */
	double time_ns;     /* of all kernels of the profile */
	char limiter[32];   /* of the kernel that takes longest */
	char kernel[64];    /* the kernel that takes longest */
	char *by_kernel;    /* lines TIME_NS LIMITER NAME, whose name may have spaces; owned */
	double cost;        /* where costs are given */
	bool best;          /* no other is both faster and cheaper */
};

struct sweep {
	const char *only; /* the launches to model (only.h); NULL: all */
	const char *profile, *gpu, *set; /* gpu: one, or names with commas; set: overrides for all configurations */
	struct sweep_key keys[SWEEP_KEYS + 1];
	size_t key_count, configurations;
	struct sweep_cost costs[SWEEP_COSTS];
	size_t cost_count;
	size_t jobs; /* how many configurations run at once; 0: as many as there are cores */
	size_t done, shown; /* shown: as progress */
	int stopped_by; /* the number of a signal; 0: none */
	struct sweep_result *results; /* by the configuration's number; the values of the last key change fastest */
	void (*choose)(size_t configuration, struct gs_options *options); /* NULL, or sets further options of a configuration */
	bool shared;    /* by several processes (ranks.c) */
	bool gathers;   /* this one shows what all of them find; of those that share, it is one */
	bool joins;     /* it helps with a sweep that another process gathers (--join) */
	bool submits;   /* it gathers, and runs nothing: a job of Slurm does (slurm.c) */
	int claims;     /* if it is: their file */
	size_t settled; /* if it is: of so many configurations, from the first on, all claims have ended */
	int kept;       /* the file that results are kept in as they come; -1: none */
	off_t kept_read; /* up to there, results of that file are known */
	size_t *by_name, name_slots; /* a table: configurations + 1 by the hashes of their names; 0: free */
	const char *prefix; /* of files */
	int growing;    /* PREFIX.csv while the sweep runs; -1: it has no rows yet */
	size_t grown;   /* so many configurations are in it */
};

/* The index of the value that a configuration has for a key. */
size_t sweep_value(const struct sweep *s, size_t configuration, size_t key);
bool sweep_is_gpu(const struct sweep_key *key);
const char *sweep_gpu(const struct sweep *s, size_t configuration);
/* "sm_count=8,clock_mhz=700", after the overrides for all configurations. */
void sweep_overrides(const struct sweep *s, size_t configuration, struct gs_buf *out);

/* values.c: reads "key=1,2,8..64:8,1K..8K:x2" and "key=weight,gpu=price". Each returns an exit code. */
int sweep_take_vary(struct sweep *s, const char *text);
int sweep_take_gpus(struct sweep *s, const char *names);
int sweep_take_costs(struct sweep *s, const char *text);
int sweep_check_costs(const struct sweep *s);
/* Of a GPU as it is in a configuration. */
double sweep_cost(const struct sweep *s, const struct gpu *gpu);
/* Marks the configurations that no other beats in both time and cost. */
void sweep_mark_best(struct sweep *s);

/* plot.c: time over the values of the first key, with a line for each combination of the others; and time over cost. */
void sweep_svg(const struct sweep *s, struct gs_buf *out);
void sweep_cost_svg(const struct sweep *s, struct gs_buf *out);
void sweep_time_text(struct gs_buf *out, double ns);
void sweep_csv_head(const struct sweep *s, struct gs_buf *out);
void sweep_csv_rows(const struct sweep *s, size_t configuration, struct gs_buf *out);
void sweep_csv(const struct sweep *s, struct gs_buf *out);
/* grow.c: PREFIX.csv grows in order: a configuration's rows come when all before it are known. What is best is known at the end only. */
void sweep_grow(struct sweep *s);
void sweep_grow_ends(struct sweep *s);
void sweep_table(const struct sweep *s, struct gs_buf *out);
void sweep_page(const struct sweep *s, struct gs_buf *out);

/* kept.c: results go to PREFIX.part as they come. An interrupted sweep of the same profile with the same options goes on from there. */
void sweep_keep_open(struct sweep *s, const char *prefix, const char *options, bool clear); /* clear: it may remove those of another sweep */
void sweep_keep(struct sweep *s, size_t configuration, const char *result);
void sweep_keep_read(struct sweep *s); /* takes what others have kept */
void sweep_keep_close(struct sweep *s, const char *prefix);
/* Takes the text of a result, which run.c's children write. False if it is none. */
bool sweep_take_result(struct sweep *s, size_t configuration, const char *text);

/* The time of a kernel in a configuration; NULL: of all kernels. NAN: not known. */
double sweep_time_of(const struct sweep *s, size_t configuration, const char *kernel);
/* The kernels of a configuration, those that take longest first: *line is its by_kernel at first. False: there are no more. */
struct sweep_kernel {
	char name[1024], limiter[32];
	double time_ns;
};
bool sweep_next_kernel(const char **line, struct sweep_kernel *out);
/* Prints a document, which it frees, on stdout; NULL: there was no memory for it. Returns the exit code of the command. */
int sweep_print_json(json_t *document, const char *command);
/* A name as a field of CSV: in quotes if need be. */
void sweep_csv_name(struct gs_buf *out, const char *name);
/* A profile is read once for each configuration. Returns an exit code; `command` complains. */
int sweep_check_profile(const char *profile, const char *command);
/* One key, that stays as it is, with so many values: configurations that differ in other ways. Returns 0 or -1: out of memory. */
int sweep_alike(struct sweep *s, const struct gpu *gpu, size_t count);
void sweep_free(struct sweep *s); /* keys and results */

/* ranks.c: several processes of mpirun or srun divide a sweep. The first returns whether there are several. sweep_share opens what is kept, too, and returns 0, or -1
 * with errno. A claim is a configuration that is this process's to run; s->configurations: there is none now. */
bool sweep_is_shared(void);
int sweep_share(struct sweep *s, const char *prefix, const char *options);
size_t sweep_claim(struct sweep *s);
void sweep_claim_ends(struct sweep *s, size_t configuration, bool done);
bool sweep_claims_open(struct sweep *s); /* of anybody */
void sweep_unshare(struct sweep *s, const char *prefix);

/* Runs all configurations that have no result yet, until a signal comes. Returns an exit code. */
int sweep_run(struct sweep *s);
/* What sweep_run does while it waits, for others who wait: signals that stop a sweep are watched; a pause, which they end; the one that came, or 0; what is known now
 * is shown and goes to the CSV. */
void sweep_watch(bool on);
void sweep_pause(const struct timespec *most);
int sweep_signal(void);
void sweep_show(struct sweep *s);
/* Ends the process by the signal that stopped the sweep. */
void sweep_stop(const struct sweep *s);

#endif
