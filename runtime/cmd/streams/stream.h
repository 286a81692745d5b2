/*
 * stream: what the warps of a launch execute, one instruction after the other, wherever it comes from: a trace that was written on a GPU, or a
 * task list that is carried out.
 */
#ifndef GPUSIM_RUNTIME_CMD_STREAMS_STREAM_H
#define GPUSIM_RUNTIME_CMD_STREAMS_STREAM_H

#include "analysis/sass/observed.h"

enum { TRACE_WARP_LANES = 32, TRACE_MOST_WARPS = 64 };

struct sass_header {
	char name[4096];
	uint64_t id, stream;
	uint64_t grid[3], block[3];
	uint64_t shared_bytes, shared_base, local_base;
	uint32_t registers, binary_version, tracer_version;
	bool line_info;
};

/* A line: an instruction that a warp executed. */
struct sass_line {
	struct observed_instruction in; /* its space is not filled in */
	uint32_t width;     /* as the tracer has it; 0: no memory */
	uint64_t address[TRACE_WARP_LANES]; /* in.addresses: of each active lane */
};

enum sass_item { SASS_ITEM_END, SASS_ITEM_GROUP, SASS_ITEM_WARP, SASS_ITEM_LINE, SASS_ITEM_GROUP_END };

/* Of the group, warp and line that came last. A line always has lanes. */
struct sass_part {
	uint64_t group; /* its linear id */
	uint32_t warp;
	const struct sass_line *line;
	uint64_t bytes; /* of the file that were read, about; for progress */
};

/* Where streams come from. */
struct sass_kind {
	/* *header is valid as long as the stream is open. */
	int (*open)(const void *of, void **stream, const struct sass_header **header, struct gs_error *err);
	/* What comes next, an enum sass_item, or a negative errno value. Every group and every warp is within the sizes of the header. */
	int (*next)(void *stream, struct sass_part *part, struct gs_error *err);
	void (*close)(void *stream); /* NULL is fine */
};

#endif
