/*
 * What the tool costs the program's user: the time of the whole run, and the part of it that would not have passed without us.
 *
 * The time in which the program, or its queue, could not go on because of us counts as ours:
 *   building    threads waited for annotated kernels, or for a driver that was building one; first launches of twins, in which drivers
 *               compile them; at exit, waiting for the driver
 *   counting    our part of launches; copies of memory and twins that count, in the program's queue; a share of the time of kernels
 *               whose twin ran in their place
 *   tracing     the same for traced twins
 *   modelling   waiting at exit, or for simulated times
 * That our threads and gpusim-cc take processors which the program could use is not counted.
 */
#include "runtime/report/cost.h"

#include "runtime/model/simulation.h"
#include "runtime/process/thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Since the process began, from the kernel's clock ticks; else since our own start. */
static uint64_t process_age_ns(const struct simulation *sim)
{
	char text[1024];
	unsigned long long ticks = 0;
	struct timespec now;
	uint64_t age = clock_ns() - sim->start_ns;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = 0;
	const char *after_name = strrchr(text, ')');
	if (!after_name || sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &ticks) != 1 ||
	    clock_gettime(CLOCK_BOOTTIME, &now))
		return age;
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	uint64_t began_ns = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return now_ns > began_ns && now_ns - began_ns > age ? now_ns - began_ns : age;
}

struct run_cost cost_now(const struct simulation *sim)
{
	const struct tool_cost *cost = &sim->cost;
	struct run_cost c = {.wall_ns = (double)process_age_ns(sim)};
	uint64_t exit_ns = cost->exit_begin_ns;
	c.building_ns = (double)(cost->wait_ns + cost->overlap_ns + cost->first_launch_ns);
	c.counting_ns = (double)(cost->launch_ns + cost->counting_ns);
	c.tracing_ns = (double)cost->tracing_ns;
	c.modelling_ns = (double)cost->profiling_ns + (exit_ns ? (double)(clock_ns() - exit_ns) : 0);
	double ours_ns = c.building_ns + c.counting_ns + c.tracing_ns + c.modelling_ns;
	/* Threads and queues that waited at once make the sum too large. */
	c.without_ns = c.wall_ns > ours_ns ? c.wall_ns - ours_ns : 0;
	return c;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Commands of one queue follow one another: each began when it was enqueued, or when the one before it ended. */
void cost_add_launch(struct tool_cost *cost, const struct launch_times *l)
{
	/* Counting makes kernels 1.10 to 1.18 times slower (make bench): an eighth of the twin's time. */
	enum { DIRECT_SHARE = 8 };
	uint64_t at = later(l->enqueued_ns, cost->last_end_ns);
	if (l->traces_end_ns > at) {
		*(l->first_traced ? &cost->first_launch_ns : &cost->tracing_ns) += l->traces_end_ns - at;
		at = l->traces_end_ns;
	}
	if (l->twin_end_ns > at) {
		*(l->first_counted ? &cost->first_launch_ns : &cost->counting_ns) += l->twin_end_ns - at;
		at = l->twin_end_ns;
	}
	if (!l->in_shadow && l->own_end_ns > at)
		cost->counting_ns += (l->own_end_ns - at) / DIRECT_SHARE;
	if (l->copies_end_ns > l->own_end_ns)
		cost->counting_ns += l->copies_end_ns - l->own_end_ns;
	cost->last_end_ns = later(cost->last_end_ns, later(l->own_end_ns, l->copies_end_ns));
}
