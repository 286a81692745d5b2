/*
 * The bytes of a work-item are numbers of 7 bits a byte, the lowest first, the top bit set in all but the last. An event is
 *
 *   2 b             block b of the source, counted from the kernel's first, modulo blocks
 *   4 s + 1         an access at site s, counted likewise, at the address that was predicted
 *   4 s + 3, v      one at another address: v is the difference, with its sign lowest (0 -1 1 -2 2 ...); or, if the
 *                   work-item has no prediction for this site, 8 d + r: d is the difference to base r, plus the bytes of the
 *                   access for each work-item before this one in the launch (in the group, if shared), or, r being 7,
 *                   to the last address of the same class of spaces
 *   ..., n          after either, if the site is a copy: the bytes that it moves
 *   2 blocks, 0 ... begin of a group, by its first work-item: first block and site; global id of that work-item, without
 *                   offset, x y z; local sizes x y z; global sizes x y
 *   2 blocks, 1 ... a base: its number; its kind; argument or bytes; address. Likewise
 *   2 blocks, 2 ... a gap: the body's block, counted as in an event; iterations kept before it; iterations left out.
 *                   A number may be longer than it has to be, with zeros on top: what is filled in later has its room
 *
 * A site's prediction is in slot s modulo slots: the last address plus the last stride, both of this site only.
 */
#include "models/trace/read.h"

#include "models/accesses/image.h"
#include "runtime/format/traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK_WORDS = TRACE_CHUNK_BYTES / 8, CHUNK_HEADER = TRACE_CHUNK_HEADER_WORDS * 8, CHUNK_ROOM = TRACE_CHUNK_BYTES - CHUNK_HEADER, MOST_TOLD = 64,
};
/* Private arrays and constants are recorded by offsets, which are smaller. */
#define MOST_OFFSET (UINT64_C(1) << 24)

enum { MOST_LANES = 1 << 16 }; /* work-items of a group, at most: what comes from a file is bounded */

struct chunk {
	uint64_t group;
	uint32_t lane, number;
	const uint8_t *bytes;
	uint32_t used;
	bool cut;
};

struct base {
	uint64_t address, what;
	enum trace_base kind;
	uint64_t bytes, place; /* its canonical address */
};

struct slot {
	uint64_t last;
	int32_t stride;
	uint32_t tag;
};

/* A group while it is read. */
struct group {
	bool begun;
	uint32_t first_block, first_site;
	uint64_t first[3], local[3], global[2];
	struct base bases[MOST_TOLD];
	uint32_t base_count;
	uint64_t recorded[TRACE_BASES]; /* addresses of the first bases */
};

struct trace_decoder {
	const struct trace_layout *layout;
	struct chunk *chunks;
	size_t chunk_count;
	struct launch_trace *trace;
	size_t bytes_left;
	struct group group;
	/* of the group's lanes up to now */
	struct trace_event *events;
	size_t event_count, event_room, usual_events; /* usual: of the group before */
	struct trace_gap *gaps;
	size_t gap_count, gap_room;
	uint32_t last_base[TRACE_SLOTS]; /* by site, modulo slots: where its last address was */
	/* of the lane that is being read */
	size_t first_event, first_gap;
	bool far_private; /* pointers lead to private memory */
	struct slot slots[TRACE_SLOTS];
	uint64_t near[TRACE_CLASSES];
	uint64_t item;
	uint32_t lane;
	bool full; /* no memory left: all the rest is cut */
};

/* ---- chunks ---- */

static int compare_chunks(const struct chunk *x, const struct chunk *y)
{
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Two runs that follow one another, the second from `middle` on, into `to`. Of equal chunks, the first stays first. */
static void merge_runs(const struct chunk *from, size_t first, size_t middle, size_t end, struct chunk *to)
{
	size_t a = first, b = middle;
	for (size_t i = first; i < end; i++)
		to[i] = a < middle && (b == end || compare_chunks(&from[a], &from[b]) <= 0) ? from[a++] : from[b++];
}

/* Where the run ends that begins here. */
static size_t end_of_run(const struct chunk *chunks, size_t first, size_t count)
{
	size_t end = first + (first < count);
	while (end < count && compare_chunks(&chunks[end - 1], &chunks[end]) <= 0)
		end++;
	return end;
}

/* Work-items take chunks in about their order, so there are few runs: those that are next to one another are merged until one is left. */
static int sort_chunks(struct trace_decoder *r)
{
	size_t count = r->chunk_count;
	if (end_of_run(r->chunks, 0, count) == count)
		return 0;
	struct chunk *other = malloc(count * sizeof *other);
	while (other && end_of_run(r->chunks, 0, count) < count) {
		for (size_t first = 0, middle, end; first < count; first = end) {
			middle = end_of_run(r->chunks, first, count);
			end = end_of_run(r->chunks, middle, count);
			merge_runs(r->chunks, first, middle, end, other);
		}
		struct chunk *sorted = other;
		other = r->chunks;
		r->chunks = sorted;
	}
	free(other);
	return other ? 0 : -ENOMEM;
}

static uint64_t word_at(const uint8_t *bytes, size_t index)
{
	uint64_t w;
	memcpy(&w, bytes + index * 8, 8);
	return w;
}

static bool has_group(const struct trace_layout *l, uint64_t group)
{
	uint64_t count = 1;
	for (int d = 0; d < 3; d++)
		if (l->groups[d] && __builtin_mul_overflow(count, l->groups[d], &count))
			return true;
	return group < count;
}

static void add_chunk(struct trace_decoder *r, const uint8_t *at)
{
	uint64_t group = word_at(at, 0), who = word_at(at, 1), used = word_at(at, 2);
	if (!has_group(r->layout, group) || (uint32_t)used > CHUNK_ROOM || (uint32_t)who >= MOST_LANES)
		return;
	r->chunks[r->chunk_count++] = (struct chunk){group, (uint32_t)who, (uint32_t)(who >> 32), at + CHUNK_HEADER, (uint32_t)used, used >> 32 & 1};
	r->trace->size_bytes += (uint32_t)used;
}

static int find_chunks(struct trace_decoder *r, const uint8_t *bytes, size_t word_count)
{
	size_t room = (word_count - TRACE_HEADER_WORDS) / CHUNK_WORDS;
	size_t taken = (uint32_t)word_at(bytes, 0);
	taken = taken < room ? taken : room;
	r->chunks = calloc(taken + 1, sizeof *r->chunks);
	for (size_t i = 0; i < taken && r->chunks; i++)
		add_chunk(r, bytes + (TRACE_HEADER_WORDS + i * CHUNK_WORDS) * 8);
	return r->chunks ? 0 : -ENOMEM;
}

/* How long the packed chunk is that begins here; 0: none does. */
static size_t packed_length(const uint8_t *bytes, size_t at, size_t length)
{
	if (length - at < CHUNK_HEADER)
		return 0;
	uint32_t used = (uint32_t)word_at(bytes + at, 2);
	return used <= CHUNK_ROOM && length - at - CHUNK_HEADER >= used ? CHUNK_HEADER + used : 0;
}

static int find_packed(struct trace_decoder *r, const uint8_t *bytes, size_t length)
{
	size_t count = 0, more;
	for (size_t at = 0; (more = packed_length(bytes, at, length)); at += more)
		count++;
	r->chunks = calloc(count + 1, sizeof *r->chunks);
	for (size_t at = 0; r->chunks && (more = packed_length(bytes, at, length)); at += more)
		add_chunk(r, bytes + at);
	return r->chunks ? 0 : -ENOMEM;
}

/* ---- events ---- */

struct byte_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint64_t read_number(struct byte_cursor *c)
{
	uint64_t v = 0;
	for (int shift = 0; c->at < c->end && shift < 64; shift += 7) {
		uint8_t b = *c->at++;
		v |= (uint64_t)(b & 127) << shift;
		if (b < 128)
			return v;
	}
	c->bad = true;
	return 0;
}

static int class_of(const struct trace_site *s)
{
	static const uint8_t classes[CODE_SPACE_COUNT] = {[SPACE_shared] = 1, [SPACE_local] = 2, [SPACE_const] = 3, [SPACE_texture] = 4};
	return s->space < CODE_SPACE_COUNT ? classes[s->space] : 0;
}

static bool is_copy(const struct trace_site *s)
{
	return s->kind == TRACE_copy_in || s->kind == TRACE_copy_out || s->kind == TRACE_bulk;
}

static inline bool charge(struct trace_decoder *r, size_t bytes)
{
	if (!r->layout->most_bytes)
		return true;
	r->full |= bytes > r->bytes_left;
	if (!r->full)
		r->bytes_left -= bytes;
	return !r->full;
}

/* Room for more items of an array. least: of an array that has none yet. */
static bool make_room(struct trace_decoder *r, void **items, size_t *room, size_t least, size_t size)
{
	size_t more = *room ? *room * 2 : least;
	void *grown = reallocarray(*items, more, size);
	r->full |= !grown;
	if (!grown)
		return false;
	*items = grown;
	*room = more;
	return true;
}

static bool grow_events(struct trace_decoder *r)
{
	void *items = r->events;
	size_t usual = r->usual_events + r->usual_events / 8;
	bool fits = make_room(r, &items, &r->event_room, usual > 1024 ? usual : 1024, sizeof *r->events);
	r->events = items;
	return fits;
}

static inline struct trace_event *add_event(struct trace_decoder *r)
{
	if ((r->event_count == r->event_room && !grow_events(r)) || !charge(r, sizeof *r->events))
		return NULL;
	return &r->events[r->event_count++];
}

static struct trace_gap *add_gap(struct trace_decoder *r)
{
	void *items = r->gaps;
	if (r->gap_count == r->gap_room && !make_room(r, &items, &r->gap_room, 64, sizeof *r->gaps))
		return NULL;
	r->gaps = items;
	return charge(r, sizeof *r->gaps) ? &r->gaps[r->gap_count++] : NULL;
}

/* The number of a block in the table, of one that is counted from the kernel's first. */
static uint32_t block_of(const struct trace_decoder *r, uint64_t counted)
{
	uint64_t block = counted + r->group.first_block;
	return (uint32_t)(block >= r->layout->block_count ? block - r->layout->block_count : block);
}

/* A gap of no iterations is none: the device wrote it before it knew. */
static bool read_gap(struct trace_decoder *r, struct byte_cursor *c)
{
	uint64_t body = read_number(c), kept = read_number(c), iterations = read_number(c);
	if (c->bad || !r->group.begun || body >= r->layout->block_count || !kept || r->event_count - r->first_event >= UINT32_MAX)
		return false;
	if (!iterations)
		return true;
	struct trace_gap *g = add_gap(r);
	if (!g)
		return false;
	memset(g, 0, sizeof *g); /* its bytes identify the trace */
	g->before = (uint32_t)(r->event_count - r->first_event);
	g->body = block_of(r, body);
	g->kept = kept < UINT32_MAX ? (uint32_t)kept : UINT32_MAX;
	g->iterations = iterations;
	return true;
}

/* What is neither a block nor an access: a gap, and what the first work-item records about its group. */
static bool read_told(struct trace_decoder *r, struct byte_cursor *c)
{
	struct group *g = &r->group;
	uint64_t what = read_number(c);
	if (what == 2)
		return read_gap(r, c);
	if (r->lane || what > 1)
		return false;
	if (what) {
		struct base b = {0};
		uint64_t number = read_number(c), kind = read_number(c);
		b.what = read_number(c);
		b.address = read_number(c);
		b.kind = (enum trace_base)kind;
		if (c->bad || kind > TRACE_BASE_LOCAL_ARGUMENT || g->base_count == MOST_TOLD)
			return false;
		if (number < TRACE_BASES)
			g->recorded[number] = b.address;
		if (!number && kind == TRACE_BASE_ARGUMENT)
			r->near[0] = b.address;
		g->bases[g->base_count++] = b;
		return true;
	}
	uint64_t block = read_number(c), site = read_number(c);
	for (int d = 0; d < 3; d++)
		g->first[d] = read_number(c);
	for (int d = 0; d < 3; d++)
		g->local[d] = read_number(c);
	g->global[0] = read_number(c);
	g->global[1] = read_number(c);
	g->begun = !c->bad && block < r->layout->block_count && site <= r->layout->site_count && g->local[0] < MOST_LANES &&
	           g->local[1] < MOST_LANES && g->local[2] < MOST_LANES &&
	           g->local[0] * g->local[1] * g->local[2] - 1 < MOST_LANES;
	g->first_block = (uint32_t)block;
	g->first_site = (uint32_t)site;
	return g->begun;
}

static inline uint64_t signed_difference(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

static bool read_access(struct trace_decoder *r, struct byte_cursor *c, uint64_t code)
{
	const struct trace_layout *l = r->layout;
	uint64_t site = (code >> 2) + r->group.first_site, address;
	if (code >> 2 >= l->site_count)
		return false;
	site -= site >= l->site_count ? l->site_count : 0;
	const struct trace_site *s = &l->sites[site];
	int class = class_of(s);
	struct slot *q = &r->slots[site % TRACE_SLOTS];
	bool fresh = q->tag != site + 1;
	uint64_t z = code & 2 ? read_number(c) : 0;
	if (!fresh)
		address = q->last + (uint64_t)(int64_t)q->stride + signed_difference(z);
	else if (!(code & 2))
		return false;
	else if ((z & 7) < TRACE_BASES)
		address = r->group.recorded[z & 7] + s->bytes * (class == 1 ? r->lane : r->item) + signed_difference(z >> 3);
	else
		address = r->near[class] + signed_difference(z >> 3);
	uint64_t bytes = is_copy(s) ? read_number(c) : s->bytes;
	int64_t stride = (int64_t)(address - q->last);
	struct trace_event *e = c->bad ? NULL : add_event(r);
	if (!e)
		return false;
	*e = (struct trace_event){TRACE_ACCESS + (uint32_t)site, bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX, address};
	*q = (struct slot){address, fresh || stride != (int32_t)stride ? 0 : (int32_t)stride, (uint32_t)site + 1};
	r->near[class] = address;
	r->far_private |= s->space == SPACE_local && address >= MOST_OFFSET;
	r->trace->accesses++;
	return true;
}

static bool read_event(struct trace_decoder *r, struct byte_cursor *c)
{
	uint64_t code = read_number(c);
	if (c->bad)
		return false;
	if (code & 1)
		return r->group.begun && read_access(r, c, code);
	if (code >> 1 == r->layout->block_count)
		return read_told(r, c);
	if (code >> 1 > r->layout->block_count || !r->group.begun)
		return false;
	struct trace_event *e = add_event(r);
	if (!e)
		return false;
	*e = (struct trace_event){.what = block_of(r, code >> 1)};
	return true;
}

/* The chunks of one lane, as many as follow each other. True if the end is there. */
static bool read_lane(struct trace_decoder *r, const struct chunk *chunks, size_t count)
{
	const struct group *g = &r->group;
	r->event_count = r->first_event;
	r->gap_count = r->first_gap;
	r->far_private = false;
	for (int i = 0; i < TRACE_SLOTS; i++)
		r->slots[i].tag = 0;
	memset(r->near, 0, sizeof r->near);
	r->near[TRACE_CLASSES - 1] = r->item * TRACE_TEXEL_BYTES << TRACE_IMAGE_BITS;
	r->near[0] = g->base_count && g->bases[0].kind == TRACE_BASE_ARGUMENT ? g->recorded[0] : 0;
	for (size_t i = 0; i < count; i++) {
		struct byte_cursor c = {.at = chunks[i].bytes, .end = chunks[i].bytes + chunks[i].used};
		if (chunks[i].number != i)
			return false;
		while (c.at < c.end)
			if (!read_event(r, &c))
				return false;
		if (!chunks[i].used || chunks[i].cut)
			return false;
	}
	return count > 0;
}

/* ---- addresses ---- */

/* Variables of the kernel first, then arguments, as in the target's code. */
static void place_bases(struct trace_decoder *r)
{
	struct group *g = &r->group;
	uint64_t offset = 0;
	for (int kind = TRACE_BASE_LOCAL; kind <= TRACE_BASE_LOCAL_ARGUMENT; kind++)
		for (uint32_t i = 0; i < g->base_count; i++) {
			struct base *b = &g->bases[i];
			if ((int)b->kind != kind)
				continue;
			bool known = kind == TRACE_BASE_LOCAL || b->what < r->layout->argument_count;
			b->bytes = !known ? 0 : kind == TRACE_BASE_LOCAL ? b->what : r->layout->argument_bytes[b->what];
			b->place = offset;
			offset += (b->bytes + 15) / 16 * 16;
		}
	for (uint32_t i = 0; i < g->base_count; i++) {
		struct base *b = &g->bases[i];
		if (b->kind != TRACE_BASE_ARGUMENT)
			continue;
		b->bytes = b->what < r->layout->argument_count ? r->layout->argument_bytes[b->what] : 0;
		b->place = (b->what + 1) << 40;
	}
}

static inline uint64_t in_bases(const struct group *g, uint64_t address, bool shared, uint32_t *last)
{
	for (uint32_t n = 0; n < g->base_count; n++) {
		uint32_t i = *last + n < g->base_count ? *last + n : *last + n - g->base_count;
		const struct base *b = &g->bases[i];
		if (address - b->address < b->bytes && shared == (b->kind != TRACE_BASE_ARGUMENT)) {
			*last = i;
			return address - b->address + b->place;
		}
	}
	return address;
}

/* The image that is meant where a function has it from its caller: the first that is written, or that is not. */
static uint64_t likely_image(const struct trace_layout *l, bool written)
{
	struct image_shape s;
	for (size_t i = 0; i < l->argument_count; i++)
		if (image_shape_of(l->argument_bytes[i], &s) && s.written == written)
			return i + 1;
	return 0;
}

/* A texture over linear memory. */
static void place_plain_texel(const struct group *g, struct trace_event *e, uint32_t *last)
{
	enum { POWERS = 5 };
	uint64_t at = e->address >> TRACE_IMAGE_BITS;
	e->address = in_bases(g, at & ((UINT64_C(1) << TRACE_PLAIN_BITS) - 1), false, last);
	e->bytes = 1u << (at >> TRACE_PLAIN_BITS) % POWERS;
}

/* The device has recorded a texel, counted row after row. */
static void place_texel(const struct trace_layout *l, bool written, struct trace_event *e)
{
	uint64_t argument = e->address & ((1u << TRACE_IMAGE_BITS) - 1), texel = (e->address >> TRACE_IMAGE_BITS) / TRACE_TEXEL_BYTES;
	struct image_shape s;
	argument = argument ? argument : likely_image(l, written);
	bool known = argument && argument <= l->argument_count && image_shape_of(l->argument_bytes[argument - 1], &s);
	uint64_t image = argument ? argument << 40 : UINT64_C(1) << (40 + TRACE_IMAGE_BITS);
	e->address = image + (known ? image_place(&s, texel) & ((UINT64_C(1) << 40) - 1) : texel * TRACE_TEXEL_BYTES);
	e->bytes = known ? s.texel_bytes : e->bytes;
}

/*
 * Private arrays and constants of the program are recorded by their offset; private memory that pointers lead to, by the device's
 * address, of which only the distance to the work-item's lowest is worth anything.
 */
static uint64_t lowest_private(const struct trace_decoder *r)
{
	const struct trace_site *sites = r->layout->sites;
	uint64_t lowest = UINT64_MAX;
	for (size_t i = r->first_event; i < r->event_count && r->far_private; i++) {
		const struct trace_event *e = &r->events[i];
		if (e->what & TRACE_ACCESS && sites[e->what & ~TRACE_ACCESS].space == SPACE_local && e->address >= MOST_OFFSET &&
		    e->address < lowest)
			lowest = e->address;
	}
	return lowest;
}

static void make_canonical(struct trace_decoder *r)
{
	enum { BEHIND_ARRAYS = 1 << 24 };
	const uint64_t constants = UINT64_C(1) << 39, lowest = lowest_private(r);
	const struct trace_site *sites = r->layout->sites;
	for (size_t i = r->first_event; i < r->event_count; i++) {
		struct trace_event *e = &r->events[i];
		uint32_t site = e->what & ~TRACE_ACCESS, *last = &r->last_base[site % TRACE_SLOTS];
		if (!(e->what & TRACE_ACCESS))
			continue;
		switch (class_of(&sites[site])) {
		case 0:
			e->address = in_bases(&r->group, e->address, false, last);
			break;
		case 1:
			e->address = in_bases(&r->group, e->address, true, last);
			break;
		case 2:
			e->address = e->address < MOST_OFFSET ? e->address : e->address - lowest + BEHIND_ARRAYS;
			break;
		case 3:
			e->address = e->address < MOST_OFFSET ? constants + e->address : in_bases(&r->group, e->address, false, last);
			break;
		default:
			if ((e->address & TRACE_IMAGE_PLAIN) == TRACE_IMAGE_PLAIN)
				place_plain_texel(&r->group, e, last);
			else
				place_texel(r->layout, sites[site].kind == TRACE_image_write, e);
		}
	}
}

/* ---- groups ---- */

static size_t chunks_of_lane(const struct trace_decoder *r, size_t first)
{
	size_t n = 1;
	while (first + n < r->chunk_count && r->chunks[first + n].group == r->chunks[first].group &&
	       r->chunks[first + n].lane == r->chunks[first].lane)
		n++;
	return n;
}

static uint64_t item_of_lane(const struct group *g, uint64_t lane)
{
	uint64_t x = lane % g->local[0], y = lane / g->local[0] % g->local[1], z = lane / g->local[0] / g->local[1];
	return ((g->first[2] + z) * g->global[1] + g->first[1] + y) * g->global[0] + g->first[0] + x;
}

/* Its events stay where they are; pointers to them come when the group is complete. */
static void keep_lane(struct trace_decoder *r, struct lane_trace *lane, bool whole)
{
	make_canonical(r);
	*lane = (struct lane_trace){.count = r->event_count - r->first_event, .gap_count = r->gap_count - r->first_gap, .cut = !whole};
	r->first_event = r->event_count;
	r->first_gap = r->gap_count;
}

/* All lanes' events are the group's, without room for more. */
static void keep_events(struct trace_decoder *r, struct traced_group *g)
{
	void *events = r->event_count ? reallocarray(r->events, r->event_count, sizeof *r->events) : NULL;
	void *gaps = r->gap_count ? reallocarray(r->gaps, r->gap_count, sizeof *r->gaps) : NULL;
	g->events = events ? events : r->events;
	g->gaps = gaps ? gaps : r->gaps;
	const struct trace_event *event = g->events;
	const struct trace_gap *gap = g->gaps;
	for (uint32_t i = 0; i < g->lane_count; i++) {
		struct lane_trace *l = &g->lanes[i];
		l->events = event;
		l->gaps = gap;
		event += l->count;
		gap += l->gap_count;
	}
	r->usual_events = r->event_count;
	r->events = NULL;
	r->gaps = NULL;
	r->event_room = r->gap_room = 0;
}

/* The first lane is read twice: only then is known where everything is. */
static bool begin_group(struct trace_decoder *r, size_t first, size_t count)
{
	uint64_t accesses = r->trace->accesses;
	size_t left = r->bytes_left;
	memset(&r->group, 0, sizeof r->group);
	memset(r->last_base, 0, sizeof r->last_base);
	r->first_event = r->first_gap = 0;
	r->lane = 0;
	r->item = 0;
	if (r->chunks[first].lane != 0)
		return false;
	read_lane(r, &r->chunks[first], count);
	r->trace->accesses = accesses;
	r->bytes_left = left;
	r->full = false;
	place_bases(r);
	return r->group.begun;
}

static struct traced_group *add_group(struct trace_decoder *r, uint64_t id)
{
	struct launch_trace *t = r->trace;
	uint32_t lanes = (uint32_t)(r->group.local[0] * r->group.local[1] * r->group.local[2]);
	if (!charge(r, lanes * sizeof(struct lane_trace) + sizeof(struct traced_group)))
		return NULL;
	if (!(t->group_count & (t->group_count - 1))) {
		struct traced_group *grown = reallocarray(t->groups, t->group_count ? t->group_count * 2 : 1, sizeof *grown);
		if (!grown)
			return NULL;
		t->groups = grown;
	}
	struct traced_group *g = &t->groups[t->group_count];
	*g = (struct traced_group){.group = id, .lane_count = lanes, .lanes = calloc(lanes, sizeof *g->lanes)};
	if (!g->lanes)
		return NULL;
	for (uint32_t i = 0; i < lanes; i++)
		g->lanes[i].cut = true; /* until its chunks are found */
	t->group_count++;
	return g;
}

static int read_group(struct trace_decoder *r, size_t first, size_t end, struct gs_error *err)
{
	if (!begin_group(r, first, chunks_of_lane(r, first)))
		return 0;
	struct group kept = r->group;
	struct traced_group *g = add_group(r, r->chunks[first].group);
	if (!g)
		return r->full ? 0 : gs_fail(err, ENOMEM, "out of memory");
	for (size_t i = first, n; i < end; i += n) {
		n = chunks_of_lane(r, i);
		r->lane = r->chunks[i].lane;
		if (r->lane >= g->lane_count || r->full)
			continue;
		r->item = item_of_lane(&kept, r->lane);
		if (!r->lane)
			r->group.base_count = 0; /* recorded again */
		bool whole = read_lane(r, &r->chunks[i], n);
		if (!r->lane) /* no other records anything about the group */
			r->group = kept;
		keep_lane(r, &g->lanes[r->lane], whole);
	}
	keep_events(r, g);
	return 0;
}

/* Where each group's chunks begin; one more entry has the end of the last. */
static size_t *find_groups(const struct trace_decoder *r, size_t *count)
{
	size_t *first = calloc(r->chunk_count + 1, sizeof *first), n = 0;
	for (size_t i = 0; first && i < r->chunk_count; i++)
		if (!i || r->chunks[i].group != r->chunks[i - 1].group)
			first[n++] = i;
	if (first)
		first[n] = r->chunk_count;
	*count = n;
	return first;
}

/* Groups that the memory for events lasts for, if all are as the first; each of them at least. */
static size_t groups_that_fit(const struct trace_decoder *r, size_t count)
{
	size_t used = r->layout->most_bytes - r->bytes_left;
	size_t more = used ? r->bytes_left / used : count;
	return !r->layout->most_bytes || more + 1 >= count ? count : more + 1;
}

/* Of groups that do not all fit, those are read that lie as far apart as they can. */
static int read_groups(struct trace_decoder *r, struct gs_error *err)
{
	size_t count, *first = find_groups(r, &count);
	if (!first)
		return gs_fail(err, ENOMEM, "out of memory");
	int result = count ? read_group(r, first[0], first[1], err) : 0;
	size_t fit = groups_that_fit(r, count);
	for (size_t i = 1; i < fit && !result && !r->full; i++) {
		size_t n = i * (count - 1) / (fit - 1);
		result = read_group(r, first[n], first[n + 1], err);
	}
	free(first);
	return result;
}

static bool keep_sizes(struct trace_decoder *r)
{
	size_t count = r->layout->argument_count;
	r->trace->argument_bytes = calloc(count + 1, sizeof *r->trace->argument_bytes);
	if (!r->trace->argument_bytes)
		return false;
	if (count)
		memcpy(r->trace->argument_bytes, r->layout->argument_bytes, count * sizeof *r->trace->argument_bytes);
	r->trace->argument_count = count;
	return true;
}

typedef int find_chunks_fn(struct trace_decoder *r, const uint8_t *from, size_t size);

static int read_trace(find_chunks_fn *find, const void *from, size_t size, const struct trace_layout *layout, struct launch_trace **out,
                      struct gs_error *err)
{
	struct trace_decoder r = {.layout = layout, .bytes_left = layout->most_bytes};
	r.trace = calloc(1, sizeof *r.trace);
	if (!r.trace)
		return gs_fail(err, ENOMEM, "out of memory");
	r.trace->sites = layout->sites;
	r.trace->site_count = layout->site_count;
	int result = !keep_sizes(&r) || find(&r, from, size) || sort_chunks(&r) ? gs_fail(err, ENOMEM, "out of memory") : 0;
	if (!result)
		result = read_groups(&r, err);
	free(r.chunks);
	free(r.events);
	free(r.gaps);
	if (result) {
		trace_free(r.trace);
		return result;
	}
	*out = r.trace;
	return 0;
}

int trace_read(const void *words, size_t word_count, const struct trace_layout *layout, struct launch_trace **out,
               struct gs_error *err)
{
	if (word_count < TRACE_HEADER_WORDS || !layout->block_count)
		return gs_fail(err, EBADMSG, "not a trace buffer");
	return read_trace(find_chunks, words, word_count, layout, out, err);
}

int trace_read_packed(const void *bytes, size_t length, const struct trace_layout *layout, struct launch_trace **out, struct gs_error *err)
{
	if (!layout->block_count)
		return gs_fail(err, EBADMSG, "not a trace");
	return read_trace(find_packed, bytes, length, layout, out, err);
}

void trace_free(struct launch_trace *t)
{
	for (size_t i = 0; t && i < t->group_count; i++) {
		free(t->groups[i].events);
		free(t->groups[i].gaps);
		free(t->groups[i].lanes);
	}
	if (t) {
		free(t->groups);
		free(t->argument_bytes);
	}
	free(t);
}
