/*
 * job: the estimate of one launch on one target, on its way. Launches that are the same share one.
 *
 * A job is made on the thread that takes launches in, in their order. Its work is done by a crew, and refers to nothing that another
 * thread changes. Its result is taken on the first thread again.
 */
#ifndef GPUSIM_RUNTIME_ESTIMATES_JOB_H
#define GPUSIM_RUNTIME_ESTIMATES_JOB_H

#include "models/family.h"
#include "runtime/model/launch_record.h"
#include "runtime/model/packed_counters.h"
#include "runtime/process/crew.h"

#include <pthread.h>

struct decoded_trace;
struct kernel_estimates;

enum job_state {
	JOB_NEW,      /* it waits for others of its family */
	JOB_QUEUED,   /* the crew has it */
	JOB_RUNNING,
	JOB_DONE,
	JOB_GIVEN_UP, /* it has an estimate that took no simulation; if it was running, it still is */
};

struct estimate_job {
	struct crew_job crew; /* the first member */
	const struct simulation *sim;
	size_t target;
	struct kernel_estimates *kernel;
	char key[33]; /* memo.h */
	/* What it needs, until it is done: */
	struct launch_profile profile; /* with a trace and a reader of its own */
	struct launch_record record; /* a copy of the launch's, for the reader */
	struct lane_reader reader;
	const struct packed_counters *packed; /* the launch's counters, which are not in the record; NULL: they are */
	struct launch_trace part;
	struct decoded_trace *trace;
	uint16_t *accesses;
	const struct kept_trace *kept; /* the launch's; NULL: none */
	/* sampling.h: */
	struct family_member *member;
	double size;
	struct estimate_job *a, *b; /* held: what it is between; NULL: it is simulated */
	struct family_between between;
	struct estimate_job *next_started; /* estimates.c */
	bool taken; /* it is done, and its family knows; likewise */
	void (*moved)(void *ctx); /* called, on any thread, when its state has changed for good */
	void *moved_ctx;
	/* Its result, once it is done or given up: */
	int result; /* as model_launch returns */
	struct gs_error error;
	struct estimate estimate;
	struct instruction_count *instructions; /* NULL where no report wants them */
	struct instruction_count *unfinished;   /* those of a simulation that was given up */
	bool from_cache;
	uint64_t cost_ns; /* of a processor */
	struct made_warps *made; /* that it was timed with, for trials (job_take_warps); NULL: they are not kept */
	/* Under jobs_lock: */
	enum job_state state;
	bool running;  /* also of one that was given up */
	unsigned refs;
};

extern pthread_mutex_t jobs_lock;
extern pthread_cond_t jobs_changed; /* some state */

/* Of a launch whose profile is filled, with the accesses and the code of the target; the launch must outlive its running. The caller has
 * one reference. NULL when out of memory. */
struct estimate_job *job_new(const struct simulation *sim, const struct launch_record *l, const struct launch_profile *p, size_t target,
                             struct kernel_estimates *kernel, const char key[33]);
/* Of a job that waits: its launch gives its counters back, and has them here. */
void job_set_packed(struct estimate_job *job, const struct packed_counters *packed);
/* Its trace, which it takes over. */
void job_set_trace(struct estimate_job *job, struct decoded_trace *trace);
void job_start(struct estimate_job *job, struct crew *crew); /* NULL: it is done at once */
bool job_waits(struct estimate_job *job); /* it has not been started */
bool job_is_done(struct estimate_job *job); /* or given up */
bool job_is_running(struct estimate_job *job);
void job_wait(struct estimate_job *job);
/* Gives a job that is not done an estimate that takes no simulation: scaled from `like`, a done job of the same kernel and target, or by
 * the probabilistic model (NULL). False: it is done meanwhile. */
bool job_give_up(struct estimate_job *job, struct estimate_job *like);
struct estimate_job *job_ref(struct estimate_job *job);
void job_unref(struct estimate_job *job); /* NULL: nothing */
/* Simulates the launch of a done job in full, however long that takes, by the crew. NULL: at once. The trace is taken over. Returns the
 * time; 0: it cannot be simulated. */
double job_full_time_ns(struct estimate_job *job, struct decoded_trace *trace, struct crew *crew);

/* Times the launch of a job that is done once more, on this thread: on another GPU, or with other options. Its trace is set, or options->made. */
int job_model(const struct estimate_job *job, const struct gpu *gpu, const struct model_options *options, struct estimate *out);
/* Warps that are kept so that they need not be made again: as many as have room in memory. */
struct kept_warps {
	unsigned count;
	size_t bytes;
};
bool keeps_warps(struct kept_warps *kept, const struct made_warps *made); /* whether there is room; they count then */
void drops_warps(struct kept_warps *kept, const struct made_warps *made);
/* The warps that a done job was timed with, for the caller to free; NULL: they were not kept. */
struct made_warps *job_take_warps(struct estimate_job *job);
/* Its warps; its trace is set. Returns as made_warps_new does, and the caller frees. */
int job_make_warps(const struct estimate_job *job, struct made_warps **out);
void job_drop_trace(struct estimate_job *job);

#endif
