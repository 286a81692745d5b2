/*
 * What the runtime keeps in the guest's process. Who owns what:
 *
 *   program ──▶ build ──▶ twin (one per device) ──▶ artifact
 *   kernel  ──▶ build
 *   launch  ──▶ artifact, kernel_stats, counter buffer; lives from the enqueue until it is in the reports
 *
 * Programs, builds, kernels and artifacts are counted; the rest lives as long as the process. Locks, in the
 * order in which they may be taken: a kernel's lock, the tables of kernels and of programs, a build's lock, the
 * lock of a file's own state.
 */
#ifndef GPUSIM_RUNTIME_GUEST_STATE_H
#define GPUSIM_RUNTIME_GUEST_STATE_H

#include "models/models.h"
#include "runtime/format/facts.h"
#include "runtime/runtime.h"

#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_TARGETS = 16 };

struct target {
	struct gpu gpu;
	unsigned arch; /* index into `archs` */
};

/* Read by all, written once by runtime_start. */
struct runtime_state {
	struct gs_options options;
	struct model_options model; /* from the options */
	struct target targets[MAX_TARGETS];
	size_t target_count;
	char archs[MAX_TARGETS][GPU_TARGET_SIZE]; /* the different names of gpu_target_name */
	size_t arch_count;
	char library[4096];       /* the path of this library */
	char **cc_environment;    /* of gpusim-cc; a copy: the application may change its own at any time */
	char temporary[1024];     /* where files between us and gpusim-cc are */
	uint64_t start_ns;   /* monotonic */
};

extern struct runtime_state runtime;

/* targets.c: the GPUs and the model that runtime.options names; what cannot be had is told in one line, and the default
 * taken. */
void load_targets(void);
unsigned target_arch(const struct gpu *gpu); /* the index of its architecture in runtime.archs, made if need be */
void choose_model(void);

/* start.c: our exit handler runs before all that were registered up to now. */
void run_first_at_exit(void);
/* exit() has been called, and our handler has begun. */
bool program_is_ending(void);
/* The environment for gpusim-cc, from today's. */
char **make_cc_environment(void);

/* ---- thread.c ---- */

uint64_t clock_ns(void);
struct timespec deadline_in(unsigned milliseconds); /* for pthread_cond_timedwait */
/* Time that processors have spent on it. */
uint64_t process_ran_ns(void);
uint64_t thread_ran_ns(pthread_t thread);
/* Numbers have a point on this thread, whatever the application's language; returns what it had before. */
locale_t use_c_locale(void);
/* Starts a thread of ours: none of the application's signals, numbers formatted as in the C locale. */
int start_thread(pthread_t *thread, void *(*run)(void *), void *data);
/* With a stack of its own size: what a thread may use by default counts where the application's address space is limited. */
int start_small_thread(pthread_t *thread, size_t stack_bytes, void *(*run)(void *), void *data);
/* Where the address space is limited (ulimit -v): threads have no heap of their own, which takes 64 MiB or more of it; and whether too
 * little is left for a twin. */
void save_address_space(void);
bool address_space_is_short(void);
/* Whether a thread of this process, other than the caller, runs, would if the machine let it, or waits for a disk. */
bool others_at_work(void);
bool thread_at_work(pid_t id); /* the same of one */

/* ---- signals.c: reports when a signal ends the program ---- */

/* `report` writes them, on a thread of ours. */
void signals_start(void (*report)(void));
/* The locks that `report` takes, and threads of the application's: a signal does not stop a thread while it has one, or waits with it
 * for a condition. */
void lock_for_report(pthread_mutex_t *lock);
bool try_lock_for_report(pthread_mutex_t *lock, unsigned milliseconds); /* for so long */
void unlock_for_report(pthread_mutex_t *lock);
/* For `report`: from now on the program waits so long. */
void signals_extend(unsigned seconds);

/* ---- session.c ---- */

struct session_work {
	uint64_t ran_ns; /* by processors, for all of its processes */
	bool alive;      /* one of them has not ended */
	bool at_work;    /* one of them runs, would if the machine let it, or waits for a disk */
};
struct session_work session_look(pid_t leader);

/* ---- programs.c: what the application compiled ---- */

struct header {
	char *name, *text;
};

/* A source with the options it was compiled with; never changes once made. */
struct unit {
	atomic_int refs;
	char *options, *source;
	size_t source_length;
	struct header *headers;
	size_t header_count;
};

struct unit_list {
	struct unit **units;
	size_t count;
	char *cwd; /* where includes are looked up from; NULL when there are none */
};

/* Whether the text of the units depends on files. */
bool unit_list_includes(const struct unit_list *list);

void unit_list_free(struct unit_list *list);
int unit_list_encode(const struct unit_list *list, struct gs_pack *pack);

/* ---- twin.c: the annotated program and what is known about it ---- */

/* Launches of a kernel on a target that behave alike (sampling.c). */
struct sampling {
	struct launch_clusters clusters; /* data: the estimate of the one that was simulated */
	uint64_t taken;                  /* launches of which not all was simulated */
};

/* Trips of a loop that a work-item enters once at most (protocol.h, columns). */
struct computed_trips {
	unsigned block, factor, residue;
	bool every;
	size_t word; /* of the work-item's: the counter of what is numbered */
};

struct artifact_kernel {
	char *name;
	unsigned arguments;
	int entry_block; /* counter of its entry, or -1 */
	unsigned *columns; /* item layout: the blocks whose counters its work-items store */
	size_t column_count, flag_count; /* the first flag_count of them are bits */
	struct computed_trips *computed; /* counts that follow from a work-item's words */
	size_t computed_count;
	bool summed;       /* work-items add them to sums of their group */
	size_t words;      /* else: of 32 bits that a work-item stores */
	unsigned hazards;  /* enum kernel_hazard */
	unsigned char *argument_kinds; /* `arguments` of them: enum argument_kind */
	struct kernel_code *code[MAX_TARGETS]; /* by architecture; NULL when there is none: */
	char *failure[MAX_TARGETS];            /* why */
	struct memo *memos[MAX_TARGETS];       /* by target; the worker's */
	struct known_accesses *accesses[MAX_TARGETS]; /* likewise */
	struct sampling *samplings[MAX_TARGETS]; /* likewise */
	char *library[MAX_TARGETS];            /* lines: functions that a table costs; NULL when there are none */
	struct proof *proofs;                    /* proof.c */
	struct launches_alike *shapes;           /* of its launches (tracing.h), those in use first */
	uint64_t shape_count;                  /* that there ever were */
};

/* One term of a count: `factor` times the count of `of`, which is a lower block. */
struct count_term {
	unsigned block, of;
	int factor;
};

struct artifact_block {
	char *function, *file, kind[16];
	unsigned unit, line, column;
};

struct artifact {
	atomic_int refs;
	char key[33]; /* of the request that it answers; "": not known */
	struct artifact_kernel *kernels;
	size_t kernel_count;
	struct artifact_block *blocks;
	size_t block_count;
	bool counts_by_item;          /* the layout of the counters (runtime/format/counters.h) */
	struct count_term *terms;     /* of the blocks whose counts flow determines, by ascending block */
	size_t term_count;
	char *dependencies; /* lines of "HASH PATH": the files that the units included */
	uint64_t record_number; /* in the profile that is being recorded; 0: it is not in it */
	/* The texts to build the twin from, one per unit. */
	char **host_texts, **host_options;
	size_t host_count;
	char **traced_texts; /* likewise, for one that traces as well; NULL: there are none */
	char *renames;       /* names to rename in it where both are to be one program; NULL: they cannot be */
	struct trace_site *sites;
	size_t site_count;
	char **site_files;
	size_t site_file_count;
	char **sources; /* the application's own texts, host_count of them; NULL where no report wants them */
};

/* On failure *err says why in one sentence. */
int artifact_read(struct artifact **out, const struct gs_pack *result, struct gs_error *err);
void artifact_release(struct artifact *a);
struct artifact_kernel *artifact_kernel(struct artifact *a, const char *name);
/* The text that counts, and behind it the one that traces, with TRACED_PREFIX before its names. The artifact must have renames. */
void artifact_text_together(const struct artifact *a, struct gs_buf *out);

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
	bool told_to_wait; /* a user was told that it takes long */
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

/* ---- compile.c: gpusim-cc and its cache ---- */

/* Whether files still are what "HASH PATH" lines say. */
bool dependencies_hold(const char *lines);
/* The result pack for the units on a device, from the cache or from gpusim-cc. `key` is that of the request. */
int compile_units(const struct unit_list *units, cl_device_id device, struct gs_pack *result, char key[33], struct gs_error *err);

/* ---- spawn.c ---- */

/* Runs a program apart from the guest: no SIGCHLD, no child that the guest could wait for, no open
 * descriptors but standard ones. What it says on stderr goes to *said. `environment` is NULL-terminated. */
int run_apart(const char *path, char *const *argv, char *const *environment, unsigned timeout_s, struct gs_buf *said,
              struct gs_error *err);

/* ---- buffers.c: memory for counters, for traces and for copies of the application's ---- */

enum buffer_kind { COUNTER_BUFFER, TRACE_BUFFER, SHADOW_BUFFER, BUFFER_KINDS };

struct counter_buffer {
	struct counter_buffer *next;
	struct context_pool *pool;
	enum buffer_kind kind;
	cl_mem mem;
	uint64_t *words; /* the memory itself where the device shares it, else a copy; of traces, once they were fetched */
	size_t word_count;
	bool shared;
	uint64_t device_slots; /* word 0 as the device has it */
	cl_device_id device;
};

struct context_pool *pool_for(cl_context context);
struct context_pool *pool_retain(struct context_pool *pool);
void pool_unref(struct context_pool *pool);
cl_context pool_context(const struct context_pool *pool);
/* A queue of ours on the device, which keeps order; NULL: there is none. */
cl_command_queue pool_queue(struct context_pool *pool, cl_device_id device);
/* Memory of the bound of SHADOW_BUFFER that is not in buffers. */
bool shadow_memory_take(uint64_t bytes);
void shadow_memory_back(uint64_t bytes);
/* A buffer of at least `words` words, zeroed unless it is for copies, or NULL when the bound is reached or memory is short. */
struct counter_buffer *buffer_take(struct context_pool *pool, cl_device_id device, enum buffer_kind kind, size_t words);
/* Tells the device how many slots there are. */
int buffer_set_slots(struct counter_buffer *buffer, uint64_t slots);
/* Brings the device's words to buffer->words; nothing to do where memory is shared. */
int buffer_fetch(struct counter_buffer *buffer, size_t words);
/* Likewise of a trace buffer, as much as is used. */
int buffer_fetch_trace(struct counter_buffer *buffer, size_t *words);
/* A range of the device's bytes, of a buffer that is not shared. */
int buffer_read(struct counter_buffer *buffer, size_t offset, size_t bytes, void *to);
void buffer_give_back(struct counter_buffer *buffer, size_t words_used);

/* ---- kernels.c, launch.c ---- */

struct kernel_arg {
	enum { ARG_UNSET, ARG_VALUE, ARG_LOCAL, ARG_SVM } kind;
	uint64_t version; /* of the kernel's clock, when it was last set */
	size_t size;
	void *value;
};

struct exec_info {
	cl_kernel_exec_info what;
	size_t size;
	void *value;
	uint64_t version;
};

/* The twin kernel on one device. */
struct kernel_twin {
	struct kernel_twin *next;
	struct twin *twin;
	struct twin_program *program; /* NULL when there is none */
	cl_kernel kernel; /* NULL when it could not be made */
	struct artifact_kernel *facts;
	bool traces;      /* it is of the program that traces */
	uint64_t applied; /* arguments up to this version are set on it */
	const char *why;  /* static; when kernel is NULL */
	bool launched;    /* at least once */
	cl_int box_argument; /* index of the box (runtime/format/traces.h); -1: it takes none */
	bool whole;          /* the box that is set on it is the whole launch */
	cl_ulong sizes[2];   /* slots and places that are set on it; launches are mostly like the one before */
	bool sizes_set;
};

struct kernel {
	atomic_int refs;
	int app_refs; /* under the table's lock */
	cl_kernel handle;
	struct program *program; /* NULL when not known */
	char *name;
	struct build *build; /* NULL when the program is not ours to model: */
	const char *why;     /* a static text says why */
	bool wanted;         /* its name matches GPUSIM_KERNELS */
	pthread_mutex_t lock;
	uint64_t clock;
	struct kernel_arg *args;
	size_t arg_count;
	struct exec_info *infos;
	size_t info_count;
	struct kernel_twin *twins;
};

/* How long this thread has waited for twins to be built. */
extern _Thread_local uint64_t thread_waited_ns;

struct kernel *kernel_find(cl_kernel handle); /* a reference, or NULL */
void kernel_unref(struct kernel *k);
/* With the kernel's lock held: its twin on the device with all arguments set, or NULL and *why. */
struct kernel_twin *kernel_prepare_twin(struct kernel *k, cl_device_id device, bool traces, struct gs_error *why);

/* ---- worker.c: what happens to a launch behind the application's back ---- */

/* A launch as the models and the reports see it: what was launched, and what was counted. It needs no driver. */
struct launch_record {
	uint64_t seq; /* its number in the run */
	char *kernel_name;
	struct artifact *artifact;
	struct artifact_kernel *facts;
	uint64_t global[3], local[3]; /* local is 0 where the driver chooses */
	uint64_t local_bytes;
	uint64_t *argument_values; /* the first 8 bytes of each argument; an address for buffers */
	bool *arguments_known;
	size_t argument_count;
	size_t slots, places;     /* of its counters; places: item layout only */
	const uint64_t *counters; /* the counter buffer (runtime/format/counters.h), once the launch has completed */
	size_t counter_words;
	uint64_t measured_ns;     /* 0: not known */
	bool in_shadow;           /* its twin ran on copies, and the kernel itself on the application's memory */
};

/* When the commands of a launch ended, for cost.c; 0: there are none. */
struct launch_times {
	uint64_t enqueued_ns;
	uint64_t traces_end_ns, twin_end_ns; /* the traced twin, and the twin that counts */
	uint64_t own_end_ns;                 /* the command that the application knows of */
	uint64_t copies_end_ns;              /* copies for a verification */
	bool first_traced, first_counted;    /* the driver compiles the twin for this launch */
	bool in_shadow;                      /* as in the record */
};

/* Commands of ours for a launch. */
struct launch_part {
	struct launch *launch;
	uint64_t *end_ns; /* where the time of their end goes */
};

/* A launch from the enqueue until it is in the reports. */
struct launch {
	struct launch_record record;
	struct launch_times times;
	struct launch *previous, *next; /* in flight */
	struct launch *queued;          /* the next one that has completed */
	bool is_queued;
	struct counter_buffer *buffer;
	struct counter_buffer *trace_buffer; /* NULL: it is not traced */
	struct counter_buffer *scratch;      /* for counts that nobody looks at, or NULL */
	struct shadow *shadow;               /* the copies that its twins run on, or NULL */
	struct verification *verification;   /* NULL: its twin is not compared with the kernel */
	cl_event *events;                    /* of commands of ours for it, held until it has completed */
	size_t event_count;
	atomic_int pending;                  /* events to wait for */
	struct launch_part traces, twin, copies;
	bool beside_twins;                   /* twins run in the queue besides it, which the driver may have to compile */
	bool uncounted;                      /* the driver refused its twin after it took some other command of ours */
	bool void_trace;                     /* likewise, of the traced twin */
	enum { FETCH_NONE, FETCH_BUSY, FETCH_DONE } fetched; /* its trace and its verdict (worker.c) */
	struct kept_trace *brought;          /* once fetched: its trace, or NULL */
	bool profiled;
	cl_int status;                       /* with which it completed */
	struct schedule_command *command;    /* of the timeline; NULL: none */
	uint64_t *argument_bytes; /* of a traced launch: of the memory that each argument points to, 0 where that is not known */
};

void launch_free(struct launch *l);
size_t launch_columns(const struct launch_record *l); /* where groups have sums: how many */
size_t launch_words(const struct launch_record *l); /* of its counter buffer */
size_t scratch_words(const struct launch_record *l); /* of a buffer for counts that nobody looks at */
void launch_give_back(struct launch *l); /* all memory that it holds; its commands have completed */
bool worker_ready(void); /* false: there is no thread, and nothing can be modelled */
void worker_launched(struct launch *l);  /* numbers the launch and takes it over; before its callback is set */
void worker_completed(struct launch *l); /* the event has completed */
void worker_moved(void); /* memory that a launch may wait for is free */
/* How often something has moved. */
uint64_t worker_moves(void);
/* Waits until some launch in flight has been dealt with since worker_moves() said `before`, which is asked before looking for what
 * is waited for: the last one may end in between. False when none was for `milliseconds` and nobody seems to be about it;
 * while threads of the process other than ours run, that is waited for up to `rounds` more times. */
bool worker_wait_progress(uint64_t before, unsigned milliseconds, unsigned rounds);
void worker_finish(void); /* at exit */
void worker_interrupted(void); /* for signals_start */

/* ---- progress.c: one line on a terminal while long launches are modelled; the worker's ---- */

bool progress_due(void); /* something has been modelled for a while, and the line is not of just now */
void progress_show(const char *kernel, uint64_t done, unsigned long left);
void progress_clear(void); /* the worker rests, or something else is printed */

/* ---- stats.c, reports ---- */

struct limiter_share {
	const char *name;
	double time_ns;
};

/* Sums over launches with an estimate, and one of them. */
/* Launches that took another's cycles per instruction, and what simulating some in full all the same gave. */
struct sampling_stats {
	uint64_t sampled, checks;
	double instructions, simulated; /* of warps; those of them that were */
	double error_sum, error_most; /* relative, of time */
};

struct target_stats {
	struct sampling_stats sampling;
	uint64_t launches;
	double total_ns, min_ns, max_ns, low_ns, high_ns, cycles, occupancy_sum;
	double by[CYCLE_KIND_COUNT];
	double thread_instructions, warp_instructions, register_bank_conflicts;
	double active_lanes; /* lane_efficiency, weighted by warp_instructions */
	struct limiter_share limiters[CYCLE_KIND_COUNT];
	flag_set flags;                 /* of some launch */
	struct estimate longest;        /* the launch that takes longest */
	uint64_t longest_local[3], longest_global[3], longest_local_bytes;
	uint32_t registers, shared_bytes; /* of its code */
	char *library; /* lines: library functions that a table costs, or NULL */
};

/* lines.c: what the instructions of one kernel did, all launches together. Programs may have kernels of the same name. */
struct kernel_lines {
	struct kernel_lines *next;
	struct artifact *artifact; /* counted */
	const struct artifact_kernel *facts;
	uint64_t launches;
	struct instruction_count *sums[MAX_TARGETS]; /* per instruction of the code */
	double by[MAX_TARGETS][CYCLE_KIND_COUNT];
};

/* What a line of the source did on a target. */
struct line_sum {
	const char *file; /* as .loc has it */
	uint32_t line;    /* 0: of no line that is known */
	double executions;   /* by work-items, of the line's most frequent instruction */
	double instructions; /* by work-items */
	double warps;        /* the same by warps */
	double cycles, transactions;
	bool accesses_memory;
};

/* A twin that was compared with its kernel wrote the same, or not. Racy: the kernel itself does not write the same twice. */
enum twin_comparison { TWIN_SAME, TWIN_DIFFERS, TWIN_RACY, TWIN_COMPARISONS };

struct kernel_stats {
	struct kernel_stats *next;
	char *name;
	struct kernel_lines *lines; /* one per program; NULL where no report wants them */
	uint64_t launches; /* modelled */
	double measured_ns;
	uint64_t measured;
	uint64_t in_shadow; /* launches whose twin ran on copies */
	uint64_t comparisons[TWIN_COMPARISONS];
	struct target_stats by_target[MAX_TARGETS];
};

struct not_modelled {
	struct not_modelled *next;
	char *kernel, *reason;
	uint64_t launches;
};

struct transfer_stats {
	uint64_t commands, size_bytes;
};

/* What the tool itself cost. */
struct tool_cost {
	atomic_uint_fast64_t compiles, cache_hits, compile_ns, twin_build_ns, wait_ns, launch_ns, launches, model_ns;
	atomic_uint_fast64_t untraced; /* launches without a trace, because there was no room */
	/* cost.c: */
	atomic_uint_fast64_t overlap_ns;      /* builds of the application, while the driver built a twin */
	atomic_uint_fast64_t first_launch_ns; /* of twins: the driver compiles them */
	atomic_uint_fast64_t counting_ns, tracing_ns; /* commands of ours in the application's queues */
	atomic_uint_fast64_t profiling_ns;    /* waiting for simulated times */
	atomic_uint_fast64_t exit_begin_ns;   /* when the program ended; 0: it has not */
};

extern struct tool_cost tool_cost;

/* Of the whole run, up to now. */
struct run_cost {
	double wall_ns;    /* since the process began */
	double without_ns; /* that, less all that follows: what the run would take without us, about */
	double building_ns, counting_ns, tracing_ns, modelling_ns;
};
struct run_cost cost_now(void);
void cost_add_launch(const struct launch_times *l); /* it has completed; the worker's */

/* One launch with all that the reports say of it. */
struct launch_result {
	const struct launch_record *launch;
	struct launch_profile profile;
	struct estimate estimates[MAX_TARGETS];
	bool estimated[MAX_TARGETS];
	const char *failure[MAX_TARGETS];
	struct instruction_count *instructions[MAX_TARGETS]; /* of the code, while launch_model runs; NULL where no report wants them */
	uint64_t *counts;     /* executions by block, over all work-items; the worker's */
	struct group_place {  /* of the group that was looked at last: its work-items are asked for one after the other */
		bool known;
		uint64_t group, first, local[3]; /* where its first work-item's words are; its sizes */
	} place;
	struct kept_trace *brought; /* by the launch itself; NULL: it was not traced */
	struct kept_trace *trace; /* the launch's own or one of a launch alike; NULL: none */
	double traced_fraction;   /* of the groups, with such a trace */
	flag_set flags; /* about the measurement, for every target */
};

struct stats {
	pthread_mutex_t lock;
	struct kernel_stats *kernels;
	struct not_modelled *not_modelled;
	struct transfer_stats transfers[TRANSFER_KINDS];
	uint64_t launches;
};

extern struct stats stats; /* take stats.lock */

/* ---- record.c: a profile of the run, where GPUSIM_RECORD wants one ---- */

bool record_wanted(void);
void record_all_targets(void); /* after the targets are loaded */
void record_program(struct artifact *a, const struct gs_pack *result);
void record_launch(const struct launch_record *l, const struct kept_trace *trace); /* its counters are there; trace: its own, or NULL */
void record_finish(void);

/* model.c: everything that becomes of a launch whose counters are in its buffer; the worker's. */
void launch_model(struct launch_result *r);
bool kernel_wanted(const char *name); /* GPUSIM_KERNELS */

/* profile.c: whether the numbers of a launch that was read from a file fit its counters, and one another. */
bool launch_is_sound(const struct launch_record *l);
/* profile.c: fills the profile, counts and flags from the counter buffer, which must outlive the profile. */
void profile_fill(struct launch_result *r);

/* ---- sampling.c: launches that behave alike are simulated once ---- */

/* Fills the estimate of a target, whose code is in the profile; returns as model_launch does. */
int sampling_model(const struct gpu *gpu, struct launch_result *r, size_t target);

/* ---- memo.c: estimates of launches that are alike ---- */

/* The accesses of the profile (launch_accesses), which stay the memo's; found anew only if the arguments or sizes have changed. */
int memo_accesses(struct launch_result *r, const struct gpu *gpu, size_t target);
void memo_key(const struct launch_result *r, char key[33]); /* of the profile as it is for one target */
/* Fills the estimate and the instructions of a target, if a launch like it is known. */
bool memo_find(struct launch_result *r, size_t target, const char key[33]);
void memo_keep(const struct launch_result *r, size_t target, const char key[33]);

bool lines_wanted(void);
/* With stats.lock held. */
void lines_add_launch(struct kernel_stats *k, const struct launch_result *r);
/* The lines of a kernel on a target by file and line; count in *count; the caller frees. */
struct line_sum *lines_of(const struct kernel_lines *l, size_t target, size_t *count);
bool is_own_source(const char *file); /* the text that the program was created with, not what it includes */

uint32_t launch_registers(const struct launch_result *r, size_t target); /* of a work-item; 0: not known */
void stats_add_launch(const struct launch_result *r);
void stats_add_comparison(const char *kernel, enum twin_comparison result);
/* A launch that was not simulated has been after all: how far off it was. */
void stats_add_check(const char *kernel, size_t target, double error);
const char *transfer_name(enum transfer_kind kind);
/* Time of a kind of transfer on a target's link, all commands together. */
double transfer_time_ns(const struct gpu *gpu, enum transfer_kind kind, const struct transfer_stats *t);
const char *main_limiter(const struct target_stats *t);
double kernels_total_ns(size_t target); /* of all kernels; with stats.lock held */
double transfers_total_ns(size_t target);
/* The kernels, longest total on the first target first; count in *count; the caller frees the array. */
const struct kernel_stats **stats_sorted(size_t *count);

bool report_wanted(void); /* any */
/* The files are written as launches complete; a file is valid after each of these calls. */
void report_launch(const struct launch_result *r);
void report_flush(void);
void report_finish(void); /* the last flush, and the text on stderr; once */
/* One thread at a time adds a launch to all that is told of launches. */
void report_lock(void);
void report_unlock(void);
/* When a signal ends the program: the same as report_finish, the quickest first. With the lock held, for good: the time to wait for
 * it, in milliseconds, may be over. */
bool report_lock_for_good(unsigned milliseconds);
void report_interrupted(void);
void report_text(void);
/* report_file.c: a file of ours. The application may close our descriptor and get its number for a file of its own: so it is looked at
 * before each write, and opened anew if it is not ours any more. */
struct report_file {
	const char *prefix, *ending; /* prefix NULL: GPUSIM_OUTPUT's */
	bool grows;   /* nothing that is written changes: it is added to in place */
	char *path;
	char *target; /* the file itself, links followed */
	int fd;       /* the file that is there, locked */
	bool opened, failed; /* once */
	bool fresh;    /* there is no such file yet */
	bool in_place;
	unsigned mode;
	unsigned long long device, inode;
};

/* Keeps what comes before an offset and puts bytes behind it, with which the file ends; 0, or -1 with one warning per file. */
int report_write(struct report_file *f, const char *data, size_t length, uint64_t offset);
void report_json_launch(const struct launch_result *r);
void report_json_flush(bool whole); /* whole: with what is large, at the end */
/* The JSON file: where it is and how its name ends; NULL before the first flush. */
const char *report_json_path(const char **ending);
/* Makes PREFIX.html of PREFIX + ending, which goes unless it is to be kept. */
void report_html(const char *json, const char *ending, bool keep_json);
void report_csv_launch(const struct launch_result *r);
void report_csv_flush(void);

#endif
