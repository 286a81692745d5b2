/* programs: records of the application's programs, for kernels.c. */
#ifndef GPUSIM_RUNTIME_GUEST_PROGRAMS_PROGRAMS_H
#define GPUSIM_RUNTIME_GUEST_PROGRAMS_PROGRAMS_H

#include "runtime/guest/driver/buffers.h"
#include "runtime/guest/support/units.h"
#include "runtime/runtime.h"

struct program {
	int refs;     /* of the table, of kernels, and of callers */
	int app_refs; /* references of the application */
	int kernels;
	cl_program handle;
	cl_context context;
	enum program_origin origin;
	char *source; /* NULL: it was not created from source */
	size_t source_length;
	struct unit_list units; /* what was compiled; empty if nothing is known */
	struct build *build;    /* of the latest build or link */
};

/* Functions to call, set once for the process: when the driver is about to change a program, and when a kernel of a build is
 * gone. The pool of its build may still hold memory for that kernel. */
struct program_listeners {
	void (*program_changes)(cl_program handle);
	void (*kernel_gone)(const struct context_pool *pool);
};
extern struct program_listeners program_listeners;

struct program *program_find(cl_program handle); /* with a reference; or NULL */
void program_unref(struct program *p);
struct program *program_of_new_kernel(cl_program handle); /* with a reference that counts as a kernel */
void program_kernel_gone(struct program *p);

#endif
