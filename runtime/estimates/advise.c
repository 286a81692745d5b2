/* Trials of launches; see advise.h. */
#include "runtime/estimates/advise.h"

#include "runtime/advice/advice.h"
#include "runtime/estimates/allot.h"
#include "runtime/estimates/kernel.h"
#include "runtime/model/trace_decode.h"
#include "runtime/process/share.h"

#include <math.h>
#include <stdlib.h>

struct advising {
	struct crew_job own; /* the first member */
	struct estimate_job *job;
	const struct launch_record *launch;
	const struct kept_trace *kept; /* its trace; NULL: none */
	struct crew *crew; /* that does it; NULL: one thread */
	struct advice_trials *proposed; /* owned; NULL: not yet, or not any more */
	struct made_warps *made; /* the launch's, for all trials; likewise */
	bool only_propose, keeps; /* keeps: the warps, until it is tried */
	double trials; /* that there is room for */
	uint64_t part; /* groups that they are made with; 0: all */
	double on;     /* the share of what a trial would simulate, on fewer SMs; 0: all */
	double needed_s; /* more than 0: nothing was tried, because it would take so long */
	struct advising *next; /* of those for the end */
	uint64_t bytes;        /* likewise: that it holds */
	struct advice_list list;
	bool worked_out, done; /* done: under jobs_lock */
};

/* ---- what there is room for ---- */

static double groups_of(const struct estimate_job *job)
{
	const uint64_t *g = job->profile.groups;
	return (double)g[0] * (double)g[1] * (double)g[2];
}

/* Steps that timing all of a launch takes: of instructions, and of what they ask of memory, which is most of the time where warps scatter. */
static double steps_of(const struct estimate *e)
{
	return (double)e->warp_instructions + e->memory.transactions;
}

static double work_of(const struct estimate *e)
{
	return steps_of(e) * e->simulated_fraction;
}

/* Steps that trials may still take with GPUSIM_ADVICE=auto: some that are free, and what the run's own allow for. */
static double work_left(const struct advice_budget *b, double of_run)
{
	static const double free_work = 1e5;
	return fmax(free_work + of_run - b->spent, 0);
}

/* Trials as large as `work` that there is room for while the program runs. */
static double affordable(const struct advice_budget *b, const struct simulation *sim, double work)
{
	double left = work_left(b, b->simulated / 8);
	return sim->options.advice.number == ADVICE_ALWAYS ? ADVICE_TRIALS * 1e6 : fmin(ADVICE_TRIALS, left / fmax(work, 1));
}

/*
 * Trials of short simulations say little if they are shorter still: with a quarter of the steps, the loops of phases (kernels/shapes, long) lose
 * their advice, which promises 46% in full. Those of long ones say nearly the same: spmv (long) 81% instead of 84%, and 87% in full.
 */
static double allowed_at_end(const struct advice_budget *b)
{
	static const double most_halved = 8e5; /* half a second or so */
	return fmin(b->simulated, most_halved) / 2 + fmax(b->simulated - most_halved, 0) / 4;
}

/* What trials may simulate at the end of the run. A budget that the user gave bounds them alone. */
static double work_at_end(const struct advice_budget *b, const struct simulation *sim, double seconds)
{
	double most = fmin(seconds, TRIALS_AT_END_S) * TRIAL_WORK_PER_S;
	return sim->options.budget.number ? most : fmin(most, work_left(b, allowed_at_end(b)));
}

enum advice_when advice_due(const struct simulation *sim, struct advice_budget *b, struct estimate_job *job, double *trials)
{
	static const double longer = 1.25, least_share = 0.01; /* least_share: of the run up to now */
	const struct estimate *e = &job->estimate;
	*trials = 0;
	b->simulated += e->sampled ? 0 : work_of(e);
	b->time_ns += e->time_ns;
	if (sim->options.advice.number == ADVICE_NEVER || (sim->options.report.number & REPORT_NONE) || e->sampled || job->state != JOB_DONE)
		return ADVICE_NOT;
	if (e->time_ns < least_share * b->time_ns || e->time_ns <= longer * job->kernel->advised_ns)
		return ADVICE_NOT;
	job->kernel->advised_ns = e->time_ns;
	*trials = sim->options.budget.number ? 0 : affordable(b, sim, work_of(e));
	if (*trials < TRIALS_USUAL) {
		*trials = 0;
		return ADVICE_LATER;
	}
	b->spent += TRIALS_USUAL * work_of(e);
	return ADVICE_NOW;
}

/* ---- on a thread of the crew ---- */

/*
 * Without its cause of lost time, a loop may take many more steps until its rate is stable: of the gather of kernels/shapes 73 times as many. A
 * trial ends after the steps of the launch's own estimate, and what is left goes on at the rate that it has then. It is only compared.
 */
static double most_steps(const struct estimate_job *job)
{
	static const double least = 1e5; /* 0.1 s or so */
	bool all = job->sim->options.advice.number == ADVICE_ALWAYS || job->sim->model.exact;
	return all ? 0 : fmax(work_of(&job->estimate), least);
}

/* Of what is simulated of a launch: 8 SMs of 132. Half as much, and SMs would hardly meet in memory. */
#define LEAST_ON (1.0 / 16)

/* The least share of what is simulated of a launch that can be simulated on fewer SMs; 0: none can. */
static double least_on(const struct estimate_job *job)
{
	const struct model_options *m = &job->sim->model;
	bool fewer = m->hierarchy && !isnan(job->estimate.memory.l1_hit) && m->kind != MODEL_OPTIMISTIC && m->kind != MODEL_PROBABILISTIC;
	return fewer ? LEAST_ON : 0;
}

/* Steps after which a trial with more groups ends. Full SMs take several times as long for a step as the few groups of the launch: on an H200, the
 * correlation of kernels/shapes (long) took 2.7 s until its rate was stable, and 1.2 s with this bound. Both promise 99%. */
#define LARGER_STEPS 1e6

/* A trial with more groups than the launch has: they fill all SMs, and a few of these stand for all. Not where everything is tried in full. */
static bool is_larger(const struct advising *a, const struct advice_trial *t)
{
	return t->work > 1 && least_on(a->job) > 0 && most_steps(a->job) > 0;
}

/* Of what would be simulated; 0: all. */
static double share_of(const struct advising *a, const struct advice_trial *t)
{
	return is_larger(a, t) ? LEAST_ON : a->on;
}

/* Steps of a trial with more groups that is not ended. */
static double larger_steps(const struct advising *a, const struct advice_trial *t)
{
	static const double most = 2e6; /* after which full SMs have a stable rate: of the rows and the gather of kernels/shapes 1.9e6 */
	return fmin(t->work * steps_of(&a->job->estimate) * LEAST_ON, most);
}

/* What it takes, relative to the launch. */
static double cost_of(const struct advising *a, const struct advice_trial *t)
{
	return is_larger(a, t) ? fmin(larger_steps(a, t), LARGER_STEPS) / fmax(work_of(&a->job->estimate), 1) : t->work;
}

/* It would take longer than the estimate that it is about, and some tenths of a second, or it would be far from a stable rate: it is not made. */
static bool is_dear(const struct advising *a, const struct advice_trial *t)
{
	static const double longer = 1.1, least = 1e6; /* least: steps */
	return is_larger(a, t) && larger_steps(a, t) > fmax(longer * work_of(&a->job->estimate), least);
}

/* Trials are kept beside the estimates of the kernel. */
static void trial_key(const struct advising *a, const struct advice_trial *t, const struct gpu *gpu, char key[33])
{
	struct gs_buf all = {0};
	uint64_t numbers[] = {t->change.kind, t->change.line, t->change.file, a->part, (uint64_t)most_steps(a->job)};
	gs_buf_add(&all, a->job->key, sizeof a->job->key);
	gs_buf_add(&all, numbers, sizeof numbers);
	double on = share_of(a, t);
	gs_buf_add(&all, &on, sizeof on);
	gs_buf_add(&all, gpu, sizeof *gpu);
	gs_hash_hex(all.data, all.len, key);
	gs_buf_free(&all);
}

static const struct gpu *gpu_of(const struct estimate_job *job)
{
	return &job->sim->targets[job->target].gpu;
}

static int time_trial(const struct advising *a, const struct advice_trial *t, struct estimate *out)
{
	const struct estimate_job *job = a->job;
	const struct gpu *gpu = t->gpu ? t->gpu : gpu_of(job);
	struct model_options options = job->sim->model;
	struct results *results = job->kernel->results;
	char key[33];
	trial_key(a, t, gpu, key);
	if (results && results_find(results, key, job->profile.code, out, NULL))
		return 0;
	options.made = a->made;
	options.change = t->change.kind == CHANGE_none ? NULL : &t->change;
	options.most_groups = a->part;
	options.share = share_of(a, t);
	options.most_steps = is_larger(a, t) ? LARGER_STEPS : a->part ? 0 : most_steps(job);
	int result = job_model(job, gpu, &options, out);
	if (results && !result)
		results_keep(results, key, job->profile.code, out, NULL);
	return result;
}

/* What is wrong with the number of groups does not show in a part of them. */
static bool can_be_tried(const struct advising *a, const struct advice_trial *t)
{
	return cost_of(a, t) <= a->trials && !is_dear(a, t) && !(a->part && t->change.kind == CHANGE_groups);
}

/* Trials that are made, by several threads at a time where the crew has them. */
struct trying {
	const struct advising *a;
	struct advice_trial *list[ADVICE_TRIALS + 1];
	size_t count;
};

static void try_one(void *ctx, size_t i)
{
	struct trying *all = ctx;
	struct estimate e;
	if (!time_trial(all->a, all->list[i], &e))
		all->list[i]->time_ns = e.time_ns;
}

/* The trials that are made. Returns whether one is made with the reduction, and the launch as it is must be, too. */
static bool choose_trials(struct advising *a, struct advice_trials *trials, struct trying *all)
{
	bool reduced = false;
	for (size_t i = 0; i < trials->count; i++)
		if (can_be_tried(a, &trials->list[i])) {
			a->trials -= cost_of(a, &trials->list[i]);
			all->list[all->count++] = &trials->list[i];
			reduced |= (a->part || a->on > 0) && !is_larger(a, &trials->list[i]);
		}
	return reduced;
}

/* Returns the time that they are compared with: of the launch as it is, under the reduction that they have. 0: not known. */
static double run_trials(struct advising *a, struct advice_trials *trials)
{
	struct advice_trial as_it_is = {0};
	struct trying all = {.a = a};
	double own_ns = a->job->estimate.time_ns;
	bool reduced = choose_trials(a, trials, &all);
	if (reduced)
		all.list[all.count++] = &as_it_is;
	crew_share(a->crew, a->own.priority, all.count, try_one, &all);
	double compared = reduced ? as_it_is.time_ns : own_ns;
	for (size_t i = 0; i < all.count && own_ns > 0; i++)
		if (is_larger(a, all.list[i])) /* full SMs take as long as all of them do: it is compared with the launch's own time */
			all.list[i]->time_ns *= compared / own_ns;
	return compared;
}

static bool make_warps(struct advising *a)
{
	return a->made || !job_make_warps(a->job, &a->made);
}

static void drop_warps(struct advising *a)
{
	made_warps_free(a->made);
	a->made = NULL;
}

static void propose(struct advising *a)
{
	const struct estimate_job *job = a->job;
	struct launch_survey survey = {.instructions = calloc(job->profile.code->code_count + 1u, sizeof *survey.instructions)};
	a->proposed = calloc(1, sizeof *a->proposed);
	if (!survey.instructions || !a->proposed || !make_warps(a) || made_warps_survey(gpu_of(job), a->made, &survey) ||
	    advice_propose(gpu_of(job), &job->profile, &job->estimate, &survey, a->proposed)) {
		free(a->proposed);
		a->proposed = NULL;
	}
	free(survey.instructions);
}

static bool has_trials(const struct advising *a)
{
	return a->proposed && a->proposed->count;
}

static void work_out(struct advising *a)
{
	if (!a->proposed || (has_trials(a) && !make_warps(a)))
		return;
	double compared = run_trials(a, a->proposed);
	advice_finish(a->proposed, compared, &a->list);
	a->list.time_ns = a->job->estimate.time_ns;
	a->list.part = a->part ? (double)a->part / groups_of(a->job) : a->on;
	a->worked_out = true;
}

static void run_advising(struct crew_job *crew)
{
	struct advising *a = (struct advising *)crew;
	if (!a->proposed)
		propose(a);
	if (!a->only_propose)
		work_out(a);
	if (!a->only_propose || !a->keeps || !has_trials(a))
		drop_warps(a);
	job_drop_trace(a->job);
	void (*moved)(void *) = a->job->moved;
	void *ctx = a->job->moved_ctx;
	pthread_mutex_lock(&jobs_lock);
	a->done = true;
	pthread_cond_broadcast(&jobs_changed);
	pthread_mutex_unlock(&jobs_lock);
	if (moved)
		moved(ctx);
}

/* ---- */

struct advising *advising_new(struct estimate_job *job, const struct launch_record *launch, const struct kept_trace *kept)
{
	struct advising *a = calloc(1, sizeof *a);
	if (a)
		*a = (struct advising){.own = {.run = run_advising, .priority = -1}, .job = job, .launch = launch, .kept = kept, .made = job_take_warps(job)};
	return a;
}

void advising_start(struct advising *a, double trials, struct crew *crew)
{
	a->trials = trials;
	a->crew = crew;
	bool wanted = !a->made && (!a->proposed || has_trials(a));
	job_set_trace(a->job, wanted && a->kept ? trace_decode(a->job->sim, a->launch->artifact, a->kept) : NULL);
	if (crew)
		crew_add(crew, &a->own);
	else
		run_advising(&a->own);
}

bool advising_is_done(struct advising *a)
{
	pthread_mutex_lock(&jobs_lock);
	bool done = a->done;
	pthread_mutex_unlock(&jobs_lock);
	return done;
}

void advising_wait(struct advising *a)
{
	pthread_mutex_lock(&jobs_lock);
	while (!a->done)
		pthread_cond_wait(&jobs_changed, &jobs_lock);
	pthread_mutex_unlock(&jobs_lock);
}

void advising_end(struct advising *a, struct simulation *sim)
{
	if (a->worked_out)
		stats_set_advice(&sim->stats, a->job->record.kernel_name, a->job->target, &a->list);
	else if (a->needed_s > 0)
		stats_set_untried(&sim->stats, a->job->record.kernel_name, a->job->target, a->needed_s);
	if (a->proposed)
		advice_trials_free(a->proposed);
	free(a->proposed);
	drop_warps(a);
	free(a);
}

/* ---- at the end ---- */

enum { MOST_LATER = 16 };

/* Trials, each as much work as the launch; TRIALS_USUAL: not known. dear: also those that are not made because they are dear. */
static double wanted_by(const struct advising *a, bool dear)
{
	double sum = 0;
	for (size_t i = 0; a->proposed && i < a->proposed->count; i++)
		sum += dear || !is_dear(a, &a->proposed->list[i]) ? cost_of(a, &a->proposed->list[i]) : 0;
	return a->proposed ? sum : TRIALS_USUAL;
}

/* Nothing is tried. The launch may go. */
static void give_up(struct advising *a, bool noted)
{
	a->needed_s = noted ? fmax(wanted_by(a, true), 1) * work_of(&a->job->estimate) / TRIAL_WORK_PER_S : 0;
	drop_warps(a);
	a->done = true; /* no other thread knows it yet */
}

static void leave_out(struct advice_budget *b, struct advising *a, bool noted)
{
	struct advising **link = &b->later;
	while (*link && *link != a)
		link = &(*link)->next;
	if (*link) {
		*link = a->next;
		b->later_count--;
		b->later_bytes -= a->bytes;
	}
	give_up(a, noted);
}

void advice_drop_later(struct advice_budget *b)
{
	while (b->later)
		leave_out(b, b->later, false);
}

static struct advising *shortest_later(const struct advice_budget *b)
{
	struct advising *shortest = b->later;
	for (struct advising *a = b->later; a; a = a->next)
		if (a->job->estimate.time_ns < shortest->job->estimate.time_ns)
			shortest = a;
	return shortest;
}

static bool room_for_warps(const struct advice_budget *b, const struct made_warps *made)
{
	struct kept_warps kept = {0};
	for (const struct advising *a = b->later; a; a = a->next)
		if (a->made)
			keeps_warps(&kept, a->made);
	return keeps_warps(&kept, made);
}

void advising_put_off(struct advising *a, struct advice_budget *b, uint64_t bytes, uint64_t most_bytes)
{
	for (struct advising *other = b->later, *next; other; other = next) {
		next = other->next;
		if (other->job->kernel == a->job->kernel)
			leave_out(b, other, false); /* a longer launch stands for the kernel now */
	}
	if (b->later_bytes + bytes > most_bytes) {
		leave_out(b, a, true);
		return;
	}
	if (a->made && !room_for_warps(b, a->made))
		drop_warps(a);
	a->bytes = bytes;
	a->next = b->later;
	b->later = a;
	b->later_bytes += bytes;
	if (++b->later_count > MOST_LATER)
		leave_out(b, shortest_later(b), true);
}

struct late {
	struct advising *advising;
	struct trial_candidate candidate;
};

static int longest_first(const void *x, const void *y)
{
	const struct late *a = x, *b = y;
	if (a->candidate.share != b->candidate.share)
		return a->candidate.share < b->candidate.share ? 1 : -1;
	return a->advising->launch->seq < b->advising->launch->seq ? -1 : a->advising->launch->seq > b->advising->launch->seq;
}

static struct trial_candidate candidate_of(struct simulation *sim, const struct advising *a)
{
	const struct estimate *e = &a->job->estimate;
	return (struct trial_candidate){
		.least_on = least_on(a->job), .share = stats_kernel_share(&sim->stats, a->job->record.kernel_name, a->job->target), .wanted = wanted_by(a, false),
		.simulated = work_of(e),
		.executed = steps_of(e), .groups = (uint64_t)groups_of(a->job),
		.at_once = (uint64_t)e->occupancy.blocks_per_sm * gpu_of(a->job)->sm_count,
	};
}

static void propose_late(struct late *l, struct crew *crew)
{
	l->advising->only_propose = true;
	advising_start(l->advising, 0, crew);
}

static void try_late(struct late *l, struct crew *crew)
{
	l->advising->only_propose = l->advising->done = false;
	l->advising->part = l->candidate.part;
	l->advising->on = l->candidate.on;
	bool all_dear = has_trials(l->advising) && l->candidate.wanted <= 0;
	if (l->candidate.trials >= fmin(l->candidate.wanted, 1) && !all_dear)
		advising_start(l->advising, l->candidate.trials, crew);
	else
		give_up(l->advising, true);
}

/* As many as there are threads: each has a decoded trace, or the warps of one. */
static size_t at_once(struct crew *crew)
{
	return crew ? crew_threads(crew) : 1;
}

static void for_all_late(struct late *list, size_t count, struct crew *crew, void (*start)(struct late *l, struct crew *crew))
{
	for (size_t i = 0; i < count; i++) {
		if (i >= at_once(crew))
			advising_wait(list[i - at_once(crew)].advising);
		start(&list[i], crew);
	}
	for (size_t i = 0; i < count; i++)
		advising_wait(list[i].advising);
}

static void order_late(struct late *list, size_t count, struct simulation *sim)
{
	for (size_t i = 0; i < count; i++)
		list[i].candidate = candidate_of(sim, list[i].advising);
	qsort(list, count, sizeof *list, longest_first);
}

static void allot_late(struct late *list, size_t count, struct simulation *sim, double work)
{
	struct trial_candidate candidates[MOST_LATER];
	order_late(list, count, sim);
	for (size_t i = 0; i < count; i++)
		candidates[i] = list[i].candidate;
	allot_trials(candidates, count, work);
	for (size_t i = 0; i < count; i++)
		list[i].candidate = candidates[i];
}

void advice_finish_later(struct advice_budget *b, struct simulation *sim, struct crew *crew, double seconds)
{
	struct late list[MOST_LATER];
	size_t count = 0;
	for (struct advising *a = b->later; a && count < MOST_LATER; a = a->next)
		list[count++] = (struct late){.advising = a};
	b->later = NULL;
	b->later_count = b->later_bytes = 0;
	order_late(list, count, sim);
	for (size_t i = 0; i < count; i++)
		list[i].advising->keeps = list[i].advising->made || i < at_once(crew);
	for_all_late(list, count, crew, propose_late);
	allot_late(list, count, sim, work_at_end(b, sim, seconds));
	for_all_late(list, count, crew, try_late);
}
