/*
 * shadow: how a twin is kept from changing what the application sees.
 *
 * A twin runs in one of three ways:
 *   direct   in place of the kernel, on the application's memory
 *   shadow   on copies of the memory that the kernel may write; then the kernel itself runs on the application's memory
 *   verify   shadow, and what both have written is compared bit by bit
 * Traced twins always run in the shadow. The results of a launch are the kernel's own in all ways but direct, and direct is taken
 * only where an earlier launch was verified (proof.c), or where GPUSIM_TWIN asks for it.
 *
 * Copies are made by commands in the application's own queue, just before what needs them.
 */
#ifndef GPUSIM_RUNTIME_GUEST_SHADOW_H
#define GPUSIM_RUNTIME_GUEST_SHADOW_H

#include "runtime/guest/launch.h"

/* ---- commands.c: several commands of ours, one after the other, around one launch of the application ---- */

/*
 * The first of them waits for what the launch waits for. In a queue that keeps order the others need to wait for nothing, else each
 * waits for the one before it. POCL 3.1 does not survive a wait that fails where a command waits in two ways for one thing, or where
 * nobody holds the event of a command that fails: so neither happens, and events are held until the launch has completed.
 */
struct commands {
	const struct request *request;
	bool in_order;
	cl_event *events; /* of all commands so far */
	size_t count, room;
};

void commands_begin(struct commands *c, const struct request *r);
/* What the next command waits for. */
cl_uint commands_wait(const struct commands *c, const cl_event **list);
/* Takes over the event of a command that the driver has taken. */
void commands_done(struct commands *c, cl_event event);
void events_release(cl_event *events, size_t count);

/* ---- shadow.c: the copies ---- */

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
int shadow_plan(const struct kernel *k, const struct artifact_kernel *facts, struct shadow_plan *plan, struct gs_error *why);

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

/* ---- proof.c: which twins may stand for their kernels ---- */

enum twin_way { WAY_DIRECT, WAY_SHADOW, WAY_VERIFY, WAY_ALONE };

/* What is known of a twin, for the launches that share a driver's compile of it. */
enum verdict {
	VERDICT_NONE,
	VERDICT_PENDING, /* a launch is being verified */
	VERDICT_SAME,    /* it wrote what the kernel wrote */
	VERDICT_DIFFERS, /* it did not, and the kernel agrees with itself */
	VERDICT_RACY,    /* the kernel did not agree with itself */
};

struct proof;

/* The proof of a launch with or without a global offset, made if need be; it lives as long as the artifact. NULL when out of memory. */
struct proof *proof_of(const struct launch_record *l, bool offset);
/* Once: an earlier process saw this twin differ from its kernel. */
bool proof_is_news(struct proof *p);
/* The way of the next launch; WAY_VERIFY makes the proof pending until proof_end. Relaxed: the program's options let the driver round
 * as it likes. */
enum twin_way proof_way(struct proof *p, bool relaxed, const struct artifact_kernel *facts);
void proof_end(struct proof *p, enum verdict verdict);
void proofs_free(struct artifact_kernel *k);

/* ---- verify.c: one launch on its way to a verdict ---- */

struct verification;

/* With the kernel's lock held: everything that the verdict may need. NULL when out of memory. Takes a reference to the shadow. */
struct verification *verification_new(struct kernel *k, const struct request *r, struct shadow_plan *plan, struct shadow *s,
                                      struct proof *p, unsigned hazards, cl_device_id device);
/* The launch has completed, with success or not. Frees it. */
void verification_end(struct verification *v, const char *kernel, bool completed);
/* The application builds this program again: the driver refuses that while kernels of it exist. */
void verifications_abandon(cl_program program);

#endif
