/* report: which reports are wanted, and when they are written. Start reading here. */
#ifndef GPUSIM_RUNTIME_REPORT_REPORT_H
#define GPUSIM_RUNTIME_REPORT_REPORT_H

#include "runtime/model/launch_record.h"

bool report_wanted(const struct simulation *sim); /* any */
/* Adds a launch to the statistics and to the files. A file is valid after each of these calls. */
void report_launch(const struct launch_result *r);
void report_flush(struct simulation *sim);
void report_finish(struct simulation *sim); /* the last flush, and the text on stderr; once */
/* When a signal ends the program: no launch is added any more. False: that cannot be had within the time. */
bool report_lock_for_good(unsigned milliseconds);
/* With that lock held: the same as report_finish, the quickest first. */
void report_interrupted(struct simulation *sim);

#endif
