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
 * A GPU would run box after box, each with all its latencies. There all runs of groups that are traced are one launch, along x. Its box is a
 * list of them (BOX_RUNS), and traced text with functions of its own answers get_global_id, too.
 *
 * The trace buffer is the argument after the box, in traced text only: an array of 64-bit words.
 *   word 0        chunks taken, from 0, by atomic increments of its low 32 bits. If it is more than there are chunks, traces were cut
 *   word 2        low 32 bits: chunks for each work-item of a group, which share them, times TRACE_SHARE_ONE; high 32 bits: a number that differs from
 *                 launch to launch. 0: groups take as many as there are
 *   word 3        in the host's own memory: the struct trace_choice of runtime/guest/support/trace_choice.h that says which groups are recorded;
 *                 0: all are
 *   words 1, 4..7 0
 *   then          chunks of TRACE_CHUNK_BYTES each, the first of them at word TRACE_HEADER_WORDS
 * A work-item takes a chunk when it has something to write and no room. A chunk is
 *   word 0        linear id of the group in the launch
 *   word 1        low 32 bits: linear local id; high 32 bits: the number of this chunk among the work-item's own
 *   word 2        low 32 bits: bytes used of what follows; high 32 bits: 1 if the work-item needed another chunk and found none
 *   then          the bytes of events
 * models/trace/read.c reads events and describes their encoding.
 *
 * Traced text with functions of its own (annotator/text/tracer.cl) writes columns instead: work-item i of the box has the words
 * TRACE_HEADER_WORDS + i + n * columns of the buffer, n from 0, so that work-items that do the same write side by side. Word
 * TRACE_COLUMNS_WORD of the buffer is the number of columns, not 0. A column is
 *   word 0        linear id of the group in the launch
 *   word 1        low 31 bits: linear local id; then one bit: 1 if the column was too short; high 32 bits: number of words that follow
 *   then          events, one word or more each; the lowest COLUMN_TAG_BITS bits say what it is
 *     COLUMN_BLOCK    a block, above the tag
 *     COLUMN_ACCESS   an access: the class of spaces (models/trace/read.c) above the tag, the site, the address
 *     COLUMN_COPY     likewise; the next word is the number of bytes that the site copies
 *     COLUMN_TOLD     what, above the tag: COLUMN_BEGIN, and ten words as in the other form; COLUMN_BASE, the number of the base from bit
 *                     COLUMN_TOLD_SHIFT on, and three words: kind, argument or bytes, address; COLUMN_GAP, the block likewise, and two
 *                     words: iterations kept before it, iterations left out
 * runtime/guest/support/trace_columns.c makes chunks of them.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_TRACES_H
#define GPUSIM_RUNTIME_FORMAT_TRACES_H

#include <stddef.h>
#include <stdint.h>

#define BOX_SLOT(name, digit) BOX_##name = 0x##digit,
enum box_slot {
#include "runtime/format/box.def"
	BOX_SLOTS = 16,
	BOX_MOST_RUNS = 8,
	BOX_RUN_BITS = 20, /* of the number of groups in a run */
};
#undef BOX_SLOT

enum {
	TRACE_HEADER_WORDS = 8,
	TRACE_CHUNK_BYTES = 512,
	TRACE_CHUNK_HEADER_WORDS = 3,
	TRACE_COLUMNS_WORD = 1,
	TRACE_SHARE_WORD = 2,
	TRACE_CHOICE_WORD = 3,
	TRACE_SHARE_ONE = 256,
};

enum {
	COLUMN_HEADER_WORDS = 2,
	COLUMN_LONGEST = 12, /* no event has more words */
	COLUMN_TAG_BITS = 2,
	COLUMN_BLOCK = 0,
	COLUMN_ACCESS = 1,
	COLUMN_TOLD = 2,
	COLUMN_COPY = 3,
	COLUMN_SITE_SHIFT = 5,
	COLUMN_ADDRESS_SHIFT = 16,
	COLUMN_TOLD_SHIFT = 8,
	COLUMN_BEGIN = 0,
	COLUMN_BASE = 1,
	COLUMN_GAP = 2,
	COLUMN_CUT_BIT = 31,
};

/* The words that each of so many columns may have for events, in a buffer of so many words; 0: they do not fit. */
uint64_t trace_column_room(uint64_t buffer_words, uint64_t columns);
/* The columns of a buffer whose first words are there; 0: it has none. */
size_t trace_columns(const uint64_t *words, size_t word_count);
/* The words of the buffer up to the last that is used. The headers of its columns are there. 0: it has no columns. */
size_t trace_columns_used(const uint64_t *words, size_t word_count);

#endif
