/*
 * A channel of DRAM: banks with an open row each, one data bus, first ready first come first served.
 *
 *   a bank serves accesses to its open row first, else its oldest one, for which it closes its row and opens another
 *   the bus takes the access that can move its data first; of equal ones, the oldest
 *   reads and writes that follow one another keep their distance
 * Rows are opened in one bank while others move data, so the share of the peak that is reached follows from how accesses are spread.
 * Timing: that of a GDDR5 or HBM data sheet, as in GPGPU-Sim's -gpgpu_dram_timing_opt: open tRCD, close tRP, cycle tRC,
 * column CL, between_opens tRRD.
 */
#include "models/memory/dram.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static uint64_t to_ticks(double cycles)
{
	return cycles > 0 ? (uint64_t)(cycles * MEMORY_TICKS + 0.5) : 0;
}

void dram_timing_init(struct dram_timing *t, const struct gpu *gpu, uint32_t channels, double share)
{
	double per_ns = gpu->clock_mhz / 1000, bytes_per_cycle = gpu->dram_gbps * share / channels / per_ns;
	*t = (struct dram_timing){.burst = to_ticks((double)gpu->dram_access_bytes / bytes_per_cycle),
	                          .open = to_ticks(gpu->dram_open_ns * per_ns),
	                          .close = to_ticks(gpu->dram_close_ns * per_ns),
	                          .cycle = to_ticks(gpu->dram_cycle_ns * per_ns),
	                          .column = to_ticks(gpu->dram_column_ns * per_ns),
	                          .between_opens = to_ticks(gpu->dram_opens_ns * per_ns),
	                          .read_to_write = to_ticks(gpu->dram_read_to_write_ns * per_ns),
	                          .write_to_read = to_ticks(gpu->dram_write_to_read_ns * per_ns),
	                          .banks = gpu->dram_banks,
	                          .queue = gpu->dram_queue,
	                          .row_bytes = gpu->dram_row_bytes};
	if (!t->burst)
		t->burst = 1;
}

int dram_init(struct dram_channel *c, const struct dram_timing *timing)
{
	*c = (struct dram_channel){.timing = timing, .pool = POOL_EMPTY};
	c->banks = calloc(timing->banks, sizeof *c->banks);
	if (!c->banks)
		return -ENOMEM;
	for (uint32_t b = 0; b < timing->banks; b++)
		c->banks[b].head = c->banks[b].tail = c->banks[b].current = MEMORY_NONE;
	return 0;
}

void dram_free(struct dram_channel *c)
{
	free(c->accesses);
	free(c->banks);
}

bool dram_full(const struct dram_channel *c)
{
	return c->waiting >= c->timing->queue;
}

int dram_push(struct dram_channel *c, uint64_t time, uint64_t local, uint32_t slice, uint32_t slices, bool write,
              uint32_t bursts, uint32_t tag)
{
	uint32_t n = pool_take(&c->pool, c->accesses, next), own = c->timing->banks / slices ? c->timing->banks / slices : 1;
	uint64_t unit = local / c->timing->row_bytes;
	if (n == POOL_NONE)
		return -ENOMEM;
	struct dram_access *a = &c->accesses[n];
	*a = (struct dram_access){.time = time,
	                          .row = unit / own,
	                          .bank = (uint32_t)(unit % own * slices + slice) % c->timing->banks,
	                          .tag = tag,
	                          .bursts = (uint16_t)bursts,
	                          .write = write,
	                          .next = MEMORY_NONE};
	struct dram_bank *b = &c->banks[a->bank];
	if (b->tail == MEMORY_NONE)
		b->head = n;
	else
		c->accesses[b->tail].next = n;
	b->tail = n;
	c->waiting++;
	return 0;
}

/* The oldest access to the open row that is there by now, else the oldest one: its row is opened. */
static void choose_access(struct dram_channel *c, struct dram_bank *b, uint64_t now)
{
	const struct dram_timing *t = c->timing;
	uint32_t chosen = MEMORY_NONE;
	for (uint32_t n = b->head; n != MEMORY_NONE && b->open; n = c->accesses[n].next)
		if (c->accesses[n].row == b->row && c->accesses[n].time <= now) {
			chosen = n;
			break;
		}
	if (chosen != MEMORY_NONE) {
		b->current = chosen;
		return;
	}
	if (b->head == MEMORY_NONE || c->accesses[b->head].time > now)
		return;
	uint64_t start = max_u64(now, b->ready);
	if (b->open)
		start = max_u64(start + t->close, b->opened + t->cycle);
	if (c->used)
		start = max_u64(start, c->last_open + t->between_opens);
	b->current = b->head;
	b->row = c->accesses[b->head].row;
	b->open = true;
	b->opened = c->last_open = start;
	b->ready = start + t->open;
	c->used = true;
}

/* When a column of this kind can follow the last one. */
static uint64_t turn_time(const struct dram_channel *c, bool write)
{
	if (!c->last_column || c->last_write == write)
		return 0;
	return c->last_column + (write ? c->timing->read_to_write : c->timing->write_to_read);
}

static uint32_t first_bank(struct dram_channel *c, uint64_t now, uint64_t *time)
{
	uint32_t best = MEMORY_NONE;
	uint64_t arrival = 0;
	*time = MEMORY_NEVER;
	for (uint32_t i = 0; i < c->timing->banks && c->waiting; i++) {
		struct dram_bank *b = &c->banks[i];
		if (b->head == MEMORY_NONE)
			continue;
		if (b->current == MEMORY_NONE)
			choose_access(c, b, now);
		if (b->current == MEMORY_NONE) {
			/* Its first access is still on its way. */
			uint64_t there = c->accesses[b->head].time;
			if (there < *time) {
				*time = there;
				best = MEMORY_NONE;
			}
			continue;
		}
		const struct dram_access *a = &c->accesses[b->current];
		uint64_t at = max_u64(max_u64(now, b->ready), max_u64(c->bus_free, turn_time(c, a->write)));
		if (at < *time || (at == *time && best != MEMORY_NONE && a->time < arrival)) {
			*time = at;
			arrival = a->time;
			best = i;
		}
	}
	return best;
}

uint64_t dram_next(struct dram_channel *c, uint64_t now)
{
	uint64_t time;
	first_bank(c, now, &time);
	return time;
}

static void unlink_access(struct dram_channel *c, struct dram_bank *b, uint32_t n)
{
	uint32_t *at = &b->head, before = MEMORY_NONE;
	while (*at != n) {
		before = *at;
		at = &c->accesses[*at].next;
	}
	*at = c->accesses[n].next;
	if (b->tail == n)
		b->tail = before;
}

uint64_t dram_serve(struct dram_channel *c, uint64_t now, struct dram_access *served)
{
	uint64_t time;
	uint32_t bank = first_bank(c, now, &time);
	if (bank == MEMORY_NONE || time > now)
		return MEMORY_NEVER;
	struct dram_bank *b = &c->banks[bank];
	uint32_t n = b->current;
	struct dram_access *a = &c->accesses[n];
	uint64_t length = a->bursts * c->timing->burst;
	*served = *a;
	unlink_access(c, b, n);
	b->current = MEMORY_NONE;
	c->bus_free = now + length;
	b->ready = max_u64(b->ready, c->bus_free);
	c->last_column = now + length - c->timing->burst;
	c->last_write = a->write;
	c->busy += length;
	*(a->write ? &c->writes : &c->reads) += a->bursts;
	pool_give(&c->pool, c->accesses, next, n);
	c->waiting--;
	return now + c->timing->column + length;
}
