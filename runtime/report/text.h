/* The text report: text.c has its order and the table, text_kernel.c what the verbose form says of a kernel. */
#ifndef GPUSIM_RUNTIME_REPORT_TEXT_H
#define GPUSIM_RUNTIME_REPORT_TEXT_H

#include "runtime/config/show.h"
#include "runtime/model/stats.h"

struct text {
	struct simulation *sim;
	struct gs_buf out;
	bool colours, verbose;
	int gpu_width; /* of the column of GPUs, its blank included; 0: there is only one */
};

/* A line of the report, wrapped; `indent` blanks before what follows its first line. */
void text_line(struct text *t, int indent, const char *fmt, ...) GS_PRINTF(3, 4);
/* With the lock of the statistics held: where a kernel's cycles go on each GPU, what it executes, what limits its occupancy, how the models
 * came to it. */
void text_kernel(struct text *t, const struct kernel_stats *k);
/* What to change, most first. */
void text_advice(struct text *t);

#endif
