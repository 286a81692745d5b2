/*
 * The functions that traced text calls. They write events into the trace buffer, a column for each work-item (runtime/format/traces.h). An
 * event costs few instructions, since GPUs run few traced work-items, each with all its latencies: the host makes the short form of it
 * later (runtime/guest/support/trace_columns.c).
 *
 * A work-item keeps its place in a private structure, which every function gets as its last argument. trace_text.c chooses the
 * sections of a unit, and says why there are two forms: where kernels run in the guest's own process, native code writes the short form
 * at once, and the text only declares it.
 *
 * Long loops are traced in windows (struct __gpusim_window). `on` is 0 if nothing is recorded, 1 if everything is, and 2 if blocks are.
 *
 * Letters in the names: a_ an access, v_ a vector access, k_ a pointer that a copy keeps for later, i_ an image;
 * g global, l local, c constant, p private, n generic, f a private array, d a constant of the program.
 */

/* Nothing is static, because that came with OpenCL C 1.2: every name is a macro that adds the unit. */
//@ tracer_names
#define __gpusim_in_run __gpusim_in_run_${UNIT}
#define __gpusim_moved __gpusim_moved_${UNIT}
#define __gpusim_moved_item __gpusim_moved_item_${UNIT}
#define __gpusim_column_f __gpusim_column_${UNIT}
#define __gpusim_own_id __gpusim_own_id_${UNIT}
#define __gpusim_own_offset __gpusim_own_offset_${UNIT}
#define __gpusim_b __gpusim_b_${UNIT}
#define __gpusim_event __gpusim_event_${UNIT}
#define __gpusim_loop_f __gpusim_loop_${UNIT}
#define __gpusim_body_f __gpusim_body_${UNIT}
#define __gpusim_loop_end_f __gpusim_loop_end_${UNIT}
#define __gpusim_gap __gpusim_gap_${UNIT}
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
#undef __gpusim_begin
#undef __gpusim_begin_divided
#define __gpusim_begin __gpusim_box = __gpusim_in_run(__gpusim_box); __gpusim_begin_with()
#define __gpusim_begin_divided __gpusim_box = __gpusim_in_run(__gpusim_box); \
	__gpusim_begin_with(if (__gpusim_local_id(0) >> 31) *(__global unsigned int *)__gpusim_counters = 0; else)
#define __gpusim_trace_begins(block, site) struct __gpusim_trace __gpusim_state; \
	__private struct __gpusim_trace *__gpusim_t = &__gpusim_state; \
	__gpusim_begin_trace(__gpusim_traces, __gpusim_box, \
	__gpusim_group, block, site, (ulong16)(__gpusim_from(0), __gpusim_from(1), __gpusim_from(2), __gpusim_global_size(0), \
	__gpusim_global_size(1), __gpusim_local_id(0), __gpusim_local_id(1), __gpusim_local_id(2), __gpusim_local_size(0), \
	__gpusim_local_size(1), __gpusim_local_size(2), __gpusim_column(), 0, 0, 0, 0), __gpusim_t)
struct __gpusim_trace {
	unsigned int on, closed;
	unsigned long skip;
	unsigned int whole, spilled, cut, lane;
	int left, room;
	__global unsigned long *at, *top;
	unsigned long step, group, kept[2], moved_x, moved_y, moved_z;
};

/*
 * Several runs of groups in one launch (runtime/format/traces.h). The box of a group in it is made when the group begins: where it is in the
 * application's launch follows from its number. Box functions then answer as they do for other boxes, but ids and offsets of the
 * launch, which are the device's own, have to be moved.
 */
//@ tracer_runs
#define __gpusim_next_run(next) if (left >= (run & ${BOX_RUN_MASK})) { left -= run & ${BOX_RUN_MASK}; run = next; }
ulong16 __gpusim_in_run(ulong16 b)
{
	if (!b.${BOX_RUNS})
		return b;
	unsigned long left = get_group_id(0), run = b.${BOX_RUN_0}, x = get_num_groups(0) + b.${BOX_OTHERS_X},
		y = get_num_groups(1) + b.${BOX_OTHERS_Y};
	__gpusim_next_run(b.${BOX_RUN_1})
	__gpusim_next_run(b.${BOX_RUN_2})
	__gpusim_next_run(b.${BOX_RUN_3})
	__gpusim_next_run(b.${BOX_RUN_4})
	__gpusim_next_run(b.${BOX_RUN_5})
	__gpusim_next_run(b.${BOX_RUN_6})
	__gpusim_next_run(b.${BOX_RUN_7})
	left += run >> ${BOX_RUN_BITS};
	b.${BOX_FIRST_X} = left % x - get_group_id(0);
	b.${BOX_FIRST_Y} = left / x % y;
	b.${BOX_FIRST_Z} = left / x / y;
	b.${BOX_TRACED_OF} = b.${BOX_TRACED_BELOW} = 0;
	return b;
}
unsigned long __gpusim_moved(unsigned int d, ulong16 b)
{
	return !b.${BOX_RUNS} ? 0 : (d == 0 ? b.${BOX_FIRST_X} : d == 1 ? b.${BOX_FIRST_Y} : d == 2 ? b.${BOX_FIRST_Z} : 0) *
		get_local_size(d);
}
unsigned long __gpusim_column_f(unsigned long first)
{
	return first + ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1)) *
		get_global_size(0) + get_global_id(0) - get_global_offset(0);
}
#define __gpusim_column() __gpusim_column_f(__gpusim_box.${BOX_COLUMN})
unsigned long __gpusim_moved_item(unsigned int d, __private struct __gpusim_trace *t)
{
	return d == 0 ? t->moved_x : d == 1 ? t->moved_y : d == 2 ? t->moved_z : 0;
}

/* After the functions above and before the application's: what these ask for is the place in the whole launch. Markers ask for both as they
 * are, because one makes up for the other. */
//@ tracer_ids
size_t __gpusim_own_id(unsigned int d) { return get_global_id(d); }
#undef __gpusim_global_id
#define __gpusim_global_id(d) __gpusim_own_id(d)

//@ tracer_offset
size_t __gpusim_own_offset(unsigned int d, ulong16 b) { return __gpusim_global_offset_${UNIT}(d, b); }
#undef __gpusim_global_offset
#define __gpusim_global_offset(d) __gpusim_own_offset(d, __gpusim_box)
#define __gpusim_global_offset_${UNIT}(d, b) (__gpusim_global_offset_${UNIT}(d, b) + __gpusim_moved(d, b))

//@ tracer_moved
#define get_global_id(d) (get_global_id(d) + __gpusim_moved_item(d, __gpusim_t))

/* Keeps LLVM from inlining a function (trace_text.c). Other compilers should inline all: then the state is in registers. */
//@ tracer_apart_plain
#if defined POCL_DEVICE_ADDRESS_BITS && __clang_major__ < 19
void __gpusim_list(__private void *) __asm__("llvm.va_start");
#define __gpusim_apart(t) if (t->on > 2) { unsigned long l[8]; __gpusim_list(l); t->on = (unsigned int)l[0]; }
#endif

//@ tracer_apart
#ifndef __gpusim_apart
#define __gpusim_apart(t)
#define __gpusim_here __attribute__((always_inline))
#else
#define __gpusim_here
#endif

/*
 * A word of the work-item's column. An event is never cut in two: `left` leaves out the words of the longest one. If there is no room, the trace
 * ends; or, in an iteration that may be forgotten again, the iteration is.
 */
//@ tracer_words
#define __gpusim_word(v, t) { *t->at = v; t->at += t->step; t->left--; }
#define __gpusim_room(t) if (t->left <= 0) { if (t->on == 2) t->spilled = 1; \
	else { t->cut |= t->on; t->on = t->closed = 0; } } if (!t->on || t->spilled) return

/* The execution of a block, and the access of a site. An access only looks for room, so that it needs no branch: the next block, or the end, finds
 * that there is none. */
//@ tracer_events
__gpusim_here void __gpusim_b(unsigned int block, __private struct __gpusim_trace *t)
{
	if (!t->on)
		return;
	__gpusim_room(t);
	__gpusim_word((unsigned long)block << ${COLUMN_TAG_BITS} | ${COLUMN_BLOCK}, t);
	__gpusim_apart(t);
}
__gpusim_here void __gpusim_event(unsigned int site, unsigned int kind, unsigned long address, unsigned long copied,
	__private struct __gpusim_trace *t)
{
	if (t->on != 1 || t->left <= 0)
		return;
	__gpusim_word(address << ${COLUMN_ADDRESS_SHIFT} | site << ${COLUMN_SITE_SHIFT} | kind << ${COLUMN_TAG_BITS} |
		(copied ? ${COLUMN_COPY} : ${COLUMN_ACCESS}), t);
	if (copied)
		__gpusim_word(copied, t);
}
__gpusim_here void __gpusim_e(int first, int second, unsigned int kind, unsigned long address, __private struct __gpusim_trace *t)
{
	__gpusim_event(first, kind, address, 0, t);
	if (second >= 0)
		__gpusim_event(second, kind, address, 0, t);
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
	int mark_left;
	__global unsigned long *mark;
};
#define __gpusim_loop(loop, size, last) struct __gpusim_window __gpusim_w##loop; \
	__gpusim_loop_f(size, last, &__gpusim_w##loop, __gpusim_t);
#define __gpusim_body(loop, block) __gpusim_body_f(loop, block, &__gpusim_w##loop, __gpusim_t);
#define __gpusim_loop_end(loop, block) __gpusim_loop_end_f(loop, block, &__gpusim_w##loop, __gpusim_t);

/*
 * Iterations of which nothing is recorded. The compiler can see that nothing is, also in functions that are called, and that there is one
 * condition, so that it may unroll the loop. `skip` is 1 in the last iteration before a window.
 */
#define __gpusim_between(loop) if (!__gpusim_t->on) { unsigned int __gpusim_outer = __gpusim_t->closed, __gpusim_more = 1; \
	unsigned long __gpusim_left = __gpusim_outer == loop ? __gpusim_t->skip : ~0ul; __gpusim_t->on = __gpusim_t->closed = 0;
#define __gpusim_between_short(loop) __gpusim_between(loop) _Pragma("unroll 8")
#define __gpusim_between_end(loop, block) __gpusim_t->closed = __gpusim_outer; \
	if (__gpusim_outer == loop) __gpusim_t->skip = __gpusim_left + 1; \
	if (!__gpusim_more) break; __gpusim_body(loop, block) }
__gpusim_here void __gpusim_gap(unsigned int block, unsigned long left_out, __private struct __gpusim_window *w,
	__private struct __gpusim_trace *t)
{
	__gpusim_room(t);
	__gpusim_word((unsigned long)block << ${COLUMN_TOLD_SHIFT} | ${COLUMN_GAP} << ${COLUMN_TAG_BITS} | ${COLUMN_TOLD}, t);
	__gpusim_word(w->edge - w->first, t);
	__gpusim_word(left_out, t);
}
__gpusim_here void __gpusim_go_on(unsigned int block, unsigned long left_out, __private struct __gpusim_window *w,
	__private struct __gpusim_trace *t)
{
	t->on = w->mode;
	t->closed = w->outer;
	t->skip = w->outer_skip;
	if (!w->last)
		__gpusim_gap(block, left_out, w, t);
	if (w->last && !w->spilled)
		*(w->mark - t->step) = left_out;
}
__gpusim_here void __gpusim_loop_f(unsigned int size, unsigned int last, __private struct __gpusim_window *w,
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
__gpusim_here void __gpusim_body_f(unsigned int loop, unsigned int block, __private struct __gpusim_window *w,
	__private struct __gpusim_trace *t)
{
	if (!t->on && (t->closed != loop || --t->skip))
		return;
	if (t->closed == loop && w->last) {
		t->spilled = w->spilled;
		t->at = w->spilled ? t->at : w->mark;
		t->left = w->spilled ? t->left : w->mark_left;
	}
	if (t->closed == loop && (!w->last || w->trip >= w->next)) {
		__gpusim_go_on(block, w->next - w->edge, w, t);
		w->trip = w->first = w->next;
		w->edge = w->first + w->size;
		w->next *= ${TRACE_WINDOWS_APART};
	} else if (t->closed != loop && w->trip == w->edge) {
		if (!w->last) {
			t->closed = loop;
			t->on = 0;
			t->skip = w->next - w->edge;
			return;
		}
		__gpusim_gap(block, 0, w, t);
		if (!t->on)
			return;
		t->closed = loop;
		t->on = 2;
		w->spilled = t->spilled;
		w->mark = t->at;
		w->mark_left = t->left;
	}
	w->trip++;
	__gpusim_b(block, t);
	__gpusim_apart(t);
}
__gpusim_here void __gpusim_loop_end_f(unsigned int loop, unsigned int block, __private struct __gpusim_window *w,
	__private struct __gpusim_trace *t)
{
	if (t->closed != loop)
		return;
	int lost = w->last && t->spilled && !w->spilled;
	if (lost) {
		t->at = w->mark;
		t->left = w->mark_left;
		t->spilled = 0;
	}
	__gpusim_go_on(block, w->last ? w->trip - w->edge - !lost : w->next - w->edge - t->skip + 1, w, t);
	__gpusim_apart(t);
}

/*
 * Where a kernel begins and ends. Functions that are not inlined cannot ask for ids, so they get them. The first work-item of a
 * group reports what is the same for all of them.
 */
//@ tracer_ends
__gpusim_here void __gpusim_begin_trace(__global unsigned long *buffer, ulong16 b, unsigned long group, unsigned int block,
	unsigned int site, ulong16 w, __private struct __gpusim_trace *t)
{
	t->on = b.${BOX_COLUMNS} && (!b.${BOX_TRACED_OF} || group % b.${BOX_TRACED_OF} < b.${BOX_TRACED_BELOW});
	t->closed = t->spilled = t->cut = 0;
	t->skip = 0;
	t->whole = (unsigned int)b.${BOX_TRACED_WHOLE};
	t->moved_x = b.${BOX_RUNS} ? b.${BOX_FIRST_X} * w.${ITEM_LOCAL_SIZE_X} : 0;
	t->moved_y = b.${BOX_RUNS} ? b.${BOX_FIRST_Y} * w.${ITEM_LOCAL_SIZE_Y} : 0;
	t->moved_z = b.${BOX_RUNS} ? b.${BOX_FIRST_Z} * w.${ITEM_LOCAL_SIZE_Z} : 0;
	t->step = b.${BOX_COLUMNS} & 0xffffffffu;
	t->left = t->room = (int)(b.${BOX_COLUMNS} >> 32);
	t->top = buffer + ${TRACE_HEADER_WORDS} + w.${ITEM_COLUMN};
	t->at = t->top + ${COLUMN_HEADER_WORDS} * t->step;
	t->group = group;
	t->lane = (unsigned int)((w.${ITEM_LOCAL_Z} * w.${ITEM_LOCAL_SIZE_Y} + w.${ITEM_LOCAL_Y}) * w.${ITEM_LOCAL_SIZE_X} + w.${ITEM_LOCAL_X});
	if (b.${BOX_COLUMNS} && !w.${ITEM_COLUMN})
		buffer[${TRACE_COLUMNS_WORD}] = t->step;
	__gpusim_apart(t);
	if (!t->on || t->lane)
		return;
	__gpusim_word(${COLUMN_BEGIN} << ${COLUMN_TAG_BITS} | ${COLUMN_TOLD}, t);
	__gpusim_word(block, t);
	__gpusim_word(site, t);
	__gpusim_word(w.${ITEM_FROM_X}, t);
	__gpusim_word(w.${ITEM_FROM_Y}, t);
	__gpusim_word(w.${ITEM_FROM_Z}, t);
	__gpusim_word(w.${ITEM_LOCAL_SIZE_X}, t);
	__gpusim_word(w.${ITEM_LOCAL_SIZE_Y}, t);
	__gpusim_word(w.${ITEM_LOCAL_SIZE_Z}, t);
	__gpusim_word(w.${ITEM_SIZE_X}, t);
	__gpusim_word(w.${ITEM_SIZE_Y}, t);
}
__gpusim_here void __gpusim_base_f(unsigned int base, unsigned int kind, unsigned long what, unsigned long address,
	__private struct __gpusim_trace *t)
{
	if (!t->on || t->lane)
		return;
	__gpusim_room(t);
	__gpusim_word((unsigned long)base << ${COLUMN_TOLD_SHIFT} | ${COLUMN_BASE} << ${COLUMN_TAG_BITS} | ${COLUMN_TOLD}, t);
	__gpusim_word(kind, t);
	__gpusim_word(what, t);
	__gpusim_word(address, t);
	__gpusim_apart(t);
}
#define __gpusim_base(base, kind, what, p) __gpusim_base_f(base, kind, what, (unsigned long)(p), __gpusim_t)
__gpusim_here void __gpusim_end_trace(__private struct __gpusim_trace *t)
{
	if (t->step) {
		t->top[0] = t->group;
		t->cut |= t->left <= 0;
		t->top[t->step] = t->lane | (unsigned long)t->cut << ${COLUMN_CUT_BIT} | (unsigned long)(t->room - t->left) << 32;
	}
	__gpusim_apart(t);
}

/* Accesses of one address space. */
//@ tracer_accesses
__gpusim_here ${WORD} void *__gpusim_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes, const volatile ${WORD} void *p,
	__private struct __gpusim_trace *t)
{
	__gpusim_e(first, second, ${CLASS}, (unsigned long)p, t);
	return (${WORD} void *)p;
}
__gpusim_here ${WORD} void *__gpusim_v_${LETTER}(unsigned int site, unsigned int base, unsigned long bytes, unsigned long apart,
	unsigned long offset, const volatile ${WORD} void *p, __private struct __gpusim_trace *t)
{
	const volatile ${WORD} char *q = (const volatile ${WORD} char *)p + apart * offset;
	__gpusim_e(site, -1, ${CLASS}, (unsigned long)q, t);
	return (${WORD} void *)q;
}
__gpusim_here ${WORD} void *__gpusim_k_${LETTER}(int which, const volatile ${WORD} void *p, __private struct __gpusim_trace *t)
{
	t->kept[which] = (unsigned long)p;
	return (${WORD} void *)p;
}

/* Accesses of arrays whose place among the kernel's own is known. */
//@ tracer_arrays
__gpusim_here ${WORD} void *__gpusim_a_${LETTER}(int first, int second, unsigned int base, unsigned long bytes, unsigned long offset,
	unsigned long origin, const volatile ${WORD} void *p, __private struct __gpusim_trace *t)
{
	__gpusim_e(first, second, ${CLASS}, (unsigned long)p - origin + offset, t);
	return (${WORD} void *)p;
}

/* The position in an image is that of the texel, row after row. The argument's number is in its lowest bits. */
//@ tracer_image_place
__gpusim_here void __gpusim_i_at(unsigned int site, unsigned int argument, unsigned long w, unsigned long h, unsigned long x, unsigned long y,
	unsigned long z, __private struct __gpusim_trace *t)
{
	unsigned long at = (z * h + (h > 1 && y >= h ? h - 1 : y)) * w + (x < w ? x : w - 1);
	__gpusim_e(site, -1, ${TRACE_IMAGE_CLASS}, (at * ${TRACE_TEXEL_BYTES} << ${TRACE_IMAGE_BITS}) + (argument & ${TRACE_IMAGE_MASK}), t);
}

//@ tracer_copy
__gpusim_here size_t __gpusim_copy(int to, int to_kind, int from, int from_kind, unsigned long bytes, size_t count,
	__private struct __gpusim_trace *t)
{
	if (t->on == 1 && count) {
		__gpusim_event(from, from_kind, t->kept[1], count * bytes, t);
		__gpusim_event(to, to_kind, t->kept[0], count * bytes, t);
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
