/* twin: the annotated program that runs beside or in place of the application's, one per device. */
#ifndef GPUSIM_RUNTIME_GUEST_PROGRAMS_TWIN_H
#define GPUSIM_RUNTIME_GUEST_PROGRAMS_TWIN_H

#include "runtime/guest/driver/cl.h"
#include "runtime/guest/support/units.h"
#include "runtime/model/artifact.h"

#include <pthread.h>

/* A twin is annotated while the driver builds the application's program. Its programs are built after that has succeeded: one for
 * all kernels, or one for a single kernel when that is first launched. */
enum twin_state { TWIN_NEW, TWIN_BUSY, TWIN_READY, TWIN_FAILED };

struct twin_program {
	struct twin_program *next;
	long kernel;           /* the only one of the artifact's that it has; -1: it has all */
	enum twin_state state;
	cl_program counting;
	struct gs_error why;   /* when failed */
	enum twin_state traced_state; /* of the program that traces: TWIN_NEW until a launch wants it */
	cl_program tracing;
	bool together; /* it is `counting`, and the kernels of it that trace have TRACED_PREFIX */
};

struct twin {
	struct twin *next;
	cl_device_id device;
	enum twin_state state; /* READY: it is annotated */
	struct artifact *artifact;
	struct gs_error why; /* when failed */
	struct twin_program *programs;
	size_t single_count; /* of those with one kernel */
};

struct build {
	atomic_int refs;
	cl_context context; /* retained */
	struct context_pool *pool;
	struct unit_list units;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool confirmed;    /* the application's own build has succeeded */
	bool told_to_wait; /* it was reported that this takes long */
	uint64_t builds_ns; /* twin_builds_ns when the driver began with the application's program */
	bool relaxed;      /* its options let the driver round as it likes */
	struct twin *twins;
};

struct build *build_new(cl_context context, const struct unit_list *units);
struct build *build_retain(struct build *b);
void build_release(struct build *b);
/* Asks the builder thread to go on with the twin on `device`. */
void build_schedule(struct build *b, cl_device_id device);
/* The application's own build has succeeded. What includes files is annotated before this returns: the files are
 * those that the driver read, and the application may change them next. */
void build_confirm(struct build *b);
/* The artifact of some annotated twin, or NULL; it lives as long as the build. */
struct artifact *build_artifact(struct build *b);
/* How long the driver has been building twins, up to now. */
uint64_t twin_builds_ns(void);
/* At exit: waits for a twin that the driver is building, and has none built from then on. */
void builder_finish(void);
/* The twin on `device`, annotated now if it has not been; waits for that. Never NULL unless out of memory. */
struct twin *build_twin(struct build *b, cl_device_id device);
/* The program of a twin that is annotated, for one of its kernels: built now if it has not been. NULL: out of memory. */
struct twin_program *build_program(struct build *b, struct twin *t, const struct artifact_kernel *k);
/* The program that traces beside it. NULL: there is none. */
cl_program build_traced(struct build *b, struct twin *t, struct twin_program *p);

#endif
