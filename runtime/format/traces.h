/*
 * The arguments of twin kernels after their counters (counters.h): the box, and, in traced twins, the trace buffer.
 *
 * Often only some groups of a launch are traced. The traced twin then runs several times before the launch itself, on copies of
 * memory, each time over a box of groups. Kernels must not notice that. So get_group_id, get_num_groups, get_global_size,
 * get_global_offset and all that depends on them (linear ids, enqueued sizes) are answered from the box. Every twin takes the
 * box as one ulong16 argument after the arguments for counters. box.def has its slots. For the whole launch all slots of groups
 * are 0.
 *
 * get_global_id is right by itself, because a box is launched with the launch's offset plus that of its first group. Boxes are
 * made only where local sizes divide global ones.
 *
 * The trace buffer is the argument after the box, in traced text only: an array of 64-bit words.
 *   word 0        chunks taken, from 0, by atomic increments of its low 32 bits. If it is more than there are chunks, traces were cut
 *   words 1..7    0
 *   then          chunks of TRACE_CHUNK_BYTES each, the first of them at word TRACE_HEADER_WORDS
 * A work-item takes a chunk when it has something to write and no room. A chunk is
 *   word 0        linear id of the group in the launch
 *   word 1        low 32 bits: linear local id; high 32 bits: the number of this chunk among the work-item's own
 *   word 2        low 32 bits: bytes used of what follows; high 32 bits: 1 if the work-item needed another chunk and found none
 *   then          the bytes of events
 * models/trace/read.c reads events and describes their encoding.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_TRACES_H
#define GPUSIM_RUNTIME_FORMAT_TRACES_H

#define BOX_SLOT(name, digit) BOX_##name = 0x##digit,
enum box_slot {
#include "runtime/format/box.def"
	BOX_SLOTS = 16
};
#undef BOX_SLOT

enum {
	TRACE_HEADER_WORDS = 8,
	TRACE_CHUNK_BYTES = 512,
	TRACE_CHUNK_HEADER_WORDS = 3,
};

#endif
