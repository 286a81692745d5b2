/* Sums over launches, for the reports; single launches are not kept. */
#include "state.h"

#include <stdlib.h>
#include <string.h>

struct stats stats = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct kernel_stats *kernel_stats(const char *name)
{
	for (struct kernel_stats *k = stats.kernels; k; k = k->next)
		if (!strcmp(k->name, name))
			return k;
	struct kernel_stats *k = calloc(1, sizeof *k);
	if (!k || !(k->name = strdup(name))) {
		free(k);
		return NULL;
	}
	k->next = stats.kernels;
	stats.kernels = k;
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

static void add_estimate(struct target_stats *t, const struct estimate *e, bool first)
{
	t->total_ns += e->time_ns;
	t->cycles += e->cycles;
	t->occupancy_sum += e->occupancy.fraction;
	if (first || e->time_ns < t->min_ns)
		t->min_ns = e->time_ns;
	if (first || e->time_ns > t->max_ns)
		t->max_ns = e->time_ns;
	add_limiter(t, e->limiter, e->time_ns);
}

void stats_add_launch(const struct launch_result *r)
{
	const char *failure = NULL;
	pthread_mutex_lock(&stats.lock);
	stats.launches++;
	struct kernel_stats *k = kernel_stats(r->launch->kernel_name);
	for (size_t t = 0; k && t < runtime.target_count; t++) {
		struct target_stats *s = &k->by_target[t];
		const char *library = r->launch->facts ? r->launch->facts->library[runtime.targets[t].arch] : NULL;
		if (r->estimated[t])
			add_estimate(s, &r->estimates[t], !s->launches++);
		if (r->estimated[t] && library && !s->library)
			s->library = strdup(library);
		if (!r->estimated[t])
			failure = r->failure[t];
	}
	if (k) {
		k->launches++;
		k->measured += r->launch->measured_ns != 0;
		k->measured_ns += (double)r->launch->measured_ns;
	}
	pthread_mutex_unlock(&stats.lock);
	if (failure)
		launch_not_modelled(r->launch->kernel_name, failure);
}

void launch_not_modelled(const char *kernel, const char *reason)
{
	pthread_mutex_lock(&stats.lock);
	struct not_modelled **link = &stats.not_modelled;
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
	pthread_mutex_unlock(&stats.lock);
}

static int longest_first(const void *a, const void *b)
{
	const struct kernel_stats *x = *(struct kernel_stats *const *)a, *y = *(struct kernel_stats *const *)b;
	for (size_t t = 0; t < runtime.target_count; t++)
		if (x->by_target[t].total_ns != y->by_target[t].total_ns)
			return x->by_target[t].total_ns < y->by_target[t].total_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

const struct kernel_stats **stats_sorted(size_t *count)
{
	size_t n = 0;
	for (struct kernel_stats *k = stats.kernels; k; k = k->next)
		n++;
	const struct kernel_stats **list = calloc(n + 1, sizeof *list);
	*count = list ? n : 0;
	n = 0;
	for (struct kernel_stats *k = stats.kernels; k && list; k = k->next)
		list[n++] = k;
	if (list)
		qsort(list, n, sizeof *list, longest_first);
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
