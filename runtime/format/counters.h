/*
 * The counter buffer that a twin kernel takes as an argument of its own: an array of 64-bit words.
 *
 *   word 0           slots: how many work-groups have a place of their own (set by the host, at least 1)
 *   words 1..3       local size      (group layout; written by the twin, by the first work-item of the first group)
 *   words 4..6       number of groups (likewise)
 *   word 7           reserved, 0
 *
 * Item layout. Two more arguments follow the buffer, both ulong: slots, and places. A work-item stores its counters when it
 * ends:
 *   then slots + 1 words         the local sizes of each work-group, COUNTER_SIZE_BITS each, the first lowest, at its
 *                                linear id; the last word is for all groups that have no slot
 *   then, as 32-bit words        word c of work-item i at c * places + i
 * The work-items of a group have consecutive numbers, and so have the groups. Let x, y, z be the global id, without offset, of
 * a group's first work-item. Its number i is (z * GY + y * lz) * GX + x * ly * lz, where G are the global sizes and l the
 * group's local sizes. Where local sizes divide the global ones, that is the group's linear id times its size.
 * Where there are fewer places than work-items, COUNTER_SPARE more 32-bit words follow. A group uses them if not all its
 * work-items have a number below places. It then stores all its words there, each work-item in its place of the group.
 * Lifted kernels of CUDA programs (annotator/lift) give a group its place as a whole. If not all groups have one, these are spread over the
 * launch (counter_place): a program's groups may do more or less from one end of the grid to the other, as those below a diagonal do.
 * The first words hold flags, COUNTER_FLAGS each, the first lowest: one flag for each block that a work-item runs at most once.
 * Then there is a word for each counter. A counter that does not fit 32 bits is COUNTER_FULL, so that nothing overflows
 * silently.
 *
 * A kernel with too many counters for that has sums of the group instead. There are no flags and no places:
 *   then slot s at   8 + slots + 1 + s * columns, one word per column, COUNTER_FULL_SUM if a work-item's was full
 *
 * Group layout, for programs with too many counters even to keep in variables:
 *   then slot s at   8 + s * blocks, one word per block
 * A work-group with linear id g adds or counts in slot g mod slots. On a device that runs a group on one thread, the increments
 * are plain memory accesses (volatile, see annotator/text/write.c). Groups that share a slot then lose counts when they run at
 * the same time. So give every group its own slot there, or take the atomic form. On other devices the increments are atomic on
 * the low 32-bit half, and the high half takes the carry, so that nothing overflows silently.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_COUNTERS_H
#define GPUSIM_RUNTIME_FORMAT_COUNTERS_H

#include <stdint.h>

enum {
	COUNTER_SLOTS = 0,
	COUNTER_LOCAL = 1,
	COUNTER_GROUPS = 4,
	COUNTER_HEADER_WORDS = 8,
	COUNTER_SIZE_BITS = 21,
	COUNTER_FLAGS = 32,
	COUNTER_SPARE = 1 << 16, /* no device has larger work-groups */
};
/* How many of the numbers 1 to n equal residue modulo factor (every), or equal factor (not every). */
static inline unsigned long counter_trips(int every, unsigned factor, unsigned residue, unsigned long n)
{
	return every ? (n + (residue ? factor - residue : 0)) / factor : n >= factor;
}

/*
 * Which of `room` groups' places one of a launch has, and room if it has none. The launch is divided into as many stretches as there are
 * places, which differ by one group at most, and each has one group with a place: not always the first, because groups may differ by
 * turns. gs_counted_place of annotator/lift/frame.cl is the same.
 */
static inline uint64_t counter_stretch_begin(uint64_t stretch, uint64_t groups, uint64_t room)
{
	return (stretch * groups + room - 1) / room;
}

/* The group of a stretch that has its place. */
static inline uint64_t counter_chosen(uint64_t stretch, uint64_t groups, uint64_t room)
{
	uint64_t begin = counter_stretch_begin(stretch, groups, room), end = counter_stretch_begin(stretch + 1, groups, room);
	uint64_t mixed = stretch * 0x9e3779b97f4a7c15ull;
	return begin + ((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ull >> 32) % (end - begin);
}

static inline uint64_t counter_place(uint64_t group, uint64_t groups, uint64_t room)
{
	if (room >= groups)
		return group;
	return room && counter_chosen(group * room / groups, groups, room) == group ? group * room / groups : room;
}

#define COUNTER_FULL 0xffffffffu
#define COUNTER_FULL_SUM 0x8000000000000000ul /* or more */

#endif
