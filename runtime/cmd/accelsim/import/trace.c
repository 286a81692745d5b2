/* See trace.h. */
#include "runtime/cmd/accelsim/import/trace.h"

#include "runtime/cmd/accelsim/import/bytes.h"
#include "runtime/cmd/accelsim/import/packed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sass_trace {
	char *path;
	struct sass_header header;
	struct byte_source bytes;
	struct packed_trace *packed; /* NULL: it is text */
	uint64_t line_number, group;
	uint32_t warp, last_mask; /* of the line before */
	bool in_group, in_warp;
	struct sass_line line;
};

static int bad_line(const struct sass_trace *t, const char *what, struct gs_error *err)
{
	return gs_fail(err, EBADMSG, "%s:%" PRIu64 ": %s", t->path, t->line_number, what);
}

/* ---- the header ---- */

static bool begins(const char *line, size_t length, const char *with)
{
	return length >= strlen(with) && !strncmp(line, with, strlen(with));
}

static bool sizes_in(const char *value, uint64_t out[3])
{
	return sscanf(value, " (%" SCNu64 ",%" SCNu64 ",%" SCNu64 ")", &out[0], &out[1], &out[2]) == 3;
}

static bool take_header(struct sass_header *h, const char *line, size_t length)
{
	char text[sizeof h->name + 64];
	snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text - 1 ? length : sizeof text - 1), line);
	text[strcspn(text, "\r")] = 0;
	char *value = strchr(text, '=');
	if (!value)
		return true;
	value++;
	value += *value == ' ';
	if (begins(text, length, "-kernel name"))
		snprintf(h->name, sizeof h->name, "%.*s", (int)sizeof h->name - 1, value);
	else if (begins(text, length, "-kernel id"))
		h->id = strtoull(value, NULL, 10);
	else if (begins(text, length, "-grid dim"))
		return sizes_in(value, h->grid);
	else if (begins(text, length, "-block dim"))
		return sizes_in(value, h->block);
	else if (begins(text, length, "-shmem base_addr"))
		h->shared_base = strtoull(value, NULL, 16);
	else if (begins(text, length, "-local mem base_addr"))
		h->local_base = strtoull(value, NULL, 16);
	else if (begins(text, length, "-shmem"))
		h->shared_bytes = strtoull(value, NULL, 10);
	else if (begins(text, length, "-nregs"))
		h->registers = (uint32_t)strtoul(value, NULL, 10);
	else if (begins(text, length, "-binary version"))
		h->binary_version = (uint32_t)strtoul(value, NULL, 10);
	else if (begins(text, length, "-cuda stream id"))
		h->stream = strtoull(value, NULL, 10);
	else if (begins(text, length, "-accelsim tracer version"))
		h->tracer_version = (uint32_t)strtoul(value, NULL, 10);
	else if (begins(text, length, "-enable lineinfo"))
		h->line_info = strtoul(value, NULL, 10) != 0;
	return true;
}

static int check_header(const struct sass_trace *t, struct gs_error *err)
{
	const struct sass_header *h = &t->header;
	uint64_t items = 1, groups = 1;
	for (int d = 0; d < 3; d++)
		if (!h->grid[d] || !h->block[d] || h->grid[d] > UINT32_MAX || h->block[d] > 1024 ||
		    __builtin_mul_overflow(groups, h->grid[d], &groups) || __builtin_mul_overflow(items, h->block[d], &items))
			return gs_fail(err, EBADMSG, "%s: its header has no sizes of a grid and a block", t->path);
	if (items > TRACE_MOST_WARPS * TRACE_WARP_LANES || groups > UINT64_C(1) << 40)
		return gs_fail(err, EBADMSG, "%s: its header has sizes that no GPU takes", t->path);
	if (h->tracer_version > 5)
		return gs_fail(err, ENOTSUP, "%s was written by version %u of the tracer; 1 to 5 can be read", t->path, h->tracer_version);
	return *h->name ? 0 : gs_fail(err, EBADMSG, "%s: its header names no kernel", t->path);
}

/* The lines before the first that begins with #, which names the format. */
static int read_text_header(struct sass_trace *t, struct gs_error *err)
{
	const char *line;
	size_t length;
	int result;
	while ((result = bytes_line(&t->bytes, TRACE_MOST_LINE, &line, &length, err)) > 0) {
		t->line_number++;
		if (length && *line == '#') {
			return 0;
		}
		if (length && *line == '-' && !take_header(&t->header, line, length))
			return bad_line(t, "sizes are expected here", err);
	}
	return result;
}

static int read_packed_header(struct sass_trace *t, const char *header, struct gs_error *err)
{
	while (*header) {
		size_t length = strcspn(header, "\n");
		t->line_number++;
		if (*header == '-' && !take_header(&t->header, header, length))
			return bad_line(t, "sizes are expected here", err);
		header += length + (header[length] == '\n');
	}
	return 0;
}

int sass_trace_open(const char *path, struct sass_trace **out, struct gs_error *err)
{
	struct sass_trace *t = calloc(1, sizeof *t);
	const char *header;
	if (!t || !(t->path = strdup(path))) {
		free(t);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	size_t length = strlen(path);
	bool packed = length > 7 && !strcmp(path + length - 7, ".tracez");
	t->bytes.fd = -1;
	int result = packed ? packed_open(t->path, &t->packed, &header, err) : bytes_open(&t->bytes, t->path, err);
	if (!result)
		result = packed ? read_packed_header(t, header, err) : read_text_header(t, err);
	if (!result)
		result = check_header(t, err);
	if (result) {
		sass_trace_close(t);
		return result;
	}
	*out = t;
	return 0;
}

void sass_trace_close(struct sass_trace *t)
{
	if (!t)
		return;
	packed_close(t->packed);
	bytes_close(&t->bytes);
	free(t->path);
	free(t);
}

/* ---- groups, warps and lines ---- */

static int begin_group(struct sass_trace *t, const uint64_t at[3], struct gs_error *err)
{
	const uint64_t *grid = t->header.grid;
	if (at[0] >= grid[0] || at[1] >= grid[1] || at[2] >= grid[2])
		return bad_line(t, "this block is not in the grid", err);
	t->group = (at[2] * grid[1] + at[1]) * grid[0] + at[0];
	t->in_group = true;
	t->in_warp = false;
	return SASS_ITEM_GROUP;
}

static int begin_warp(struct sass_trace *t, uint64_t warp, struct gs_error *err)
{
	uint64_t items = t->header.block[0] * t->header.block[1] * t->header.block[2];
	if (!t->in_group || warp * TRACE_WARP_LANES >= items)
		return bad_line(t, "this warp is not in a block", err);
	t->warp = (uint32_t)warp;
	t->last_mask = items - warp * TRACE_WARP_LANES < TRACE_WARP_LANES ? (1u << (items - warp * TRACE_WARP_LANES)) - 1 : UINT32_MAX;
	t->in_warp = true;
	return SASS_ITEM_WARP;
}

/* An instruction whose predicate is off in all lanes takes its turn of the scheduler and no more, unless it accesses memory. It is another than the one
 * at its place. */
static void skip_instruction(struct sass_trace *t)
{
	if (t->line.width) {
		t->line.in.pc++;
		t->line.in.mask = t->last_mask;
		t->line.in.addresses = false;
		t->line.in.off = true;
		return;
	}
	t->line.in = (struct observed_instruction){.pc = t->line.in.pc + 1, .mask = t->last_mask, .result = -1, .opcode = "NOP", .opcode_length = 3};
}

/* An EXIT between two instructions of the machine: lanes end that a branch has led out. Our export writes it for simulators that count lanes. */
static bool only_ends_lanes(const struct sass_trace *t)
{
	const struct observed_instruction *in = &t->line.in;
	return t->header.binary_version >= 70 && in->pc % 16 == 12 && in->opcode_length == 4 && !strncmp(in->opcode, "EXIT", 4);
}

/* Lanes beyond the end of the block cannot be on. */
static int take_line(struct sass_trace *t, const char *text, size_t length, struct gs_error *err)
{
	uint64_t items = t->header.block[0] * t->header.block[1] * t->header.block[2], first = (uint64_t)t->warp * TRACE_WARP_LANES;
	if (!t->in_warp)
		return bad_line(t, "an instruction outside of a warp", err);
	if (!sass_line_read(text, length, t->header.tracer_version, t->header.line_info, &t->line))
		return bad_line(t, "this is no instruction as tracers write them", err);
	if (items - first < TRACE_WARP_LANES && t->line.in.mask >> (items - first))
		return bad_line(t, "a lane that is not in the block", err);
	if (only_ends_lanes(t))
		return -EAGAIN;
	if (!t->line.in.mask)
		skip_instruction(t);
	t->last_mask = t->line.in.mask;
	return SASS_ITEM_LINE;
}

static int take_text(struct sass_trace *t, const char *line, size_t length, struct gs_error *err)
{
	char text[128];
	uint64_t at[3];
	if (length > 1 && ((*line >= '0' && *line <= '9') || (*line >= 'a' && *line <= 'f' && line[1] != 'l'))) /* most lines; "cluster" is none */
		return take_line(t, line, length, err);
	snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text - 1 ? length : sizeof text - 1), line);
	if (!*text || *text == '\r' || begins(text, length, "#BEGIN_TB") || begins(text, length, "insts") || begins(text, length, "cluster"))
		return -EAGAIN;
	if (begins(text, length, "thread block"))
		return sscanf(text, "thread block = %" SCNu64 ",%" SCNu64 ",%" SCNu64, &at[0], &at[1], &at[2]) == 3
		           ? begin_group(t, at, err) : bad_line(t, "a block's place is expected here", err);
	if (begins(text, length, "warp"))
		return sscanf(text, "warp = %" SCNu64, &at[0]) == 1 ? begin_warp(t, at[0], err) : bad_line(t, "a warp's number is expected here", err);
	if (begins(text, length, "#END_TB")) {
		bool ends = t->in_group;
		t->in_group = t->in_warp = false;
		return ends ? SASS_ITEM_GROUP_END : -EAGAIN;
	}
	return *text == '#' ? -EAGAIN : take_line(t, line, length, err);
}

static int next_text(struct sass_trace *t, struct gs_error *err)
{
	const char *line;
	size_t length;
	int result;
	while ((result = bytes_line(&t->bytes, TRACE_MOST_LINE, &line, &length, err)) > 0) {
		t->line_number++;
		int item = take_text(t, line, length, err);
		if (item != -EAGAIN)
			return item;
	}
	if (!result && t->in_group)
		return gs_fail(err, EBADMSG, "%s is cut off: its last block has no end", t->path);
	return result ? result : SASS_ITEM_END;
}

static int next_packed(struct sass_trace *t, struct gs_error *err)
{
	struct packed_part part;
	uint64_t at[3];
	int item = packed_next(t->packed, &part, err);
	t->line_number += item == PACKED_LINE;
	switch (item) {
	case PACKED_GROUP:
		for (int d = 0; d < 3; d++)
			at[d] = part.group[d];
		return begin_group(t, at, err);
	case PACKED_WARP:
		return begin_warp(t, part.warp, err);
	case PACKED_LINE:
		return part.length < TRACE_MOST_LINE ? take_line(t, part.line, part.length, err) : bad_line(t, "this line is too long", err);
	case PACKED_GROUP_END:
		t->in_group = t->in_warp = false;
		return SASS_ITEM_GROUP_END;
	default:
		return item < 0 ? item : SASS_ITEM_END;
	}
}

int sass_trace_next(struct sass_trace *t, struct gs_error *err)
{
	int item;
	if (!t->packed)
		return next_text(t, err);
	while ((item = next_packed(t, err)) == -EAGAIN)
		;
	return item;
}

const struct sass_header *sass_trace_header(const struct sass_trace *t)
{
	return &t->header;
}

uint64_t sass_trace_group(const struct sass_trace *t)
{
	return t->group;
}

uint32_t sass_trace_warp(const struct sass_trace *t)
{
	return t->warp;
}

const struct sass_line *sass_trace_line(const struct sass_trace *t)
{
	return &t->line;
}

uint64_t sass_trace_bytes(const struct sass_trace *t)
{
	return t->packed ? packed_taken(t->packed) : t->bytes.taken;
}

static int open_stream(const void *of, void **stream, const struct sass_header **header, struct gs_error *err)
{
	struct sass_trace *t = NULL;
	int result = sass_trace_open(of, &t, err);
	*stream = t;
	*header = t ? &t->header : NULL;
	return result;
}

static int next_part(void *stream, struct sass_part *part, struct gs_error *err)
{
	const struct sass_trace *t = stream;
	int item = sass_trace_next(stream, err);
	*part = (struct sass_part){t->group, t->warp, &t->line, sass_trace_bytes(t)};
	return item;
}

static void close_stream(void *stream)
{
	sass_trace_close(stream);
}

const struct sass_kind sass_trace_kind = {open_stream, next_part, close_stream};
