/* programs: records of the application's programs, for kernels.c. */
#ifndef GPUSIM_RUNTIME_GUEST_PROGRAMS_PROGRAMS_H
#define GPUSIM_RUNTIME_GUEST_PROGRAMS_PROGRAMS_H

#include "runtime/guest/driver/buffers.h"
#include "runtime/guest/support/units.h"
#include "runtime/runtime.h"

struct program {
	int refs;     /* the table's one, kernels', and callers' */
	int app_refs; /* the application's */
	int kernels;
	cl_program handle;
	cl_context context;
	enum program_origin origin;
	char *source; /* NULL unless created from source */
	size_t source_length;
	struct unit_list units; /* what was compiled; empty while nothing is known */
	struct build *build;    /* of the last build or link */
};

/* Who wants to know, once for the process: that the driver is about to change a program, and that a kernel of a build is gone,
 * whose pool of memory may hold something for it. */
struct program_listeners {
	void (*program_changes)(cl_program handle);
	void (*kernel_gone)(const struct context_pool *pool);
};
extern struct program_listeners program_listeners;

struct program *program_find(cl_program handle); /* a reference, or NULL */
void program_unref(struct program *p);
struct program *program_of_new_kernel(cl_program handle); /* a reference that counts as a kernel */
void program_kernel_gone(struct program *p);

#endif
