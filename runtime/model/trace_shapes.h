/*
 * trace_shapes: which launches are traced, and which traces are kept. Launches of a kernel with the same sizes have the same shape.
 * Nothing is traced unless the memory hierarchy is modelled.
 */
#ifndef GPUSIM_RUNTIME_MODEL_TRACE_SHAPES_H
#define GPUSIM_RUNTIME_MODEL_TRACE_SHAPES_H

#include "models/trace/sectors.h"
#include "runtime/model/artifact.h"

/* How GPUSIM_TRACE_MEMORY is divided: a trace is in buffers of the device, then kept as short as it goes, and made long again
 * and decoded while a launch is modelled. Buffers may reserve as much as there is, since of most of them little is touched: launches that
 * follow one another without a wait are traced only if each finds one. */
#define TRACE_BUFFER_SHARE(bytes) (bytes)
#define TRACE_KEPT_SHARE(bytes) ((bytes) / 8)
#define TRACE_FILES_SHARE(bytes) ((bytes) * 8) /* of those that wait, on disk */
#define TRACE_DECODED_SHARE(bytes) ((bytes) / 8 * 3)

enum { MOST_ARGUMENTS_TRACED = 8 };

/* What tells launches of one shape apart. */
struct launch_work {
	double together, longest; /* by its counters: struct launch_profile; of a trace, the longest of the groups that were traced */
	uint64_t arguments;       /* a hash of its arguments: trace_arguments */
};

/* The launches of a kernel that are alike in their sizes. */
struct launches_alike {
	struct launches_alike *next;
	uint64_t global[3], local[3]; /* as the application gave them */
	uint64_t chosen[3];           /* the local size that the driver took where it was left to it; 0: not known yet */
	uint64_t launches, due;       /* up to now; the number of the one to be traced next */
	uint64_t arguments[MOST_ARGUMENTS_TRACED]; /* of launches that were due because of them: struct launch_work */
	unsigned arguments_count;
	struct needed_groups needed;  /* that their traces should have, the latest first */
	uint64_t missed_until;        /* all launches up to this one are traced, because a trace missed the longest work-items */
	bool chooses;                 /* counters choose: no trace but the first misses the longest work-items */
	double missed;                /* chunks that a work-item took on average when a trace missed the longest of them; 0: none did */
	double took;                  /* most chunks that a work-item took on average; 0: no trace came back; infinite: one was cut */
};


/* A trace as it is kept: its chunks, without what they do not use. */
struct kept_trace {
	struct kept_trace *older, *newer; /* in the order of their use */
	struct kept_trace *next;          /* of the kernel's, in the same order */
	struct artifact_kernel *kernel;
	uint64_t global[3], given_local[3]; /* as the application gave them */
	char *bytes;
	size_t length, chunks;
	bool in_file; /* bytes are those of a file without a name */
	bool cut; /* there was no room for all of it */
	uint64_t *argument_bytes; /* of the launch (models/trace/read.h) */
	size_t argument_count;
	uint64_t groups[3];
	uint32_t local[3];
	uint64_t traced_groups;
	struct trace_glance glance;
	struct launch_work work;
	char identity[33]; /* a hash of what the work-items did */
	unsigned holders;  /* launches under way that need it */
	bool gone;         /* no longer kept: the last holder frees it */
};

/* What the options mean for traces. With GPUSIM_EXACT=1 they are whole; with GPUSIM_TRACE=all, of a program that is recorded, all groups have one, too. */
void traces_settle(struct simulation *sim);
bool traces_wanted(const struct simulation *sim); /* of any launch */
/* Of a launch: a stride, or where a pattern begins, may be among them. Buffers are all alike. */
uint64_t trace_arguments(const uint64_t *values, size_t count);
/* Counts a launch; whether it is to be traced. The first launches with arguments of their own are. */
bool trace_due(const struct simulation *sim, struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], uint64_t arguments);
/* Whether counters choose the groups of this launch that are traced (runtime/guest/support/trace_choice.h). Asked after trace_due.
 * *each: chunks that each of its work-items has room for. */
bool trace_chooses(const struct simulation *sim, struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3],
                   uint64_t *each);
/* Its local size, as far as that is known. */
void trace_chosen(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], uint64_t chosen[3]);
/* The local size that the driver has chosen, and will again. */
void trace_learn(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], const uint64_t chosen[3]);
/* A trace came back with so many chunks for each of its work-items. */
void trace_took(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], double chunks);
/* Chunks for a work-item of most kernels. */
double trace_usual_room(void);
/* Chunks for each work-item that would probably do, by what traces took; 0: that is not known. */
double trace_least_room(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3]);
/* There were too few: the next launch of the shape is traced again, with more for each work-item. */
void trace_was_cut(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3]);
/* Of a launch about `usual` work-items are traced, or more where traces missed the longest ones: as many as fit into so many chunks.
 * *each: chunks that each of them has room for. */
uint64_t trace_items(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], uint64_t usual, uint64_t chunks, double *each);
/* A launch's longest work-items are not among those that were traced, which took so many chunks each: data decides where they are. The next
 * launch of the shape is traced again, with more of its work-items. */
void trace_missed(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], double chunks);
/* Whether a trace missed the longest work-items of its launch. */
bool trace_misses(const struct kept_trace *t, const struct launch_work *work);
/* It is traced: the next of its shape is eight times as far, or, of small launches, the next. */
void trace_taken(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3]);

/* Adds groups that such a launch's trace should have had. */
void trace_need(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], const struct needed_groups *needed);
/* All groups that were needed up to now, for the next trace. */
struct needed_groups trace_needed(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3]);

/*
 * trace_files.c: the bytes of a trace that waits to be modelled are in memory, or in a file without a name, so that no trace is lost because the
 * machine is busy. kept_trace_to_file moves them to a file in a folder. All such files together have at most so many bytes. False: they stay in
 * memory. Nobody else uses the trace meanwhile.
 */
bool kept_trace_to_file(struct kept_trace *t, const char *folder, uint64_t most_bytes);
uint64_t kept_trace_memory(const struct kept_trace *t); /* that its bytes take */
void kept_trace_free_bytes(struct kept_trace *t);
void kept_trace_free(struct kept_trace *t); /* one that is not kept, and that nobody holds */
/* Keeps it, in place of one of the same sizes whose launch did about the same; others go while there are too many bytes. Its `work` is set. */
void trace_keep(const struct simulation *sim, struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3],
                struct kept_trace *t);
/* The trace of the launch of these sizes that did most nearly the same, else of the latest that have the same local size, else NULL. own:
 * the launch's, which is kept; it is taken unless another has much more of what the launch did. NULL: it has none. It is held until
 * trace_let_go. */
struct kept_trace *trace_find(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local[3], const struct launch_work *work,
                              struct kept_trace *own);
/* How much a launch did otherwise than the one whose trace it takes; 0: the same. */
double trace_unlike(const struct kept_trace *t, const struct launch_work *work);
void trace_let_go(struct kept_trace *t); /* NULL: nothing */
void trace_shapes_free(struct artifact_kernel *k);

#endif
