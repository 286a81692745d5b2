/*
 * correlate: compares estimates with truth (measured values), case by case and counter by counter. An observation is one metric
 * of one case.
 *
 *   correlate.c        the command: arguments, thresholds, files
 *   runtime/cmd/correlate/tables.c tables of truth, lists of cases
 *   runtime/cmd/correlate/read.c   reports and results; what they have in common with truth becomes observations
 *   runtime/cmd/correlate/stats.c  statistics of observations
 *   runtime/cmd/correlate/print.c  observations as text and CSV
 *   runtime/cmd/correlate/svg.c    observations as scatter plots
 *
 * Nothing is dropped: what cannot be compared is an observation with a reason.
 */
#ifndef GPUSIM_RUNTIME_CMD_CORRELATE_CORRELATE_H
#define GPUSIM_RUNTIME_CMD_CORRELATE_CORRELATE_H

#include "runtime/base/base.h"

enum metric_kind { METRIC_SUM, METRIC_TIME, METRIC_RATE, METRIC_EACH };

struct metric {
	const char *name, *truth, *divisor, *estimate;
	enum metric_kind kind;
};

#define METRIC(name, truth, divisor, estimate, kind) METRIC_##name,
enum metric_id {
#include "runtime/cmd/correlate/correlate.def"
	METRIC_COUNT
};
#undef METRIC
extern const struct metric metrics[METRIC_COUNT];

enum { CORRELATE_NAME = 128, CORRELATE_WHY = 120 };

struct observation {
	enum metric_id metric;
	char name[CORRELATE_NAME], kernel[CORRELATE_NAME], group[CORRELATE_NAME]; /* group: the case's file, without its ending */
	char half;                /* 'A' or 'B' by the kernel's rank; '-' without a list of cases */
	double estimate, truth;   /* NAN: not known */
	char why[CORRELATE_WHY];  /* why it is left out; "" if it is not */
};

/* A line of a list of cases (kernels/cases.h). */
struct listed_case {
	char name[CORRELATE_NAME], group[CORRELATE_NAME], kernel[CORRELATE_NAME];
	uint64_t items;
};

struct case_list {
	struct listed_case *list;
	size_t count;
};

enum { TABLE_COLUMNS = 64 };

struct table_row {
	char *cells[TABLE_COLUMNS]; /* point into the table's text */
	bool used;                  /* it has been compared */
};

struct truth_table {
	struct truth_table *next;
	char *path;
	struct gs_buf text, comments; /* comments: lines without their '#' */
	size_t columns, row_count;
	char *header[TABLE_COLUMNS];
	struct table_row *rows;
};

struct left_out {
	const char *name; /* a shell pattern */
	const char *why;
};

struct correlation {
	struct observation *list;
	size_t count, room;
	struct truth_table *tables; /* the latest one first */
	struct case_list cases;     /* cases of the reports that follow; count 0: none */
	bool host_time;             /* without a table, what the host device took is truth */
	struct case_list full;      /* sizes for which truth was measured; count 0: the sizes that ran */
	char **kernels;             /* of all lists of cases */
	size_t kernel_count;
	const char *only, *config, *gpu;
	struct left_out *without;
	size_t without_count;
	struct gs_buf about; /* lines that say what was compared with what */
};

/* ---- runtime/cmd/correlate/tables.c ---- */
/* Reads comma-separated values, with '#' before comments and a column named case. Takes *text over. */
int table_read(const char *path, struct gs_buf *text, struct truth_table **out, struct gs_error *err);
void table_free(struct truth_table *t);
int table_column(const struct truth_table *t, const char *name); /* -1: there is no such column */
const char *table_cell(const struct truth_table *t, const struct table_row *r, const char *column);
double table_number(const struct truth_table *t, const struct table_row *r, const char *column); /* NAN: the cell is not a number */
int correlate_cases(struct correlation *c, const char *path, struct case_list *out, struct gs_error *err);
const struct listed_case *listed_case(const struct case_list *list, const char *name); /* or NULL */

/* ---- runtime/cmd/correlate/read.c: each returns 0 or a negative error ---- */
/* Takes a report, a table of truth (with a column case, and none named metric), or results as correlate_csv writes them. */
int correlate_take(struct correlation *c, const char *path, struct gs_error *err);
/* After all files: adds halves, cases without a report, and cases that were left out by name. */
int correlate_finish(struct correlation *c, struct gs_error *err);
/* Lists columns of truth that have no counterpart in a report. */
void correlate_unused(const struct correlation *c, struct gs_buf *out);
void correlate_free(struct correlation *c);

/* ---- runtime/cmd/correlate/stats.c ---- */
/* A part of the observations: all of a metric. If group, kernel or half is not NULL or 0, only those of that group, kernel or
 * half. */
struct selection {
	enum metric_id metric;
	const char *group, *kernel;
	char half;
};

struct statistics {
	size_t count, left_out;
	double mean, median, worst; /* of absolute errors; worst has its sign. For rates, in points */
	const char *worst_name;
	double correlation;         /* of logarithms (rates: of values); NAN with fewer than three */
	double bias;                /* mean of errors with their signs */
};

bool selected(const struct observation *o, const struct selection *s);
/* The relative error, as a fraction of 1. For rates it is the difference. */
double observation_error(const struct observation *o);
int statistics_of(const struct correlation *c, const struct selection *s, struct statistics *out, struct gs_error *err);
/* The number of cases whose error is at most `most`, a fraction of 1. */
size_t count_within(const struct correlation *c, const struct selection *s, double most);

/* ---- runtime/cmd/correlate/print.c, runtime/cmd/correlate/svg.c ---- */
int correlate_text(const struct correlation *c, enum metric_id metric, bool split, struct gs_buf *out, struct gs_error *err);
void correlate_csv(const struct correlation *c, struct gs_buf *out);
int correlate_summary_csv(const struct correlation *c, bool split, struct gs_buf *out, struct gs_error *err);
/* Draws one metric in a large plot, or all other metrics that have something to compare in small plots. */
void correlate_svg(const struct correlation *c, enum metric_id metric, struct gs_buf *out);
void correlate_panels_svg(const struct correlation *c, enum metric_id but, struct gs_buf *out);

#endif
