/* Writes a launch that was read as a kernel of a task list. */
#include "runtime/cmd/task/from.h"

#include "runtime/cmd/accelsim/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TABLE = 1 << 22 }; /* addresses of a table: beyond that they are told as random ones */

/* A tree while it is written: of all warps that share it. */
struct recorded_writer {
	const struct recorded_launch *launch;
	const struct touched_pieces *memory;
	const char *name;
	struct gs_buf tables, body;
	size_t *members, member_count; /* warps */
	struct recorded_sample *samples;   /* of one access */
	size_t sample_count, sample_room;
	struct gs_buf rows;
	uint32_t table_count, random_count;
};

/* ---- executions of a leaf ---- */

/* Goes through a tree as a warp does. token: how many came before; leaf: the node that is looked for. */
struct recorded_walk {
	const struct recorded_tree *tree;
	size_t leaf, token;
	int64_t turns[TASK_MOST_DEPTH];
	uint32_t depth;
	int (*take)(struct recorded_walk *walk, void *ctx);
	void *ctx;
};

static int walk_nodes(struct recorded_walk *w, size_t first, size_t end)
{
	for (size_t i = first; i < end; i += w->tree->nodes[i].size) {
		const struct recorded_node *n = &w->tree->nodes[i];
		int result = 0;
		if (!n->turns) {
			result = i == w->leaf ? w->take(w, w->ctx) : 0;
			w->token++;
		}
		for (uint64_t t = 0; t < n->turns && !result; t++) {
			if (w->depth < TASK_MOST_DEPTH)
				w->turns[w->depth] = (int64_t)t;
			w->depth++;
			result = walk_nodes(w, i + 1, i + n->size);
			w->depth--;
		}
		if (result)
			return result;
	}
	return 0;
}

/* What it accesses: a buffer by its number, local or private. */
static uint64_t target_of(const struct recorded_writer *w, uint64_t address, char name[24])
{
	if (address >= EXPORT_SHARED_BASE && address - EXPORT_SHARED_BASE < 1 << 24) {
		strcpy(name, "local");
		return EXPORT_SHARED_BASE;
	}
	if (address >= EXPORT_LOCAL_BASE && address - EXPORT_LOCAL_BASE < 1 << 24) {
		strcpy(name, "private");
		return EXPORT_LOCAL_BASE;
	}
	long piece = pieces_find(w->memory, address);
	snprintf(name, 24, "b%ld", piece < 0 ? 0 : piece);
	return piece < 0 ? address : w->memory->list[piece].begin & ~UINT64_C(4095);
}

struct access_taker {
	struct recorded_writer *w;
	const struct recorded_warp *warp;
	uint32_t instruction; /* of the piece */
	char target[24];      /* what is accessed, as its first address says */
	uint64_t begin;
	uint32_t loops;
};

static void write_row(struct recorded_writer *w, const uint64_t *addresses, uint32_t count, uint64_t begin)
{
	bool even = true;
	for (uint32_t i = 2; i < count; i++)
		even &= addresses[i] - addresses[i - 1] == addresses[1] - addresses[0];
	gs_buf_printf(&w->rows, "\t%" PRIu64, addresses[0] - begin);
	if (even)
		gs_buf_printf(&w->rows, "%+" PRId64, count > 1 ? (int64_t)(addresses[1] - addresses[0]) : 0);
	for (uint32_t i = 1; i < count && !even; i++)
		gs_buf_printf(&w->rows, " %" PRIu64, addresses[i] - begin);
	gs_buf_puts(&w->rows, "\n");
}

static int take_access(struct recorded_walk *walk, void *ctx)
{
	struct access_taker *t = ctx;
	struct recorded_writer *w = t->w;
	const struct recorded_launch *l = w->launch;
	const struct recorded_line *line = &l->lines[l->token_lines[t->warp->first_token + walk->token] + t->instruction];
	static const uint64_t none;
	const uint64_t *grid = l->header.grid, *block = l->header.block, *addresses = line->mask ? l->addresses + line->address : &none;
	uint32_t rank = 0;
	if (!t->begin && line->mask)
		t->begin = target_of(w, addresses[0], t->target);
	t->loops = walk->depth;
	for (uint32_t left = line->mask; left; left &= left - 1, rank++) {
		if (!gs_reserve(&w->samples, w->sample_count, &w->sample_room, sizeof *w->samples))
			return -ENOMEM;
		struct recorded_sample *s = &w->samples[w->sample_count++];
		uint64_t local = (uint64_t)t->warp->number * TASK_LANES + (uint32_t)__builtin_ctz(left), g = t->warp->group;
		*s = (struct recorded_sample){.offset = addresses[rank] - t->begin};
		s->variables[VARIABLE_lx] = (int64_t)(local % block[0]);
		s->variables[VARIABLE_ly] = (int64_t)(local / block[0] % block[1]);
		s->variables[VARIABLE_lz] = (int64_t)(local / block[0] / block[1]);
		s->variables[VARIABLE_gx] = (int64_t)(g % grid[0]);
		s->variables[VARIABLE_gy] = (int64_t)(g / grid[0] % grid[1]);
		s->variables[VARIABLE_gz] = (int64_t)(g / grid[0] / grid[1]);
		for (uint32_t d = 0; d < TASK_LOOPS && d < walk->depth; d++)
			s->variables[VARIABLE_i0 + d] = walk->turns[d];
	}
	write_row(w, addresses, rank, line->mask ? t->begin : 0);
	return w->rows.failed ? -ENOMEM : 0;
}

static int write_access(struct recorded_writer *w, const struct recorded_tree *tree, size_t leaf, uint32_t instruction)
{
	struct access_taker t = {.w = w, .instruction = instruction};
	int result = 0;
	w->sample_count = w->rows.len = 0;
	for (size_t i = 0; i < w->member_count && !result; i++) {
		struct recorded_walk walk = {.tree = tree, .leaf = leaf, .take = take_access, .ctx = &t};
		t.warp = &w->launch->warps[w->members[i]];
		result = walk_nodes(&walk, 0, tree->count);
	}
	if (result || !w->sample_count)
		return result ? result : -EINVAL;
	gs_buf_printf(&w->body, " (%s ", t.target);
	struct gs_buf sum = {0};
	if (fit_expression(w->samples, w->sample_count, t.loops, &sum)) {
		gs_buf_printf(&w->body, "at %s)", sum.data);
	} else if (w->sample_count > MOST_TABLE) {
		gs_buf_puts(&w->body, "random)");
		w->random_count++;
	} else {
		gs_buf_printf(&w->tables, "table %s_t%u {\n", w->name, ++w->table_count);
		gs_buf_add(&w->tables, w->rows.data, w->rows.len);
		gs_buf_puts(&w->tables, "}\n");
		gs_buf_printf(&w->body, "table %s_t%u)", w->name, w->table_count);
	}
	gs_buf_free(&sum);
	return 0;
}

/* ---- statements ---- */

static void indent(struct recorded_writer *w, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		gs_buf_puts(&w->body, "\t");
}

static int write_leaf(struct recorded_writer *w, const struct recorded_tree *tree, size_t leaf, uint32_t depth)
{
	const struct recorded_launch *l = w->launch;
	const struct recorded_node *n = &tree->nodes[leaf];
	const struct recorded_piece *p = &l->pieces[n->piece];
	int result = 0;
	indent(w, depth);
	if (n->mask != UINT32_MAX)
		gs_buf_printf(&w->body, "when 0x%08x >> lane & 1 { ", n->mask);
	gs_buf_printf(&w->body, "do %s_p%u", w->name, n->piece);
	for (uint32_t i = 0; i < p->count && !result; i++)
		if (l->instructions[l->order[p->first + i]].memory)
			result = write_access(w, tree, leaf, i);
	gs_buf_puts(&w->body, n->mask != UINT32_MAX ? " }\n" : "\n");
	return result;
}

static int write_nodes(struct recorded_writer *w, const struct recorded_tree *tree, size_t first, size_t end, uint32_t depth)
{
	int result = 0;
	for (size_t i = first; i < end && !result; i += tree->nodes[i].size) {
		const struct recorded_node *n = &tree->nodes[i];
		if (!n->turns) {
			result = write_leaf(w, tree, i, depth);
			continue;
		}
		indent(w, depth);
		gs_buf_printf(&w->body, "repeat %" PRIu64 " {\n", n->turns);
		result = write_nodes(w, tree, i + 1, i + n->size, depth + 1);
		indent(w, depth);
		gs_buf_puts(&w->body, "}\n");
	}
	return result;
}

static uint64_t number_in_launch(const struct recorded_launch *l, const struct recorded_warp *w)
{
	uint64_t items = l->header.block[0] * l->header.block[1] * l->header.block[2];
	return w->group * ((items + TASK_LANES - 1) / TASK_LANES) + w->number;
}

static void write_numbers(struct recorded_writer *w)
{
	for (size_t i = 0; i < w->member_count;) {
		uint64_t first = number_in_launch(w->launch, &w->launch->warps[w->members[i]]), last = first;
		while (++i < w->member_count && number_in_launch(w->launch, &w->launch->warps[w->members[i]]) == last + 1)
			last++;
		gs_buf_printf(&w->body, last > first ? " %" PRIu64 "-%" PRIu64 : " %" PRIu64, first, last);
	}
}

static bool same_tree(const struct recorded_tree *a, const struct recorded_tree *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->nodes[i].hash != b->nodes[i].hash || a->nodes[i].size != b->nodes[i].size)
			return false;
	return true;
}

static int write_variants(struct recorded_writer *w)
{
	const struct recorded_launch *l = w->launch;
	bool *done = calloc(l->warp_count + 1, sizeof *done);
	int result = done ? 0 : -ENOMEM;
	for (size_t i = 0; i < l->warp_count && !result; i++) {
		if (done[i])
			continue;
		w->member_count = 0;
		for (size_t j = i; j < l->warp_count; j++)
			if (!done[j] && same_tree(&l->warps[i].tree, &l->warps[j].tree)) {
				done[j] = true;
				w->members[w->member_count++] = j;
			}
		bool all = w->member_count == l->warp_count;
		if (!all) {
			gs_buf_puts(&w->body, "\twarps");
			write_numbers(w);
			gs_buf_puts(&w->body, " {\n");
		}
		result = write_nodes(w, &l->warps[i].tree, 0, l->warps[i].tree.count, all ? 1 : 2);
		if (!all)
			gs_buf_puts(&w->body, "\t}\n");
	}
	free(done);
	return result;
}

static void write_pieces(const struct recorded_writer *w, struct gs_buf *out)
{
	const struct recorded_launch *l = w->launch;
	for (size_t p = 0; p < l->piece_count; p++) {
		gs_buf_printf(out, "piece %s_p%zu {\n", w->name, p);
		for (uint32_t i = 0; i < l->pieces[p].count; i++) {
			const struct recorded_instruction *in = &l->instructions[l->order[l->pieces[p].first + i]];
			gs_buf_printf(out, "\t%s%s", in->opcode, in->off ? " off" : "");
			if (in->result >= 0 && in->result < 255)
				gs_buf_printf(out, " -> R%d", in->result);
			for (uint32_t s = 0, first = 1; s < in->source_count; s++)
				if (in->sources[s] >= 0 && in->sources[s] < 255) {
					gs_buf_printf(out, first ? " <- R%d" : " R%d", in->sources[s]);
					first = 0;
				}
			gs_buf_puts(out, "\n");
		}
		gs_buf_puts(out, "}\n");
	}
}

int recorded_write(const struct recorded_launch *l, const struct touched_pieces *memory, const char *name, struct gs_buf *out, struct gs_error *err)
{
	struct recorded_writer w = {.launch = l, .memory = memory, .name = name, .members = calloc(l->warp_count + 1, sizeof *w.members)};
	const uint64_t *g = l->header.grid, *b = l->header.block;
	int result = w.members ? write_variants(&w) : -ENOMEM;
	if (!result) {
		gs_buf_add(out, w.tables.data, w.tables.len);
		write_pieces(&w, out);
		gs_buf_printf(out, "kernel %s {\n\tgrid %" PRIu64 " %" PRIu64 " %" PRIu64 "\n\tblock %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, g[0], g[1], g[2], b[0], b[1], b[2]);
		gs_buf_printf(out, "\tregisters %u\n\tlocal %" PRIu64 "\n\trecorded %zu\n", l->header.registers ? l->header.registers : 32, l->header.shared_bytes, l->warp_count);
		gs_buf_add(out, w.body.data, w.body.len);
		gs_buf_puts(out, "}\n");
		if (w.random_count)
			gs_buf_printf(out, "# %u accesses of %s follow no rule and are too many for tables: random ones stand for them\n", w.random_count, name);
	}
	if (!result && (out->failed || w.tables.failed || w.body.failed))
		result = -ENOMEM;
	free(w.members);
	free(w.samples);
	gs_buf_free(&w.rows);
	gs_buf_free(&w.tables);
	gs_buf_free(&w.body);
	return result ? gs_fail(err, -result, result == -ENOMEM ? "out of memory" : "its trace makes no sense") : 0;
}
