/*
 * What a launch gives to a lifted kernel: a kernel of PTX that was rewritten as OpenCL C (annotator/lift), to run on a CPU device.
 *
 * One OpenCL work-item executes some blocks of threads ("groups" here, as everywhere), one after the other (`each`), and the warps of a group
 * in turn, each of them until it waits at a barrier or ends. So an OpenCL local size is always 1, and a global size is lifted_items().
 * Groups that wait for one another, or share a queue of work, are executed by one work-item (`together`). The kernel has one argument, a ulong: the address of a
 * struct lifted_launch in the memory of the process, which must stay there until the launch has ended. Kernel text has the same struct,
 * made of the same list: every member is a 64-bit word, or an array of them.
 *
 * All addresses are those of the process: global, constant, local and shared memory are host memory, and generic addresses need no
 * conversion. An address in .shared is the offset in the group's shared memory, one in .local that in the thread's.
 *
 * Memory that a running group needs (shared memory, local memory of threads, state of warps that wait) is scratch. It is divided into
 * slots. A work-item takes a free slot with an atomic operation and gives it back. There must be as many slots as may run at a time.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_LIFTED_H
#define GPUSIM_RUNTIME_FORMAT_LIFTED_H

#include "runtime/base/base.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* X(name, words). An address is 0 where there is nothing. */
#define LIFTED_LAUNCH(X) \
	X(parameters, 1)     /* address: the kernel's parameters, laid out as in its PTX */ \
	X(variables, 1)      /* address: the image of the module's .global and .const variables */ \
	X(order, 1)          /* address: the 32-bit numbers of the groups to run; 0: first, first + 1, ...; of `together` with LIFTED_TRACED */ \
	X(first, 1) \
	X(count, 1)          /* groups to run */ \
	X(each, 1)           /* that one OpenCL work-item runs: the n-th those from n * each on */ \
	X(grid, 3)           /* groups of the launch */ \
	X(block, 3)          /* threads of a group */ \
	X(dynamic_shared, 1) /* bytes, after the kernel's own */ \
	X(slot_flags, 1)     /* address: a 32-bit word per slot: 0 free, 1 taken */ \
	X(slots, 1) \
	X(scratch, 1)        /* address of the first slot */ \
	X(slot_bytes, 1)     /* lifted_slot_bytes() or more; a multiple of 256 */ \
	X(counters, 1)       /* address: the counter buffer (counters.h, item layout); 0: nothing is counted */ \
	X(counter_slots, 1) \
	X(counter_places, 1) \
	X(traces, 1)         /* address: the trace buffer (traces.h), of traced text; 0: nothing is traced */ \
	X(chunks, 1)         /* of it */ \
	X(traced_whole, 1)   /* 1: no iteration of any loop is left out; more: first windows are so many times as long */ \
	X(bases, 1)          /* address: base_count pairs of words, what memory there is: argument number, address (TRACE_BASE_ARGUMENT) */ \
	X(base_count, 1) \
	X(images, 1)         /* address: image_count times struct lifted_image */ \
	X(image_count, 1) \
	X(fault, 1)          /* address: a struct lifted_fault; the first fault of the launch is kept */ \
	X(prints, 1)         /* address: a struct lifted_prints */ \
	X(clock, 1)          /* what %clock and %globaltimer begin with, in ns */ \
	X(together, 1)       /* groups that one OpenCL work-item runs in turn, since they wait for one another; 0: each has its own */ \
	X(held, 1)           /* so many of these at a time; all of them, unless they only share a queue (`fetches`) */ \
	X(groups, 1)         /* address: LIFTED_GROUP_BYTES for each that is held, and there must be as many slots */ \
	X(workspace, 1)      /* address: what groups of a cooperative launch meet with, 16 bytes, zeros; 0: it is none */ \
	X(heap, 1)           /* address: a struct lifted_heap, and its memory */ \
	X(cluster, 3)        /* groups of a cluster, which run together; 0: there are none, each group is one by itself */

struct lifted_launch {
#define LIFTED_WORD(name, words) LIFTED_WORD_##words(name)
#define LIFTED_WORD_1(name) uint64_t name;
#define LIFTED_WORD_3(name) uint64_t name[3];
	LIFTED_LAUNCH(LIFTED_WORD)
#undef LIFTED_WORD_3
#undef LIFTED_WORD_1
#undef LIFTED_WORD
};

/* Sets how many groups to run, on so many threads of the device. Returns the global size. An atomic operation per group, and a call of the
 * driver for it, would take longer than groups that do little. But threads need enough to choose from, to end at the same time. Groups that
 * may wait for earlier ones have work-items of their own; of others there are no more than LIFTED_ITEMS. */
enum { LIFTED_ITEMS = 4096 };
static inline uint64_t lifted_items(struct lifted_launch *l, uint64_t count, uint64_t threads, bool waits)
{
	enum { ITEMS_OF_THREAD = 16, MOST_EACH = 64 };
	const uint64_t wanted = count / (ITEMS_OF_THREAD * (threads ? threads : 1)), least = (count + LIFTED_ITEMS - 1) / LIFTED_ITEMS;
	uint64_t each = wanted > MOST_EACH ? MOST_EACH : wanted;
	if (each < least)
		each = least;
	l->count = count;
	l->each = waits || each < 1 ? 1 : each;
	return (count + l->each - 1) / l->each;
}

/* In an order of groups that run together: this one is traced. Without an order, all of them are. */
#define LIFTED_TRACED (UINT32_C(1) << 31)

/* What is kept of a group while others run. */
enum { LIFTED_GROUP_BYTES = 1280 };

/* Why a group could not go on. The others end as well, as soon as they look. */
enum lifted_fault_kind {
	LIFTED_NO_FAULT,
	LIFTED_TRAP,       /* trap */
	LIFTED_ASSERT,     /* __assertfail; words: addresses of message, file and function, and the line */
	LIFTED_STACK,      /* calls are too deep */
	LIFTED_DEADLOCK,   /* all warps of a group wait, and no barrier can ever open */
	LIFTED_BAD_TARGET, /* an indirect call or branch leads nowhere */
	LIFTED_ELSEWHERE,  /* a shuffle reads lanes that it names, but that never come to such a shuffle */
	LIFTED_ADDRESS,    /* memory was accessed where there is none; words: the address, 1 if it is known */
	LIFTED_MISALIGNED, /* an address is no multiple of what an access needs */
};
#define LIFTED_ANY_GROUP UINT64_MAX /* of the last two: the group is not known */
struct lifted_fault {
	uint32_t kind, line; /* line of the PTX */
	uint64_t group, words[4];
};

/* What kernels print. A record is: its length in bytes, a multiple of 8, the address of the format, then the arguments, 8 bytes each
 * (floats are doubles, strings are addresses). Records follow one another. One that has no room any more is lost, and counted. */
struct lifted_prints {
	uint64_t room; /* bytes that follow this struct */
	uint64_t used; /* by atomic additions; may become more than `room` */
	uint64_t lost;
};

/*
 * The heap of malloc and free in kernels. A block has a header of 16 bytes and one of the sizes of lists: list 2n has blocks of 2^n bytes,
 * list 2n + 1 of half as many more. Blocks that are free are in their list, the header of each has the address of the next; others are cut
 * from what is left. Once no block is in use, all is left again.
 */
struct lifted_heap {
	uint64_t lock, bytes; /* of all, with this struct */
	uint64_t used, live;  /* bytes that were cut, with this struct; blocks in use */
	uint64_t lists[128];
};

/* A texture: what an object of the program is the address of. Kernel text has the same struct (prelude_textures.cl). */
struct lifted_texture {
	uint64_t address, pitch, slice;      /* of the elements; bytes from row to row, and from slice or layer to the next */
	uint64_t curve;                      /* address of 256 floats: what bytes of the first three channels are read as; 0: there is none */
	uint32_t width, height, depth;       /* elements, rows, slices or layers; 1 where there is no such dimension */
	uint32_t channels, bits, kind;       /* of an element; of a channel; 0 signed, 1 unsigned, 2 real */
	uint32_t modes[3];                   /* of coordinates outside: 0 wrap, 1 clamp, 2 mirror, 3 border */
	uint32_t filters, normalised, scaled; /* linear filter; coordinates are 0 to 1; integers are read as reals of -1 or 0 to 1 */
	float border[4];
	uint32_t linear;                     /* linear memory: elements outside are 0 */
	uint32_t levels, level_filters;      /* of a mipmap, whose levels lie behind one another, this one first; linear filter between two of them */
	float level_bias, least_level, most_level;
	uint32_t layers;                     /* of an array that has layers; else 0 */
};

static inline uint64_t lifted_texel_bytes(const struct lifted_texture *t)
{
	return (uint64_t)t->channels * t->bits / 8;
}

/* Of a launch that traces: an object, the number of the argument that models have it as, and the texels of a row as they count them. */
struct lifted_image {
	uint64_t object, argument, row_texels;
};

/* Sizes of one kernel, from the section "lifted" of a result (protocol.h). */
struct lifted_sizes {
	uint32_t parameter_bytes;
	uint32_t shared_bytes; /* its own, before what a launch adds */
	uint32_t local_bytes;  /* of a thread; a multiple of 16 */
	uint32_t warp_bytes;   /* state of a warp that waits at a barrier; a multiple of 64 */
};

/* Bytes of a slot, for groups of so many threads. A slot has first the shared memory, then per warp its state, then the local memory of
 * its 32 threads, thread after thread. */
static inline uint64_t lifted_shared_bytes(const struct lifted_sizes *s, uint64_t dynamic)
{
	return ((s->shared_bytes + 15ull) / 16 * 16 + dynamic + 255) / 256 * 256;
}

static inline uint64_t lifted_slot_bytes(const struct lifted_sizes *s, uint64_t dynamic, uint64_t threads)
{
	uint64_t warps = (threads + 31) / 32;
	return (lifted_shared_bytes(s, dynamic) + warps * (s->warp_bytes + 32ull * s->local_bytes) + 255) / 256 * 256;
}

/* What a kernel is called in the text: never as a function of OpenCL C, which step or dot would be. POCL names files after kernels, and ends the
 * process where a name is too long for that; those of C++ templates can be. */
enum { LIFTED_NAME_BYTES = 100 };
static inline void lifted_kernel_name(const char *name, char out[LIFTED_NAME_BYTES])
{
	if (snprintf(out, LIFTED_NAME_BYTES, "kernel_%s", name) >= LIFTED_NAME_BYTES)
		snprintf(out, LIFTED_NAME_BYTES, "kernel_%.64s_%016llx", name, (unsigned long long)gs_hash(name, strlen(name)));
}

#endif
