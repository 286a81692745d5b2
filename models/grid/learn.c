/*
 * What L2 learns of a loop that goes anywhere.
 *
 *   u: share of that memory that L2 does not have, w: instructions, c: cycles per instruction
 *   du / dw = -k u, since any sector is asked for as likely as any other
 *   c = c_known + a (1 - (1 - u)^p), since a load of p parts waits for DRAM if one of them is not there
 *   k = ln(u1 / u2) / (w2 - w1), and a from the cycles of a time w1..w2 in which it learns and those of one in which it knows all
 *   after w2 L2 is given all, and a * (integral from 0 to the end - integral from 0 to w2) is added
 * Where a share f of the groups is simulated, all of them learn k / f per instruction of these, from what L2 had before the others brought
 * anything (others.h).
 */
#include "models/grid/learn.h"

#include "models/gpu/kept.h"

#include <math.h>

/* Of the most that is simulated. From FROM to TO, L2 learns; SETTLE after that, what waits for DRAM has come. The next window is as long. */
static const double FROM = 1.0 / 16, TO = 1.0 / 8, SETTLE = 1.0 / 64;
/* Of the launch's memory, or of loads. Less is not worth the look. */
static const double LITTLE = 0.02;

struct window_loads {
	double parts, loads, stepping; /* parts of loads that go anywhere, these loads; parts of those that go on by steps */
};

static void count_parts(const struct warp_path *p, const struct path_gap *g, struct window_loads *sum)
{
	for (uint32_t a = 0; g->shifts && p->requests && a < g->access_count; a++) {
		double parts = (double)p->requests->first[g->first_access + a + 1] - p->requests->first[g->first_access + a];
		sum->parts += g->shifts[a].chance ? parts : 0;
		sum->loads += g->shifts[a].chance && parts > 0;
		sum->stepping += !g->shifts[a].chance && g->shifts[a].step ? parts : 0;
	}
}

/* Parts of a load that goes anywhere, on average; 0: there is none, or loops go through other memory, too, which is new to them all the time. */
static double parts_by_chance(const struct launch_warps *launch)
{
	struct window_loads sum = {0};
	for (uint32_t p = 0; p < launch->path_count; p++)
		for (size_t g = 0; g < launch->paths[p].gap_count; g++)
			count_parts(&launch->paths[p], &launch->paths[p].gaps[g], &sum);
	return sum.loads > 0 && sum.stepping < LITTLE * sum.parts ? sum.parts / sum.loads : 0;
}

/* Whether what is cold at first is mostly memory that any group asks for anywhere, and all fits into L2. */
static bool can_learn(const struct gpu *gpu, const struct launch_warps *launch)
{
	double cold = 0, anywhere = 0;
	uint64_t bytes = 0;
	for (size_t i = 0; i < launch->warm_count; i++) {
		const struct memory_range *r = &launch->warm[i];
		bytes += r->bytes;
		cold += r->cold * (double)r->bytes;
		anywhere += r->anywhere ? r->cold * (double)r->bytes : 0;
	}
	return anywhere > LITTLE * (double)bytes && 2 * anywhere > cold && bytes <= kept_room(gpu, bytes);
}

/* Of memory that is asked for anywhere. What groups go through once is not learned. */
static double missing(const struct learn *l, bool fill)
{
	double sum = 0;
	for (size_t i = 0; i < l->launch->warm_count; i++)
		sum += l->launch->warm[i].anywhere ? memory_missing(l->memory, &l->launch->warm[i], 1, fill) : 0;
	return sum;
}

void learn_init(struct learn *l, const struct gpu *gpu, const struct launch_warps *launch, struct memory_system *memory, double most,
                double share)
{
	*l = (struct learn){.launch = launch, .memory = memory, .most = most, .share = share};
	l->parts = most > 0 && can_learn(gpu, launch) ? parts_by_chance(launch) : 0;
	for (size_t i = 0; i < launch->warm_count; i++)
		l->sectors += launch->warm[i].anywhere ? (double)launch->warm[i].bytes / MEMORY_SECTOR : 0;
	if (l->parts > 0)
		l->of_all = missing(l, false);
}

void learn_begin(struct learn *l)
{
	if (l->of_all > 0)
		l->begin = missing(l, false);
}

bool learn_goes_on(const struct learn *l)
{
	return l->begin > 0 && !(l->to.time > 0);
}

void learn_look(struct learn *l, double time, double done)
{
	struct learn_mark now = {.time = time, .done = done};
	if (!(l->begin > 0) || l->end.time > 0)
		return;
	if (!(l->from.time > 0) && done >= FROM * l->most) {
		now.missing = missing(l, false);
		l->from = now;
	} else if (l->from.time > 0 && !(l->to.time > 0) && done >= l->from.done + (TO - FROM) * l->most) {
		now.missing = missing(l, true);
		l->to = now;
	} else if (l->to.time > 0 && !(l->known.time > 0) && done >= l->to.done + SETTLE * l->most) {
		l->known = now;
	} else if (l->known.time > 0 && done >= l->known.done + (l->to.done - l->from.done)) {
		l->end = now;
	}
}

/* The integral over `length` instructions, in which the share that is missing falls by the factor exp(-k) each. */
static double waits_of(const struct learn *l, double sectors, double k, double length)
{
	enum { STEPS = 256 };
	double sum = 0;
	for (int i = 0; i < STEPS; i++)
		sum += 1 - pow(1 - fmin(sectors / l->sectors * exp(-k * length * (i + 0.5) / STEPS), 1), l->parts);
	return sum * length / STEPS;
}

double learn_cycles(const struct learn *l, double instructions)
{
	double window = l->to.done - l->from.done, after = l->end.done - l->known.done;
	if (!(l->end.time > 0) || !(window > 0) || !(after > 0) || !(l->to.missing > 0) || l->to.missing >= l->from.missing)
		return 0;
	double k = log(l->from.missing / l->to.missing) / window, of_all = waits_of(l, l->of_all, k / l->share, instructions);
	double more = l->to.time - l->from.time - (l->end.time - l->known.time) / after * window;
	return fmax(more, 0) / waits_of(l, l->from.missing, k, window) * (of_all - waits_of(l, l->begin, k, l->to.done));
}
