/* Writes what work-items did as our own traced twins do: chunks of events (runtime/format/traces.h, models/trace/read.c). */
#include "runtime/cmd/streams/job.h"

#include "models/trace/read.h"
#include "runtime/cmd/streams/windows.h"
#include "runtime/format/traces.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = TRACE_CHUNK_HEADER_WORDS * 8, ROOM = TRACE_CHUNK_BYTES - HEADER, LONGEST_EVENT = 128 };

struct lane_state {
	struct gs_buf bytes; /* chunks */
	size_t chunk;        /* where the last begins */
	uint32_t chunks;
	bool cut;            /* what came next had no room */
	struct lane_windows windows;
	uint64_t near[TRACE_CLASSES];
	struct {
		uint64_t last;
		int32_t stride;
		uint32_t tag;
	} slots[TRACE_SLOTS];
};

struct lane_writer {
	const struct lane_layout *layout;
	struct lane_state *lanes;
	uint32_t lane_count;
	uint64_t group, used; /* bytes of all lanes */
	uint32_t lane;        /* whose events are passed on (windows.h) */
};

struct lane_writer *lane_writer_new(const struct lane_layout *layout)
{
	struct lane_writer *w = calloc(1, sizeof *w);
	uint64_t items = layout->local[0] * layout->local[1] * layout->local[2];
	if (!w || !(w->lanes = calloc(items, sizeof *w->lanes))) {
		free(w);
		return NULL;
	}
	w->layout = layout;
	w->lane_count = (uint32_t)items;
	return w;
}

static void lane_free(struct lane_state *l)
{
	gs_buf_free(&l->bytes);
	gs_buf_free(&l->windows.held);
}

void lane_writer_free(struct lane_writer *w)
{
	for (uint32_t i = 0; w && i < w->lane_count; i++)
		lane_free(&w->lanes[i]);
	if (w)
		free(w->lanes);
	free(w);
}

/* ---- events ---- */

struct event {
	uint8_t bytes[LONGEST_EVENT];
	size_t length;
};

static void put_number(struct event *e, uint64_t v)
{
	for (; v > 127; v >>= 7)
		e->bytes[e->length++] = (uint8_t)(v | 128);
	e->bytes[e->length++] = (uint8_t)v;
}

static uint64_t with_sign(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static void set_used(struct lane_state *l)
{
	uint64_t used = (l->bytes.len - l->chunk - HEADER) | (uint64_t)l->cut << 32;
	if (l->chunks && !l->bytes.failed)
		memcpy(l->bytes.data + l->chunk + 16, &used, 8);
}

/* An event is in one chunk. Where there is no room, the lane ends. */
static void put_event(struct lane_writer *w, uint32_t lane, const struct event *e)
{
	struct lane_state *l = &w->lanes[lane];
	if (l->cut || (w->layout->most_bytes && w->used > w->layout->most_bytes)) {
		l->cut = true;
		return;
	}
	w->used += e->length;
	if (!l->chunks || l->bytes.len - l->chunk - HEADER + e->length > ROOM) {
		uint64_t header[TRACE_CHUNK_HEADER_WORDS] = {w->group, lane | (uint64_t)l->chunks << 32, 0};
		set_used(l);
		l->chunk = l->bytes.len;
		l->chunks++;
		gs_buf_add(&l->bytes, header, sizeof header);
	}
	gs_buf_add(&l->bytes, e->bytes, e->length);
}

static void put_base(struct lane_writer *w, uint32_t number, enum trace_base kind, uint64_t what, uint64_t address)
{
	struct event e = {.length = 0};
	put_number(&e, 2 * (uint64_t)w->layout->block_count);
	put_number(&e, 1);
	put_number(&e, number);
	put_number(&e, kind);
	put_number(&e, what);
	put_number(&e, address);
	put_event(w, 0, &e);
}

void lane_writer_begin(struct lane_writer *w, uint64_t group)
{
	enum { SHARED_WINDOW = 1 << 24 };
	const struct lane_layout *y = w->layout;
	uint64_t at[3] = {group % y->grid[0], group / y->grid[0] % y->grid[1], group / y->grid[0] / y->grid[1]};
	struct event e = {.length = 0};
	w->group = group;
	w->used = 0;
	for (uint32_t i = 0; i < w->lane_count; i++) {
		struct gs_buf bytes = w->lanes[i].bytes;
		struct lane_windows windows = w->lanes[i].windows;
		bytes.len = 0;
		lane_windows_begin(&windows);
		w->lanes[i] = (struct lane_state){.bytes = bytes, .near = {y->piece_count ? y->pieces[0].begin : 0}, .windows = windows};
	}
	put_number(&e, 2 * (uint64_t)y->block_count);
	put_number(&e, 0);
	put_number(&e, 0);
	put_number(&e, 0);
	for (int d = 0; d < 3; d++)
		put_number(&e, at[d] * y->local[d]);
	for (int d = 0; d < 3; d++)
		put_number(&e, y->local[d]);
	put_number(&e, y->grid[0] * y->local[0]);
	put_number(&e, y->grid[1] * y->local[1]);
	put_event(w, 0, &e);
	for (size_t i = 0; i < y->piece_count; i++)
		put_base(w, (uint32_t)i, TRACE_BASE_ARGUMENT, i, y->pieces[i].begin);
	if (y->shared_base)
		put_base(w, TRACE_BASES, TRACE_BASE_LOCAL, SHARED_WINDOW, y->shared_base);
}

static void put_block(struct lane_writer *w, uint32_t item, uint32_t block)
{
	struct event e = {.length = 0};
	put_number(&e, 2 * (uint64_t)block);
	put_event(w, item, &e);
}

static void put_gap(struct lane_writer *w, uint32_t item, const struct window_event *gap)
{
	struct event e = {.length = 0};
	put_number(&e, 2 * (uint64_t)w->layout->block_count);
	put_number(&e, 2);
	put_number(&e, gap->what);
	put_number(&e, gap->address);
	put_number(&e, gap->iterations);
	put_event(w, item, &e);
}

static int class_of(uint8_t space)
{
	return space == SPACE_shared ? 1 : space == SPACE_local ? 2 : space == SPACE_const ? 3 : 0;
}

static void put_access(struct lane_writer *w, uint32_t item, uint32_t site, uint64_t address)
{
	struct lane_state *l = &w->lanes[item];
	struct event e = {.length = 0};
	int class = class_of(w->layout->site_spaces[site]);
	bool fresh = l->slots[site % TRACE_SLOTS].tag != site + 1;
	if (class == 2 && address - w->layout->local_base < UINT64_C(1) << 24) /* private memory is known by its offset */
		address -= w->layout->local_base;
	uint64_t last = l->slots[site % TRACE_SLOTS].last, expected = last + (uint64_t)(int64_t)l->slots[site % TRACE_SLOTS].stride;
	if (fresh) {
		put_number(&e, 4 * (uint64_t)site + 3);
		put_number(&e, with_sign(address - l->near[class]) << 3 | 7);
	} else if (address == expected) {
		put_number(&e, 4 * (uint64_t)site + 1);
	} else {
		put_number(&e, 4 * (uint64_t)site + 3);
		put_number(&e, with_sign(address - expected));
	}
	int64_t stride = (int64_t)(address - last);
	l->slots[site % TRACE_SLOTS].last = address;
	l->slots[site % TRACE_SLOTS].stride = fresh || stride != (int32_t)stride ? 0 : (int32_t)stride;
	l->slots[site % TRACE_SLOTS].tag = site + 1;
	l->near[class] = address;
	put_event(w, item, &e);
}

/* ---- what lanes do ---- */

static void put_window_event(void *ctx, const struct window_event *e)
{
	struct lane_writer *w = ctx;
	if (e->kind == WINDOW_BLOCK)
		put_block(w, w->lane, e->what);
	else if (e->kind == WINDOW_ACCESS)
		put_access(w, w->lane, e->what, e->address);
	else
		put_gap(w, w->lane, e);
}

void lane_writer_block(struct lane_writer *w, uint32_t item, uint32_t block)
{
	w->lane = item;
	if (w->layout->windows)
		lane_windows_block(w->layout->windows, &w->lanes[item].windows, block, put_window_event, w);
	else
		put_block(w, item, block);
}

void lane_writer_access(struct lane_writer *w, uint32_t item, uint32_t site, uint64_t address)
{
	w->lane = item;
	if (w->layout->windows)
		lane_windows_access(&w->lanes[item].windows, site, address, put_window_event, w);
	else
		put_access(w, item, site, address);
}

void lane_writer_end(struct lane_writer *w, struct gs_buf *out)
{
	for (uint32_t i = 0; i < w->lane_count; i++) {
		struct lane_state *l = &w->lanes[i];
		w->lane = i;
		if (w->layout->windows)
			lane_windows_end(w->layout->windows, &l->windows, put_window_event, w);
		l->cut |= l->windows.cut;
		set_used(l);
		gs_buf_add(out, l->bytes.data, l->bytes.len);
		out->failed |= l->bytes.failed;
	}
}
