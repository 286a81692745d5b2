/* Reads the trace of a launch whole, and finds its pieces: runs of instructions that warps always execute one after the other with the same lanes. */
#include "runtime/cmd/task/from.h"

#include "runtime/cmd/accelsim/import/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 1 << 25 };

static size_t slot_of(const struct recorded_launch *l, uint64_t pc)
{
	size_t at = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (l->slot_count - 1);
	while (l->slots[at] && l->instructions[l->slots[at] - 1].pc != pc)
		at = (at + 1) & (l->slot_count - 1);
	return at;
}

static int grow_slots(struct recorded_launch *l)
{
	if (l->slot_count > 2 * l->instruction_count)
		return 0;
	free(l->slots);
	l->slot_count = l->slot_count ? 2 * l->slot_count : 1024;
	l->slots = calloc(l->slot_count, sizeof *l->slots);
	if (!l->slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->instruction_count; i++)
		l->slots[slot_of(l, l->instructions[i].pc)] = i + 1;
	return 0;
}

static int64_t find_instruction(struct recorded_launch *l, const struct sass_line *line)
{
	if (grow_slots(l) || !gs_reserve(&l->instructions, l->instruction_count, &l->instruction_room, sizeof *l->instructions))
		return -ENOMEM;
	size_t slot = slot_of(l, line->in.pc);
	if (l->slots[slot])
		return l->slots[slot] - 1;
	struct recorded_instruction *in = &l->instructions[l->instruction_count];
	*in = (struct recorded_instruction){.pc = line->in.pc, .result = line->in.result, .source_count = line->in.source_count, .off = line->in.off,
	                                .memory = line->in.addresses};
	size_t length = line->in.opcode_length < sizeof in->opcode ? line->in.opcode_length : sizeof in->opcode - 1;
	memcpy(in->opcode, line->in.opcode, length);
	memcpy(in->sources, line->in.sources, sizeof in->sources);
	l->slots[slot] = (uint32_t)++l->instruction_count;
	return (int64_t)l->instruction_count - 1;
}

static int add_line(struct recorded_launch *l, const struct sass_line *line)
{
	int64_t at = find_instruction(l, line);
	if (at < 0 || !gs_reserve(&l->lines, l->line_count, &l->line_room, sizeof *l->lines))
		return -ENOMEM;
	l->lines[l->line_count++] = (struct recorded_line){(uint32_t)at, line->in.mask, l->address_count};
	l->warps[l->warp_count - 1].lines++;
	/* If the first line of an instruction had addresses, all of them have some, whatever the file says. */
	for (uint32_t left = l->instructions[at].memory ? line->in.mask : 0; left; left &= left - 1) {
		if (!gs_reserve(&l->addresses, l->address_count, &l->address_room, sizeof *l->addresses))
			return -ENOMEM;
		l->addresses[l->address_count++] = line->in.addresses ? line->address[__builtin_ctz(left)] : 0;
	}
	return 0;
}

static int begin_warp(struct recorded_launch *l, const struct sass_part *part)
{
	uint64_t items = l->header.block[0] * l->header.block[1] * l->header.block[2], left = items - (uint64_t)part->warp * TASK_LANES;
	if (!gs_reserve(&l->warps, l->warp_count, &l->warp_room, sizeof *l->warps))
		return -ENOMEM;
	l->warps[l->warp_count++] = (struct recorded_warp){.group = part->group, .number = part->warp, .first_line = l->line_count,
	                                              .full = left < TASK_LANES ? (1u << left) - 1 : UINT32_MAX};
	return 0;
}

/* ---- pieces ---- */

static void link_lines(struct recorded_launch *l, const struct recorded_warp *w)
{
	for (size_t i = w->first_line; i < w->first_line + w->lines; i++) {
		bool last = i + 1 == w->first_line + w->lines;
		struct recorded_instruction *in = &l->instructions[l->lines[i].instruction];
		if (i == w->first_line)
			in->joins = true;
		uint32_t next = last ? 0 : l->lines[i + 1].instruction + 1;
		if (last || l->lines[i].mask != l->lines[i + 1].mask || (in->next && in->next != next))
			in->parts = true;
		in->next = last ? in->next : next;
		if (last)
			continue;
		struct recorded_instruction *to = &l->instructions[next - 1];
		if (to->before && to->before != l->lines[i].instruction + 1)
			to->joins = true;
		to->before = l->lines[i].instruction + 1;
	}
}

static bool begins_piece(const struct recorded_launch *l, const struct recorded_instruction *in)
{
	return in->joins || !in->before || l->instructions[in->before - 1].parts;
}

static int make_pieces(struct recorded_launch *l)
{
	for (size_t i = 0; i < l->instruction_count; i++) {
		if (!begins_piece(l, &l->instructions[i]))
			continue;
		if (!gs_reserve(&l->pieces, l->piece_count, &l->piece_room, sizeof *l->pieces))
			return -ENOMEM;
		struct recorded_piece *p = &l->pieces[l->piece_count++];
		*p = (struct recorded_piece){.first = (uint32_t)l->order_count};
		l->instructions[i].piece = (uint32_t)l->piece_count;
		for (uint32_t at = (uint32_t)i;; at = l->instructions[at].next - 1) {
			if (!gs_reserve(&l->order, l->order_count, &l->order_room, sizeof *l->order))
				return -ENOMEM;
			l->order[l->order_count++] = at;
			p->count++;
			p->accesses += l->instructions[at].memory;
			const struct recorded_instruction *in = &l->instructions[at];
			if (in->parts || !in->next || begins_piece(l, &l->instructions[in->next - 1]) || p->accesses == TASK_MOST_PIECE_ACCESSES)
				break;
		}
		const struct recorded_instruction *last = &l->instructions[l->order[l->order_count - 1]];
		if (p->accesses == TASK_MOST_PIECE_ACCESSES && last->next) /* the rest is another */
			l->instructions[last->next - 1].joins = true;
	}
	return 0;
}

static int make_tokens(struct recorded_launch *l, struct recorded_warp *w)
{
	w->first_token = l->token_count;
	for (size_t i = w->first_line; i < w->first_line + w->lines;) {
		uint32_t piece = l->instructions[l->lines[i].instruction].piece;
		if (!piece)
			return -EINVAL;
		if (!gs_reserve(&l->tokens, l->token_count, &l->token_room, sizeof *l->tokens) ||
		    !gs_reserve(&l->token_lines, l->token_count, &l->token_line_room, sizeof *l->token_lines))
			return -ENOMEM;
		uint32_t mask = l->lines[i].mask;
		l->token_lines[l->token_count] = i;
		l->tokens[l->token_count++] = (struct recorded_node){.piece = piece - 1, .mask = mask == w->full ? UINT32_MAX : mask};
		i += l->pieces[piece - 1].count;
	}
	w->tokens = l->token_count - w->first_token;
	return w->tokens ? fold_tokens(l->tokens + w->first_token, w->tokens, &w->tree) : 0;
}

int recorded_read(const char *path, struct recorded_launch *out, struct gs_error *err)
{
	const struct sass_header *header;
	struct sass_part part;
	void *stream = NULL;
	int item = 0, result = sass_trace_kind.open(path, &stream, &header, err);
	*out = (struct recorded_launch){0};
	if (result)
		return result;
	out->header = *header;
	while (!result && (item = sass_trace_kind.next(stream, &part, err)) > SASS_ITEM_END) {
		result = item == SASS_ITEM_WARP ? begin_warp(out, &part) : item == SASS_ITEM_LINE ? add_line(out, part.line) : 0;
		if (out->line_count > MOST_LINES)
			result = -EFBIG;
	}
	sass_trace_kind.close(stream);
	if (!result && item < 0)
		return item;
	for (size_t i = 0; i < out->warp_count && !result; i++)
		link_lines(out, &out->warps[i]);
	if (!result)
		result = make_pieces(out);
	for (size_t i = 0; i < out->warp_count && !result; i++)
		result = make_tokens(out, &out->warps[i]);
	if (result == -EFBIG)
		return gs_fail(err, EFBIG, "its warps execute more than %d instructions", MOST_LINES);
	return result ? gs_fail(err, -result, result == -ENOMEM ? "out of memory" : "its trace makes no sense") : 0;
}

void recorded_free(struct recorded_launch *l)
{
	for (size_t i = 0; i < l->warp_count; i++)
		free(l->warps[i].tree.nodes);
	free(l->instructions);
	free(l->slots);
	free(l->lines);
	free(l->addresses);
	free(l->warps);
	free(l->pieces);
	free(l->order);
	free(l->tokens);
	free(l->token_lines);
	*l = (struct recorded_launch){0};
}
