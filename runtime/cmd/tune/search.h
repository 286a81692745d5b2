/*
 * search: the second half of gpusim tune: keys that OpenCL's microbenchmarks do not show (docs/tuning.md).
 *
 *   rows.c    launches of kernels/micro's PTX and how long they take: a machine's measured times, as a table
 *   stamps.c  what clocks inside of kernels tell, on real GPUs
 *   trial.c   the same launches in the models, with candidates for keys
 *   search.c  which candidates come nearest to the measured times
 */
#ifndef GPUSIM_RUNTIME_CMD_TUNE_SEARCH_H
#define GPUSIM_RUNTIME_CMD_TUNE_SEARCH_H

#include "runtime/cmd/tune/cuda.h"
#include "runtime/cmd/tune/tune.h"

enum { ROWS_MOST = 64, STAMPS_MOST = 8 };

/* A launch whose time is measured. What counts is its time less that of the row `against`, so that what a launch takes anyway cancels. */
struct tune_row {
	const char *part; /* of the search, which compares these rows */
	const char *name, *against; /* against: NULL: it is one of those that others are compared with */
	const char *file, *kernel;
	unsigned per_sm;  /* groups; 0: one group in all */
	unsigned threads;
	bool lone;        /* an SM has room for one group */
	uint32_t numbers[CUDA_NUMBERS];
	int real;         /* which of the numbers is a factor of 0.5 instead; -1: none */
	unsigned count;   /* of numbers */
};
extern const struct tune_row tune_rows[];
extern const size_t tune_row_count;

/* A key that was measured without a search. */
struct tune_stamp {
	char key[32];
	double value, spread; /* cycles; clock_mhz: MHz */
};

struct tune_times {
	char machine[128], driver[32];
	unsigned units;
	struct tune_sample rows[ROWS_MOST]; /* ns: NAN: not measured */
	struct tune_stamp stamps[STAMPS_MOST];
	size_t stamp_count;
};

/* ---- rows.c ---- */
/* Every row is launched 1 + repeats times in the order of the table, and the first is not counted. */
enum { REPEATS = 9, REPEATS_SIMULATED = 1 };
size_t tune_row_index(const char *name); /* tune_row_count: there is none */
/* only: of these parts, with commas; NULL: of all. The others are NAN. */
int tune_measure_rows(struct cuda_machine *m, const char *only, struct tune_times *times, FILE *log);
void tune_write_times(const struct tune_times *times, struct gs_buf *out);
int tune_read_times(const char *path, struct tune_times *times, struct gs_error *err);

/* ---- stamps.c ---- */
/* Nothing is measured on a simulated GPU. */
int tune_measure_stamps(struct cuda_machine *m, struct tune_times *times, FILE *log);

/* ---- trial.c ---- */

/* The launches of a part, recorded, to be modelled with other values of keys. */
struct tune_trials {
	const char *base, *part; /* base: name of the description */
	char folder[64], profile[96]; /* temporary */
};

int trials_begin(struct tune_trials *trials, const char *base, const char *part, struct gs_error *err);
void trials_end(struct tune_trials *trials);
/* What the rows of the part take with these overrides. */
int trials_run(const struct tune_trials *trials, const char *set, double ns[ROWS_MOST], struct gs_error *err);

/* ---- search.c ---- */
struct search_arguments {
	const char *times;    /* measure, write the times here, and do not search */
	const char *measured; /* take times from here instead of measuring */
	const char *only;     /* parts, with commas; NULL: all */
};
/* Measures with CUDA, or reads what was measured; then searches, and reports values (tune_put). */
int tune_search(struct tuner *t, const struct search_arguments *a);
void search_print_parts(void); /* for --help */
const char *search_part_name(size_t i); /* NULL: there are no more */

#endif
