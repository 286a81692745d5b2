/* twin: the annotated program that runs beside or in place of the application's, one per device. */
#ifndef GPUSIM_RUNTIME_GUEST_PROGRAMS_TWIN_H
#define GPUSIM_RUNTIME_GUEST_PROGRAMS_TWIN_H

#include "runtime/guest/driver/cl.h"
#include "runtime/guest/support/units.h"
#include "runtime/model/artifact.h"

#include <pthread.h>

/* A twin is annotated while the driver builds the application's program. The twin's programs are built after that has
 * succeeded: one for all kernels, or one for a single kernel at its first launch. */
enum twin_state { TWIN_NEW, TWIN_BUSY, TWIN_READY, TWIN_FAILED };

struct twin_program {
	struct twin_program *next;
	long kernel;           /* the only kernel of the artifact that it has; -1: it has all */
	enum twin_state state;
	cl_program counting;
	struct gs_error why;   /* why it failed */
	enum twin_state traced_state; /* of the program that traces; TWIN_NEW until a launch wants it */
	cl_program tracing;
	bool together; /* `tracing` is `counting`, and its kernels that trace have TRACED_PREFIX */
};

struct twin {
	struct twin *next;
	cl_device_id device;
	enum twin_state state; /* READY: it is annotated */
	struct artifact *artifact;
	struct gs_error why; /* why it failed */
	struct twin_program *programs;
	size_t single_count; /* number of programs with one kernel */
};

struct build {
	atomic_int refs;
	cl_context context; /* we hold a reference */
	struct context_pool *pool;
	struct unit_list units;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool confirmed;    /* the application's own build has succeeded */
	bool told_to_wait; /* a message has said that this takes long */
	uint64_t builds_ns; /* twin_builds_ns() when the driver began to build the application's program */
	bool relaxed;      /* its options allow the driver to round differently */
	struct twin *twins;
};

struct build *build_new(cl_context context, const struct unit_list *units);
struct build *build_retain(struct build *b);
void build_release(struct build *b);
/* Asks the builder thread to go on with the twin on `device`. */
void build_schedule(struct build *b, cl_device_id device);
/* The application's own build has succeeded. If the source includes files, it is annotated before this returns. The files are
 * then the same that the driver has read; the application may change them afterwards. */
void build_confirm(struct build *b);
/* The artifact of some annotated twin, or NULL; it lives as long as the build. */
struct artifact *build_artifact(struct build *b);
/* How long the driver has been building twins, up to now. */
uint64_t twin_builds_ns(void);
/* At exit: waits for a twin that the driver is building. After that no twin is built. */
void builder_finish(void);
/* The twin on `device`. It is annotated now if it has not been; this waits for that. NULL only when out of memory. */
struct twin *build_twin(struct build *b, cl_device_id device);
/* The program of an annotated twin that has this kernel. It is built now if it has not been. NULL: out of memory. */
struct twin_program *build_program(struct build *b, struct twin *t, const struct artifact_kernel *k);
/* The program that traces, for the same kernels. NULL: there is none. */
cl_program build_traced(struct build *b, struct twin *t, struct twin_program *p);

/* A program of one text, without a twin. NULL: it cannot be built, or the program is ending. */
cl_program build_text(cl_context context, cl_device_id device, const char *text, const char *options, struct gs_error *err);
/* Whether kernels on a device can call functions of this library (runtime/format/native.h). */
bool native_traces(cl_device_id device);

#endif
