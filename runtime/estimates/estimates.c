/* Launches whose counters are there: their estimates on every target. */
#include "runtime/estimates/estimates.h"

#include "runtime/estimates/advise.h"
#include "runtime/estimates/allot.h"
#include "runtime/estimates/before.h"
#include "runtime/estimates/budget.h"
#include "runtime/estimates/job.h"
#include "runtime/estimates/kernel.h"
#include "runtime/model/profile.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_decode.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A launch under way. */
struct pending {
	struct pending *next;
	const struct launch_record *launch;
	void *owner;
	struct launch_profile profile;
	uint64_t *counts;
	struct kept_trace *trace;
	double traced_fraction;
	flag_set flags;
	struct packed_counters *packed; /* its counters, while it waits for others of its kernel; NULL: they are in its record */
	bool given_back;
	const char *uncounted; /* why it has no counters, and no jobs before it is handed over; NULL: it has */
	bool no_more;   /* likewise: it does not wait for launches after it */
	struct {
		struct estimate_job *job; /* NULL: there is none, and a failure */
		bool own;                 /* the job is of this launch */
		const char *failure;
		double pages_ns;           /* that it waits for pages of managed memory */
		struct advising *advising; /* NULL: none */
		double trials;             /* that it may make now; 0: it is for the end */
	} targets[];
};

struct estimates {
	struct simulation *sim;
	struct estimates_calls calls;
	struct crew *crew; /* NULL: this thread does the jobs */
	unsigned hurried_threads; /* that it may have once the program waits */
	struct pending *first, **end;
	struct estimate_job *started; /* and not known to be done, held */
	struct pending *left; /* handed over, and still simulated although that was given up */
	struct budget budget;
	size_t count;      /* of pending ones */
	uint64_t held_bytes; /* the counters of those that are simulated */
	struct { uint64_t count, spent_ns; } checks;
	struct advice_budget advice;
	struct kernel_estimates *open; /* with launches that wait until more come */
	struct gpu_state state[MAX_TARGETS];
	uint64_t kernels;              /* that were launched, by target */
	uint64_t taken, taken_bytes;   /* launches that came in, and the counters of those with a job of their own */
	struct outlook outlook; /* of all kernels */
	struct launch_result result; /* of the launch that is taken or handed over; it is large */
};

struct estimates *estimates_new(struct simulation *sim, const struct estimates_calls *calls, unsigned jobs)
{
	struct estimates *e = calloc(1, sizeof *e);
	if (!e || !(e->crew = crew_new(jobs ? jobs : crew_default_threads()))) {
		free(e);
		return NULL;
	}
	e->sim = sim;
	e->hurried_threads = jobs ? jobs : crew_hurried_threads();
	e->calls = *calls;
	e->end = &e->first;
	e->budget.most_ns = sim->options.budget.number * UINT64_C(1000000000);
	return e;
}

size_t estimates_under_way(const struct estimates *e)
{
	return e->count;
}

unsigned estimates_threads(const struct estimates *e)
{
	return e->crew ? crew_threads(e->crew) : 1;
}

uint64_t estimates_ran_ns(struct estimates *e)
{
	return e->crew ? crew_ran_ns(e->crew) : 0;
}

void estimates_hurry(struct estimates *e)
{
	if (e->crew)
		crew_hurry(e->crew, e->hurried_threads);
}

static uint64_t counter_bytes(const struct launch_record *l)
{
	return l->counter_words * sizeof *l->counters;
}

bool estimates_has_room(struct estimates *e)
{
	enum { MOST_LAUNCHES = 4096 };
	return !e->first || (e->count < MOST_LAUNCHES && e->held_bytes <= e->sim->options.counter_memory.number / 2 &&
	                     trace_decode_has_room(e->sim));
}

/* ---- a launch comes in ---- */

static struct decoded_trace *decode(const struct estimates *e, const struct launch_record *l, const struct kept_trace *t)
{
	return t ? trace_decode(e->sim, l->artifact, t) : NULL;
}

/* The budget is spent: an estimate without a simulation. */
static void give_up_job(struct estimates *e, struct estimate_job *job)
{
	struct estimate_job *like = budget_like(job->kernel, job->size);
	bool started = !job_waits(job);
	if (!job_give_up(job, like))
		return;
	job->taken = !started; /* else take_done_jobs does */
	e->sim->cost.over_budget++;
	if (!job->result && !like)
		budget_simulated(job); /* better than to guess again */
	sampling_given_up(job);
}

/* Traces are decoded only for this, because most launches are like others. */
static void start_job(struct estimates *e, struct estimate_job *job)
{
	bool simulate = !job->a;
	if (simulate && budget_is_over(&e->budget)) {
		give_up_job(e, job);
		return;
	}
	if (simulate)
		job_set_trace(job, decode(e, job->reader.launch, job->kept));
	job->kernel->simulations += simulate;
	if (e->budget.most_ns)
		job->crew.priority = simulate ? budget_priority(job->kernel) : INFINITY; /* before simulations: it is short */
	if (!e->started)
		budget_run(&e->budget, true);
	job->next_started = e->started;
	e->started = job_ref(job);
	job_start(job, e->crew);
}

/* Those that are to be started now that others are known. */
static void start_next(struct estimates *e, struct kernel_estimates *k)
{
	for (struct estimate_job *job; (job = sampling_next(k));)
		start_job(e, job);
}

/* Takes one of the jobs that have been done out of the list. NULL: there is none. */
static struct estimate_job *next_done(struct estimates *e)
{
	struct estimate_job **link = &e->started, *job;
	pthread_mutex_lock(&jobs_lock);
	while (*link && (*link)->state < JOB_DONE)
		link = &(*link)->next_started;
	if ((job = *link))
		*link = job->next_started;
	pthread_mutex_unlock(&jobs_lock);
	return job;
}

/* Others may follow from what jobs have given. */
static void take_done_jobs(struct estimates *e)
{
	for (struct estimate_job *job; (job = next_done(e));) {
		if (!job->result && !job->a && job->state == JOB_DONE)
			budget_simulated(job);
		job->taken = true;
		outlook_done(&job->kernel->outlook, job->cost_ns, !job->a);
		outlook_done(&e->outlook, job->cost_ns, !job->a);
		sampling_simulated(job);
		start_next(e, job->kernel);
		job_unref(job);
		if (!e->started)
			budget_run(&e->budget, false);
	}
}

/* When the budget is spent. Jobs that have not been started are given up by start_job. */
static void give_up_started(struct estimates *e)
{
	if (!e->started || !budget_is_over(&e->budget))
		return;
	for (struct estimate_job *job = e->started; job; job = job->next_started)
		if (!job->a)
			give_up_job(e, job);
	take_done_jobs(e);
}

static void job_moved(void *ctx)
{
	const struct estimates *e = ctx;
	if (e->calls.moved)
		e->calls.moved();
}

/* ---- launches that wait for others of their kernel ---- */

/* Notes where launches are when the first of a kernel begins to wait. */
static void note_open(struct estimates *e, struct kernel_estimates *k)
{
	if (k->is_open || !sampling_is_open(k))
		return;
	k->is_open = true;
	k->open_launch = e->taken;
	k->open_bytes = e->taken_bytes;
	k->next_open = e->open;
	e->open = k;
}

/*
 * Launches are handed over in order, so one that waits holds up those after it, with their counters. How long it may depends only on the
 * launches that have come, so that results do not depend on threads. It is less than estimates_has_room allows.
 */
static void bound_waiting(struct estimates *e)
{
	enum { MOST_LAUNCHES = 2048 };
	for (struct kernel_estimates *k, **at = &e->open; (k = *at);) {
		if (e->taken - k->open_launch >= MOST_LAUNCHES ||
		    e->taken_bytes - k->open_bytes > e->sim->options.counter_memory.number / 4) {
			sampling_flush(k, false);
			start_next(e, k);
		}
		k->is_open = sampling_is_open(k);
		if (k->is_open)
			at = &k->next_open;
		else
			*at = k->next_open;
	}
}

void estimates_flush(struct estimates *e, bool hurried)
{
	for (struct kernel_estimates *k; (k = e->open);) {
		e->open = k->next_open;
		k->is_open = false;
		sampling_flush(k, hurried);
		start_next(e, k);
	}
	for (struct pending *p = e->first; p; p = p->next)
		p->no_more = true;
}

static void find_state(struct estimates *e, size_t t, const struct launch_record *l, struct kernel_estimates *k, const struct trace_glance *glance,
                       struct launch_profile *p)
{
	if (!k->number)
		k->number = ++e->kernels;
	find_state_before(&e->state[t], &e->sim->targets[t].gpu, l, k->number, glance, p);
	if (e->sim->model.hierarchy)
		return;
	p->memory_before = (struct memory_before){0}; /* it makes no difference */
	e->state[t].pages_ns = 0;
}

/* Of a launch whose counters are not known, for those after it. */
static void leave_state(struct estimates *e, struct pending *p)
{
	const struct launch_record *l = p->launch;
	struct launch_profile profile = {0};
	for (int d = 0; d < 3; d++)
		profile.groups[d] = l->local[d] ? (l->global[d] + l->local[d] - 1) / l->local[d] : 1;
	for (size_t t = 0; t < e->sim->target_count; t++) {
		profile.code = l->facts->code[e->sim->targets[t].arch];
		struct kernel_estimates *k = profile.code ? kernel_estimates(e->sim, l, t) : NULL;
		if (!k)
			continue;
		find_state(e, t, l, k, NULL, &profile);
		p->targets[t].pages_ns = e->state[t].pages_ns;
	}
}

/* One target, whose code is in the profile. *own: the job is new. Returns 0 or a negative errno value. */
static int take_target(struct estimates *e, size_t t, const char counters[33], struct estimate_job **job, bool *own)
{
	struct launch_result *r = &e->result;
	struct kernel_estimates *k = kernel_estimates(e->sim, r->launch, t);
	char key[33];
	if (k)
		budget_weigh(k, r->launch);
	int result = k ? memo_accesses(&k->memo, &r->profile, &e->sim->targets[t].gpu) : -ENOMEM;
	if (result)
		return result;
	find_state(e, t, r->launch, k, r->trace ? &r->trace->glance : NULL, &r->profile);
	memo_key(r, counters, key);
	if ((*job = memo_find(&k->memo, key))) {
		job_ref(*job);
		counted_add(&k->counted, r->launch, &r->profile, *job);
		return 0;
	}
	*job = job_new(e->sim, r->launch, &r->profile, t, k, key);
	if (!*job)
		return -ENOMEM;
	*own = true;
	memo_keep(&k->memo, key, *job);
	counted_add(&k->counted, r->launch, &r->profile, *job);
	(*job)->moved = job_moved;
	(*job)->moved_ctx = e;
	(*job)->kept = r->trace;
	if (sampling_enter(*job, counter_bytes(r->launch)))
		start_job(e, *job);
	start_next(e, k);
	note_open(e, k);
	return 0;
}

static void take_targets(struct estimates *e, struct pending *p)
{
	struct launch_result *r = &e->result;
	const struct artifact_kernel *facts = r->launch->facts;
	char counters[33];
	memo_counters(r->launch, counters);
	for (size_t t = 0; t < e->sim->target_count; t++) {
		unsigned arch = e->sim->targets[t].arch;
		r->profile.code = facts->code[arch];
		if (!r->profile.code)
			p->targets[t].failure = facts->failure[arch] ? facts->failure[arch] : "no code for the target";
		else if (take_target(e, t, counters, &p->targets[t].job, &p->targets[t].own))
			p->targets[t].failure = "it cannot be modelled: out of memory";
		else
			p->targets[t].pages_ns = e->state[t].pages_ns;
	}
}

static void find_trace(struct launch_result *r)
{
	trace_of(r);
	if (r->profile.other_trace && r->sim->model.exact)
		flag_add(&r->flags, FLAG_not_exact);
	if (!r->trace && r->sim->model.hierarchy)
		flag_add(&r->flags, FLAG_not_traced);
	else if (r->trace && memcmp(r->trace->groups, r->profile.groups, sizeof r->trace->groups))
		flag_add(&r->flags, FLAG_other_trace);
}

/* Reads the counters of a launch, and finds its trace. */
static void begin_launch(struct estimates *e, const struct launch_record *l, uint64_t *counts, struct kept_trace *brought)
{
	struct launch_result *r = &e->result;
	*r = (struct launch_result){.sim = e->sim, .launch = l, .counts = counts, .brought = brought};
	profile_fill(r);
	if (e->sim->model.hierarchy || traces_wanted(e->sim))
		find_trace(r);
	kept_trace_free(r->brought);
}

/* Once it has no job of its own under way, or its counters are packed. */
static void give_back(struct estimates *e, struct pending *p)
{
	if (p->given_back)
		return;
	p->given_back = true;
	e->held_bytes -= counter_bytes(p->launch);
	if (e->calls.give_back)
		e->calls.give_back(p->owner);
}

static bool has_own_job(const struct estimates *e, const struct pending *p)
{
	bool own = false;
	for (size_t t = 0; t < e->sim->target_count; t++)
		own |= p->targets[t].own;
	return own;
}

static void add_pending(struct estimates *e, struct pending *p)
{
	*e->end = p;
	e->end = &p->next;
	e->count++;
	e->taken++;
}

/* Whether all jobs of its own wait for others. */
static bool waits_for_others(const struct estimates *e, const struct pending *p)
{
	bool waits = true;
	for (size_t t = 0; t < e->sim->target_count; t++)
		waits = waits && (!p->targets[t].own || job_waits(p->targets[t].job));
	return waits;
}

/* A launch that waits for others may do so for long, and the program needs the memory of its counters. Most that wait are never simulated. */
static void pack(struct estimates *e, struct pending *p)
{
	p->packed = counters_pack(p->launch->counters, p->launch->counter_words);
	if (!p->packed)
		return;
	for (size_t t = 0; t < e->sim->target_count; t++)
		if (p->targets[t].own)
			job_set_packed(p->targets[t].job, p->packed);
	e->held_bytes += counters_packed_bytes(p->packed);
	give_back(e, p);
}

int estimates_take(struct estimates *e, const struct launch_record *l, struct kept_trace *brought, void *owner)
{
	struct launch_result *r = &e->result;
	struct pending *p = calloc(1, sizeof *p + e->sim->target_count * sizeof p->targets[0]);
	uint64_t *counts = calloc(l->artifact->block_count + 1, sizeof *counts);
	if (!p || !counts) {
		free(p);
		free(counts);
		kept_trace_free(brought);
		return -ENOMEM;
	}
	begin_launch(e, l, counts, brought);
	p->launch = l;
	p->owner = owner;
	e->held_bytes += counter_bytes(l);
	take_targets(e, p);
	p->profile = r->profile;
	p->counts = counts;
	p->trace = r->trace;
	p->traced_fraction = r->traced_fraction;
	if (l->unsized)
		flag_add(&r->flags, FLAG_local_size_chosen);
	p->flags = r->flags;
	add_pending(e, p);
	bool own = has_own_job(e, p);
	uint64_t bytes = counter_bytes(l);
	if (!own)
		give_back(e, p);
	else if (waits_for_others(e, p))
		pack(e, p);
	if (own)
		e->taken_bytes += p->packed ? counters_packed_bytes(p->packed) : bytes;
	bound_waiting(e);
	return 0;
}

int estimates_take_uncounted(struct estimates *e, const struct launch_record *l, const char *why, void *owner)
{
	struct pending *p = calloc(1, sizeof *p + e->sim->target_count * sizeof p->targets[0]);
	uint64_t *counts = calloc(l->artifact->block_count + 1, sizeof *counts);
	if (!p || !counts) {
		free(p);
		free(counts);
		return -ENOMEM;
	}
	p->launch = l;
	p->owner = owner;
	p->counts = counts;
	p->uncounted = why;
	flag_add(&p->flags, FLAG_not_counted);
	if (l->unsized)
		flag_add(&p->flags, FLAG_local_size_chosen);
	leave_state(e, p);
	add_pending(e, p);
	give_back(e, p);
	bound_waiting(e);
	return 0;
}

int estimates_pass(struct estimates *e, const struct launch_record *l, struct kept_trace *brought)
{
	struct launch_result *r = &e->result;
	uint64_t *counts = calloc(l->artifact->block_count + 1, sizeof *counts);
	if (!counts) {
		kept_trace_free(brought);
		return -ENOMEM;
	}
	begin_launch(e, l, counts, brought);
	const struct trace_glance glance = r->trace ? r->trace->glance : (struct trace_glance){.spread = 1};
	trace_let_go(r->trace);
	for (size_t t = 0; t < e->sim->target_count; t++) {
		r->profile.code = l->facts->code[e->sim->targets[t].arch];
		struct kernel_estimates *k = r->profile.code ? kernel_estimates(e->sim, l, t) : NULL;
		if (k && !memo_accesses(&k->memo, &r->profile, &e->sim->targets[t].gpu))
			find_state(e, t, l, k, &glance, &r->profile);
	}
	free(counts);
	*r = (struct launch_result){0};
	return 0;
}

/* ---- a launch without counters ---- */

/* NULL: none of the kernel was modelled on that target. */
static const struct counted_launches *counted_of(const struct estimates *e, const struct launch_record *l, size_t t)
{
	const struct kernel_estimates *k = l->facts->code[e->sim->targets[t].arch] ? l->facts->estimates[t] : NULL;
	return k ? &k->counted : NULL;
}

static bool can_be_derived(const struct estimates *e, const struct pending *p)
{
	bool ready = true;
	for (size_t t = 0; t < e->sim->target_count && ready; t++) {
		const struct counted_launches *c = counted_of(e, p->launch, t);
		ready = c ? counted_ready(c, p->launch, p->no_more) : p->no_more;
	}
	return ready;
}

static void derive(struct estimates *e, struct pending *p)
{
	struct counted_between between;
	bool first = true;
	for (size_t t = 0; t < e->sim->target_count; t++) {
		const struct counted_launches *c = counted_of(e, p->launch, t);
		unsigned arch = e->sim->targets[t].arch;
		p->targets[t].failure = p->uncounted;
		if (!p->launch->facts->code[arch] && p->launch->facts->failure[arch])
			p->targets[t].failure = p->launch->facts->failure[arch];
		if (!c || !counted_find(c, p->launch, &between))
			continue;
		if (first)
			counted_profile(p->launch, &between, p->counts, &p->profile);
		first = false;
		p->targets[t].job = counted_job(e->sim, p->launch, &p->profile, t, &between);
		p->targets[t].own = p->targets[t].job;
	}
	if (first)
		counted_profile(p->launch, NULL, p->counts, &p->profile);
	e->sim->cost.not_counted += !first;
}

/* ---- a launch goes out ---- */

static bool is_done(const struct estimates *e, const struct pending *p)
{
	if (p->uncounted)
		return can_be_derived(e, p);
	for (size_t t = 0; t < e->sim->target_count; t++)
		if (p->targets[t].job && !p->targets[t].job->taken)
			return false;
	return true;
}

/* A job of its own may be, although it was given up. */
static bool is_running(const struct estimates *e, const struct pending *p)
{
	bool running = false;
	for (size_t t = 0; t < e->sim->target_count; t++)
		running |= (p->targets[t].own && job_is_running(p->targets[t].job)) || (p->targets[t].advising && !advising_is_done(p->targets[t].advising));
	return running;
}

/* Whether a full simulation takes a small part of the time that modelling has taken. A user who asks for every launch gets that. */
static bool check_is_affordable(const struct estimates *e, const struct estimate_job *job)
{
	static const double instruction_ns = 1000, free_ns = 5e7; /* of a warp, with memory; of the whole run */
	enum { SHARE = 8 };
	double each = e->checks.count ? (double)e->checks.spent_ns / (double)e->checks.count : 0;
	double needed = fmax((double)job->estimate.warp_instructions * instruction_ns, each);
	return e->sim->options.check.number == 1 || (double)e->checks.spent_ns + needed <= free_ns + (double)e->sim->cost.model_ns / SHARE;
}

static void check_error(struct estimates *e, const struct pending *p, size_t t)
{
	struct estimate_job *job = p->targets[t].job;
	uint64_t begin = clock_ns();
	if (!check_is_affordable(e, job))
		return;
	double full = job_full_time_ns(job, decode(e, p->launch, p->trace), e->crew);
	if (full > 0)
		stats_add_check(&e->sim->stats, p->launch->kernel_name, t, fabs(job->estimate.time_ns / full - 1));
	e->checks.count++;
	e->checks.spent_ns += clock_ns() - begin;
}

static void take_result(struct estimates *e, struct pending *p, size_t t)
{
	struct launch_result *r = &e->result;
	struct estimate_job *job = p->targets[t].job;
	r->failure[t] = p->targets[t].failure;
	if (job && job->result) {
		gs_fail(&r->model_error[t], EINVAL, "it cannot be modelled: %s", job->error.text);
		r->failure[t] = r->model_error[t].text;
	}
	if (!job || job->result)
		return;
	r->estimated[t] = true;
	r->estimates[t] = job->estimate;
	estimate_wait_for_pages(&e->sim->targets[t].gpu, p->targets[t].pages_ns, &r->estimates[t]);
	r->instructions[t] = job->instructions;
	if (!p->targets[t].own) {
		r->estimates[t].simulated_fraction = 0;
		return;
	}
	e->sim->cost.model_ns += job->cost_ns;
	r->modelled_ns += job->cost_ns;
	e->sim->cost.simulated += !job->estimate.sampled && !job->from_cache && job->estimate.simulated_fraction > 0;
	e->sim->cost.from_cache += job->from_cache;
	trace_need(p->launch->facts, p->launch->global, p->launch->local, &job->estimate.needed);
	if (!e->budget.most_ns && !p->uncounted && sampling_check_due(job))
		check_error(e, p, t);
	if (!p->uncounted && advice_due(e->sim, &e->advice, job, &p->targets[t].trials) != ADVICE_NOT)
		p->targets[t].advising = advising_new(job, p->launch, p->trace);
	made_warps_free(job_take_warps(job)); /* nothing is tried */
}

static void pending_free(struct estimates *e, struct pending *p)
{
	for (size_t t = 0; t < e->sim->target_count; t++)
		if (p->targets[t].advising)
			advising_end(p->targets[t].advising, e->sim);
	trace_let_go(p->trace);
	for (size_t t = 0; t < e->sim->target_count; t++) {
		if (p->targets[t].own && p->packed)
			job_set_packed(p->targets[t].job, NULL);
		job_unref(p->targets[t].job);
	}
	if (p->packed)
		e->held_bytes -= counters_packed_bytes(p->packed);
	packed_counters_free(p->packed);
	free(p->counts);
	if (e->calls.release)
		e->calls.release(p->owner);
	free(p);
}

/* Those for the end hold counters until then: little of what there is room for, or none. */
static void put_off(struct estimates *e, struct pending *p, struct advising *a)
{
	enum { SHARE = 4 };
	bool held = !p->packed && !p->given_back;
	advising_put_off(a, &e->advice, held ? UINT64_MAX / 2 : p->packed ? counters_packed_bytes(p->packed) : 0, e->sim->options.counter_memory.number / SHARE);
}

/* The program needs the memory of the counters back. */
static void start_advising(struct estimates *e, struct pending *p)
{
	bool any = false;
	for (size_t t = 0; t < e->sim->target_count; t++)
		any |= p->targets[t].advising != NULL;
	if (any && !p->packed && !p->given_back)
		pack(e, p);
	for (size_t t = 0; t < e->sim->target_count && any; t++) {
		struct advising *a = p->targets[t].advising;
		if (a && p->targets[t].trials >= 1)
			advising_start(a, p->targets[t].trials, e->crew);
		else if (a)
			put_off(e, p, a);
	}
}

static void commit(struct estimates *e, struct pending *p)
{
	struct launch_result *r = &e->result;
	if (p->uncounted)
		derive(e, p);
	*r = (struct launch_result){.sim = e->sim, .launch = p->launch, .profile = p->profile, .counts = p->counts, .trace = p->trace,
	                            .traced_fraction = p->traced_fraction, .flags = p->flags};
	for (size_t t = 0; t < e->sim->target_count; t++)
		take_result(e, p, t);
	start_advising(e, p);
	if (!p->given_back && !is_running(e, p))
		give_back(e, p);
	if (e->calls.commit)
		e->calls.commit(r, p->owner);
}

/* Those that were given up while they were simulated, and whose simulation has ended. */
static void free_left(struct estimates *e)
{
	for (struct pending **link = &e->left, *p; (p = *link);) {
		if (is_running(e, p)) {
			link = &p->next;
			continue;
		}
		*link = p->next;
		give_back(e, p);
		pending_free(e, p);
	}
}

void estimates_finish_advice(struct estimates *e)
{
	uint64_t left_ns = e->budget.most_ns > e->budget.spent_ns ? e->budget.most_ns - e->budget.spent_ns : 0;
	advice_finish_later(&e->advice, e->sim, e->crew, e->budget.most_ns ? (double)left_ns / 1e9 : TRIALS_AT_END_S);
	for (struct pending *p = e->left; p; p = p->next)
		for (size_t t = 0; t < e->sim->target_count; t++)
			if (p->targets[t].advising)
				advising_wait(p->targets[t].advising);
	free_left(e);
}

void estimates_commit(struct estimates *e)
{
	take_done_jobs(e);
	give_up_started(e);
	take_done_jobs(e);
	free_left(e);
	for (struct pending *p; (p = e->first) && is_done(e, p);) {
		commit(e, p);
		e->first = p->next;
		if (!e->first)
			e->end = &e->first;
		e->count--;
		if (!is_running(e, p)) {
			give_back(e, p);
			pending_free(e, p);
		} else {
			p->next = e->left;
			e->left = p;
		}
	}
}

static bool is_left(const struct pending *p, size_t t)
{
	return p->targets[t].own && p->targets[t].job && p->targets[t].job->kernel && !p->targets[t].job->taken;
}

double estimates_left_ns(struct estimates *e, uint64_t others)
{
	double usual = outlook_simulation_ns(&e->outlook), left = 0;
	uint64_t handed_over = e->taken - e->count;
	for (struct pending *p = e->first; p; p = p->next)
		for (size_t t = 0; t < e->sim->target_count; t++)
			if (is_left(p, t))
				outlook_add(&p->targets[t].job->kernel->outlook, job_waits(p->targets[t].job));
	for (struct pending *p = e->first; p; p = p->next)
		for (size_t t = 0; t < e->sim->target_count; t++)
			if (is_left(p, t))
				left += outlook_take(&p->targets[t].job->kernel->outlook, usual);
	return left + (handed_over ? e->outlook.spent_ns / (double)handed_over * (double)others : 0);
}

uint64_t estimates_budget_ns(const struct estimates *e)
{
	return budget_left_ns(&e->budget);
}

bool estimates_all_wait(const struct estimates *e)
{
	return e->first && !e->started;
}

void estimates_wait(struct estimates *e)
{
	estimates_flush(e, false);
	while (e->first) {
		if (e->started)
			job_wait(e->started);
		else
			estimates_flush(e, false);
		estimates_commit(e);
	}
}

void estimates_free(struct estimates *e)
{
	if (!e)
		return;
	estimates_wait(e);
	advice_drop_later(&e->advice);
	crew_free(e->crew);
	free_left(e);
	free(e);
}

/* ---- for tests ---- */

void estimate_launch(struct simulation *sim, const struct launch_record *l, void (*commit_launch)(const struct launch_result *r, void *owner))
{
	static struct estimates e;
	e.sim = sim;
	e.calls.commit = commit_launch;
	e.end = &e.first;
	if (!estimates_take(&e, l, NULL, NULL))
		estimates_wait(&e);
}
