/*
 * trace_read: the trace buffer of a launch, as the device wrote it (runtime/format/traces.h), into events (trace.h).
 *
 * The bytes come from a device that may have been stopped or may be wrong: whatever they are, reading neither crashes nor
 * takes more memory than the layout allows. What cannot be read ends its work-item's events, which then count as cut.
 */
#ifndef GPUSIM_MODELS_TRACE_READ_H
#define GPUSIM_MODELS_TRACE_READ_H

#include "models/trace/trace.h"
#include "runtime/base/base.h"

/* What the device's text (annotator/text/trace_text.c) and the reader have to agree on; see models/trace/read.c. */
enum {
	TRACE_BASES = 7,        /* places that addresses are counted from */
	TRACE_CLASSES = 5,      /* of spaces: global, shared, private, constant, images */
	TRACE_SLOTS = 16,       /* predictions of a work-item */
	TRACE_EVENT_BYTES = 32, /* no event is longer */
	TRACE_TEXEL_BYTES = 4,  /* what an image has the kernel does not know; RGBA8 and one float are both usual */
	TRACE_IMAGE_BITS = 6,   /* the argument that an image is, + 1; 0: not known */
	TRACE_IMAGE_PLAIN = (1 << TRACE_IMAGE_BITS) - 1, /* none: above it is an address in memory of rows, and from this bit on, the power of two of a texel's bytes */
	TRACE_PLAIN_BITS = 48,
	/* Windows of loops. The first begins with the loop and has a size of its own. Others have half of that, and begin where the
	 * iteration is 4, 16, 64 ... times it: their number grows with the logarithm of the loop's length, which nobody knows before. */
	TRACE_WINDOWS_APART = 4,
	TRACE_BRIEF_WINDOW = 4, /* in iterations that may be forgotten again */
	TRACE_LAST_BYTES = 240, /* room for one of these */
	TRACE_WIDE_BYTES = 6,   /* a number that is filled in later */
};
enum trace_base { TRACE_BASE_ARGUMENT, TRACE_BASE_LOCAL, TRACE_BASE_LOCAL_ARGUMENT };

/* What is known of the launch without the buffer. */
struct trace_layout {
	const struct trace_site *sites; /* all of the program's, in the order of their ids; used by the result, too */
	uint32_t site_count;
	uint32_t block_count;           /* lines of the block table */
	uint32_t local[3];              /* work-items of a group */
	uint64_t groups[3];             /* groups of the launch, traced or not */
	/* For each of the kernel's own arguments: the bytes of the buffer, sub-buffer or __local memory that was given; 0 for
	 * everything else, and where they are not known. */
	const uint64_t *argument_bytes;
	size_t argument_count;
	size_t most_bytes;              /* of memory for the events; those past it are cut. 0: no bound */
};

/* -EBADMSG: not a trace buffer at all; -ENOMEM. Groups that cannot be read are left out. *out is freed by
 * trace_free; the layout's sites have to outlive it. */
int trace_read(const void *words, size_t word_count, const struct trace_layout *layout, struct launch_trace **out,
               struct gs_error *err);
/* The same of the chunks alone, each with the bytes that it uses and no more. */
int trace_read_packed(const void *bytes, size_t length, const struct trace_layout *layout, struct launch_trace **out, struct gs_error *err);
void trace_free(struct launch_trace *t); /* NULL is fine */

#endif
