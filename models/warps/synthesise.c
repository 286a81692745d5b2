/* Warps from the counters of their work-items: each lane's walk, then the replay of all of them. */
#include "models/warps/synthesise.h"

#include "models/accesses/accesses.h"
#include "models/warps/replay.h"
#include "models/warps/walk.h"
#include "models/util/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A path, found again by the rows of its lanes. */
struct kept_path {
	uint64_t hash;
	uint32_t *key;
	double lane_instructions, warp_instructions;
};

struct path_store {
	void **blocks, **accesses; /* of each path */
	size_t count;
};

struct path_maker {
	const struct kernel_code *code;
	const struct launch_shape *shape;
	const struct lane_counts *lanes;
	const uint16_t *usual;
	const struct synthesis_limits *limits;
	struct synthesis *out;
	uint32_t *rows; /* the number of the warp's lanes, then their rows */
	size_t row_words;
	uint32_t lane_count;
	uint64_t *counts;
	struct code_counts sums;
	struct kept_path *paths;
	uint32_t *slots; /* open addressing: path + 1 */
	size_t path_count, slot_count;
	uint64_t walked, kept, wanted;
	double lane_instructions, warp_instructions;
	uint64_t seed;
};

/* ---- one path ---- */

/* What the replay of a warp leaves. */
struct recording {
	struct path_maker *m;
	struct gs_buf blocks, accesses;
	double lane_instructions;
	uint64_t warp_instructions;
	double owed; /* accesses that chance brings, on average, and that were not recorded */
	bool lists; /* some accesses are OF_LIST: their lanes, which settle_lists makes accesses of */
};

/* Whole numbers that keep to the mean. */
static uint16_t accesses_by_chance(struct recording *r, uint32_t active)
{
	double mean = r->m->limits->chance ? r->m->limits->chance[active] : 1;
	uint16_t n = (uint16_t)(r->owed + mean + 0.5);
	r->owed += mean - n;
	return n ? n : 1;
}

static bool record_block(void *ctx, uint32_t block, uint64_t lanes)
{
	struct recording *r = ctx;
	const struct kernel_code *c = r->m->code;
	const struct code_block *b = &c->blocks[block];
	uint32_t active = (uint32_t)__builtin_popcountll(lanes);
	gs_buf_add(&r->blocks, &block, sizeof block);
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		if (!code_accesses_memory(&c->code[i]))
			continue;
		uint16_t usual = r->m->usual ? r->m->usual[i] : 1;
		uint16_t n = usual == ACCESSES_BY_CHANCE ? accesses_by_chance(r, active)
		                                         : accesses_of_lanes(usual, active, r->m->shape->warp_size);
		r->lists |= usual == ACCESSES_OF_LIST;
		gs_buf_add(&r->accesses, &n, sizeof n);
	}
	r->warp_instructions += b->count;
	r->lane_instructions += (double)b->count * active;
	return !r->blocks.failed && !r->accesses.failed && r->blocks.len < (size_t)1 << 30;
}

/* Calls `visit` for every recorded access to a list. */
static void each_list_access(struct recording *r, void (*visit)(void *ctx, uint32_t instruction, uint16_t *n), void *ctx)
{
	const struct kernel_code *c = r->m->code;
	const uint32_t *blocks = (const uint32_t *)(void *)r->blocks.data;
	uint16_t *access = (uint16_t *)(void *)r->accesses.data;
	for (size_t k = 0; k < r->blocks.len / sizeof *blocks; k++) {
		const struct code_block *b = &c->blocks[blocks[k]];
		for (uint32_t i = b->first; i < b->first + b->count; i++) {
			if (!code_accesses_memory(&c->code[i]))
				continue;
			if (r->m->usual[i] == ACCESSES_OF_LIST)
				visit(ctx, i, access);
			access++;
		}
	}
}

/* Copies of one access of the source, which an unrolled loop has many of, are known by their place. */
static bool same_place(const struct code_instruction *a, const struct code_instruction *b)
{
	return a->line == b->line && a->column == b->column && a->file == b->file && a->class == b->class;
}

struct list_sums {
	const struct kernel_code *code;
	uint64_t *elements, line_bytes; /* per instruction, those of its place with the first of them */
	uint32_t *most_lanes, *first;
};

static void sum_list(void *ctx, uint32_t instruction, uint16_t *n)
{
	struct list_sums *s = ctx;
	uint32_t first = s->first[instruction];
	s->elements[first] += *n;
	s->most_lanes[first] = *n > s->most_lanes[first] ? *n : s->most_lanes[first];
}

/* Lanes are a part's length apart, so several of them share a line. *n: lanes that are on; then lines. */
static void settle_list(void *ctx, uint32_t instruction, uint16_t *n)
{
	struct list_sums *s = ctx;
	uint32_t first = s->first[instruction];
	uint64_t apart = s->elements[first] * s->code->code[instruction].bytes / (s->most_lanes[first] ? s->most_lanes[first] : 1);
	uint64_t lines = (*n * apart + s->line_bytes - 1) / s->line_bytes;
	*n = (uint16_t)(lines < 1 ? 1 : lines < *n ? lines : *n);
}

/* The parts of a list follow one another, so that neighbours begin as far apart as a part is long: as many elements as
 * a lane went through. */
static int settle_lists(struct recording *r)
{
	const struct kernel_code *c = r->m->code;
	struct list_sums s = {.code = c, .line_bytes = r->m->limits->line_bytes ? r->m->limits->line_bytes : 128};
	s.elements = calloc(c->code_count + 1, sizeof *s.elements);
	s.most_lanes = calloc(c->code_count + 1, sizeof *s.most_lanes);
	s.first = calloc(c->code_count + 1, sizeof *s.first);
	int result = s.elements && s.most_lanes && s.first ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < c->code_count && !result; i++) {
		s.first[i] = i;
		for (uint32_t j = 0; j < i && r->m->usual[i] == ACCESSES_OF_LIST; j++)
			if (r->m->usual[j] == ACCESSES_OF_LIST && same_place(&c->code[i], &c->code[j])) {
				s.first[i] = j;
				break;
			}
	}
	if (!result) {
		each_list_access(r, sum_list, &s);
		each_list_access(r, settle_list, &s);
	}
	free(s.elements);
	free(s.most_lanes);
	free(s.first);
	return result;
}

static const uint32_t *row_of(const struct path_maker *m, uint32_t lane)
{
	return m->rows + 1 + lane * m->row_words;
}

static int count_lane(struct path_maker *m, uint32_t lane)
{
	m->lanes->expand(m->lanes->ctx, row_of(m, lane), m->counts);
	int result = code_count(m->code, m->counts, &m->sums);
	m->out->inconsistent |= m->sums.inconsistent;
	return result;
}

/* The walks of all lanes; those of equal rows are shared where they cannot differ. */
static int walk_lanes(struct path_maker *m, struct gs_buf *walks, struct lane_path *paths)
{
	bool differs = false;
	uint32_t shared = 0;
	for (uint32_t l = 0; l < m->lane_count; l++) {
		bool same = l && !memcmp(row_of(m, l), row_of(m, l - 1), m->row_words * sizeof(uint32_t));
		if (!same && count_lane(m, l))
			return -ENOMEM;
		if (!same)
			differs = walk_may_differ(m->code, m->sums.edges);
		if (!same || differs) {
			uint64_t room = m->limits->most_blocks > m->walked ? m->limits->most_blocks - m->walked : 1;
			int64_t wanted = walk_lane(m->code, m->sums.edges, ++m->seed, room, &walks[l]);
			if (wanted < 0)
				return (int)wanted;
			m->walked += walks[l].len / sizeof(uint32_t);
			m->kept += walks[l].len / sizeof(uint32_t);
			m->wanted += (uint64_t)wanted;
			shared = l;
		}
		paths[l] = (struct lane_path){(const uint32_t *)(void *)walks[shared].data, walks[shared].len / sizeof(uint32_t)};
	}
	return 0;
}

static int make_path(struct path_maker *m, struct recording *r)
{
	struct gs_buf walks[REPLAY_MOST_LANES] = {{0}};
	struct lane_path paths[REPLAY_MOST_LANES];
	int result = walk_lanes(m, walks, paths);
	if (!result)
		result = replay_warp(m->code, paths, m->lane_count, record_block, r);
	if (r->blocks.failed || r->accesses.failed)
		result = -ENOMEM;
	if (!result && r->lists)
		result = settle_lists(r);
	for (uint32_t l = 0; l < m->lane_count; l++)
		gs_buf_free(&walks[l]);
	return result;
}

/* ---- paths by their lanes ---- */

static bool grow_slots(struct path_maker *m)
{
	size_t count = m->slot_count ? 2 * m->slot_count : 256;
	uint32_t *slots = calloc(count, sizeof *slots);
	if (!slots)
		return false;
	for (size_t p = 0; p < m->path_count; p++) {
		size_t s = m->paths[p].hash & (count - 1);
		while (slots[s])
			s = (s + 1) & (count - 1);
		slots[s] = (uint32_t)p + 1;
	}
	free(m->slots);
	m->slots = slots;
	m->slot_count = count;
	return true;
}

static void *grow_array(void *array, size_t count, size_t size)
{
	if (count & (count - 1)) /* doubled at the powers of two */
		return array;
	return reallocarray(array, count ? 2 * count : 1, size);
}

static bool room_for_path(struct path_maker *m)
{
	struct path_store *store = m->out->store;
	struct kept_path *paths = grow_array(m->paths, m->path_count, sizeof *paths);
	m->paths = paths ? paths : m->paths;
	struct warp_path *out = grow_array(m->out->paths, m->path_count, sizeof *out);
	m->out->paths = out ? out : m->out->paths;
	void **blocks = grow_array(store->blocks, m->path_count, sizeof *blocks);
	store->blocks = blocks ? blocks : store->blocks;
	void **accesses = grow_array(store->accesses, m->path_count, sizeof *accesses);
	store->accesses = accesses ? accesses : store->accesses;
	return paths && out && blocks && accesses;
}

static int add_path(struct path_maker *m, uint64_t hash, size_t words, size_t slot)
{
	struct path_store *store = m->out->store;
	struct recording r = {.m = m};
	uint32_t *key = malloc(words * sizeof *key + 1);
	int result = key && room_for_path(m) ? make_path(m, &r) : -ENOMEM;
	if (result) {
		gs_buf_free(&r.blocks);
		gs_buf_free(&r.accesses);
		free(key);
		return result;
	}
	memcpy(key, m->rows, words * sizeof *key);
	m->out->paths[m->path_count] = (struct warp_path){
		.blocks = (uint32_t *)(void *)r.blocks.data, .block_count = r.blocks.len / sizeof(uint32_t),
		.accesses = (uint16_t *)(void *)r.accesses.data, .access_count = r.accesses.len / sizeof(uint16_t),
		.active_lanes = (uint64_t)r.lane_instructions,
	};
	store->blocks[store->count] = r.blocks.data;
	store->accesses[store->count++] = r.accesses.data;
	m->paths[m->path_count] = (struct kept_path){hash, key, r.lane_instructions, (double)r.warp_instructions};
	m->slots[slot] = (uint32_t)++m->path_count;
	return 0;
}

/* The path of the warp whose rows are in m->rows. */
static int find_path(struct path_maker *m, uint32_t *out)
{
	size_t words = 1 + m->lane_count * m->row_words;
	if (2 * m->path_count >= m->slot_count && !grow_slots(m))
		return -ENOMEM;
	uint64_t hash = hash_bytes(m->rows, words * sizeof *m->rows, 0);
	size_t s = hash & (m->slot_count - 1);
	for (; m->slots[s]; s = (s + 1) & (m->slot_count - 1)) {
		const struct kept_path *p = &m->paths[m->slots[s] - 1];
		if (p->hash == hash && p->key[0] == m->lane_count && !memcmp(p->key, m->rows, words * sizeof *p->key)) {
			*out = m->slots[s] - 1;
			return 0;
		}
	}
	if (m->path_count && m->walked >= m->limits->most_blocks) {
		m->out->reused = true;
		*out = (uint32_t)(hash % m->path_count);
		return 0;
	}
	int result = add_path(m, hash, words, s);
	*out = (uint32_t)m->path_count - 1;
	return result;
}

static int make_warp(struct path_maker *m, uint64_t group, uint32_t warp, uint32_t *path)
{
	uint32_t first = warp * m->shape->warp_size, end = first + m->shape->warp_size;
	end = end < m->shape->threads_per_group ? end : m->shape->threads_per_group;
	m->lane_count = m->rows[0] = end - first;
	for (uint32_t i = first; i < end; i++)
		m->lanes->gather(m->lanes->ctx, group, i, m->rows + 1 + (i - first) * m->row_words);
	int result = find_path(m, path);
	if (!result) {
		m->lane_instructions += m->paths[*path].lane_instructions;
		m->warp_instructions += m->paths[*path].warp_instructions;
	}
	return result;
}

static int make_all(struct path_maker *m)
{
	struct synthesis *out = m->out;
	uint32_t warps = out->warps.warps_per_group;
	int result = 0;
	for (uint64_t g = 0; g < out->sampled_groups && !result; g++) {
		/* Evenly over the launch, its first and its last group among them. */
		uint64_t group = out->sampled_groups > 1
		                     ? (uint64_t)((__uint128_t)g * (m->shape->groups - 1) / (out->sampled_groups - 1)) : 0;
		for (uint32_t w = 0; w < warps && !result; w++)
			result = make_warp(m, group, w, &out->path_of[g * warps + w]);
	}
	return result;
}

static int start_synthesis(struct path_maker *m, struct gs_error *err)
{
	const struct launch_shape *shape = m->shape;
	struct synthesis *out = m->out;
	if (!shape->groups || !shape->threads_per_group || !shape->warp_size)
		return gs_fail(err, EINVAL, "the launch has no work-items, or the GPU no lanes");
	if (shape->warp_size > REPLAY_MOST_LANES)
		return gs_fail(err, EINVAL, "its warps have %u lanes; at most %d can be modelled", shape->warp_size, REPLAY_MOST_LANES);
	uint64_t most = m->limits->most_items / shape->threads_per_group;
	most = most ? most : 1;
	out->sampled_groups = shape->groups < most ? shape->groups : most;
	out->warps = (struct launch_warps){
		.code = m->code, .groups = shape->groups, .pattern_groups = out->sampled_groups, .pattern_in_order = true,
		.warps_per_group = (shape->threads_per_group + shape->warp_size - 1) / shape->warp_size,
	};
	m->row_words = m->lanes->columns;
	m->rows = calloc(m->row_words * shape->warp_size + 2, sizeof *m->rows);
	m->counts = calloc(m->code->counter_count + 1, sizeof *m->counts);
	m->sums.edges = calloc(m->code->edge_count + 1, sizeof *m->sums.edges);
	m->sums.blocks = calloc(m->code->block_count + 1, sizeof *m->sums.blocks);
	out->path_of = calloc(out->sampled_groups * out->warps.warps_per_group + 1, sizeof *out->path_of);
	out->store = calloc(1, sizeof *out->store);
	return m->rows && m->counts && m->sums.edges && m->sums.blocks && out->path_of && out->store ? 0 : -ENOMEM;
}

static void end_synthesis(struct path_maker *m)
{
	for (size_t i = 0; i < m->path_count; i++)
		free(m->paths[i].key);
	free(m->paths);
	free(m->slots);
	free(m->rows);
	free(m->counts);
	free(m->sums.edges);
	free(m->sums.blocks);
}

int synthesise(const struct kernel_code *code, const struct launch_shape *shape, const struct lane_counts *lanes,
               const uint16_t *accesses, const struct synthesis_limits *limits, struct synthesis *out, struct gs_error *err)
{
	struct path_maker m = {.code = code, .shape = shape, .lanes = lanes, .usual = accesses, .limits = limits, .out = out};
	*out = (struct synthesis){.fraction = 1};
	int result = start_synthesis(&m, err);
	if (!result)
		result = make_all(&m);
	out->warps.paths = out->paths;
	out->warps.path_count = (uint32_t)m.path_count;
	out->warps.path_of = out->path_of;
	if (m.wanted > m.kept)
		out->fraction = (double)m.kept / (double)m.wanted;
	if (m.warp_instructions > 0)
		out->lane_efficiency = m.lane_instructions / (m.warp_instructions * shape->warp_size);
	end_synthesis(&m);
	if (result)
		synthesis_free(out);
	return result;
}

void synthesis_free(struct synthesis *s)
{
	for (size_t i = 0; s->store && i < s->store->count; i++) {
		free(s->store->blocks[i]);
		free(s->store->accesses[i]);
	}
	if (s->store) {
		free(s->store->blocks);
		free(s->store->accesses);
	}
	free(s->store);
	free(s->paths);
	free(s->path_of);
	*s = (struct synthesis){0};
}
