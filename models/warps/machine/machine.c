/* See machine.h. */
#include "models/warps/machine/store.h"

#include "models/code/costs.h"

#include <errno.h>
#include <stdlib.h>

bool machine_has(const struct kernel_code *code)
{
	return code->machine_block_count > 0;
}

bool machine_executes(const struct kernel_code *code, uint32_t block)
{
	bool executes = code->machine_blocks[block].count > 0;
	for (uint32_t b = code->block_count; b < code->machine_block_count && !executes; b++)
		executes = code->machine_blocks[b].of == block && code->machine_blocks[b].count;
	return executes;
}

const char *machine_pipe_name(enum machine_pipe pipe)
{
#define NAME(name) #name,
	static const char *const names[] = {MACHINE_PIPES(NAME)};
#undef NAME
	return (unsigned)pipe < MACHINE_PIPE_COUNT ? names[pipe] : "unknown";
}

enum machine_pipe machine_pipe_of(const struct code_instruction *in)
{
	bool half = in->bytes == 2 && (in->class == CODE_fp32 || in->class == CODE_fp32_fma), place = in->class == CODE_shuffle && in->space == SPACE_param;
	bool constant = in->class == CODE_load && (in->space == SPACE_param || in->space == SPACE_const); /* LDC */
	if (half || place || constant)
		return PIPE_other;
	switch (in->class) {
	case CODE_fp32:
	case CODE_fp32_fma:
	case CODE_int_mul:
	case CODE_int_mad:
		return PIPE_fma;
	case CODE_int:
	case CODE_int_minmax:
	case CODE_fp32_minmax:
	case CODE_logic:
	case CODE_move:
		return PIPE_alu;
	case CODE_sfu:
	case CODE_conv:
		return PIPE_xu;
	case CODE_fp64:
	case CODE_fp64_fma:
	case CODE_fp64_minmax:
		return PIPE_fp64;
	case CODE_load:
	case CODE_store:
	case CODE_atomic:
	case CODE_shuffle:
		return PIPE_lsu;
	default:
		return PIPE_other;
	}
}

/* ---- the code ---- */

void machine_view(const struct kernel_code *c, struct code_block *blocks, struct kernel_code *view)
{
	*view = *c;
	view->code = c->machine;
	view->code_count = c->machine_count;
	view->operands = c->machine_operands;
	view->operand_count = c->machine_operand_count;
	view->register_table = c->machine_registers;
	view->register_count = c->machine_register_count;
	view->blocks = blocks;
	view->block_count = c->machine_block_count;
	for (uint32_t i = 0; i < c->machine_block_count; i++) {
		blocks[i] = c->blocks[c->machine_blocks[i].of];
		blocks[i].first = c->machine_blocks[i].first;
		blocks[i].count = c->machine_blocks[i].count;
	}
}

/* A load of shared memory that the assembler made of several takes as long as all lanes get its bytes, however few words they share. */
static uint16_t least_turns(const struct gpu *gpu, const struct code_instruction *machine, const struct code_instruction *ptx)
{
	bool wider = machine->class == CODE_load && machine->space == SPACE_shared && machine->bytes > ptx->bytes;
	uint32_t returned = gpu->shared_return_bytes;
	return wider && returned ? (uint16_t)((gpu->warp_size * machine->bytes + returned - 1) / returned) : 1;
}

/* How many accesses of the block are executions of the same one of the PTX as place `of`. */
static uint32_t count_same(const struct access_place *places, uint32_t count, uint32_t of)
{
	uint32_t all = 0;
	for (uint32_t i = 0; i < count; i++)
		all += places[i].block == places[of].block && places[i].rank == places[of].rank;
	return all;
}

/* Loads of constants (ULDC) bring two words at the most, so that an access of the PTX may be several of them in each copy. */
static void share_copies(const struct code_machine_block *m, const struct code_instruction *code, struct access_place *places, uint32_t count)
{
	uint32_t at = 0;
	for (uint32_t i = m->first; i < m->first + m->count; i++) {
		if (!code_has_accesses(code[i].class))
			continue;
		uint32_t all = code[i].class == CODE_uniform ? count_same(places, count, at) : 0;
		places[at].copy = all > m->times ? places[at].copy * m->times / all : places[at].copy;
		at++;
	}
}

static void find_places(const struct gpu *gpu, const struct kernel_code *c, struct machine_store *s, uint32_t *ranks, uint32_t *owners)
{
	uint32_t count = 0;
	s->reordered = c->origin != CODE_SELECTED;
	for (uint32_t b = 0; b < c->block_count; b++)
		for (uint32_t i = c->blocks[b].first; i < c->blocks[b].first + c->blocks[b].count; i++)
			if (code_has_accesses(c->code[i].class)) {
				owners[i] = b;
				ranks[i] = s->block_accesses[b]++;
			}
	for (uint32_t b = 0; b < c->machine_block_count; b++) {
		const struct code_machine_block *m = &c->machine_blocks[b];
		uint32_t last_origin = 0, last_copy = 0;
		s->first_place[b] = count;
		for (uint32_t i = m->first; i < m->first + m->count; i++) {
			uint32_t origin = c->machine_origins[i];
			if (!code_has_accesses(c->machine[i].class))
				continue;
			s->places[count] = (struct access_place){.block = owners[origin], .rank = ranks[origin]};
			s->places[count].least = least_turns(gpu, &c->machine[i], &c->code[origin]);
			s->places[count].moved =
			    owners[origin] != m->of && c->machine_blocks[owners[origin]].merged != (int32_t)m->of;
			s->reordered |= s->places[count].moved;
			for (uint32_t p = s->first_place[b]; p < count && m->times > 1; p++)
				s->places[count].copy += s->places[p].block == owners[origin] && s->places[p].rank == ranks[origin];
			uint32_t now = s->places[count++].copy;
			s->reordered |= now < last_copy || (now == last_copy && origin < last_origin);
			last_origin = origin;
			last_copy = now;
		}
		if (m->times > 1)
			share_copies(m, c->machine, s->places + s->first_place[b], count - s->first_place[b]);
	}
	s->first_place[c->machine_block_count] = count;
}

/* Arrays that have an entry per instruction, for the machine's. */
static int take_usual(const struct launch_warps *in, struct machine_store *s)
{
	const struct kernel_code *c = in->code;
	size_t count = c->machine_count + 1u;
	s->usual_accesses = in->usual_accesses ? calloc(count, sizeof *s->usual_accesses) : NULL;
	s->usual_waits = in->usual_waits ? calloc(count, sizeof *s->usual_waits) : NULL;
	s->shifts = in->shifts ? calloc(count, sizeof *s->shifts) : NULL;
	if ((in->usual_accesses && !s->usual_accesses) || (in->usual_waits && !s->usual_waits) || (in->shifts && !s->shifts))
		return -ENOMEM;
	for (uint32_t i = 0; i < c->machine_count; i++) {
		uint32_t origin = c->machine_origins[i];
		if (s->usual_accesses)
			s->usual_accesses[i] = origin == UINT32_MAX ? 1 : in->usual_accesses[origin];
		if (s->usual_waits && origin != UINT32_MAX)
			s->usual_waits[i] = in->usual_waits[origin];
		if (s->shifts && origin != UINT32_MAX)
			s->shifts[i] = in->shifts[origin];
	}
	return 0;
}

/* ---- all of it ---- */

/* How many warps of the pattern take each path; NULL when memory runs out. */
static uint64_t *count_uses(const struct launch_warps *w)
{
	uint64_t *uses = calloc(w->path_count + 1u, sizeof *uses);
	for (uint64_t i = 0; i < w->pattern_groups * w->warps_per_group && uses; i++)
		uses[w->path_of[i]]++;
	return uses;
}

static void count_pipes(const struct kernel_code *code, const struct warp_path *path, double uses, double *by_pipe)
{
	for (size_t i = 0; i < path->block_count; i++) {
		const struct code_block *b = &code->blocks[path->blocks[i]];
		for (uint32_t k = b->first; k < b->first + b->count; k++)
			by_pipe[machine_pipe_of(&code->code[k])] += path_weight(path, i) * uses;
	}
}

/* Returns the instructions of the pattern. */
static double share_pipes(const struct kernel_code *code, const struct warp_path *paths, uint32_t path_count, const uint64_t *uses, double *by_pipe)
{
	double sum = 0;
	for (int k = 0; k < MACHINE_PIPE_COUNT; k++)
		by_pipe[k] = 0;
	for (uint32_t p = 0; p < path_count; p++)
		count_pipes(code, &paths[p], (double)uses[p], by_pipe);
	for (int k = 0; k < MACHINE_PIPE_COUNT; k++)
		sum += by_pipe[k];
	for (int k = 0; k < MACHINE_PIPE_COUNT && sum > 0; k++)
		by_pipe[k] /= sum;
	return sum;
}

int machine_share_pipes(const struct launch_warps *w, double by_pipe[MACHINE_PIPE_COUNT])
{
	uint64_t *uses = count_uses(w);
	if (uses)
		share_pipes(w->code, w->paths, w->path_count, uses, by_pipe);
	free(uses);
	return uses ? 0 : -ENOMEM;
}

/* Means over the warps of the pattern. */
static int sum_up(const struct launch_warps *in, struct machine_paths *out)
{
	const struct machine_store *s = out->store;
	uint64_t *uses = count_uses(in);
	double ptx = 0;
	if (!uses)
		return -ENOMEM;
	double machine = share_pipes(&s->view, s->paths, in->path_count, uses, out->by_pipe);
	for (uint32_t p = 0; p < in->path_count; p++)
		ptx += path_instructions(in->code, &in->paths[p]) * (double)uses[p];
	out->ptx_per_instruction = machine > 0 ? ptx / machine : 1;
	free(uses);
	return 0;
}

/* What an execution of each block of the PTX has at most, and how loops are entered. */
static int find_pieces(const struct kernel_code *c, struct machine_store *s)
{
	uint32_t most = 1;
	for (uint32_t b = 0; b < c->machine_block_count; b++) {
		const struct code_machine_block *m = &c->machine_blocks[b];
		uint32_t count = s->first_place[b + 1] - s->first_place[b];
		if (m->times == CODE_REST)
			s->rest_accesses[m->of] = count;
		if (m->times > CODE_MOST_TIMES) {
			*(m->times == CODE_ARRIVES ? &s->arrivals[m->of] : m->times == CODE_REST ? &s->rests[m->of] : &s->ways[m->of]) = b;
			continue;
		}
		uint32_t each = m->times ? (count + m->times - 1) / m->times : 0;
		if (each > s->most_accesses[m->of])
			s->most_accesses[m->of] = each;
		if (!m->times)
			s->entries[m->of] = b;
		s->longest[m->of] = m->times > s->longest[m->of] ? m->times : s->longest[m->of];
		most = m->times > most ? m->times : most;
	}
	for (uint32_t b = 0; b < c->block_count; b++)
		s->coded[b] = machine_executes(c, b);
	for (uint32_t b = 0; b < c->block_count; b++) /* half a piece may be rounded up to a whole one */
		s->most_accesses[b] = s->most_accesses[b] * (c->machine_blocks[b].count ? 1 : 2) + s->rest_accesses[b];
	for (uint32_t e = 0; e < c->edge_count; e++) {
		int32_t to = c->edges[e].to, table = c->machine_blocks[c->edges[e].from].merged;
		table = table >= 0 ? table : (int32_t)c->edges[e].from;
		if (to >= 0 && s->ways[table] && c->machine_blocks[to].count)
			s->way_of[to] = (uint32_t)table + 1;
	}
	s->executions = calloc(most, sizeof *s->executions);
	return s->executions ? 0 : -ENOMEM;
}

static int make_store(const struct gpu *gpu, const struct launch_warps *in, struct machine_store *s)
{
	const struct kernel_code *c = in->code;
	uint32_t *ranks = calloc(c->code_count + 1u, sizeof *ranks), *owners = calloc(c->code_count + 1u, sizeof *owners);
	s->blocks = calloc(c->machine_block_count + 1u, sizeof *s->blocks);
	s->paths = calloc(in->path_count + 1u, sizeof *s->paths);
	s->written = calloc(in->path_count + 1u, sizeof *s->written);
	s->places = calloc(c->machine_count + 1u, sizeof *s->places);
	s->first_place = calloc(c->machine_block_count + 2u, sizeof *s->first_place);
	s->block_accesses = calloc(c->block_count + 1u, sizeof *s->block_accesses);
	s->most_accesses = calloc(c->block_count + 1u, sizeof *s->most_accesses);
	s->coded = calloc(c->block_count + 1u, sizeof *s->coded);
	s->entries = calloc(c->block_count + 1u, sizeof *s->entries);
	s->rests = calloc(c->block_count + 1u, sizeof *s->rests);
	s->rest_accesses = calloc(c->block_count + 1u, sizeof *s->rest_accesses);
	s->longest = calloc(c->block_count + 1u, sizeof *s->longest);
	s->arrivals = calloc(c->block_count + 1u, sizeof *s->arrivals);
	s->ways = calloc(c->block_count + 1u, sizeof *s->ways);
	s->way_of = calloc(c->block_count + 1u, sizeof *s->way_of);
	int result = ranks && owners && s->blocks && s->paths && s->written && s->places && s->first_place &&
	                     s->block_accesses && s->most_accesses && s->coded && s->entries && s->rests && s->rest_accesses &&
	                     s->longest && s->arrivals && s->ways && s->way_of ? 0 : -ENOMEM;
	if (!result) {
		machine_view(c, s->blocks, &s->view);
		find_places(gpu, c, s, ranks, owners);
		result = find_pieces(c, s);
	}
	if (!result)
		result = take_usual(in, s);
	free(ranks);
	free(owners);
	return result;
}

int machine_paths_make(const struct gpu *gpu, const struct launch_warps *in, struct machine_paths *out)
{
	*out = (struct machine_paths){.warps = *in, .store = calloc(1, sizeof *out->store)};
	int result = out->store ? make_store(gpu, in, out->store) : -ENOMEM;
	for (uint32_t p = 0; p < in->path_count && !result; p++) {
		out->store->path_count = p + 1;
		result = machine_write_path(in, out->store, p);
	}
	if (!result)
		result = sum_up(in, out);
	if (result) {
		machine_paths_free(out);
		return result;
	}
	out->warps.code = &out->store->view;
	out->warps.paths = out->store->paths;
	out->warps.usual_accesses = out->store->usual_accesses;
	out->warps.usual_waits = out->store->usual_waits;
	out->warps.shifts = out->store->shifts;
	return 0;
}

void machine_paths_free(struct machine_paths *m)
{
	struct machine_store *s = m->store;
	for (uint32_t p = 0; s && p < s->path_count; p++) {
		free(s->written[p].blocks);
		free(s->written[p].accesses);
		free(s->written[p].waits);
		free(s->written[p].first);
		free(s->written[p].parts);
		free(s->written[p].gaps);
		free(s->written[p].shifts);
		free(s->written[p].weights);
	}
	if (s) {
		free(s->blocks);
		free(s->paths);
		free(s->written);
		free(s->places);
		free(s->first_place);
		free(s->block_accesses);
		free(s->most_accesses);
		free(s->coded);
		free(s->entries);
		free(s->rests);
		free(s->rest_accesses);
		free(s->longest);
		free(s->arrivals);
		free(s->ways);
		free(s->way_of);
		free(s->executions);
		free(s->usual_accesses);
		free(s->usual_waits);
		free(s->shifts);
	}
	free(s);
	*m = (struct machine_paths){0};
}
