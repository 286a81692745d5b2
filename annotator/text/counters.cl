/*
 * Macros that the markers of host text use (write.c lists them). counter_macros.c chooses the sections of a unit.
 * sections.awk says how this file becomes C strings: what the driver gets has no comments, and one line for each macro.
 */

/* Atomic functions. The second form is for units with variables of these names. */
//@ counters_atomics
#define __gpusim_atomic_inc atomic_inc
#define __gpusim_atomic_add atomic_add
#define __gpusim_atomic_or atomic_or

//@ counters_hidden_atomics
unsigned int __gpusim_atomic_inc_${UNIT}(__global volatile unsigned int *p) { return atomic_inc(p); }
#define __gpusim_atomic_inc __gpusim_atomic_inc_${UNIT}
unsigned int __gpusim_atomic_add_${UNIT}(__global volatile unsigned int *p, unsigned int v) { return atomic_add(p, v); }
#define __gpusim_atomic_add __gpusim_atomic_add_${UNIT}
unsigned int __gpusim_atomic_or_${UNIT}(__global volatile unsigned int *p, unsigned int v) { return atomic_or(p, v); }
#define __gpusim_atomic_or __gpusim_atomic_or_${UNIT}

/*
 * The beginning of a kernel. `first` comes before the store of __gpusim_begin_with. The two stores have different sizes, so that
 * no compiler makes one of them.
 */
//@ counters_begin
#define __gpusim_begin __gpusim_begin_with()
#define __gpusim_begin_divided __gpusim_begin_with(if (__gpusim_local_id(0) >> 31) \
	*(__global unsigned int *)__gpusim_counters = 0; else)

/*
 * The item layout. No store depends on the work-item: each such store made a vectorised stencil twice as slow. There is no branch
 * either. POCL 3.1 goes wrong if a condition follows a barrier that is itself under a condition, and control leaves the kernel
 * there: all work-items of a group then follow one of them in conditions of the kernel's own. Groups without places store, too,
 * where nobody looks (runtime/format/counters.h).
 */
//@ counters_by_item
#define __gpusim_block(id) __gpusim_n->all##id++
#define __gpusim_trips(id, n) __gpusim_n->all##id += (n)
#define __gpusim_part(id) __gpusim_n->part##id++
#define __gpusim_half(at, shift) __gpusim_n->pair##at += 1ul << shift
#define __gpusim_half_low(at) (__gpusim_n->pair##at & 0xffffffffu)
#define __gpusim_half_high(at) (__gpusim_n->pair##at >> 32)
#define __gpusim_round(id) __gpusim_n->part##id += __gpusim_n->part##id != 0xffffffffu
#define __gpusim_flag(word, bit) __gpusim_f##word |= 1u << bit
#define __gpusim_total(id) (unsigned int)(__gpusim_n->all##id | (0ul - (__gpusim_n->all##id > 0xffffffffUL)))
#define __gpusim_begin_with(first) unsigned long __gpusim_group = (__gpusim_group_id(2) * __gpusim_num_groups(1) + \
	__gpusim_group_id(1)) * __gpusim_num_groups(0) + __gpusim_group_id(0); \
	first __gpusim_counters[${COUNTER_HEADER_WORDS} + __gpusim_slots + (__gpusim_group - __gpusim_slots & \
	0ul - (__gpusim_group < __gpusim_slots))] = __gpusim_local_size(0) | __gpusim_local_size(1) << ${COUNTER_SIZE_BITS} | \
	__gpusim_local_size(2) << ${COUNTER_SIZE_BITS_2}
#define __gpusim_at(d) (__gpusim_global_id(d) - __gpusim_global_offset(d) - __gpusim_local_id(d))
#define __gpusim_place(words) unsigned long \
	__gpusim_i = (__gpusim_at(2) * __gpusim_global_size(1) + \
	__gpusim_at(1) * __gpusim_local_size(2)) * __gpusim_global_size(0) + \
	__gpusim_at(0) * __gpusim_local_size(1) * __gpusim_local_size(2), \
	__gpusim_l = (__gpusim_local_id(2) * __gpusim_local_size(1) + \
	__gpusim_local_id(1)) * __gpusim_local_size(0) + __gpusim_local_id(0), \
	__gpusim_fits = 0ul - (__gpusim_i + __gpusim_local_size(0) * __gpusim_local_size(1) * __gpusim_local_size(2) <= \
	__gpusim_places), \
	__gpusim_step = __gpusim_places & __gpusim_fits, \
	__gpusim_first = (__gpusim_i & __gpusim_fits) + ((words) * __gpusim_places & ~__gpusim_fits);
#define __gpusim_put(word, value) ((__global unsigned int *)(__gpusim_counters + ${COUNTER_PLACES} + \
	__gpusim_slots))[(word) * __gpusim_step + __gpusim_first + __gpusim_l] = value;

/* Sums of a group, in the item layout. If the counter of a work-item is full, the sum is marked as full. */
//@ counters_sums
#define __gpusim_sums(columns) __global volatile unsigned long *__gpusim_s = __gpusim_counters + ${COUNTER_PLACES} + \
	__gpusim_slots + __gpusim_group % __gpusim_slots * columns;

//@ counters_add_plain
#define __gpusim_add(column, value) { unsigned int __gpusim_v = value; \
	__gpusim_s[column] = __gpusim_s[column] + __gpusim_v | (0ul - (__gpusim_v == ${COUNTER_FULL}u) & ${COUNTER_FULL_SUM}UL); }

//@ counters_add_atomic
#define __gpusim_low(column) ((__global volatile unsigned int *)(__gpusim_s + column))
#define __gpusim_add(column, value) { unsigned int __gpusim_v = value; \
	if (__gpusim_v == ${COUNTER_FULL}u) __gpusim_atomic_or(__gpusim_low(column) + 1, ${COUNTER_FULL_SUM_HIGH}u); \
	else if (__gpusim_v && __gpusim_atomic_add(__gpusim_low(column), __gpusim_v) > 0xffffffffu - __gpusim_v) \
	__gpusim_atomic_inc(__gpusim_low(column) + 1); }

/* The group layout: the slot of the group. The first work-item of a launch writes the header. */
//@ counters_by_group
#define __gpusim_begin_with(first) unsigned long __gpusim_group = (__gpusim_group_id(2) * __gpusim_num_groups(1) + \
	__gpusim_group_id(1)) * __gpusim_num_groups(0) + __gpusim_group_id(0); \
	__global volatile unsigned long *__gpusim_count = __gpusim_counters + ${COUNTER_HEADER_WORDS} + \
	__gpusim_group % __gpusim_counters[${COUNTER_SLOTS}] * ${BLOCKS}; \
	first if (__gpusim_group == 0 && __gpusim_local_id(0) == 0 && __gpusim_local_id(1) == 0 && __gpusim_local_id(2) == 0) { \
	__gpusim_counters[${COUNTER_LOCAL_X}] = __gpusim_local_size(0); __gpusim_counters[${COUNTER_GROUPS_X}] = __gpusim_num_groups(0); \
	__gpusim_counters[${COUNTER_LOCAL_Y}] = __gpusim_local_size(1); __gpusim_counters[${COUNTER_GROUPS_Y}] = __gpusim_num_groups(1); \
	__gpusim_counters[${COUNTER_LOCAL_Z}] = __gpusim_local_size(2); __gpusim_counters[${COUNTER_GROUPS_Z}] = __gpusim_num_groups(2); }

//@ counters_count_plain
#define __gpusim_block(id) __gpusim_count[id]++
#define __gpusim_trips(id, n) __gpusim_count[id] += (n)

//@ counters_count_atomic
#define __gpusim_half(id) ((__global volatile unsigned int *)(__gpusim_count + (id)))
#define __gpusim_block(id) (void)(__gpusim_atomic_inc(__gpusim_half(id)) == 0xffffffffu && \
	__gpusim_atomic_inc(__gpusim_half(id) + 1))
#define __gpusim_trips(id, n) (void)(__gpusim_atomic_add(__gpusim_half(id), n) > 0xffffffffu - (n) && \
	__gpusim_atomic_inc(__gpusim_half(id) + 1))
