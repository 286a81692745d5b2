/* Divides a launch into its parts; see demand.h. */
#include "runtime/timeline/demand.h"

#include <math.h>

static double largest_use(const struct launch_alone *l)
{
	double most = 0;
	for (int k = 0; k < THROUGHPUT_KINDS; k++)
		most = l->use[k] > most ? l->use[k] : most;
	return fmin(1, most);
}

/*
 * F full waves and a last one of w < 1 of the room. If latencies hold up the groups, all F + 1 take equally long, and the use of the last
 * is w of that of the others: the mean is m = f (F + w) / (F + 1). If that makes the use f of a full wave more than 1, a full wave is
 * limited by throughput. It then takes X = m T / (F + w), and the last one what F X leaves of T.
 */
static void add_tail(struct command_demand *d, const struct launch_alone *l, double full, double last)
{
	double most = largest_use(l), scale = (full + 1) / (full + last), tail = 1 / (full + 1), tail_use = last;
	if (most * scale > 1) {
		double wave = most / (full + last);
		scale = 1 / most;
		tail = 1 - full * wave;
		tail_use = last * wave / tail;
	}
	for (int k = 0; k < THROUGHPUT_KINDS; k++)
		d->use[k] = (float)fmin(1, l->use[k] * scale);
	d->tail = (float)(tail * (1 - l->driver - l->launch));
	d->tail_room = (float)last;
	d->tail_use = (float)fmin(1, tail_use);
}

struct command_demand demand_of_launch(const struct gpu *gpu, const struct launch_alone *l)
{
	struct command_demand d = {.driver = (float)l->driver, .launch = (float)l->launch, .memory = (float)fmin(1, l->memory),
	                           .tail_room = 1, .tail_use = 1};
	uint64_t fit = (uint64_t)gpu->sm_count * l->occupancy.blocks_per_sm;
	double full = fit ? (double)(l->groups / fit) : 0, last = fit ? (double)(l->groups % fit) / (double)fit : 1;
	double resident = full > 0 ? (double)fit : (double)l->groups;
	for (int k = 0; k < ROOM_KINDS; k++)
		d.room[k] = (float)(fit ? fmin(1, resident / ((double)gpu->sm_count * l->occupancy.allowed[k])) : 1);
	for (int k = 0; k < THROUGHPUT_KINDS; k++)
		d.use[k] = (float)fmin(1, l->use[k]);
	d.wave = (float)((1 - l->driver - l->launch) / fmax(full + (last > 0), 1));
	if (full > 0 && last > 0)
		add_tail(&d, l, full, last);
	return d;
}

struct command_demand demand_of_copy(void)
{
	struct command_demand d = {.tail_room = 1, .tail_use = 1, .wave = 1, .use[THROUGHPUT_DRAM] = 1};
	for (int k = 0; k < ROOM_KINDS; k++)
		d.room[k] = 1;
	return d;
}
