/*
 * trace: reads a kernel's trace as Accel-Sim's tracer (NVBit) writes it: .traceg, .traceg.xz and .tracez, of tracer versions 1 to 5.
 *
 * A trace is read as a stream: memory does not depend on its length. Whatever its bytes are, reading ends with an error that names the
 * line, and nothing else happens.
 */
#ifndef GPUSIM_RUNTIME_CMD_ACCELSIM_TRACE_H
#define GPUSIM_RUNTIME_CMD_ACCELSIM_TRACE_H

#include "runtime/cmd/streams/stream.h"

enum { TRACE_MOST_LINE = 1 << 16 };

/* Reads the line into *out, which points into it. False: it is none. tracer_version and line_info are those of the header. */
bool sass_line_read(const char *text, size_t length, uint32_t tracer_version, bool line_info, struct sass_line *out);

struct sass_trace;
/* Opens a file and reads its header. The kind is known by the name. */
int sass_trace_open(const char *path, struct sass_trace **out, struct gs_error *err);
void sass_trace_close(struct sass_trace *t); /* NULL is fine */
const struct sass_header *sass_trace_header(const struct sass_trace *t);
/* What comes next, an enum sass_item, or a negative errno value. Every group and every warp is within the sizes of the header. */
int sass_trace_next(struct sass_trace *t, struct gs_error *err);
/* Of the group, warp and line that came last. A line always has lanes: one whose lanes are all off is a NOP of those of the line before. */
uint64_t sass_trace_group(const struct sass_trace *t); /* its linear id */
uint32_t sass_trace_warp(const struct sass_trace *t);
const struct sass_line *sass_trace_line(const struct sass_trace *t);
uint64_t sass_trace_bytes(const struct sass_trace *t); /* of the file that were read, about; for progress */
/* Streams of traces; `of` is the path. */
extern const struct sass_kind sass_trace_kind;

#endif
