/*
 * shadow: how a twin is kept from changing what the application sees.
 *
 * A twin runs in one of the ways of enum twin_way (runtime/model/proof.h). Traced twins always run in the shadow. The results of a launch
 * are the kernel's own in all ways but direct, and direct is taken only where an earlier launch was verified, or where GPUSIM_TWIN asks
 * for it.
 *
 * Copies are made by commands in the application's own queue, just before what needs them.
 */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_SHADOW_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_SHADOW_H

#include "runtime/base/base.h"
#include "runtime/guest/driver/cl.h"

struct artifact_kernel;
struct commands;
struct context_pool;
struct kernel;
struct request;

/* Of which state of the memory a copy is. */
enum copy_of {
	COPY_FOR_TWIN, /* the twin runs on it */
	COPY_BEFORE,   /* verify: as it was before the launch */
	COPY_AFTER,    /* verify: as the kernel left it */
	COPY_KINDS
};

enum { MOST_OBJECTS = 64 };

/* A memory object of the application that a launch may write; of a sub-buffer, the buffer that it is a part of. */
struct shadowed_object {
	cl_mem original; /* used only while the launch is enqueued */
	bool image;
	size_t bytes, region[3]; /* region: of an image */
};

struct shadowed_argument {
	cl_uint index;
	size_t object;
	bool part; /* a sub-buffer */
	cl_buffer_region region;
};

/* What a launch may write. */
struct shadow_plan {
	struct shadowed_object objects[MOST_OBJECTS];
	struct shadowed_argument arguments[MOST_OBJECTS];
	size_t object_count, argument_count;
	uint64_t bytes; /* of all objects */
	cl_mem parts[MOST_OBJECTS]; /* sub-buffers of copies that are arguments now */
	size_t part_count;
};

/* With the kernel's lock held. Fails with the reason why the launch cannot be run on copies. */
int shadow_plan(const struct kernel *k, const struct artifact_kernel *facts, struct shadow_plan *plan, struct gs_error *err);

struct shadow; /* counted */

/* Copies for a plan, verify: of all kinds. NULL: they do not fit GPUSIM_SHADOW_MEMORY. Launches that follow one another in the same queue
 * share copies, because their commands do not overlap: the last few are kept for that. */
struct shadow *shadow_take(struct context_pool *pool, const struct request *r, cl_device_id device, const struct shadow_plan *plan,
                           bool verify);
/* Keeps no copies of a pool any more; NULL: of none. */
void shadow_forget(const struct context_pool *pool);
struct shadow *shadow_retain(struct shadow *s);
void shadow_release(struct shadow *s);
/* Enqueues a copy of the application's memory. */
cl_int shadow_copy(struct shadow *s, enum copy_of which, const struct shadow_plan *plan, struct commands *c);
/* Sets the copies as arguments of `kernel`; shadow_enqueued lets go of what the driver holds itself from its launch on. */
cl_int shadow_set(struct shadow *s, enum copy_of which, struct shadow_plan *plan, cl_kernel kernel);
void shadow_enqueued(struct shadow_plan *plan);
/* Whether copying so many bytes keeps the time that all copies take in proportion to that of the run. */
bool shadow_affordable(uint64_t bytes);
/* After all commands have completed: whether two copies hold the same bytes; -1: they cannot be read. */
int shadow_same(struct shadow *s, enum copy_of a, enum copy_of b);

#endif
