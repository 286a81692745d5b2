/*
 * The functions that traced kernels call (annotator/text/trace_text.c) if they run in this process. They write the events of a
 * work-item into the chunks of the trace buffer (runtime/format/traces.h). models/trace/read.c reads the events and describes
 * their form. It predicts addresses in the same way as access_event.
 *
 * A kernel calls these functions from threads of the driver. They touch only the buffer and the state of the work-item, and
 * call only the allocator.
 */
#include "runtime/guest/support/trace_native.h"

#include "models/trace/read.h"
#include "runtime/format/traces.h"
#include "runtime/guest/support/trace_choice.h"

#include <stdatomic.h>
#include <stdlib.h>

struct prediction {
	uint64_t last;
	int32_t stride;
	uint32_t tag;
};

/* What the state `on` of a work-item says: nothing is recorded, everything is, or blocks are. Kernels see it. */
enum { OFF, ON, BLOCKS_ONLY };

/* A loop that is traced in windows. Iterations are numbered from 0 at each entry. */
struct window {
	uint64_t trip;        /* the next iteration */
	uint64_t first, edge; /* of the window: its first iteration, and the first after it */
	uint64_t next;        /* the first iteration of the next window */
	uint64_t outer_skip;
	uint64_t before;      /* bytes that the work-item had written when it began */
	uint32_t size, mode, outer; /* of further windows; what `on`, `closed` and `skip` were at its entry */
	uint32_t lanes;           /* that entered the loop together; 0: not known */
	bool needs_last, spilled; /* see body_event; there was no room for the gap */
	bool parted;              /* these are not together any more */
	uint8_t *mark;        /* needs_last, between windows: where the iteration begins, after the gap */
};

/* The state of one work-item. Kernels know the first three members (annotator/text/tracer.cl). */
struct native_trace {
	uint32_t on;     /* OFF if there is no room left, too */
	uint32_t closed; /* the innermost loop that is between two windows; 0: none */
	uint64_t skip;   /* between windows: iterations until the next begins */
	uint64_t whole;  /* 1: there are no windows; more: the first of each loop is so many times as long */
	bool spilled;    /* BLOCKS_ONLY: there was no room for a block */
	bool passes;     /* there is no room for further windows: of another lane of its warp */
	uint8_t *at, *end;
	uint64_t *chunk, *buffer;
	uint64_t group, item, base[TRACE_BASES], near[TRACE_CLASSES], kept[2];
	uint64_t room;         /* bytes that windows are to take no more than; 0: there is no such bound */
	uint64_t group_chunks; /* of all work-items of the group, besides the first ones */
	uint32_t chunks, number, lane, first_block, first_site, blocks, sites;
	struct prediction predictions[TRACE_SLOTS];
	struct window windows[]; /* by loop */
};

static struct native_trace untraced;

enum { CHUNK_ROOM = TRACE_CHUNK_BYTES - 8 * TRACE_CHUNK_HEADER_WORDS };

/* ---- room ---- */

/*
 * What is recorded of a group must not depend on which others run at the same time. So its work-items may take a number of chunks, besides
 * the first one of each. A thread of the driver runs one group after the other.
 */
static _Thread_local struct {
	const uint64_t *buffer;
	uint64_t share, group; /* TRACE_SHARE_WORD, which differs from launch to launch */
	uint64_t taken;
} running;

static bool may_take_chunk(const struct native_trace *t)
{
	const uint64_t share = t->buffer[TRACE_SHARE_WORD];
	if (!share || !t->number)
		return true;
	if (running.buffer != t->buffer || running.share != share || running.group != t->group) {
		running.buffer = t->buffer;
		running.share = share;
		running.group = t->group;
		running.taken = 0;
	}
	return running.taken++ < t->group_chunks;
}

/* Bytes for the windows of one work-item, if all write the same. The rest is for what is not in loops, for ends of chunks, and for the iterations in
 * which windows end. Where there are few chunks for each, few of them write more than the others (trace_missed). */
static uint64_t window_room(uint32_t each)
{
	enum { LEAST = 16 };
	const uint64_t chunks = each > LEAST * TRACE_SHARE_ONE ? each : LEAST * TRACE_SHARE_ONE;
	return each ? chunks * CHUNK_ROOM / TRACE_SHARE_ONE / 4 * 3 : 0;
}

/* A group has taken little of what it may: windows leave it a quarter, and that is not used up. */
static bool has_spare_chunks(const struct native_trace *t)
{
	enum { SPARE = 4 };
	return running.buffer == t->buffer && running.group == t->group && running.share == t->buffer[TRACE_SHARE_WORD] &&
	       SPARE * running.taken < t->group_chunks;
}

static uint64_t bytes_written(const struct native_trace *t)
{
	return t->number ? t->number * (uint64_t)CHUNK_ROOM - (uint64_t)(t->end - t->at) : 0;
}

static uint64_t room_left(const struct native_trace *t, uint64_t written)
{
	return written < t->room ? t->room - written : 0;
}

/* ---- bytes ---- */

static void close_chunk(struct native_trace *t, uint64_t cut)
{
	if (t->chunk)
		t->chunk[2] = (uint64_t)(t->at - (uint8_t *)(t->chunk + TRACE_CHUNK_HEADER_WORDS)) | cut << 32;
}

static void next_chunk(struct native_trace *t)
{
	uint32_t index = may_take_chunk(t) ? atomic_fetch_add((_Atomic uint32_t *)t->buffer, 1) : t->chunks;
	close_chunk(t, index >= t->chunks);
	if (index >= t->chunks)
		t->on = t->closed = OFF;
	t->chunk = t->on ? t->buffer + TRACE_HEADER_WORDS + (uint64_t)index * (TRACE_CHUNK_BYTES / 8) : NULL;
	if (!t->on)
		return;
	t->chunk[0] = t->group;
	t->chunk[1] = t->lane | (uint64_t)t->number++ << 32;
	t->chunk[2] = 0;
	t->at = (uint8_t *)(t->chunk + TRACE_CHUNK_HEADER_WORDS);
	t->end = (uint8_t *)(t->chunk + TRACE_CHUNK_BYTES / 8);
}

/* Makes room for `bytes` more, so that an event is never divided. */
static bool make_room(struct native_trace *t, int bytes)
{
	if (t->on == ON && t->end - t->at < bytes)
		next_chunk(t);
	t->spilled |= t->on == BLOCKS_ONLY && t->end - t->at < bytes;
	return t->on && !t->spilled;
}

static void put_number(struct native_trace *t, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*t->at++ = (uint8_t)(value | 128);
	*t->at++ = (uint8_t)value;
}

/* ---- events ---- */

static void access_event(struct native_trace *t, uint32_t site, int class, uint32_t base, uint64_t bytes, uint64_t address,
                         uint64_t copied)
{
	if (t->on != ON || !make_room(t, TRACE_EVENT_BYTES))
		return;
	struct prediction *p = &t->predictions[site % TRACE_SLOTS];
	bool fresh = p->tag != site + 1;
	uint64_t guess = !fresh ? p->last + (uint64_t)(int64_t)p->stride
	                 : base < TRACE_BASES ? t->base[base] + bytes * (class == SHARED_CLASS ? t->lane : t->item)
	                                      : t->near[class];
	int64_t off = (int64_t)(address - guess), stride = (int64_t)(address - p->last);
	uint64_t folded = (uint64_t)off << 1 ^ (uint64_t)(off >> 63);
	if (fresh)
		folded = folded << 3 | base;
	bool more = fresh || folded;
	put_number(t, (uint64_t)(site >= t->first_site ? site - t->first_site : site + t->sites - t->first_site) << 2 | (more ? 3 : 1));
	if (more)
		put_number(t, folded);
	if (copied)
		put_number(t, copied);
	p->stride = fresh || (int32_t)stride != stride ? 0 : (int32_t)stride;
	p->last = address;
	p->tag = site + 1;
	t->near[class] = address;
}

static void accesses(struct native_trace *t, int first, int second, int class, uint32_t base, uint64_t bytes, uint64_t address)
{
	access_event(t, (uint32_t)first, class, base, bytes, address, 0);
	if (second >= 0)
		access_event(t, (uint32_t)second, class, base, bytes, address, 0);
}

/* The first work-item of a group records what is the same for all of them. */
static void tell_group(struct native_trace *t, const uint64_t *values, size_t count)
{
	if (t->lane || !make_room(t, 128))
		return;
	put_number(t, t->blocks * 2ull);
	put_number(t, 0);
	put_number(t, t->first_block);
	put_number(t, t->first_site);
	for (size_t i = 0; i < count; i++)
		put_number(t, values[i]);
}

static uint64_t counted(const struct native_trace *t, uint32_t block)
{
	return block >= t->first_block ? block - t->first_block : block + t->blocks - t->first_block;
}

static void block_event(struct native_trace *t, uint32_t block)
{
	if (make_room(t, TRACE_EVENT_BYTES))
		put_number(t, counted(t, block) * 2);
}

/* ---- windows ---- */

static bool put_gap(struct native_trace *t, const struct window *w, uint32_t body)
{
	if (!make_room(t, TRACE_EVENT_BYTES))
		return false;
	put_number(t, t->blocks * 2ull);
	put_number(t, 2);
	put_number(t, counted(t, body));
	put_number(t, w->edge - w->first);
	return true;
}

/* Iterations that a gap leaves out, with room for any number. */
static void put_wide(uint8_t *at, uint64_t iterations)
{
	const uint64_t most = (UINT64_C(1) << 7 * TRACE_WIDE_BYTES) - 1;
	iterations = iterations < most ? iterations : most;
	for (int i = 0; i < TRACE_WIDE_BYTES; i++, iterations >>= 7)
		*at++ = (uint8_t)((iterations & 127) | (i < TRACE_WIDE_BYTES - 1 ? 128 : 0));
}

/* Forgets what was recorded of an iteration. */
static void rewind_to_mark(struct native_trace *t, const struct window *w)
{
	t->spilled = w->spilled;
	if (!w->spilled)
		t->at = w->mark;
}

static void close_window(struct native_trace *t, struct window *w, uint32_t loop, uint32_t body)
{
	if (w->needs_last && t->on == ON && t->end - t->at < TRACE_LAST_BYTES)
		next_chunk(t); /* the iterations that are forgotten again stay in one chunk */
	if (!t->on)
		return;
	t->closed = loop;
	if (!w->needs_last) {
		t->on = OFF;
		t->skip = w->next - w->edge;
		return;
	}
	w->spilled = !put_gap(t, w, body);
	t->on = BLOCKS_ONLY;
	if (w->spilled)
		return;
	put_wide(t->at, 0);
	w->mark = t->at += TRACE_WIDE_BYTES;
}

static void leave_closed(struct native_trace *t, const struct window *w)
{
	t->on = w->mode;
	t->closed = w->outer;
	t->skip = w->outer_skip;
}

/*
 * Whether a window ends before its edge: going on as long again would take more than half of what was left when it began. So there are always further
 * windows, however many iterations there are. That is asked at powers of two, so that work-items which write a little more than others end with
 * them; and before the fourth, which is how compilers unroll, only if there is no room at all.
 */
static bool window_is_full(const struct native_trace *t, const struct window *w)
{
	enum { UNROLLED = 4 };
	const uint64_t kept = w->trip - w->first;
	if (!t->room || t->on != ON || !kept || kept & (kept - 1))
		return false;
	if (w->parted && has_spare_chunks(t))
		return false;
	uint64_t left = room_left(t, w->before);
	return 2 * (bytes_written(t) - w->before) > (kept < UNROLLED ? left : left / 2);
}

static void open_window(struct native_trace *t, struct window *w, uint32_t body)
{
	if (w->needs_last) {
		rewind_to_mark(t, w);
		if (!w->spilled)
			put_wide(w->mark - TRACE_WIDE_BYTES, w->next - w->edge);
	}
	leave_closed(t, w);
	if (!w->needs_last && put_gap(t, w, body))
		put_number(t, w->next - w->edge);
	w->trip = w->first = w->next;
	w->edge = w->first + w->size;
	w->next *= TRACE_WINDOWS_APART;
	w->before = bytes_written(t);
}

static bool has_no_room(const struct native_trace *t)
{
	enum { LEAST = 16 };
	return t->passes || (t->room && room_left(t, bytes_written(t)) < t->room / LEAST);
}

/* There is no room for another window: the gap goes on up to the one after it. */
static bool pass_window(struct native_trace *t, struct window *w)
{
	if (!has_no_room(t))
		return false;
	t->skip = w->next * (TRACE_WINDOWS_APART - 1);
	w->next *= TRACE_WINDOWS_APART;
	return true;
}

unsigned trace_wishes(uint32_t loop, const struct native_trace *t)
{
	if (t == &untraced || t->whole == 1)
		return 0;
	bool ends = t->on && t->closed != loop && window_is_full(t, &t->windows[loop]);
	return (ends ? WINDOW_ENDS : 0) | (has_no_room(t) ? WINDOWS_PASS : 0);
}

void trace_follow(uint32_t loop, unsigned wishes, struct native_trace *t)
{
	if (t == &untraced)
		return;
	t->passes |= !!(wishes & WINDOWS_PASS);
	t->windows[loop].parted |= !!(wishes & LANES_PARTED);
	if (wishes & WINDOW_ENDS && t->on && t->closed != loop)
		t->windows[loop].edge = t->windows[loop].trip;
}

void trace_entered(uint32_t loop, uint32_t lanes, struct native_trace *t)
{
	if (t != &untraced && t->on)
		t->windows[loop].lanes = lanes;
}

uint32_t trace_entering(uint32_t loop, const struct native_trace *t)
{
	return t == &untraced ? 0 : t->windows[loop].lanes;
}

/* Iterations since the window before. */
static uint64_t left_out(const struct native_trace *t, const struct window *w)
{
	return w->needs_last ? w->trip - w->edge : w->next - w->edge - t->skip + 1;
}

uint64_t trace_between(const struct native_trace *t)
{
	return t == &untraced || !t->closed ? 0 : (uint64_t)t->closed << 48 | left_out(t, &t->windows[t->closed]);
}

void trace_begin_soon(struct native_trace *t)
{
	if (t == &untraced || !t->closed || has_no_room(t))
		return;
	struct window *w = &t->windows[t->closed];
	w->next = w->edge + left_out(t, w);
	t->skip = 1;
}

/* A loop begins. In an iteration that may be forgotten again, what it contains has to be short. Later windows are never longer, because
 * their number grows with the loop. */
NATIVE(void, loop, uint32_t loop, uint32_t size, uint32_t needs_last, struct native_trace *t)
{
	if (!t->on)
		return;
	bool brief = t->on == BLOCKS_ONLY;
	uint32_t first = brief ? TRACE_BRIEF_WINDOW : t->whole > 1 ? size * (uint32_t)t->whole : size;
	t->windows[loop] = (struct window){
		.edge = t->whole == 1 ? UINT64_MAX : first,
		.next = brief ? UINT64_MAX / TRACE_WINDOWS_APART : (uint64_t)first * TRACE_WINDOWS_APART,
		.size = (brief ? first : size) / 2,
		.mode = t->on,
		.outer = t->closed,
		.outer_skip = t->skip,
		.needs_last = needs_last,
		.before = bytes_written(t),
	};
}

/*
 * Lanes that are not together any more do other things than those of the first iterations: fewer of them, in other places. Rounds that stand for what
 * they do would be of warps with most lanes. So such a window goes on, as long as there is room.
 */
static bool goes_on(struct window *w)
{
	enum { LONGER = 16 };
	uint64_t kept = w->edge - w->first;
	if (!w->parted || w->mode != ON || kept >= LONGER * 2 * (uint64_t)w->size)
		return false;
	w->edge += kept;
	w->next = w->edge * TRACE_WINDOWS_APART;
	return true;
}

/*
 * An iteration begins, and something may have to be recorded. Between windows nothing is, up to the next window. If the loop needs its
 * last iteration, blocks are recorded even so, and forgotten when another iteration begins.
 */
NATIVE(void, body_on, uint32_t loop, uint32_t body, struct native_trace *t)
{
	struct window *w = &t->windows[loop];
	if (t->closed == loop) {
		if (w->needs_last && (w->trip < w->next || pass_window(t, w)))
			rewind_to_mark(t, w);
		else if (w->needs_last || !pass_window(t, w))
			open_window(t, w, body);
	} else if (t->on && ((w->trip == w->edge && !goes_on(w)) || window_is_full(t, w))) {
		w->edge = w->trip;
		close_window(t, w, loop, body);
	}
	if (!t->on)
		return;
	w->trip++;
	block_event(t, body);
}

/* The same for kernels that do not look whether that is so. */
NATIVE(void, body, uint32_t loop, uint32_t body, struct native_trace *t)
{
	if (t->on || (t->closed == loop && !--t->skip))
		native_body_on(loop, body, t);
}

NATIVE(void, loop_end, uint32_t loop, uint32_t body, struct native_trace *t)
{
	if (t->closed != loop)
		return;
	struct window *w = &t->windows[loop];
	bool lost = w->needs_last && t->spilled && !w->spilled;
	if (lost)
		rewind_to_mark(t, w);
	if (w->needs_last && !w->spilled)
		put_wide(w->mark - TRACE_WIDE_BYTES, w->trip - w->edge - !lost);
	uint64_t gap = left_out(t, w);
	leave_closed(t, w);
	if (!w->needs_last && put_gap(t, w, body))
		put_number(t, gap);
}

/* ---- events that another device wrote (trace_columns.c) ---- */

void trace_access(struct native_trace *t, uint32_t site, int class, uint64_t address, uint64_t copied)
{
	if (class >= 0 && class < TRACE_CLASSES && site < t->sites)
		access_event(t, site, class, NO_BASE, 0, address, copied);
}

void trace_gap(struct native_trace *t, uint32_t body, uint64_t kept, uint64_t left_out)
{
	if (put_gap(t, &(struct window){.edge = kept}, body))
		put_number(t, left_out);
}

void trace_cut(struct native_trace *t)
{
	if (t->on)
		close_chunk(t, 1);
	t->on = OFF;
	t->chunk = NULL;
}

/* ---- what kernels call ---- */

/* The last three parameters are sizes of the program. The others are as in the text's own
 * begin_trace. */
NATIVE(void *, begin, uint64_t *buffer, uint64_t chunks, uint64_t of, uint64_t part, uint64_t group, uint32_t block, uint32_t site,
       uint64_t x, uint64_t y, uint64_t z, uint64_t size_x, uint64_t size_y, uint64_t lx, uint64_t ly, uint64_t lz, uint64_t local_x,
       uint64_t local_y, uint64_t local_z, uint64_t whole, uint32_t blocks, uint32_t sites, uint32_t loops)
{
	struct trace_choice *choice = (struct trace_choice *)buffer[TRACE_CHOICE_WORD];
	if (!chunks || (of && group % of >= part) || (choice && !trace_choice_has(choice, group)))
		return &untraced;
	struct native_trace *t = calloc(1, sizeof *t + (loops + 1ul) * sizeof *t->windows);
	if (!t)
		return &untraced;
	t->on = ON;
	t->whole = whole;
	t->buffer = buffer;
	t->chunks = chunks < UINT32_MAX ? (uint32_t)chunks : UINT32_MAX;
	t->group = group;
	t->first_block = block;
	t->first_site = site;
	t->blocks = blocks;
	t->sites = sites;
	t->lane = (uint32_t)((lz * local_y + ly) * local_x + lx);
	t->item = ((z + lz) * size_y + y + ly) * size_x + x + lx;
	t->room = whole == 1 ? 0 : window_room((uint32_t)buffer[TRACE_SHARE_WORD]);
	t->group_chunks = ((uint32_t)buffer[TRACE_SHARE_WORD] - TRACE_SHARE_ONE) * local_x * local_y * local_z / TRACE_SHARE_ONE;
	t->near[IMAGE_CLASS] = t->item * TRACE_TEXEL_BYTES << TRACE_IMAGE_BITS;
	tell_group(t, (const uint64_t[]){x, y, z, local_x, local_y, local_z, size_x, size_y}, 8);
	return t;
}

NATIVE(void, end, struct native_trace *t)
{
	if (t == &untraced)
		return;
	close_chunk(t, 0);
	free(t);
}

NATIVE(void, b, uint32_t block, struct native_trace *t)
{
	block_event(t, block);
}

NATIVE(void, base_f, uint32_t base, uint32_t kind, uint64_t what, uint64_t address, struct native_trace *t)
{
	if (!t->on)
		return;
	if (base < TRACE_BASES)
		t->base[base] = address;
	if (!base && !kind)
		t->near[GLOBAL_CLASS] = address;
	if (t->lane || !make_room(t, 64))
		return;
	put_number(t, t->blocks * 2ull);
	put_number(t, 1);
	put_number(t, base);
	put_number(t, kind);
	put_number(t, what);
	put_number(t, address);
}

NATIVE(uint64_t, copy, int to, int to_class, int from, int from_class, uint64_t bytes, uint64_t count, struct native_trace *t)
{
	if (count) {
		access_event(t, (uint32_t)from, from_class, NO_BASE, bytes, t->kept[1], count * bytes);
		access_event(t, (uint32_t)to, to_class, NO_BASE, bytes, t->kept[0], count * bytes);
	}
	return count;
}

/* A position in an image is the position of its texel, row after row. The number of the argument is in the low bits. */
NATIVE(void, i_at, uint32_t site, uint32_t argument, uint64_t width, uint64_t height, uint64_t x, uint64_t y, uint64_t z,
       struct native_trace *t)
{
	uint64_t at = (z * height + (height > 1 && y >= height ? height - 1 : y)) * width + (x < width ? x : width - 1);
	access_event(t, site, IMAGE_CLASS, NO_BASE, TRACE_TEXEL_BYTES,
	             (at * TRACE_TEXEL_BYTES << TRACE_IMAGE_BITS) + (argument & ((1 << TRACE_IMAGE_BITS) - 1)), 0);
}

/* Accesses through pointers of one address space: at p, at an offset in elements of `apart` bytes, and the operands of a copy. */
#define SPACE_FUNCTIONS(letter, class) \
	NATIVE(void *, a_##letter, int first, int second, uint32_t base, uint64_t bytes, void *p, struct native_trace *t) \
	{ \
		accesses(t, first, second, class, base, bytes, (uint64_t)p); \
		return p; \
	} \
	NATIVE(void *, v_##letter, uint32_t site, uint32_t base, uint64_t bytes, uint64_t apart, uint64_t offset, void *p, \
	       struct native_trace *t) \
	{ \
		p = (char *)p + apart * offset; \
		access_event(t, site, class, base, bytes, (uint64_t)p, 0); \
		return p; \
	} \
	NATIVE(void *, k_##letter, int which, void *p, struct native_trace *t) \
	{ \
		if (t->on) \
			t->kept[which & 1] = (uint64_t)p; \
		return p; \
	}

SPACE_FUNCTIONS(g, GLOBAL_CLASS)
SPACE_FUNCTIONS(l, SHARED_CLASS)
SPACE_FUNCTIONS(c, CONSTANT_CLASS)
SPACE_FUNCTIONS(p, PRIVATE_CLASS)
SPACE_FUNCTIONS(n, GLOBAL_CLASS)

/* Accesses to variables whose place in the kernel's own order is known. */
#define ARRAY_FUNCTION(letter, class) \
	NATIVE(void *, a_##letter, int first, int second, uint32_t base, uint64_t bytes, uint64_t offset, uint64_t origin, void *p, \
	       struct native_trace *t) \
	{ \
		accesses(t, first, second, class, base, bytes, (uint64_t)p - origin + offset); \
		return p; \
	}

ARRAY_FUNCTION(f, PRIVATE_CLASS)
ARRAY_FUNCTION(d, CONSTANT_CLASS)
