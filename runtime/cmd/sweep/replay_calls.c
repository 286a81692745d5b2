/* See replay_calls.h. */
#include "runtime/cmd/sweep/replay_calls.h"

#include "runtime/config/log.h"
#include "runtime/estimates/estimates.h"
#include "runtime/estimates/launch_demand.h"
#include "runtime/timeline/calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "replay"

struct replayed_launch {
	uint64_t seq;
	double time_ns; /* NAN: not known */
	struct command_demand demand;
};

void replay_calls_note(struct replay_calls *k, const struct launch_result *r)
{
	for (size_t t = 0; t < r->sim->target_count; t++) {
		struct replayed_launch l = {.seq = r->launch->seq, .time_ns = NAN};
		if (!gs_reserve(&k->launches, k->count, &k->room, sizeof *k->launches))
			return;
		if (r->estimated[t]) {
			l.time_ns = r->estimates[t].time_ns;
			l.demand = launch_demand(&r->sim->targets[t].gpu, &r->profile, &r->estimates[t]);
		}
		k->launches[k->count++] = l;
	}
}

void replay_calls_take(struct replay_calls *k, const struct gs_pack *pack)
{
	const char *omitted = strstr(gs_pack_text(pack, "facts"), "omitted=");
	free(k->text);
	k->text = strdup(gs_pack_text(pack, "calls"));
	k->omitted = omitted ? strtoull(omitted + strlen("omitted="), NULL, 10) : 0;
}

/* Those of one launch stay in the order of targets. */
static int by_seq(const void *a, const void *b)
{
	const struct replayed_launch *const *x = a, *const *y = b;
	return (*x)->seq != (*y)->seq ? ((*x)->seq < (*y)->seq ? -1 : 1) : *x < *y ? -1 : *x > *y;
}

/* The first of a launch's times in a list that is sorted; NULL: it was not modelled. */
static const struct replayed_launch *const *find(const struct replayed_launch *const *sorted, size_t count, uint64_t seq)
{
	size_t low = 0;
	for (size_t high = count; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (sorted[middle]->seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && sorted[low]->seq == seq ? &sorted[low] : NULL;
}

static void set_times(struct schedule_command *c, const struct simulation *sim, const struct replayed_launch *const *launch)
{
	for (size_t t = 0; t < sim->target_count; t++) {
		calls_set_transfer(c, t, &sim->targets[t].gpu, &sim->topology);
		if (strcmp(c->what, "launch"))
			continue;
		c->times[t].duration = launch ? launch[t]->time_ns : NAN;
		if (launch)
			c->times[t].demand = launch[t]->demand;
	}
}

static void count_peer_copy(struct simulation *sim, const struct schedule_command *c)
{
	struct transfer_stats *s = &sim->stats.peers[c->from][c->to];
	if (strcmp(c->what, "peer"))
		return;
	s->commands++;
	s->size_bytes += c->size_bytes;
}

/* Returns how many lines were read, or -1: one of them cannot be. */
static bool take_lines(struct calls_log *log, struct simulation *sim, char *text, const struct replayed_launch *const *sorted, size_t count)
{
	for (char *line = text, *end; *line; line = end + 1) {
		struct call_line l = {0};
		end = strchr(line, '\n');
		if (!end)
			return false;
		*end = 0;
		struct schedule_command *c = call_parse(line, &l) ? calls_add(log, &l, line + l.name_at) : NULL;
		if (!c)
			return false;
		set_times(c, sim, l.launch ? find(sorted, count, l.launch - 1) : NULL);
		count_peer_copy(sim, c);
	}
	return true;
}

static bool make_timeline(struct replay_calls *k, struct simulation *sim)
{
	struct schedule *s = &sim->timeline.schedule;
	struct calls_log log = {.schedule = s, .scale = 1};
	const struct replayed_launch **sorted = calloc(k->count + 1, sizeof *sorted);
	for (size_t i = 0; i < k->count && sorted; i++)
		sorted[i] = &k->launches[i];
	if (sorted)
		qsort(sorted, k->count, sizeof *sorted, by_seq);
	bool good = sorted && !schedule_start(s, sim->target_count);
	for (size_t t = 0; t < sim->target_count && good; t++)
		schedule_limit(s, t, schedule_limits_of(&sim->targets[t].gpu));
	good = good && take_lines(&log, sim, k->text, sorted, k->count);
	sim->timeline.started = good;
	sim->timeline.omitted = k->omitted;
	free(log.by_line);
	free(sorted);
	return good;
}

int replay_calls_finish(struct replay_calls *k, struct simulation *sim, const char *path, struct gs_error *err)
{
	const char *links = sim->options.topology.text;
	int result = 0;
	if (*links && !k->text)
		result = gs_fail(err, EINVAL, "%s: %s has no calls of its program, so that it is not known what was copied between GPUs: record it again", links, path);
	else if (*links)
		result = topology_load(&sim->topology, links, calls_gpus(k->text), err);
	if (!result && k->text && !make_timeline(k, sim))
		log_warning("%s has a call that cannot be read: the timeline ends there", path);
	free(k->text);
	free(k->launches);
	*k = (struct replay_calls){0};
	return result;
}
