/*
 * packed: traces of Accel-Sim 2.0 (.tracez).
 *
 * The header's text and a NUL; the bytes of a dictionary and the instructions of a chunk, 32 bits each; the dictionary; for each warp its
 * instructions and chunks, 32 bits each, and each chunk: its bytes, 32 bits, and a frame of Zstandard with lines of text. The index is
 * behind them, and at the end its offset, 64 bits: the number of blocks; of each, ten words (its place in the grid first) and the number of
 * warps; of each, instructions and chunks, 64 bits where it begins, and the instructions of each chunk.
 */
#ifndef GPUSIM_RUNTIME_CMD_ACCELSIM_PACKED_H
#define GPUSIM_RUNTIME_CMD_ACCELSIM_PACKED_H

#include "runtime/base/base.h"

struct packed_trace;
/* *header: the text of the header, valid as long as the trace is open. */
int packed_open(const char *path, struct packed_trace **out, const char **header, struct gs_error *err);
void packed_close(struct packed_trace *p); /* NULL is fine */
enum packed_item { PACKED_END, PACKED_GROUP, PACKED_WARP, PACKED_LINE, PACKED_GROUP_END };
/* What comes next, or a negative errno value. Of a group: its place; of a warp: its number; of a line: its text. */
struct packed_part {
	uint32_t group[3], warp;
	const char *line;
	size_t length;
};
int packed_next(struct packed_trace *p, struct packed_part *part, struct gs_error *err);
uint64_t packed_taken(const struct packed_trace *p); /* bytes of the file that were read */

#endif
