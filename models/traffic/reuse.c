/*
 * Which capacity makes some groups miss as often as all do.
 *
 *   P(t): share of requests to a line that none of the t requests before asked for
 *   under LRU, c lines keep what was asked for T requests ago:  c = integral of P from 0 to T;  misses = P(T)
 *   all groups: T from L2's lines;  some: T' such that P'(T') = P(T), then c' = integral of P' to T'
 * Where many T' would do (nothing is asked for twice), T' is as long as T. Where all groups find again what they come back to
 * within the window, the capacity is the whole of L2: it has room for it, or the window is too short to see it. Source: Hu et
 * al., Kinetic Modeling of Data Eviction in Cache, USENIX ATC 2016. P is measured for one of SAMPLE lines.
 */
#include "models/traffic/reuse.h"

#include "models/traffic/footprint.h"
#include "models/traffic/request_walk.h"
#include "models/util/hash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* One of SAMPLE lines is followed. The window is TIMES_LINES times the lines of L2, and no more than MOST_REQUESTS, which bounds the
 * time. A longer window finds lines again that come back later. */
enum { SAMPLE = 4, MOST_REQUESTS = 1 << 22, TIMES_LINES = 4 };
static const double same_misses = 0.002; /* a difference of miss rates that the sample cannot see */

/* ---- a stream of requests ---- */

struct stream {
	const struct launch_warps *warps;
	struct request_walker *walkers; /* of each slot's warps */
	uint64_t slots, line_bytes;
	uint64_t next; /* group */
	uint64_t time, window;
	struct last {
		uint64_t line, time; /* line 0: none */
	} *seen;
	uint64_t room;
	uint64_t counted, within[REUSE_BINS];
};

static struct last *find_line(const struct stream *s, uint64_t line)
{
	uint64_t at = hash_number(line) / SAMPLE & (s->room - 1);
	while (s->seen[at].line && s->seen[at].line != line)
		at = (at + 1) & (s->room - 1);
	return &s->seen[at];
}

/* Whose line was not seen before in so long is among those that are counted and within no bin. */
static void take_part(struct stream *s, uint64_t address)
{
	uint64_t line = address / s->line_bytes + 1, time = s->time++;
	if (hash_number(line) % SAMPLE)
		return;
	struct last *l = find_line(s, line);
	if (time >= s->window) {
		s->counted++;
		if (l->line && time - l->time < s->window)
			s->within[(time - l->time) * REUSE_BINS / s->window]++;
	}
	*l = (struct last){line, time};
}

static bool start_group(struct stream *s, uint64_t slot)
{
	uint32_t count = s->warps->warps_per_group;
	if (s->next == s->warps->groups)
		return false;
	for (uint32_t w = 0; w < count; w++)
		walker_start(s->warps, s->next, w, &s->walkers[slot * count + w]);
	s->next++;
	return true;
}

/* A request of each of the slot's warps; false: all of them have ended. */
static bool step_group(struct stream *s, uint64_t slot, bool look)
{
	uint32_t count = s->warps->warps_per_group;
	bool any = false;
	for (uint32_t w = 0; w < count; w++) {
		struct request_walker *k = &s->walkers[slot * count + w];
		struct walked_request r;
		if (!walker_next(s->warps, k, &r))
			continue;
		any = true;
		for (uint32_t p = 0; p < r.part_count && look && s->time < 2 * s->window; p++)
			take_part(s, walker_address(s->warps, k, r.instruction, &r.parts[p], s->line_bytes));
	}
	return any;
}

/* Groups do not begin all at once: each slot's first one is under way already. */
static void begin_midway(struct stream *s)
{
	uint32_t count = s->warps->warps_per_group;
	for (uint64_t slot = 0; slot < s->slots && start_group(s, slot); slot++) {
		size_t longest = 0;
		for (uint32_t w = 0; w < count; w++) {
			const struct warp_path *p = s->walkers[slot * count + w].path;
			longest = p->access_count > longest ? p->access_count : longest;
		}
		for (uint64_t skip = longest * slot / s->slots; skip && step_group(s, slot, false);)
			skip--;
	}
}

static void run_stream(struct stream *s)
{
	bool goes_on = true;
	begin_midway(s);
	while (goes_on && s->time < 2 * s->window)
		for (uint64_t slot = 0; slot < s->slots && goes_on; slot++)
			while (goes_on && !step_group(s, slot, true))
				goes_on = start_group(s, slot);
}

static double parts_of_group(const struct launch_warps *warps)
{
	double sum = 0;
	for (uint64_t i = 0; i < warps->pattern_groups * warps->warps_per_group; i++) {
		const struct warp_path *p = &warps->paths[warps->path_of[i]];
		sum += p->requests && p->access_count ? p->requests->first[p->access_count] : 0;
	}
	return sum / (double)warps->pattern_groups;
}

int reuse_measure(const struct gpu *gpu, const struct launch_warps *warps, uint64_t slots, double window, struct reuse *out)
{
	struct stream s = {.warps = warps, .slots = slots, .line_bytes = gpu->l2_line_bytes, .window = (uint64_t)window, .room = 1};
	double parts = parts_of_group(warps), needed = parts > 0 ? 2 * window / parts + (double)slots : INFINITY;
	if (s.window < REUSE_BINS || needed > (double)warps->groups)
		return 1;
	s.next = (uint64_t)(((double)warps->groups - needed) / 2); /* from the midst of the launch */
	while (s.room < 4 * s.window) /* requests are twice the window's, and their lines no more */
		s.room *= 2;
	s.seen = calloc(s.room, sizeof *s.seen);
	s.walkers = calloc(slots * warps->warps_per_group, sizeof *s.walkers);
	bool ok = s.seen && s.walkers;
	if (ok)
		run_stream(&s);
	free(s.seen);
	free(s.walkers);
	if (!ok || !s.counted)
		return ok ? 1 : -ENOMEM;
	out->window = window;
	out->longer[0] = 1;
	for (uint32_t i = 0; i < REUSE_BINS; i++)
		out->longer[i + 1] = out->longer[i] - (double)s.within[i] / (double)s.counted;
	return 0;
}

/* ---- capacities ---- */

/* Lines that are asked for within `bins`, on average. */
static double lines_within(const struct reuse *r, uint32_t bins)
{
	double sum = 0;
	for (uint32_t i = 0; i < bins; i++)
		sum += (r->longer[i] + r->longer[i + 1]) / 2;
	return sum * r->window / REUSE_BINS;
}

static uint32_t bins_for(const struct reuse *r, double lines)
{
	double sum = 0;
	uint32_t i = 0;
	for (; i < REUSE_BINS && sum < lines; i++)
		sum += (r->longer[i] + r->longer[i + 1]) / 2 * r->window / REUSE_BINS;
	return i;
}

double reuse_capacity(const struct reuse *some, const struct reuse *all, double share, double lines)
{
	uint32_t bins = bins_for(all, lines), enough = (uint32_t)fmax(1, bins * share + 0.5);
	double misses = all->longer[bins];
	if (misses < all->longer[REUSE_BINS] + same_misses && misses < 1 - same_misses)
		return 1;
	while (enough > 1 && some->longer[enough] < misses - same_misses)
		enough--;
	while (enough < REUSE_BINS && some->longer[enough] > misses + same_misses)
		enough++;
	return fmin(1, lines_within(some, enough) / lines_within(all, bins));
}

int reuse_share(const struct gpu *gpu, const struct launch_warps *warps, uint64_t some, uint64_t all, double *out)
{
	double lines = (double)gpu->l2_bytes / (double)gpu->l2_line_bytes; /* what one SM alone asks for is in one partition */
	double window = fmax(TIMES_LINES * lines, parts_of_group(warps) * (double)all);
	struct reuse *r = calloc(2, sizeof *r);
	if (!r)
		return -ENOMEM;
	window = fmin(window, MOST_REQUESTS / 2.0);
	int rc = reuse_measure(gpu, warps, all, window, &r[0]);
	if (!rc)
		rc = reuse_measure(gpu, warps, some, window, &r[1]);
	if (!rc)
		*out = fmin(1, gpu->l2_partitions * reuse_capacity(&r[1], &r[0], (double)some / (double)all, lines));
	free(r);
	return rc;
}
