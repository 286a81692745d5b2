/* totals: what all commands of a schedule say together. */
#ifndef GPUSIM_RUNTIME_TIMELINE_TOTALS_H
#define GPUSIM_RUNTIME_TIMELINE_TOTALS_H

#include "runtime/timeline/schedule.h"

/* On one target, in ns. */
struct schedule_totals {
	double program; /* from the application's first call to its last, or to the end of the last command */
	double busy;    /* of that, with a launch or a copy under way */
	double commands; /* launches and copies, each by itself; more than busy where they overlap */
};

/* Of commands that are done. */
struct schedule_totals schedule_totals(const struct schedule *s, size_t target);
/* The same of one of the program's GPUs; `program` is that of all. */
struct schedule_totals schedule_device_totals(const struct schedule *s, size_t target, uint32_t device);
/* Gives each command of an out-of-order queue the first lane in which it overlaps with no other of its engine on this target. */
enum { SCHEDULE_LANES = 128 };
void schedule_lanes(struct schedule *s, size_t target);

#endif
