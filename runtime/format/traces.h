/*
 * What twin kernels take beside their counters (counters.h): the box, and, if traced, the trace buffer.
 *
 * Where only some groups of a launch are traced, the traced twin runs several times before the launch itself, on copies of memory,
 * each time over a box of groups. So that kernels do not see it, get_group_id, get_num_groups, get_global_size, get_global_offset
 * and all that is made of them (linear ids, enqueued sizes) are answered from the box, which every twin takes as one ulong16
 * argument after the counters' own. box.def has its slots. For the whole launch all slots of groups are 0.
 *
 * get_global_id is right by itself, because a box is launched with the launch's offset plus that of its first group. Boxes are
 * only made where local sizes divide global ones.
 *
 * The trace buffer is the argument after the box, in traced text only: an array of 64-bit words.
 *   word 0        chunks taken, from 0, by atomic increments of its low 32 bits; more than there are: traces were cut
 *   words 1..7    0
 *   then          chunks of TRACE_CHUNK_BYTES each, the first of them at word TRACE_HEADER_WORDS
 * A work-item takes a chunk when it has something to write and no room. A chunk is
 *   word 0        linear id of the group in the launch
 *   word 1        linear local id, 32 bits, and above it the number of this chunk among the work-item's own
 *   word 2        bytes used of what follows, 32 bits, and above it 1 if the work-item found no chunk to go on with
 *   then          the bytes of events
 * The encoding of events is told where it is read, in models/trace/read.c.
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
