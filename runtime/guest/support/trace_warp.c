/*
 * The functions that traced text of lifted kernels calls (annotator/lift/frame.cl). That text runs warps, and says what the lanes of a mask
 * do. Each lane has a trace of its own, as work-items have (trace_native.c).
 */
#include "runtime/guest/support/trace_native.h"

#include "models/trace/read.h"
#include "runtime/format/lifted.h"

#include <stdlib.h>

enum { LANES = 32 };

/* The loop whose iteration a warp is in, and its lanes that are; 0: none. */
struct warp_loop {
	uint32_t loop, lanes;
};

/* A group that is traced. */
struct traced_threads {
	uint32_t threads, rows;
	struct warp_loop *loops; /* by warp */
	uint32_t *masks;         /* by warp and row: the lanes that came there last */
	const struct lifted_image *images;
	uint64_t image_count;
	struct native_trace *lanes[]; /* by linear thread id */
};

/* What a group is. Kernel text fills it: 64-bit words. */
struct traced_launch {
	uint64_t buffer, chunks, group, first_row, first_site, ctaid[3], ntid[3], grid[3], whole, rows, sites, loops, bases, base_count, images, image_count;
};

static struct native_trace *begin_thread(const struct traced_launch *l, uint64_t thread)
{
	const uint64_t *n = l->ntid, *c = l->ctaid;
	return native_begin((uint64_t *)l->buffer, l->chunks, 0, 0, l->group, (uint32_t)l->first_row, (uint32_t)l->first_site, c[0] * n[0],
	                    c[1] * n[1], c[2] * n[2], l->grid[0] * n[0], l->grid[1] * n[1], thread % n[0], thread / n[0] % n[1],
	                    thread / n[0] / n[1], n[0], n[1], n[2], l->whole, (uint32_t)l->rows, (uint32_t)l->sites, (uint32_t)l->loops);
}

/* NULL: nothing is traced. */
NATIVE(struct traced_threads *, warps_begin, const struct traced_launch *l)
{
	uint64_t threads = l->ntid[0] * l->ntid[1] * l->ntid[2];
	uint64_t warps = (threads + LANES - 1) / LANES;
	struct traced_threads *t = l->buffer && l->chunks ? malloc(sizeof *t + threads * sizeof *t->lanes) : NULL;
	if (!t)
		return NULL;
	t->threads = (uint32_t)threads;
	t->rows = (uint32_t)l->rows;
	t->loops = calloc(warps, sizeof *t->loops);
	t->masks = t->loops ? calloc(warps * l->rows + 1, sizeof *t->masks) : NULL;
	t->images = (const struct lifted_image *)l->images;
	t->image_count = l->image_count;
	for (uint64_t i = 0; i < threads; i++) {
		t->lanes[i] = begin_thread(l, i);
		for (uint64_t b = 0; b < l->base_count; b++) {
			const uint64_t *base = (const uint64_t *)l->bases + 2 * b;
			native_base_f((uint32_t)b, TRACE_BASE_ARGUMENT, base[0], base[1], t->lanes[i]);
		}
	}
	return t;
}

NATIVE(void, warps_end, struct traced_threads *t)
{
	for (uint32_t i = 0; i < t->threads; i++)
		native_end(t->lanes[i]);
	free(t->loops);
	free(t->masks);
	free(t);
}

/* The body for every lane of the mask, as `lane`. */
#define FOR_LANES(...) \
	for (uint32_t l = 0; l < LANES; l++) \
		if (mask >> l & 1 && warp * LANES + l < t->threads) { \
			struct native_trace *lane = t->lanes[warp * LANES + l]; \
			__VA_ARGS__; \
		}

static void part_lanes(const struct traced_threads *t, uint32_t warp)
{
	uint32_t loop = t->loops[warp].loop, mask = t->loops[warp].lanes;
	FOR_LANES(trace_follow(loop, LANES_PARTED, lane))
}

/* The lanes that are in one iteration of a loop with those of the mask, and record nothing, begin a window with the next. */
static void begin_window_soon(const struct traced_threads *t, uint32_t warp, uint32_t mask)
{
	uint64_t with = 0;
	FOR_LANES(with = trace_between(lane); break)
	mask = with ? ~0u : 0;
	FOR_LANES(if (trace_between(lane) == with) trace_begin_soon(lane))
}

/*
 * Lanes of a warp come to a block of a loop. If it is for the first time, and no window has it, a window begins soon: else what such a loop does after its first
 * iterations, as one that has to fill a buffer first, would be in none. If other lanes take an arm of the loop than took it before, they do so by data; where
 * always the same ones do, as those at a border, the loop goes on as it begins.
 */
static void look_at_arm(const struct traced_threads *t, uint32_t warp, uint32_t row, uint32_t mask)
{
	if (!t->masks || row >= t->rows || !t->loops[warp].lanes)
		return;
	uint32_t *last = &t->masks[(size_t)warp * t->rows + row], before = *last;
	*last = mask;
	if (!before)
		begin_window_soon(t, warp, mask);
	else if (before != mask && mask != t->loops[warp].lanes)
		part_lanes(t, warp);
}

NATIVE(void, warp_block, struct traced_threads *t, uint32_t warp, uint32_t row, uint32_t mask)
{
	look_at_arm(t, warp, row, mask);
	FOR_LANES(native_b(row, lane))
}

NATIVE(void, warp_loop, struct traced_threads *t, uint32_t warp, uint32_t loop, uint32_t size, uint32_t needs_last, uint32_t mask)
{
	FOR_LANES(native_loop(loop, size, needs_last, lane); trace_entered(loop, mask, lane))
}

NATIVE(void, warp_body, struct traced_threads *t, uint32_t warp, uint32_t loop, uint32_t row, uint32_t mask)
{
	unsigned wishes = 0;
	FOR_LANES(wishes |= trace_wishes(loop, lane) | (trace_entering(loop, lane) != mask ? LANES_PARTED : 0))
	if (wishes) {
		FOR_LANES(trace_follow(loop, wishes, lane))
	}
	FOR_LANES(native_body(loop, row, lane))
	if (t->masks)
		t->loops[warp] = (struct warp_loop){loop, mask};
}

NATIVE(void, warp_loop_end, struct traced_threads *t, uint32_t warp, uint32_t loop, uint32_t row, uint32_t mask)
{
	FOR_LANES(native_loop_end(loop, row, lane))
	if (t->masks)
		t->loops[warp].lanes = 0;
}

NATIVE(void, warp_access, struct traced_threads *t, uint32_t warp, uint32_t site, uint32_t class, uint64_t bytes, uint32_t mask,
       const uint64_t *addresses)
{
	int s = (int)site;
	FOR_LANES(void *p = (void *)addresses[l]; switch (class) {
	case SHARED_CLASS: native_a_l(s, -1, NO_BASE, bytes, p, lane); break;
	case PRIVATE_CLASS: native_a_p(s, -1, NO_BASE, bytes, p, lane); break;
	case CONSTANT_CLASS: native_a_c(s, -1, NO_BASE, bytes, p, lane); break;
	case IMAGE_CLASS: trace_access(lane, site, IMAGE_CLASS, addresses[l], 0); break;
	default: native_a_g(s, -1, NO_BASE, bytes, p, lane); break;
	})
}

/* Of the texel at the address, row after row. */
static uint64_t texel_at(const struct lifted_texture *t, uint64_t row_texels, uint64_t address)
{
	uint64_t offset = address - t->address, z = t->slice ? offset / t->slice : 0, in = t->slice ? offset % t->slice : offset;
	uint64_t y = t->pitch ? in / t->pitch : 0, x = (t->pitch ? in % t->pitch : in) / lifted_texel_bytes(t);
	return (z * t->height + y) * row_texels + x;
}

/* What is recorded of a fetch whose first texel is at the address (models/trace/read.h). Objects that no argument is, as those in arrays, are memory. */
NATIVE(uint64_t, warp_texel, const struct traced_threads *t, uint64_t object, uint64_t address)
{
	const struct lifted_texture *texture = (const struct lifted_texture *)object;
	uint64_t bytes = lifted_texel_bytes(texture), power = bytes ? (uint64_t)__builtin_ctzll(bytes) : 0;
	for (uint64_t i = 0; i < t->image_count && bytes; i++)
		if (t->images[i].object == object)
			return (texel_at(texture, t->images[i].row_texels, address) * TRACE_TEXEL_BYTES << TRACE_IMAGE_BITS) + t->images[i].argument + 1;
	return ((address & ((1ull << TRACE_PLAIN_BITS) - 1)) | power << TRACE_PLAIN_BITS) << TRACE_IMAGE_BITS | TRACE_IMAGE_PLAIN;
}

/* Bulk copies: the address has 48 bits, and above them the bytes that are copied, divided by 16. */
NATIVE(void, warp_bulk, struct traced_threads *t, uint32_t warp, uint32_t site, uint32_t mask, const uint64_t *addresses)
{
	enum { ADDRESS_BITS = 48, BULK_BYTES = 16 };
	FOR_LANES(uint64_t bytes = addresses[l] >> ADDRESS_BITS;
	          trace_access(lane, site, GLOBAL_CLASS, addresses[l] & ((1ull << ADDRESS_BITS) - 1), bytes ? bytes * BULK_BYTES : BULK_BYTES))
}
