/* Sums over launches, for the reports; single launches are not kept. */
#include "runtime/model/stats.h"

#include "runtime/model/lines.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/process/signals.h"

#include <stdlib.h>
#include <string.h>

static struct kernel_stats *kernel_stats(struct stats *stats, const char *name)
{
	for (struct kernel_stats *k = stats->kernels; k; k = k->next)
		if (!strcmp(k->name, name))
			return k;
	struct kernel_stats *k = calloc(1, sizeof *k);
	if (!k || !(k->name = strdup(name))) {
		free(k);
		return NULL;
	}
	k->next = stats->kernels;
	stats->kernels = k;
	return k;
}

static void add_limiter(struct target_stats *t, const char *name, double time_ns)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(t->limiters); i++) {
		if (t->limiters[i].name && strcmp(t->limiters[i].name, name))
			continue;
		t->limiters[i].name = name;
		t->limiters[i].time_ns += time_ns;
		return;
	}
}

uint64_t launch_group_count(const struct launch_result *r)
{
	const uint64_t *groups = r->profile.groups;
	return groups[0] * groups[1] * groups[2];
}

uint32_t launch_registers(const struct launch_result *r, size_t target)
{
	const struct target *t = &r->sim->targets[target];
	return gpu_thread_registers(&t->gpu, r->launch->facts->code[t->arch]->registers);
}

static void keep_longest(struct target_stats *t, const struct launch_result *r, size_t target)
{
	t->longest = r->estimates[target];
	memcpy(t->longest_local, r->profile.local, sizeof t->longest_local);
	memcpy(t->longest_global, r->profile.global, sizeof t->longest_global);
	t->longest_groups = launch_group_count(r);
	t->longest_local_bytes = r->profile.local_bytes;
	t->registers = launch_registers(r, target);
	t->shared_bytes = r->launch->facts->code[r->sim->targets[target].arch]->shared_bytes;
}

static void add_estimate(struct target_stats *t, const struct launch_result *r, size_t target)
{
	const struct estimate *e = &r->estimates[target];
	bool first = !t->launches++;
	t->total_ns += e->time_ns;
	t->low_ns += e->low_ns;
	t->high_ns += e->high_ns;
	t->cycles += e->cycles;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		t->by[k] += e->by[k];
	for (int u = 0; u < RESOURCE_COUNT; u++)
		t->unit_cycles[u] += e->unit_cycles[u];
	t->thread_instructions += (double)e->thread_instructions;
	t->warp_instructions += (double)e->warp_instructions;
	t->active_lanes += e->lane_efficiency * (double)e->warp_instructions;
	t->register_bank_conflicts += e->register_bank_conflicts;
	struct energy energy = energy_of_launch(&r->sim->targets[target].gpu, e, launch_group_count(r));
	energy_add(&t->energy, &energy);
	t->occupancy_sum += e->occupancy.fraction;
	t->sm_use_sum += gpu_sm_use(&r->sim->targets[target].gpu, &e->occupancy, launch_group_count(r));
	if (first || e->time_ns < t->min_ns)
		t->min_ns = e->time_ns;
	if (first || e->time_ns > t->max_ns) {
		t->max_ns = e->time_ns;
		keep_longest(t, r, target);
	}
	add_limiter(t, e->limiter, e->time_ns);
	t->sampling.sampled += e->sampled;
	t->sampling.instructions += (double)e->warp_instructions;
	t->sampling.simulated += (double)e->warp_instructions * e->simulated_fraction;
	t->flags |= e->flags | r->flags;
}

static const char *why_not_traced(const struct launch_result *r)
{
	if (r->sim->options.trace.number == TRACE_NEVER)
		return "GPUSIM_TRACE is never";
	return r->trace ? "no group of the trace is whole" : "no trace fits";
}

/* The first target stands for all: what is traced does not depend on it. */
static void add_memory_source(struct memory_source *m, const struct launch_result *r)
{
	size_t t = 0;
	while (t < r->sim->target_count && !r->estimated[t])
		t++;
	if (t == r->sim->target_count)
		return;
	const struct estimate *e = &r->estimates[t];
	if (e->accessing) {
		m->computed++;
		m->reason = why_not_traced(r);
		if (e->drawn >= m->drawn) {
			m->drawn = e->drawn;
			m->accessing = e->accessing;
		}
	} else if (r->flags & (flag_set)1 << FLAG_other_trace) {
		m->other++;
		for (int d = 0; d < 3; d++) {
			m->other_groups[d] = r->trace->groups[d];
			m->other_local[d] = r->trace->local[d];
		}
	}
}

static bool knows_a_buffer(const struct launch_record *l)
{
	bool known = false, any = false;
	for (size_t i = 0; i < l->argument_count; i++) {
		any |= l->argument_bytes && l->argument_bytes[i];
		known |= l->argument_memory && l->argument_memory[i].buffer;
	}
	return known || !any;
}

/* Which instructions were timed. */
static void take_code(struct target_stats *s, const struct launch_result *r, size_t target)
{
	const struct artifact_kernel *facts = r->launch->facts;
	unsigned arch = r->sim->targets[target].arch;
	const struct kernel_code *code = facts->code[arch];
	s->code = !code->machine_block_count ? "ptx" : code->origin == CODE_OF_PROGRAM ? "program" : code->origin != CODE_SELECTED ? "machine" : "selected";
	if (facts->selected[arch] && !s->selected)
		s->selected = strdup(facts->selected[arch]);
}

void stats_add_launch(const struct launch_result *r)
{
	struct stats *stats = &r->sim->stats;
	const char *failure = NULL;
	pthread_mutex_lock(&stats->lock);
	stats->launches++;
	stats->cuda |= r->launch->cuda;
	struct kernel_stats *k = kernel_stats(stats, r->launch->kernel_name);
	for (size_t t = 0; k && t < r->sim->target_count; t++) {
		struct target_stats *s = &k->by_target[t];
		const char *library = r->launch->facts ? r->launch->facts->library[r->sim->targets[t].arch] : NULL;
		if (r->estimated[t])
			add_estimate(s, r, t);
		if (r->estimated[t] && library && !s->library)
			s->library = strdup(library);
		if (r->estimated[t])
			take_code(s, r, t);
		if (!r->estimated[t])
			failure = r->failure[t];
	}
	if (k) {
		lines_add_launch(&k->lines, r);
		add_memory_source(&k->memory, r);
		k->memory.in_part += r->trace && r->traced_fraction < 1;
		k->memory.l2_unknown += !knows_a_buffer(r->launch);
		k->launches++;
		k->in_shadow += r->launch->in_shadow;
		if (r->launch->unsized) {
			k->unsized++;
			memcpy(k->unsized_local, r->launch->local, sizeof k->unsized_local);
		}
		k->measured += r->launch->measured_ns != 0;
		k->measured_ns += (double)r->launch->measured_ns;
	}
	pthread_mutex_unlock(&stats->lock);
	if (failure)
		stats_add_not_modelled(stats, r->launch->kernel_name, failure);
}

void stats_add_comparison(struct stats *stats, const char *kernel, enum twin_comparison result)
{
	lock_for_report(&stats->lock);
	struct kernel_stats *k = kernel_stats(stats, kernel);
	if (k)
		k->comparisons[result]++;
	unlock_for_report(&stats->lock);
}

void stats_add_check(struct stats *stats, const char *kernel, size_t target, double error)
{
	pthread_mutex_lock(&stats->lock);
	struct kernel_stats *k = kernel_stats(stats, kernel);
	struct sampling_stats *s = k ? &k->by_target[target].sampling : NULL;
	if (s) {
		s->checks++;
		s->error_sum += error;
		s->error_most = error > s->error_most ? error : s->error_most;
	}
	pthread_mutex_unlock(&stats->lock);
}

void stats_set_advice(struct stats *stats, const char *kernel, size_t target, const struct advice_list *advice)
{
	pthread_mutex_lock(&stats->lock);
	struct kernel_stats *k = kernel_stats(stats, kernel);
	struct target_stats *t = k ? &k->by_target[target] : NULL;
	if (t && !t->advice)
		t->advice = calloc(1, sizeof *t->advice);
	if (t && t->advice && advice->time_ns > t->advice->time_ns)
		*t->advice = *advice;
	pthread_mutex_unlock(&stats->lock);
}

void stats_set_untried(struct stats *stats, const char *kernel, size_t target, double seconds)
{
	pthread_mutex_lock(&stats->lock);
	struct kernel_stats *k = kernel_stats(stats, kernel);
	if (k)
		k->by_target[target].untried_s = seconds;
	pthread_mutex_unlock(&stats->lock);
}

double stats_kernel_share(struct stats *stats, const char *kernel, size_t target)
{
	pthread_mutex_lock(&stats->lock);
	struct kernel_stats *k = kernel_stats(stats, kernel);
	double ns = k ? k->by_target[target].total_ns : 0, all = kernels_total_ns(stats, target);
	pthread_mutex_unlock(&stats->lock);
	return all > 0 ? ns / all : 0;
}

void stats_add_not_modelled(struct stats *stats, const char *kernel, const char *reason)
{
	lock_for_report(&stats->lock);
	struct not_modelled **link = &stats->not_modelled;
	while (*link && (strcmp((*link)->kernel, kernel) || strcmp((*link)->reason, reason)))
		link = &(*link)->next;
	if (!*link && (*link = calloc(1, sizeof **link))) {
		(*link)->kernel = strdup(kernel);
		(*link)->reason = strdup(reason);
		if (!(*link)->kernel || !(*link)->reason) {
			free((*link)->kernel);
			free((*link)->reason);
			free(*link);
			*link = NULL;
		}
	}
	if (*link)
		(*link)->launches++;
	unlock_for_report(&stats->lock);
}

/* With the lock held. NULL: there are many shapes already, or memory is short. */
static struct measured_kernel *measured_kernel(struct stats *stats, const char *kernel, const struct measured_shape *shape)
{
	enum { MOST_SHAPES = 4096 };
	struct measured_kernel **link = &stats->measured;
	unsigned count = 0;
	for (; *link; link = &(*link)->next, count++)
		if (!memcmp(&(*link)->shape, shape, sizeof *shape) && !strcmp((*link)->kernel, kernel))
			return *link;
	struct measured_kernel *m = count < MOST_SHAPES ? calloc(1, sizeof *m) : NULL;
	if (!m || !(m->kernel = strdup(kernel))) {
		free(m);
		return NULL;
	}
	m->shape = *shape;
	return *link = m;
}

void stats_add_shape(struct stats *stats, const char *kernel, const struct measured_shape *shape)
{
	lock_for_report(&stats->lock);
	struct measured_kernel *m = measured_kernel(stats, kernel, shape);
	if (m)
		m->launches++;
	unlock_for_report(&stats->lock);
}

void stats_add_measured(struct stats *stats, const char *kernel, const char *reason, const struct measured_shape *shape, uint64_t ns)
{
	lock_for_report(&stats->lock);
	struct measured_kernel *m = measured_kernel(stats, kernel, shape);
	if (m) {
		m->least_ns = !m->measured || (double)ns < m->least_ns ? (double)ns : m->least_ns;
		m->most_ns = (double)ns > m->most_ns ? (double)ns : m->most_ns;
		m->total_ns += (double)ns;
		m->measured++;
	}
	for (struct not_modelled *n = reason ? stats->not_modelled : NULL; n; n = n->next)
		if (!strcmp(n->kernel, kernel) && !strcmp(n->reason, reason)) {
			n->measured++;
			n->measured_ns += (double)ns;
		}
	unlock_for_report(&stats->lock);
}

void stats_add_transfer(struct stats *stats, enum transfer_kind kind, uint64_t size_bytes)
{
	lock_for_report(&stats->lock);
	stats->transfers[kind].commands++;
	stats->transfers[kind].size_bytes += size_bytes;
	unlock_for_report(&stats->lock);
}

void stats_add_peer_copy(struct stats *stats, struct peer_ends ends, uint64_t size_bytes)
{
	stats_add_transfer(stats, TRANSFER_PEER, size_bytes);
	if (ends.from >= TOPOLOGY_GPUS || ends.to >= TOPOLOGY_GPUS)
		return;
	lock_for_report(&stats->lock);
	stats->peers[ends.from][ends.to].commands++;
	stats->peers[ends.from][ends.to].size_bytes += size_bytes;
	unlock_for_report(&stats->lock);
}

static int longest_first(const void *a, const void *b, void *data)
{
	const struct simulation *sim = data;
	const struct kernel_stats *x = *(struct kernel_stats *const *)a, *y = *(struct kernel_stats *const *)b;
	for (size_t t = 0; t < sim->target_count; t++)
		if (x->by_target[t].total_ns != y->by_target[t].total_ns)
			return x->by_target[t].total_ns < y->by_target[t].total_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

const struct kernel_stats **stats_sorted(const struct simulation *sim, size_t *count)
{
	size_t n = 0;
	for (struct kernel_stats *k = sim->stats.kernels; k; k = k->next)
		n++;
	const struct kernel_stats **list = calloc(n + 1, sizeof *list);
	*count = list ? n : 0;
	n = 0;
	for (struct kernel_stats *k = sim->stats.kernels; k && list; k = k->next)
		list[n++] = k;
	if (list)
		qsort_r(list, n, sizeof *list, longest_first, (void *)sim);
	return list;
}

const char *main_limiter(const struct target_stats *t)
{
	const struct limiter_share *best = &t->limiters[0];
	for (size_t i = 1; i < GS_ARRAY_LEN(t->limiters); i++)
		if (t->limiters[i].name && t->limiters[i].time_ns > best->time_ns)
			best = &t->limiters[i];
	return best->name ? best->name : "-";
}

double kernels_total_ns(const struct stats *stats, size_t target)
{
	double sum = 0;
	for (const struct kernel_stats *k = stats->kernels; k; k = k->next)
		sum += k->by_target[target].total_ns;
	return sum;
}

struct energy kernels_energy(const struct stats *stats, size_t target)
{
	struct energy sum = {0};
	for (const struct kernel_stats *k = stats->kernels; k; k = k->next)
		energy_add(&sum, &k->by_target[target].energy);
	return sum;
}

/* Without a topology, or from a profile, all pairs of GPUs are alike. */
double transfers_of_kind_ns(const struct simulation *sim, size_t target, enum transfer_kind kind)
{
	const struct gpu *gpu = &sim->targets[target].gpu;
	double sum = 0;
	if (kind != TRANSFER_PEER || !sim->topology.count)
		return transfer_time_ns(gpu, kind, &sim->stats.transfers[kind]);
	for (uint32_t from = 0; from < sim->topology.count; from++)
		for (uint32_t to = 0; to < sim->topology.count; to++) {
			const struct transfer_stats *s = &sim->stats.peers[from][to];
			sum += topology_time_ns(&sim->topology, gpu, (struct peer_ends){from, to}, s->commands, s->size_bytes);
		}
	return sum;
}

double transfers_total_ns(const struct simulation *sim, size_t target)
{
	double sum = 0;
	for (int k = 0; k < TRANSFER_KINDS; k++)
		sum += transfers_of_kind_ns(sim, target, (enum transfer_kind)k);
	return sum;
}
