/*
 * The fetcher: a thread that goes through the queue of completed launches ahead of the worker. It packs traces into less memory,
 * compares what is to be verified, and releases copies, so that launches to come have the memory.
 */
#include "runtime/guest/launches/worker_state.h"

#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/shadow.h"
#include "runtime/guest/launches/traced.h"
#include "runtime/guest/launches/verify.h"
#include "runtime/model/trace_shapes.h"

bool has_to_fetch(const struct launch *l)
{
	return l->trace_buffer || l->verification || l->shadow;
}

/* The time of the kernel itself, which ran after its twins. */
static uint64_t own_ns(const struct launch_times *t)
{
	uint64_t begin = t->traces_end_ns > t->twin_end_ns ? t->traces_end_ns : t->twin_end_ns;
	return begin && t->own_end_ns > begin ? t->own_end_ns - begin : 0;
}

/* Fetches the trace and the verdict on the twin. The copies of memory are released. */
static void fetch(struct launch *l)
{
	verification_end(l->verification, l->record.kernel_name, l->status >= 0, own_ns(&l->times));
	l->verification = NULL;
	if (l->trace_buffer && !l->void_trace && !l->uncounted && l->status >= 0)
		l->brought = trace_bring_back(l);
	shadow_release(l->shadow);
	shadow_release(l->inputs);
	l->shadow = l->inputs = NULL;
}

void fetch_once(struct launch *l)
{
	while (l->fetched == FETCH_BUSY)
		pthread_cond_wait(&work.progress, &work.lock);
	if (l->fetched == FETCH_DONE)
		return;
	l->fetched = FETCH_BUSY;
	pthread_mutex_unlock(&work.lock);
	fetch(l);
	pthread_mutex_lock(&work.lock);
	l->fetched = FETCH_DONE;
	pthread_cond_broadcast(&work.progress);
}

/* With the lock held: whether the memory of traces that wait to be modelled has reached its bound. A single one may be larger. */
static bool brought_enough(uint64_t more)
{
	return work.brought_bytes && work.brought_bytes + more > TRACE_KEPT_SHARE(simulation.options.trace_memory.number);
}

/* With the lock held. What is beyond the bound goes to a file, and is lost if that is not possible; where traces are to be whole, it is not fetched
 * before there is room. */
static void keep_brought(struct launch *l)
{
	if (!l->brought)
		return;
	if (simulation.whole_traces || !brought_enough(l->brought->length) ||
	    kept_trace_to_file(l->brought, simulation.temporary, TRACE_FILES_SHARE(simulation.options.trace_memory.number))) {
		work.brought_bytes += kept_trace_memory(l->brought);
		return;
	}
	kept_trace_free(l->brought);
	l->brought = NULL;
	simulation.cost.untraced++;
}

static struct launch *next_to_fetch(void)
{
	struct launch *l = simulation.whole_traces && brought_enough(0) ? NULL : work.completed;
	while (l && (l->fetched != FETCH_NONE || !has_to_fetch(l)))
		l = l->queued;
	return l;
}

void *fetcher(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&work.lock);
	for (;;) {
		struct launch *l = next_to_fetch();
		if (l) {
			fetch_once(l);
			keep_brought(l);
		} else {
			pthread_cond_wait(&work.fetch, &work.lock);
		}
	}
	return NULL;
}
