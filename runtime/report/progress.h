/* progress: one line on a terminal while long launches are modelled; for the thread that models. */
#ifndef GPUSIM_RUNTIME_REPORT_PROGRESS_H
#define GPUSIM_RUNTIME_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct simulation;

bool progress_due(const struct simulation *sim); /* modelling has taken a while, and the line is not of just now */
void progress_show(const char *kernel, uint64_t done, unsigned long left);
void progress_clear(void); /* the thread rests, or something else is printed */

#endif
