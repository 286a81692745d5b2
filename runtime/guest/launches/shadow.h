/*
 * shadow: how we keep a twin from changing what the application sees.
 *
 * A twin runs in one of the ways of enum twin_way (runtime/model/proof.h). In the shadow, it runs on copies of memory. Traced
 * twins do, except those of whole launches that take long and were verified, and with GPUSIM_TWIN=direct if the memory cannot be
 * copied. In all ways but direct, the application sees the results of its own kernel. The twin runs direct only if an earlier launch was verified, or if GPUSIM_TWIN asks for it.
 *
 * Copies are made by commands in the application's own queue, just before the commands that need them. The application may release or
 * change its memory as soon as it has launched a kernel, so nothing but these commands uses it. A verification may run the kernel again
 * later, on a thread of ours. It therefore copies what the kernel only reads, too.
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

/* Which state of the memory a copy holds. */
enum copy_of {
	COPY_FOR_TWIN, /* the twin runs on it */
	COPY_BEFORE,   /* verify: the memory before the launch */
	COPY_AFTER,    /* verify: the memory after the kernel */
	COPY_KINDS
};

enum { MOST_OBJECTS = 64 };

/* A memory object of the application that a launch may write, or read. For a sub-buffer, this is the buffer that it is a part of. */
struct shadowed_object {
	cl_mem original; /* used only while the launch is enqueued */
	bool image;
	size_t bytes, region[3]; /* region: only for an image */
};

struct shadowed_argument {
	cl_uint index;
	size_t object;
	bool part; /* a sub-buffer */
	cl_buffer_region region;
};

/* All that a launch may write, or all that it only reads. */
struct shadow_plan {
	struct shadowed_object objects[MOST_OBJECTS];
	struct shadowed_argument arguments[MOST_OBJECTS];
	size_t object_count, argument_count;
	uint64_t bytes; /* of all objects together */
	cl_mem parts[MOST_OBJECTS]; /* sub-buffers of copies that are set as arguments now */
	size_t part_count;
};

/* With the kernel's lock held. If the launch cannot run on copies, it fails, and *err says why. */
int shadow_plan(const struct kernel *k, const struct artifact_kernel *facts, struct shadow_plan *plan, struct gs_error *err);

/* The same for memory that the launch only reads. `written` is what it may write. */
int shadow_plan_inputs(const struct kernel *k, const struct artifact_kernel *facts, const struct shadow_plan *written, struct shadow_plan *plan,
                       struct gs_error *err);

struct shadow; /* has a reference count */

/* Copies for a plan; with verify, all kinds of copies. NULL: they do not fit GPUSIM_SHADOW_MEMORY. Launches that follow one
 * another in the same queue share copies, because their commands do not overlap. The latest few copies are kept for that. */
struct shadow *shadow_take(struct context_pool *pool, const struct request *r, cl_device_id device, const struct shadow_plan *plan,
                           bool verify);
/* Copies of what a launch only reads: COPY_BEFORE. No other launch shares them. */
struct shadow *shadow_take_inputs(struct context_pool *pool, const struct request *r, cl_device_id device, const struct shadow_plan *plan);
/* Releases the kept copies of a pool; NULL: of all pools. */
void shadow_forget(const struct context_pool *pool);
struct shadow *shadow_retain(struct shadow *s);
void shadow_release(struct shadow *s);
/* Enqueues a copy of the application's memory. */
cl_int shadow_copy(struct shadow *s, enum copy_of which, const struct shadow_plan *plan, struct commands *c);
/* Sets the copies as arguments of `kernel`. After the launch the driver holds them itself, and shadow_enqueued releases ours. */
cl_int shadow_set(struct shadow *s, enum copy_of which, struct shadow_plan *plan, cl_kernel kernel);
void shadow_enqueued(struct shadow_plan *plan);
/* Whether there is time to copy so many bytes. Copies may take only a part of the time that the program runs. first: for the first launch
 * of its kernel and size, which may take more of it. */
bool shadow_affordable(uint64_t bytes, bool first);
/* After all commands have completed: whether two copies hold the same bytes; -1: they cannot be read. */
int shadow_same(struct shadow *s, enum copy_of a, enum copy_of b);

#endif
