/* advice: what would make a kernel, or the whole program, take less time, as reports show it. */
#ifndef GPUSIM_RUNTIME_MODEL_ADVICE_H
#define GPUSIM_RUNTIME_MODEL_ADVICE_H

#include <stddef.h>
#include <stdint.h>

enum { ADVICE_MOST = 8 }; /* of a kernel on a target */

struct advice {
	const char *rule;   /* its name */
	const char *remedy; /* what to do, an imperative sentence without a stop */
	char file[160];     /* of the source; empty: of no line */
	uint32_t line;
	char evidence[240]; /* what was found */
	double saving;      /* of the time of the kernel, or of the program: 0 to 1, by the models */
};

/* Of a kernel on a target: what was found in one launch of it. */
struct advice_list {
	double time_ns; /* of the launch */
	double part;    /* of its groups that trials were made with; 0: all */
	size_t count;
	struct advice list[ADVICE_MOST]; /* most first */
};

#endif
