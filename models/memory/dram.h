/* dram: one channel of DRAM. */
#ifndef GPUSIM_MODELS_MEMORY_DRAM_H
#define GPUSIM_MODELS_MEMORY_DRAM_H

#include "models/gpu/gpu.h"
#include "models/memory/ticks.h"
#include "models/util/pool.h"

struct dram_timing {
	uint64_t burst;                     /* ticks of the data bus for an access */
	uint64_t open, close, cycle, column; /* activate, precharge, between activations of a bank, to the data */
	uint64_t between_opens;             /* of different banks */
	uint64_t read_to_write, write_to_read; /* between the columns of an access and of one the other way */
	uint32_t banks, queue;
	uint64_t row_bytes;
	uint64_t together; /* writes are held until they take the bus for that long; 0: they come as reads do */
};
void dram_timing_init(struct dram_timing *t, const struct gpu *gpu, uint32_t channels, double share);
/* READ_OPEN: of a row that somebody else has opened. */
enum dram_kind { DRAM_READ, DRAM_READ_OPEN, DRAM_WRITE };
struct dram_access {
	uint64_t time, row;
	uint32_t bank, tag; /* tag: the caller's */
	uint16_t bursts;
	bool write, opened; /* opened: its row is open, whoever did it */
	uint32_t next; /* in its bank */
};
struct dram_bank {
	uint64_t row, opened;
	uint32_t head, tail, current; /* accesses that wait, in their order; the one that the row is opened for */
	bool open, written;
	uint64_t written_row; /* of the last write that was held; meaningless unless `written` */
};
/* What decides which bank is next, next to one another. */
struct dram_ready {
	uint64_t ready; /* the bank */
	uint64_t since; /* when its current access came, doubled; odd: a write */
};
/* What dram_next found, until an access that came before that time may change it. */
struct dram_turn {
	uint64_t time;
	uint32_t bank; /* MEMORY_NONE: look again */
};
struct dram_channel {
	const struct dram_timing *timing;
	struct dram_access *accesses;
	struct pool pool; /* of them */
	uint32_t waiting;
	struct dram_bank *banks;
	struct dram_ready *ready;
	uint64_t *idle, *chosen; /* of banks with accesses, a bit each: those without a current one, and with one */
	uint32_t words;
	struct dram_turn turn;
	uint64_t bus_free, last_open, last_column;
	bool last_write, used;
	uint64_t held, held_rows; /* writes: bursts, and openings of rows for them */
	uint64_t reads, writes, busy; /* bursts; ticks of the bus */
};
/* held: the share of writes that it has, of those that it does together. */
int dram_init(struct dram_channel *c, const struct dram_timing *timing, double held);
void dram_free(struct dram_channel *c);
bool dram_full(const struct dram_channel *c);
/* `local` is the address within one of `slices` slices, which have banks of their own. */
int dram_push(struct dram_channel *c, uint64_t time, uint64_t local, uint32_t slice, uint32_t slices, enum dram_kind kind,
              uint32_t bursts, uint32_t tag);
/* When the next access can be served, not before `now`; MEMORY_NEVER: there is none. */
uint64_t dram_next(struct dram_channel *c, uint64_t now);
/* Serves it, at the time that dram_next returned; returns when its data is there. */
uint64_t dram_serve(struct dram_channel *c, uint64_t now, struct dram_access *served);

#endif
