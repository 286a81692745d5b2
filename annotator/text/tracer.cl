/*
 * The functions that traced text calls. They write events into chunks of the trace buffer (runtime/format/traces.h).
 * models/trace/read.c reads the events and says how they are encoded. It predicts addresses as __gpusim_event does.
 *
 * A work-item keeps its place in a chunk and its predictions in a private structure, which every function gets as its last
 * argument. trace_text.c chooses the sections of a unit, and says why there are two forms: where kernels run in the guest's
 * own process, native code does the same, and the text only declares it.
 *
 * Long loops are traced in windows (struct __gpusim_window). `on` is 0 if nothing is recorded, 1 if everything is, and 2 if blocks are.
 *
 * Letters in the names: a_ an access, v_ a vector access, k_ a pointer that a copy keeps for later, i_ an image;
 * g global, l local, c constant, p private, n generic, f a private array, d a constant of the program.
 */

/* Nothing is static, because that came with OpenCL C 1.2: every name is a macro that adds the unit. */
//@ tracer_names
#define __gpusim_more __gpusim_more_${UNIT}
#define __gpusim_number __gpusim_number_${UNIT}
#define __gpusim_b __gpusim_b_${UNIT}
#define __gpusim_event __gpusim_event_${UNIT}
#define __gpusim_loop_f __gpusim_loop_${UNIT}
#define __gpusim_body_f __gpusim_body_${UNIT}
#define __gpusim_loop_end_f __gpusim_loop_end_${UNIT}
#define __gpusim_gap __gpusim_gap_${UNIT}
#define __gpusim_wide __gpusim_wide_${UNIT}
#define __gpusim_go_on __gpusim_go_on_${UNIT}
#define __gpusim_e __gpusim_e_${UNIT}
#define __gpusim_begin_trace __gpusim_begin_trace_${UNIT}
#define __gpusim_end_trace __gpusim_end_trace_${UNIT}
#define __gpusim_base_f __gpusim_base_f_${UNIT}
#define __gpusim_copy __gpusim_copy_${UNIT}
#define __gpusim_a_g __gpusim_a_g_${UNIT}
#define __gpusim_a_l __gpusim_a_l_${UNIT}
#define __gpusim_a_c __gpusim_a_c_${UNIT}
#define __gpusim_a_p __gpusim_a_p_${UNIT}
#define __gpusim_a_n __gpusim_a_n_${UNIT}
#define __gpusim_a_f __gpusim_a_f_${UNIT}
#define __gpusim_a_d __gpusim_a_d_${UNIT}
#define __gpusim_v_g __gpusim_v_g_${UNIT}
#define __gpusim_v_l __gpusim_v_l_${UNIT}
#define __gpusim_v_c __gpusim_v_c_${UNIT}
#define __gpusim_v_p __gpusim_v_p_${UNIT}
#define __gpusim_v_n __gpusim_v_n_${UNIT}
#define __gpusim_k_g __gpusim_k_g_${UNIT}
#define __gpusim_k_l __gpusim_k_l_${UNIT}
#define __gpusim_k_c __gpusim_k_c_${UNIT}
#define __gpusim_k_p __gpusim_k_p_${UNIT}
#define __gpusim_k_n __gpusim_k_n_${UNIT}
#define __gpusim_i_at __gpusim_i_at_${UNIT}
#define __gpusim_i_int __gpusim_i_int_${UNIT}
#define __gpusim_i_int2 __gpusim_i_int2_${UNIT}
#define __gpusim_i_int4 __gpusim_i_int4_${UNIT}
#define __gpusim_i_float __gpusim_i_float_${UNIT}
#define __gpusim_i_float2 __gpusim_i_float2_${UNIT}
#define __gpusim_i_float4 __gpusim_i_float4_${UNIT}

/* The first work-item of the group, as a place in the launch. */
//@ tracer_from
#define __gpusim_from(d) (__gpusim_global_id(d) - __gpusim_global_offset(d) - __gpusim_local_id(d))

/* ---- native code: declarations (runtime/format/native.h) ---- */

//@ tracer_if_native
#if defined ${NATIVE_MACRO} && defined POCL_DEVICE_ADDRESS_BITS && __clang_major__ < 19

//@ tracer_native
struct __gpusim_trace { unsigned int on, closed; unsigned long skip; };
__private struct __gpusim_trace *__gpusim_begin_native(__global unsigned long *buffer, unsigned long chunks,
	unsigned long of, unsigned long part, unsigned long group, unsigned int block, unsigned int site, unsigned long x,
	unsigned long y, unsigned long z, unsigned long sx, unsigned long sy, unsigned long lx, unsigned long ly,
	unsigned long lz, unsigned long wx, unsigned long wy, unsigned long wz, unsigned long whole, unsigned int blocks,
	unsigned int sites, unsigned int loops)
	__asm__("${NATIVE_PREFIX}begin");
#define __gpusim_trace_begins(block, site) __private struct __gpusim_trace *__gpusim_t = __gpusim_begin_native( \
	__gpusim_traces, __gpusim_box.${BOX_CHUNKS}, __gpusim_box.${BOX_TRACED_OF}, __gpusim_box.${BOX_TRACED_BELOW}, \
	__gpusim_group, block, site, __gpusim_from(0), \
	__gpusim_from(1), __gpusim_from(2), __gpusim_global_size(0), __gpusim_global_size(1), __gpusim_local_id(0), \
	__gpusim_local_id(1), __gpusim_local_id(2), __gpusim_local_size(0), __gpusim_local_size(1), __gpusim_local_size(2), \
	__gpusim_box.${BOX_TRACED_WHOLE}, ${BLOCKS}, ${SITES}, ${LOOPS})
void __gpusim_end_trace(__private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}end");
#define __gpusim_base(base, kind, what, p) __gpusim_base_f(base, kind, what, (unsigned long)(p), __gpusim_t)
void __gpusim_loop_f(unsigned int loop, unsigned int size, unsigned int last, __private struct __gpusim_trace *t)
	__asm__("${NATIVE_PREFIX}loop");
void __gpusim_loop_end_f(unsigned int loop, unsigned int block, __private struct __gpusim_trace *t)
	__asm__("${NATIVE_PREFIX}loop_end");
void __gpusim_base_f(unsigned int base, unsigned int kind, unsigned long what, unsigned long address,
	__private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}base_f");
void __gpusim_i_at(unsigned int site, unsigned int argument, unsigned long w, unsigned long h, unsigned long x,
	unsigned long y, unsigned long z, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}i_at");
unsigned long __gpusim_copy(int to, int to_kind, int from, int from_kind, unsigned long bytes, unsigned long count,
	__private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}copy");

/* Calls whatever happens: the native code looks whether anything is recorded. */
//@ tracer_native_calls
void __gpusim_b(unsigned int block, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}b");
void __gpusim_body_f(unsigned int loop, unsigned int block, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}body");
#define __gpusim_loop(loop, size, last) __gpusim_loop_f(loop, size, last, __gpusim_t);
#define __gpusim_body(loop, block) __gpusim_body_f(loop, block, __gpusim_t);
#define __gpusim_loop_end(loop, block) __gpusim_loop_end_f(loop, block, __gpusim_t);

/* Calls only if something is recorded. */
//@ tracer_guarded_calls
#define __gpusim_rarely(c) __builtin_expect(!!(c), 0)
void __gpusim_native_b(unsigned int block, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}b");
void __gpusim_b(unsigned int block, __private struct __gpusim_trace *t)
{
	if (__gpusim_rarely(t->on))
		__gpusim_native_b(block, t);
}
void __gpusim_body_f(unsigned int loop, unsigned int block, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}body_on");
#define __gpusim_loop(loop, size, last) if (__gpusim_rarely(__gpusim_t->on)) __gpusim_loop_f(loop, size, last, __gpusim_t);
#define __gpusim_body(loop, block) if (__gpusim_rarely(__gpusim_t->on || (__gpusim_t->closed == loop && !--__gpusim_t->skip))) \
	__gpusim_body_f(loop, block, __gpusim_t);
#define __gpusim_loop_end(loop, block) if (__gpusim_rarely(__gpusim_t->closed == loop)) \
	__gpusim_loop_end_f(loop, block, __gpusim_t);

/* Accesses of one address space. */
//@ tracer_guarded_accesses
${WORD} void * __gpusim_native_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes,
	const volatile ${WORD} void *p, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}a_${LETTER}");
${WORD} void * __gpusim_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes,
	const volatile ${WORD} void *p, __private struct __gpusim_trace *t)
{
	if (__gpusim_rarely(t->on == 1))
		__gpusim_native_a_${LETTER}(first, second, base, bytes, p, t);
	return (${WORD} void *)p;
}
${WORD} void * __gpusim_native_v_${LETTER}(unsigned int site, unsigned int base, unsigned long bytes, unsigned long apart,
	unsigned long offset, const volatile ${WORD} void *p, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}v_${LETTER}");
${WORD} void * __gpusim_v_${LETTER}(unsigned int site, unsigned int base, unsigned long bytes, unsigned long apart,
	unsigned long offset, const volatile ${WORD} void *p, __private struct __gpusim_trace *t)
{
	if (__gpusim_rarely(t->on == 1))
		__gpusim_native_v_${LETTER}(site, base, bytes, apart, offset, p, t);
	return (${WORD} void *)((const volatile ${WORD} char *)p + apart * offset);
}
${WORD} void * __gpusim_k_${LETTER}(int which, const volatile ${WORD} void *p,
	__private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}k_${LETTER}");

/* Accesses of arrays. */
//@ tracer_guarded_arrays
${WORD} void * __gpusim_native_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes, unsigned long offset,
	unsigned long origin, const volatile ${WORD} void *p, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}a_${LETTER}");
${WORD} void * __gpusim_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes, unsigned long offset,
	unsigned long origin, const volatile ${WORD} void *p, __private struct __gpusim_trace *t)
{
	if (__gpusim_rarely(t->on == 1))
		__gpusim_native_a_${LETTER}(first, second, base, bytes, offset, origin, p, t);
	return (${WORD} void *)p;
}

/* Accesses of one address space, without a look at what is recorded. */
//@ tracer_native_accesses
${WORD} void * __gpusim_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes,
	const volatile ${WORD} void *p, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}a_${LETTER}");
${WORD} void * __gpusim_v_${LETTER}(unsigned int site, unsigned int base, unsigned long bytes, unsigned long apart,
	unsigned long offset, const volatile ${WORD} void *p, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}v_${LETTER}");
${WORD} void * __gpusim_k_${LETTER}(int which, const volatile ${WORD} void *p,
	__private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}k_${LETTER}");

/* Accesses of arrays. */
//@ tracer_native_arrays
${WORD} void * __gpusim_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes, unsigned long offset,
	unsigned long origin, const volatile ${WORD} void *p, __private struct __gpusim_trace *t) __asm__("${NATIVE_PREFIX}a_${LETTER}");

/* ---- the same as text ---- */

//@ tracer_else
#else

//@ tracer_state
#define __gpusim_trace_begins(block, site) struct __gpusim_trace __gpusim_state; \
	__private struct __gpusim_trace *__gpusim_t = &__gpusim_state; \
	__gpusim_begin_trace(__gpusim_traces, __gpusim_box, \
	__gpusim_group, block, site, (ulong16)(__gpusim_from(0), __gpusim_from(1), __gpusim_from(2), __gpusim_global_size(0), \
	__gpusim_global_size(1), __gpusim_local_id(0), __gpusim_local_id(1), __gpusim_local_id(2), __gpusim_local_size(0), \
	__gpusim_local_size(1), __gpusim_local_size(2), 0, 0, 0, 0, 0), __gpusim_t)
struct __gpusim_slot { unsigned long last; int stride; unsigned int tag; };
struct __gpusim_trace {
	unsigned int on, closed;
	unsigned long skip;
	unsigned int whole, spilled;
	__global unsigned char *at, *end;
	__global unsigned long *chunk, *buffer;
	unsigned long group, item, base[${TRACE_BASES}], near[${TRACE_CLASSES}], kept[2];
	unsigned int chunks, number, lane, first_block, first_site;
	struct __gpusim_slot slots[${TRACE_SLOTS}];
};

/* Keeps LLVM from inlining a function (trace_text.c). */
//@ tracer_apart_plain
#if defined POCL_DEVICE_ADDRESS_BITS && __clang_major__ < 19
void __gpusim_list(__private void *) __asm__("llvm.va_start");
#define __gpusim_apart(t) if (t->on > 2) { unsigned long l[8]; __gpusim_list(l); t->on = (unsigned int)l[0]; }
#endif

//@ tracer_apart
#ifndef __gpusim_apart
#define __gpusim_apart(t)
#endif

/* Takes a chunk. Writes a number, 7 bits to a byte. An event is never cut in two, so there has to be room for all of it. */
//@ tracer_bytes
void __gpusim_more(__private struct __gpusim_trace *t)
{
	unsigned long used = t->chunk ? t->at - (__global unsigned char *)(t->chunk + ${TRACE_CHUNK_HEADER_WORDS}) : 0;
	unsigned int i = atomic_inc((__global volatile unsigned int *)t->buffer);
	if (i >= t->chunks) {
		if (t->chunk)
			t->chunk[2] = used | 1ul << 32;
		t->chunk = 0;
		t->on = t->closed = 0;
		return;
	}
	if (t->chunk)
		t->chunk[2] = used;
	t->chunk = t->buffer + ${TRACE_HEADER_WORDS} + (unsigned long)i * ${TRACE_CHUNK_WORDS};
	t->chunk[0] = t->group;
	t->chunk[1] = t->lane | (unsigned long)t->number << 32;
	t->chunk[2] = 0;
	t->number++;
	t->at = (__global unsigned char *)(t->chunk + ${TRACE_CHUNK_HEADER_WORDS});
	t->end = (__global unsigned char *)(t->chunk + ${TRACE_CHUNK_WORDS});
}
void __gpusim_number(unsigned long v, __private struct __gpusim_trace *t)
{
	while (v > 127) {
		*t->at++ = (unsigned char)(v | 128);
		v >>= 7;
	}
	*t->at++ = (unsigned char)v;
}
#define __gpusim_room(t, n) if (t->on == 1 && t->end - t->at < n) __gpusim_more(t); \
	if (t->on == 2 && t->end - t->at < n) t->spilled = 1; if (!t->on || t->spilled) return

/* The execution of a block, and the access of a site. */
//@ tracer_events
void __gpusim_b(unsigned int block, __private struct __gpusim_trace *t)
{
	__gpusim_room(t, ${TRACE_EVENT_BYTES});
	__gpusim_number((block >= t->first_block ? block - t->first_block : block + ${BLOCKS}u - t->first_block) * 2ul, t);
	__gpusim_apart(t);
}
void __gpusim_event(unsigned int site, unsigned int kind, unsigned int base, unsigned long bytes, unsigned long address,
	unsigned long copied, __private struct __gpusim_trace *t)
{
	if (t->on != 1)
		return;
	__gpusim_room(t, ${TRACE_EVENT_BYTES});
	__private struct __gpusim_slot *q = &t->slots[site % ${TRACE_SLOTS}];
	int fresh = q->tag != site + 1;
	unsigned long guess = !fresh ? q->last + (unsigned long)(long)q->stride :
		base < ${TRACE_BASES} ? t->base[base % ${TRACE_BASES}] + bytes * (kind == 1 ? t->lane : t->item) : t->near[kind];
	long d = (long)(address - guess), stride = (long)(address - q->last);
	unsigned long z = (unsigned long)d << 1 ^ (unsigned long)(d >> 63);
	if (fresh)
		z = z << 3 | base;
	int more = fresh || z;
	__gpusim_number((unsigned long)(site >= t->first_site ? site - t->first_site : site + ${SITES}u - t->first_site) << 2
		| (more ? 3 : 1), t);
	if (more)
		__gpusim_number(z, t);
	if (copied)
		__gpusim_number(copied, t);
	q->stride = fresh || (long)(int)stride != stride ? 0 : (int)stride;
	q->last = address;
	q->tag = site + 1;
	t->near[kind] = address;
}
void __gpusim_e(int first, int second, unsigned int kind, unsigned int base, unsigned long bytes, unsigned long address,
	unsigned long copied, __private struct __gpusim_trace *t)
{
	__gpusim_event(first, kind, base, bytes, address, copied, t);
	if (second >= 0)
		__gpusim_event(second, kind, base, bytes, address, copied, t);
	__gpusim_apart(t);
}

/*
 * A loop that is traced in windows. Its first iterations are recorded, then some at other places, and gaps say how many are not. If
 * what follows the loop depends on the way of its last iteration (`last`), the blocks of every iteration between windows are recorded, and
 * forgotten when another iteration begins; the number of the gap before it is filled in at the end. trace_native.c has the same
 * functions with more names.
 */
//@ tracer_windows
struct __gpusim_window {
	unsigned long trip, first, edge, next, outer_skip;
	unsigned int size, mode, outer, last, spilled;
	__global unsigned char *mark;
};
#define __gpusim_loop(loop, size, last) struct __gpusim_window __gpusim_w##loop; \
	__gpusim_loop_f(size, last, &__gpusim_w##loop, __gpusim_t);
#define __gpusim_body(loop, block) __gpusim_body_f(loop, block, &__gpusim_w##loop, __gpusim_t);
#define __gpusim_loop_end(loop, block) __gpusim_loop_end_f(loop, block, &__gpusim_w##loop, __gpusim_t);
void __gpusim_gap(unsigned int block, __private struct __gpusim_window *w, __private struct __gpusim_trace *t)
{
	__gpusim_room(t, ${TRACE_EVENT_BYTES});
	__gpusim_number(${NO_BLOCK}ul, t);
	__gpusim_number(2, t);
	__gpusim_number(block >= t->first_block ? block - t->first_block : block + ${BLOCKS}u - t->first_block, t);
	__gpusim_number(w->edge - w->first, t);
}
void __gpusim_wide(__global unsigned char *at, unsigned long v)
{
	for (int i = 0; i < ${TRACE_WIDE_BYTES}; i++) {
		at[i] = (unsigned char)(v & 127 | (i < ${TRACE_WIDE_BYTES} - 1 ? 128 : 0));
		v >>= 7;
	}
}
void __gpusim_go_on(unsigned int block, unsigned long left_out, __private struct __gpusim_window *w,
	__private struct __gpusim_trace *t)
{
	t->on = w->mode;
	t->closed = w->outer;
	t->skip = w->outer_skip;
	if (!w->last)
		__gpusim_gap(block, w, t);
	if (!w->last && t->on && !t->spilled)
		__gpusim_number(left_out, t);
	if (w->last && !w->spilled)
		__gpusim_wide(w->mark - ${TRACE_WIDE_BYTES}, left_out);
}
void __gpusim_loop_f(unsigned int size, unsigned int last, __private struct __gpusim_window *w,
	__private struct __gpusim_trace *t)
{
	if (!t->on)
		return;
	unsigned int first = t->on == 2 ? ${TRACE_BRIEF_WINDOW} : t->whole > 1 ? size * t->whole : size;
	w->trip = w->first = 0;
	w->edge = t->whole == 1 ? 1ul << 63 : first;
	w->next = t->on == 2 ? 1ul << 61 : (unsigned long)first * ${TRACE_WINDOWS_APART};
	w->size = (t->on == 2 ? first : size) / 2;
	w->mode = t->on;
	w->outer = t->closed;
	w->outer_skip = t->skip;
	w->last = last;
	__gpusim_apart(t);
}
void __gpusim_body_f(unsigned int loop, unsigned int block, __private struct __gpusim_window *w,
	__private struct __gpusim_trace *t)
{
	if (!t->on && (t->closed != loop || --t->skip))
		return;
	if (t->closed == loop && w->last) {
		t->spilled = w->spilled;
		t->at = w->spilled ? t->at : w->mark;
	}
	if (t->closed == loop && (!w->last || w->trip >= w->next)) {
		__gpusim_go_on(block, w->next - w->edge, w, t);
		w->trip = w->first = w->next;
		w->edge = w->first + w->size;
		w->next *= ${TRACE_WINDOWS_APART};
	} else if (t->closed != loop && w->trip == w->edge) {
		if (w->last && t->on == 1 && t->end - t->at < ${TRACE_LAST_BYTES})
			__gpusim_more(t);
		if (!t->on)
			return;
		t->closed = loop;
		if (!w->last) {
			t->on = 0;
			t->skip = w->next - w->edge;
			return;
		}
		__gpusim_gap(block, w, t);
		t->on = 2;
		w->spilled = t->spilled;
		if (!t->spilled) {
			__gpusim_wide(t->at, 0);
			t->at += ${TRACE_WIDE_BYTES};
			w->mark = t->at;
		}
	}
	w->trip++;
	__gpusim_b(block, t);
	__gpusim_apart(t);
}
void __gpusim_loop_end_f(unsigned int loop, unsigned int block, __private struct __gpusim_window *w,
	__private struct __gpusim_trace *t)
{
	if (t->closed != loop)
		return;
	int lost = w->last && t->spilled && !w->spilled;
	if (lost) {
		t->at = w->mark;
		t->spilled = 0;
	}
	__gpusim_go_on(block, w->last ? w->trip - w->edge - !lost : w->next - w->edge - t->skip + 1, w, t);
	__gpusim_apart(t);
}

/*
 * Where a kernel begins and ends. Functions that are not inlined cannot ask for ids, so they get them. The first work-item of a
 * group reports what is the same for all of them. There are no loops: with loops compilers leave all of the state in memory, and
 * an event took 14.5 ns instead of 8.5 ns.
 */
//@ tracer_ends
void __gpusim_begin_trace(__global unsigned long *buffer, ulong16 b, unsigned long group, unsigned int block, unsigned int site,
	ulong16 w, __private struct __gpusim_trace *t)
{
	t->on = b.${BOX_CHUNKS} && (!b.${BOX_TRACED_OF} || group % b.${BOX_TRACED_OF} < b.${BOX_TRACED_BELOW});
	t->chunk = 0;
	t->closed = 0;
	if (!t->on)
		return;
	t->whole = (unsigned int)b.${BOX_TRACED_WHOLE};
	t->spilled = 0;
	unsigned long x = w.${ITEM_FROM_X}, y = w.${ITEM_FROM_Y}, z = w.${ITEM_FROM_Z}, sx = w.${ITEM_SIZE_X}, sy = w.${ITEM_SIZE_Y},
		lx = w.${ITEM_LOCAL_X}, ly = w.${ITEM_LOCAL_Y}, lz = w.${ITEM_LOCAL_Z};
	t->at = t->end = 0;
	t->buffer = buffer;
	t->chunks = b.${BOX_CHUNKS} < 0xffffffffu ? (unsigned int)b.${BOX_CHUNKS} : 0xffffffffu;
	t->number = 0;
	t->group = group;
	t->first_block = block;
	t->first_site = site;
	t->lane = (unsigned int)((lz * w.${ITEM_LOCAL_SIZE_Y} + ly) * w.${ITEM_LOCAL_SIZE_X} + lx);
	t->item = ((z + lz) * sy + y + ly) * sx + x + lx;
	${TRACE_BASES*t->base[#] = }0;
	${TRACE_CLASSES*t->near[#] = }0;
	${TRACE_SLOTS*t->slots[#].tag = }0;
	t->near[${TRACE_IMAGE_CLASS}] = t->item * ${TRACE_TEXEL_BYTES} << ${TRACE_IMAGE_BITS};
	__gpusim_apart(t);
	if (t->lane)
		return;
	__gpusim_room(t, 128);
	__gpusim_number(${NO_BLOCK}ul, t);
	__gpusim_number(0, t);
	__gpusim_number(block, t);
	__gpusim_number(site, t);
	__gpusim_number(x, t);
	__gpusim_number(y, t);
	__gpusim_number(z, t);
	__gpusim_number(w.${ITEM_LOCAL_SIZE_X}, t);
	__gpusim_number(w.${ITEM_LOCAL_SIZE_Y}, t);
	__gpusim_number(w.${ITEM_LOCAL_SIZE_Z}, t);
	__gpusim_number(sx, t);
	__gpusim_number(sy, t);
}
void __gpusim_base_f(unsigned int base, unsigned int kind, unsigned long what, unsigned long address,
	__private struct __gpusim_trace *t)
{
	if (!t->on)
		return;
	if (base < ${TRACE_BASES})
		t->base[base % ${TRACE_BASES}] = address;
	if (!base && !kind)
		t->near[0] = address;
	if (t->lane)
		return;
	__gpusim_room(t, 64);
	__gpusim_number(${NO_BLOCK}ul, t);
	__gpusim_number(1, t);
	__gpusim_number(base, t);
	__gpusim_number(kind, t);
	__gpusim_number(what, t);
	__gpusim_number(address, t);
	__gpusim_apart(t);
}
#define __gpusim_base(base, kind, what, p) __gpusim_base_f(base, kind, what, (unsigned long)(p), __gpusim_t)
void __gpusim_end_trace(__private struct __gpusim_trace *t)
{
	if (t->chunk)
		t->chunk[2] = t->at - (__global unsigned char *)(t->chunk + ${TRACE_CHUNK_HEADER_WORDS});
	__gpusim_apart(t);
}

/* Accesses of one address space. */
//@ tracer_accesses
${WORD} void *__gpusim_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes, const volatile ${WORD} void *p,
	__private struct __gpusim_trace *t)
{
	__gpusim_e(first, second, ${CLASS}, base, bytes, (unsigned long)p, 0, t);
	return (${WORD} void *)p;
}
${WORD} void *__gpusim_v_${LETTER}(unsigned int site, unsigned int base, unsigned long bytes, unsigned long apart,
	unsigned long offset, const volatile ${WORD} void *p, __private struct __gpusim_trace *t)
{
	const volatile ${WORD} char *q = (const volatile ${WORD} char *)p + apart * offset;
	__gpusim_e(site, -1, ${CLASS}, base, bytes, (unsigned long)q, 0, t);
	return (${WORD} void *)q;
}
${WORD} void *__gpusim_k_${LETTER}(int which, const volatile ${WORD} void *p, __private struct __gpusim_trace *t)
{
	t->kept[which] = (unsigned long)p;
	return (${WORD} void *)p;
}

/* Accesses of arrays whose place among the kernel's own is known. */
//@ tracer_arrays
${WORD} void *__gpusim_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes, unsigned long offset,
	unsigned long origin, const volatile ${WORD} void *p, __private struct __gpusim_trace *t)
{
	__gpusim_e(first, second, ${CLASS}, base, bytes, (unsigned long)p - origin + offset, 0, t);
	return (${WORD} void *)p;
}

/* The position in an image is that of the texel, row after row. The argument's number is in its lowest bits. */
//@ tracer_image_place
void __gpusim_i_at(unsigned int site, unsigned int argument, unsigned long w, unsigned long h, unsigned long x, unsigned long y,
	unsigned long z, __private struct __gpusim_trace *t)
{
	unsigned long at = (z * h + (h > 1 && y >= h ? h - 1 : y)) * w + (x < w ? x : w - 1);
	__gpusim_e(site, -1, ${TRACE_IMAGE_CLASS}, 7, ${TRACE_TEXEL_BYTES},
		(at * ${TRACE_TEXEL_BYTES} << ${TRACE_IMAGE_BITS}) + (argument & ${TRACE_IMAGE_MASK}), 0, t);
}

//@ tracer_copy
size_t __gpusim_copy(int to, int to_kind, int from, int from_kind, unsigned long bytes, size_t count,
	__private struct __gpusim_trace *t)
{
	if (t->on == 1 && count) {
		__gpusim_event(from, from_kind, 7, bytes, t->kept[1], count * bytes, t);
		__gpusim_event(to, to_kind, 7, bytes, t->kept[0], count * bytes, t);
	}
	__gpusim_apart(t);
	return count;
}

//@ tracer_endif
#endif

/* ---- both forms: coordinates of images, by their type ---- */

//@ tracer_images
int __gpusim_i_int(unsigned int site, unsigned int argument, int part, unsigned long w, unsigned long h, int c,
	__private struct __gpusim_trace *t)
{
	__gpusim_i_at(site, argument, w, h, convert_ulong_sat(c), convert_ulong_sat(0), convert_ulong_sat(0), t);
	return c;
}
int2 __gpusim_i_int2(unsigned int site, unsigned int argument, int part, unsigned long w, unsigned long h, int2 c,
	__private struct __gpusim_trace *t)
{
	__gpusim_i_at(site, argument, w, h, convert_ulong_sat(c.x), convert_ulong_sat(c.y), convert_ulong_sat(0), t);
	return c;
}
int4 __gpusim_i_int4(unsigned int site, unsigned int argument, int part, unsigned long w, unsigned long h, int4 c,
	__private struct __gpusim_trace *t)
{
	__gpusim_i_at(site, argument, w, h, convert_ulong_sat(c.x), convert_ulong_sat(c.y), convert_ulong_sat(c.z), t);
	return c;
}
/* How a sampler takes a coordinate: 1: as a part of the size; 4: what is beyond begins again; 2: between two texels, from the lower one. */
#define __gpusim_i_part(part, c, size) ((part & 1 ? (part & 4 ? c - floor(c) : c) * size : c) - (part & 2 ? 0.5f : 0.0f))
float __gpusim_i_float(unsigned int site, unsigned int argument, int part, unsigned long w, unsigned long h, float c,
	__private struct __gpusim_trace *t)
{
	__gpusim_i_at(site, argument, w, h, convert_ulong_sat(__gpusim_i_part(part, c, w)), 0, 0, t);
	return c;
}
float2 __gpusim_i_float2(unsigned int site, unsigned int argument, int part, unsigned long w, unsigned long h, float2 c,
	__private struct __gpusim_trace *t)
{
	__gpusim_i_at(site, argument, w, h, convert_ulong_sat(__gpusim_i_part(part, c.x, w)), convert_ulong_sat(__gpusim_i_part(part, c.y, h)),
		0, t);
	return c;
}
float4 __gpusim_i_float4(unsigned int site, unsigned int argument, int part, unsigned long w, unsigned long h, float4 c,
	__private struct __gpusim_trace *t)
{
	__gpusim_i_at(site, argument, w, h, convert_ulong_sat(__gpusim_i_part(part, c.x, w)), convert_ulong_sat(__gpusim_i_part(part, c.y, h)),
		convert_ulong_sat(c.z), t);
	return c;
}
