/*
 * Where PTX that counts (annotator/count/count.h) has its counts: in memory of the GPU, at an address in a variable of the module. The variable has three
 * 64-bit words: that address; how many threads have a place, a multiple of 32; and whether to stop, which threads look at in every COUNT_LOOKS-th
 * iteration, so that a twin ends where nobody wants to wait for it any longer. Thread i has, for column c of C, the 32-bit word counted_word(). Threads
 * without a place share the COUNT_SHARED behind the last, which nobody reads: the fewer these are, the longer a thread waits for the others there.
 *
 * PTX that traces as well has another variable, of TRACE_WORDS words. Threads of groups that are traced write columns (runtime/format/traces.h): thread i
 * of the group in slot s has column s * threads of a group + i.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_COUNTED_H
#define GPUSIM_RUNTIME_FORMAT_COUNTED_H

#include <stdint.h>

#define COUNT_VARIABLE "gpusim_counts"

/* Functions that kernels call find their words by this variable, which the kernel fills: the bytes of all columns of a warp, then, for each function of
 * the module, the offset of its first column. */
#define CALLS_VARIABLE "gpusim_calls"

#define TRACE_VARIABLE "gpusim_traces"

enum { COUNTED_WARP = 32, COUNT_LOOKS = 4096, COUNT_SHARED = 16384 }; /* powers of two */
enum { COUNT_ADDRESS, COUNT_PLACES, COUNT_STOP, COUNT_WORDS };
enum {
	TRACE_BUFFER_AT,    /* address of the trace buffer; 0: nothing is traced */
	TRACE_TABLE_AT,     /* address of 32-bit words, one for each group of the launch: its slot + 1, or 0. 0: all are traced, in their order */
	TRACE_COLUMN_COUNT,
	TRACE_COLUMN_ROOM,  /* words of a column for events (trace_column_room) */
	TRACE_WINDOW_SIZES, /* BOX_TRACED_WHOLE */
	TRACE_TOLD_WORDS,   /* words that the first thread of a group leaves free at the begin of its column: the host fills in what is the same for all */
	TRACE_ALONE,        /* not 0: threads of groups that are not traced end at once */
	TRACE_WORDS,
};

static inline uint64_t counted_word(uint64_t thread, uint64_t column, uint64_t columns)
{
	return (thread / COUNTED_WARP * columns + column) * COUNTED_WARP + thread % COUNTED_WARP;
}

/* Those of threads that have a place. */
static inline uint64_t counted_words(uint64_t places, uint64_t columns)
{
	return places / COUNTED_WARP * columns * COUNTED_WARP;
}

/* With those that the others share. */
static inline uint64_t counted_room(uint64_t places, uint64_t columns)
{
	return counted_words(places + COUNT_SHARED + COUNTED_WARP, columns);
}

#endif
