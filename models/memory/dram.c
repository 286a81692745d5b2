/*
 * A channel of DRAM: banks with an open row each, one data bus, first ready first come first served.
 *
 *   a bank serves accesses to its open row first, else its oldest one, for which it closes its row and opens another
 *   the bus takes the access that can move its data first; of equal ones, the oldest
 *   reads and writes that follow one another keep their distance
 *   where a description has dram_writes_ns, writes wait until they take the bus for that long, then all are done at once
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
	                          .row_bytes = gpu->dram_row_bytes,
	                          .together = to_ticks(gpu->dram_writes_ns * per_ns)};
	if (!t->burst)
		t->burst = 1;
}

int dram_init(struct dram_channel *c, const struct dram_timing *timing, double held)
{
	*c = (struct dram_channel){.timing = timing, .pool = POOL_EMPTY, .words = (timing->banks + 63) / 64,
	                           .held = (uint64_t)(held * (double)timing->together / (double)timing->burst)};
	c->turn.bank = MEMORY_NONE;
	c->banks = calloc(timing->banks, sizeof *c->banks);
	c->ready = calloc(timing->banks, sizeof *c->ready);
	c->idle = calloc(2 * c->words, sizeof *c->idle);
	c->chosen = c->idle + c->words;
	if (!c->banks || !c->ready || !c->idle)
		return -ENOMEM;
	for (uint32_t b = 0; b < timing->banks; b++)
		c->banks[b].head = c->banks[b].tail = c->banks[b].current = MEMORY_NONE;
	return 0;
}

void dram_free(struct dram_channel *c)
{
	free(c->accesses);
	free(c->banks);
	free(c->ready);
	free(c->idle);
}

bool dram_full(const struct dram_channel *c)
{
	return c->waiting >= c->timing->queue;
}

/* Rows are opened while data of others moves. Reads wait until all is done. */
static void do_writes(struct dram_channel *c, uint64_t time)
{
	const struct dram_timing *t = c->timing;
	uint64_t moves = c->held * t->burst, opens = c->held_rows * t->between_opens;
	c->bus_free = max_u64(c->bus_free, time) + t->read_to_write + max_u64(moves, opens) + t->write_to_read;
	c->busy += moves;
	c->held = c->held_rows = 0;
	c->turn.bank = MEMORY_NONE;
}

static void hold_write(struct dram_channel *c, uint64_t time, uint64_t row, uint32_t bank, uint32_t bursts)
{
	struct dram_bank *b = &c->banks[bank];
	c->held += bursts;
	c->writes += bursts;
	c->held_rows += !b->written || b->written_row != row;
	b->written = true;
	b->written_row = row;
	if (c->held * c->timing->burst >= c->timing->together)
		do_writes(c, time);
}

int dram_push(struct dram_channel *c, uint64_t time, uint64_t local, uint32_t slice, uint32_t slices, enum dram_kind kind,
              uint32_t bursts, uint32_t tag)
{
	uint32_t own = c->timing->banks / slices ? c->timing->banks / slices : 1;
	uint64_t unit = local / c->timing->row_bytes;
	uint32_t bank = (uint32_t)(unit % own * slices + slice) % c->timing->banks;
	if (kind == DRAM_WRITE && c->timing->together) {
		hold_write(c, time, unit / own, bank, bursts);
		return 0;
	}
	uint32_t n = pool_take(&c->pool, c->accesses, next);
	if (n == POOL_NONE)
		return -ENOMEM;
	struct dram_access *a = &c->accesses[n];
	*a = (struct dram_access){.time = time,
	                          .row = unit / own,
	                          .bank = bank,
	                          .tag = tag,
	                          .bursts = (uint16_t)bursts,
	                          .write = kind == DRAM_WRITE,
	                          .opened = kind == DRAM_READ_OPEN,
	                          .next = MEMORY_NONE};
	struct dram_bank *b = &c->banks[a->bank];
	if (b->tail == MEMORY_NONE) {
		b->head = n;
		c->idle[a->bank / 64] |= 1ULL << a->bank % 64;
	} else {
		c->accesses[b->tail].next = n;
	}
	b->tail = n;
	c->waiting++;
	if (time <= c->turn.time)
		c->turn.bank = MEMORY_NONE;
	return 0;
}

static void make_current(struct dram_channel *c, uint32_t bank, uint32_t n)
{
	c->banks[bank].current = n;
	c->ready[bank].since = c->accesses[n].time << 1 | c->accesses[n].write;
	c->idle[bank / 64] &= ~(1ULL << bank % 64);
	c->chosen[bank / 64] |= 1ULL << bank % 64;
}

/* The oldest access to the open row that is there by now, else the oldest one: its row is opened. False: none is there;
 * *until: no later than when that changes. */
static bool choose_access(struct dram_channel *c, uint32_t bank, uint64_t now, uint64_t *until)
{
	const struct dram_timing *t = c->timing;
	struct dram_bank *b = &c->banks[bank];
	uint64_t first = c->accesses[b->head].time;
	for (uint32_t n = b->head; n != MEMORY_NONE && b->open; n = c->accesses[n].next) {
		if (c->accesses[n].row != b->row)
			continue;
		if (c->accesses[n].time <= now) {
			make_current(c, bank, n);
			return true;
		}
		first = min_u64(first, c->accesses[n].time);
	}
	if (c->accesses[b->head].time > now) {
		*until = min_u64(*until, first);
		return false;
	}
	uint64_t start = max_u64(now, c->ready[bank].ready);
	if (c->accesses[b->head].opened) {
		make_current(c, bank, b->head);
		b->row = c->accesses[b->head].row;
		b->open = true;
		return true;
	}
	if (b->open)
		start = max_u64(start + t->close, b->opened + t->cycle);
	if (c->used)
		start = max_u64(start, c->last_open + t->between_opens);
	make_current(c, bank, b->head);
	b->row = c->accesses[b->head].row;
	b->open = true;
	b->opened = c->last_open = start;
	c->ready[bank].ready = start + t->open;
	c->used = true;
	return true;
}

/* When a column of this kind can follow the last one. */
static uint64_t turn_time(const struct dram_channel *c, bool write)
{
	if (!c->last_column || c->last_write == write)
		return 0;
	return c->last_column + (write ? c->timing->read_to_write : c->timing->write_to_read);
}

/* Banks without a current access get one, in their order, if it is there by now. Returns when the first of the others has one;
 * *until: no later than when one of them could have another. */
static uint64_t choose_accesses(struct dram_channel *c, uint64_t now, uint64_t *until)
{
	uint64_t first = MEMORY_NEVER;
	for (uint32_t w = 0; w < c->words; w++)
		for (uint64_t bits = c->idle[w]; bits; bits &= bits - 1) {
			uint32_t bank = w * 64 + (uint32_t)__builtin_ctzll(bits);
			if (!choose_access(c, bank, now, until))
				first = min_u64(first, c->accesses[c->banks[bank].head].time);
		}
	return first;
}

/* Of banks with a current access, the one whose data moves first: of equal ones, the oldest access. */
static struct dram_turn first_bank(const struct dram_channel *c, uint64_t now)
{
	struct dram_turn best = {MEMORY_NEVER, MEMORY_NONE};
	uint64_t since = MEMORY_NEVER, bus = max_u64(now, c->bus_free);
	const uint64_t least[] = {max_u64(bus, turn_time(c, false)), max_u64(bus, turn_time(c, true))};
	for (uint32_t w = 0; w < c->words; w++)
		for (uint64_t bits = c->chosen[w]; bits; bits &= bits - 1) {
			uint32_t bank = w * 64 + (uint32_t)__builtin_ctzll(bits);
			const struct dram_ready *b = &c->ready[bank];
			uint64_t at = max_u64(b->ready, least[b->since & 1]);
			if (at < best.time || (at == best.time && b->since >> 1 < since)) {
				best = (struct dram_turn){at, bank};
				since = b->since >> 1;
			}
		}
	return best;
}

uint64_t dram_next(struct dram_channel *c, uint64_t now)
{
	uint64_t until = MEMORY_NEVER;
	if (c->turn.bank != MEMORY_NONE && now <= c->turn.time)
		return c->turn.time;
	uint64_t coming = choose_accesses(c, now, &until);
	c->turn = first_bank(c, now);
	uint64_t next = min_u64(coming, c->turn.time);
	if (until <= c->turn.time)
		c->turn.bank = MEMORY_NONE;
	return next;
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
	uint64_t time = dram_next(c, now);
	uint32_t bank = c->turn.bank;
	if (bank == MEMORY_NONE || time > now)
		return MEMORY_NEVER;
	struct dram_bank *b = &c->banks[bank];
	uint32_t n = b->current;
	struct dram_access *a = &c->accesses[n];
	uint64_t length = a->bursts * c->timing->burst;
	*served = *a;
	unlink_access(c, b, n);
	b->current = MEMORY_NONE;
	c->turn.bank = MEMORY_NONE;
	c->chosen[bank / 64] &= ~(1ULL << bank % 64);
	if (b->head != MEMORY_NONE)
		c->idle[bank / 64] |= 1ULL << bank % 64;
	c->bus_free = now + length;
	c->ready[bank].ready = max_u64(c->ready[bank].ready, c->bus_free);
	c->last_column = now + length - c->timing->burst;
	c->last_write = a->write;
	c->busy += length;
	*(a->write ? &c->writes : &c->reads) += a->bursts;
	pool_give(&c->pool, c->accesses, next, n);
	c->waiting--;
	return now + c->timing->column + length;
}
