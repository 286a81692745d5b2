/* Reads the log of calls (runtime/format/calls.h) into a schedule. */
#include "runtime/timeline/calls.h"

#include "runtime/format/calls.h"
#include "runtime/timeline/transfers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads and queues are found by going through all of them. */
enum { MOST_NUMBERS = 1 << 14 };

static const char *static_name(const char *what)
{
	static const char *const names[] = {"launch", "read", "write", "copy", "fill", "map", "unmap", "peer", "marker", "barrier", "wait", "setup", "mpi", "host"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (!strcmp(names[i], what))
			return names[i];
	return NULL;
}

bool call_parse(const char *line, struct call_line *l)
{
	return sscanf(line, "%15s %u %d %d %u %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %4095s %n", l->what, &l->thread, &l->queue, &l->priority, &l->engine,
	              &l->flags, &l->call, &l->returned, &l->bytes, &l->launch, l->after, &l->name_at) == 11 &&
	       static_name(l->what) && l->engine < ENGINE_COUNT && l->thread < MOST_NUMBERS && l->queue < MOST_NUMBERS && (l->queue >= 0 || !l->engine);
}

static unsigned gpu_in(unsigned flags, enum call_gpu shift)
{
	return flags >> shift & CALL_GPU_MASK;
}

static uint64_t since(const struct calls_log *log, uint64_t ns)
{
	return (uint64_t)((double)(ns > log->base ? ns - log->base : 0) * log->scale);
}

/* A command waits for earlier ones only. */
static bool take_after(const struct calls_log *log, struct schedule_command *c, const char *list)
{
	size_t most = 1;
	for (const char *p = list; *p; p++)
		most += *p == ',';
	if (!strcmp(list, "-"))
		return true;
	c->after = calloc(most, sizeof *c->after);
	for (const char *p = list; c->after; p++) {
		char *end;
		unsigned long long line = strtoull(p, &end, 10);
		if (end == p || line >= log->count)
			return false;
		c->after[c->after_count++] = log->by_line[line];
		if (*end != ',')
			return !*end;
		p = end;
	}
	return false;
}

struct schedule_command *calls_add(struct calls_log *log, const struct call_line *l, const char *name)
{
	struct schedule *s = log->schedule;
	if (!gs_reserve(&log->by_line, log->count, &log->room, sizeof *log->by_line))
		return NULL;
	struct schedule_thread *thread = schedule_thread(s, l->thread);
	struct schedule_queue *queue = l->queue < 0 ? NULL : schedule_queue(s, (void *)(uintptr_t)(l->queue + 1), !(l->flags & CALL_OUT_OF_ORDER));
	if (queue && !queue->last)
		schedule_queue_device(s, queue, gpu_in(l->flags, CALL_GPU_SHIFT));
	struct schedule_command *c = thread && (queue || l->queue < 0) ? schedule_add(s, static_name(l->what), strcmp(name, "-") ? name : NULL) : NULL;
	if (!c)
		return NULL;
	c->thread = thread;
	c->queue = queue;
	if (queue) {
		queue->priority = l->priority;
		queue->stream = l->flags & CALL_STREAM;
	}
	c->engine = (enum command_engine)l->engine;
	c->size_bytes = l->bytes;
	c->launch = l->launch;
	c->call_ns = since(log, l->call);
	c->return_ns = since(log, l->returned);
	c->waits = l->flags & CALL_WAITS;
	c->waits_all = l->flags & CALL_WAITS_ALL;
	c->barrier = l->flags & CALL_BARRIER;
	c->works = l->flags & CALL_WORKS;
	c->records = l->flags & CALL_RECORDS;
	c->from = (uint8_t)gpu_in(l->flags, CALL_FROM_SHIFT);
	c->to = (uint8_t)gpu_in(l->flags, CALL_TO_SHIFT);
	c->resolved = true;
	bool good = take_after(log, c, l->after);
	log->by_line[log->count++] = c;
	return good ? c : NULL;
}

uint32_t calls_gpus(const char *text)
{
	unsigned most = 0;
	for (const char *line = text, *end; *line && (end = strchr(line, '\n')); line = end + 1) {
		unsigned flags;
		if (sscanf(line, "%*s %*u %*d %*d %*u %u", &flags) != 1)
			continue;
		for (unsigned shift = CALL_GPU_SHIFT; shift <= CALL_TO_SHIFT; shift += 8)
			most = gpu_in(flags, (enum call_gpu)shift) > most ? gpu_in(flags, (enum call_gpu)shift) : most;
	}
	return most + 1;
}

void calls_set_transfer(struct schedule_command *c, size_t target, const struct gpu *gpu, const struct topology *t)
{
	if (c->records)
		c->times[target].duration = gpu->cuda_event_ns;
	for (int k = 0; k < TRANSFER_KINDS; k++) {
		if (strcmp(c->what, transfer_name((enum transfer_kind)k)))
			continue;
		bool linked = k == TRANSFER_PEER && c->from != c->to;
		c->times[target].duration = linked ? topology_time_ns(t, gpu, (struct peer_ends){c->from, c->to}, 1, c->size_bytes)
		                                   : transfer_time_ns(gpu, (enum transfer_kind)k, &(struct transfer_stats){1, c->size_bytes});
		c->times[target].demand = demand_of_copy();
	}
}
