/* Warps from the counters of their work-items: the most of all lanes, edge by edge, then a walk (walk.c). */
#include "models/synthesise.h"

#include "models/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Counts of one raw row, kept because neighbours are mostly alike; direct mapped. */
enum { KEPT_ROWS = 512 };

struct kept_row {
	bool used;
	uint32_t *row;
	double *edges, *blocks;
	double instructions;
};

/* A path, found again by what it was made from. */
struct kept_path {
	uint64_t hash;
	double *key; /* edges, then blocks, of the warp */
};

struct path_store {
	uint32_t **blocks; /* of each path */
	size_t count;
};

struct maker {
	const struct kernel_code *code;
	const struct lane_counts *lanes;
	const struct synthesis_limits *limits;
	struct synthesis *out;
	struct kept_row kept[KEPT_ROWS];
	uint32_t *row;
	uint64_t *counts;
	double *warp;   /* edges, then blocks: the most of the lanes */
	size_t key_size; /* of warp, in numbers */
	struct kept_path *paths;
	uint32_t *slots; /* open addressing: path + 1 */
	size_t path_count, slot_count;
	uint64_t blocks_kept, blocks_wanted;
	double lane_instructions, warp_instructions;
};

static uint64_t hash_bytes(const void *data, size_t length)
{
	const unsigned char *p = data;
	uint64_t h = 0x9e3779b97f4a7c15u ^ length;
	for (; length >= 4; p += 4, length -= 4) {
		uint32_t word;
		memcpy(&word, p, sizeof word);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h;
}

static bool room_for_row(struct maker *m, struct kept_row *k)
{
	const struct kernel_code *c = m->code;
	if (!k->row) {
		k->row = calloc(m->lanes->columns + 1, sizeof *k->row);
		k->edges = calloc(c->edge_count + 1, sizeof *k->edges);
		k->blocks = calloc(c->block_count + 1, sizeof *k->blocks);
	}
	return k->row && k->edges && k->blocks;
}

/* The counts of the row in m->row, or NULL without memory. */
static const struct kept_row *counts_of_row(struct maker *m)
{
	size_t bytes = m->lanes->columns * sizeof *m->row;
	struct kept_row *k = &m->kept[hash_bytes(m->row, bytes) % KEPT_ROWS];
	if (!room_for_row(m, k))
		return NULL;
	if (k->used && !memcmp(k->row, m->row, bytes))
		return k;
	struct code_counts counts = {.edges = k->edges, .blocks = k->blocks};
	m->lanes->expand(m->lanes->ctx, m->row, m->counts);
	code_count(m->code, m->counts, &counts);
	memcpy(k->row, m->row, bytes);
	k->used = true;
	k->instructions = counts.thread_instructions;
	m->out->inconsistent |= counts.inconsistent;
	return k;
}

static bool take_most(struct maker *m, const struct kept_row *k)
{
	const struct kernel_code *c = m->code;
	if (!k)
		return false;
	for (uint32_t i = 0; i < c->edge_count; i++)
		if (k->edges[i] > m->warp[i])
			m->warp[i] = k->edges[i];
	for (uint32_t i = 0; i < c->block_count; i++)
		if (k->blocks[i] > m->warp[c->edge_count + i])
			m->warp[c->edge_count + i] = k->blocks[i];
	m->lane_instructions += k->instructions;
	return true;
}

static int sum_warp(struct maker *m, const struct launch_shape *shape, uint64_t group, uint32_t warp)
{
	uint32_t first = warp * shape->warp_size, end = first + shape->warp_size;
	memset(m->warp, 0, m->key_size * sizeof *m->warp);
	for (uint32_t i = first; i < end && i < shape->threads_per_group; i++) {
		m->lanes->gather(m->lanes->ctx, group, i, m->row);
		if (!take_most(m, counts_of_row(m)))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < m->code->block_count; i++)
		m->warp_instructions += m->warp[m->code->edge_count + i] * m->code->blocks[i].count;
	return 0;
}

static bool grow_slots(struct maker *m)
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

static void *grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1)) /* doubled at the powers of two */
		return array;
	return reallocarray(array, count ? 2 * count : 1, size);
}

static int walk_new_path(struct maker *m, struct warp_path *out)
{
	const struct walk_counts counts = {m->warp, m->warp + m->code->edge_count};
	struct gs_buf path = {0};
	uint64_t room = m->limits->most_blocks > m->blocks_kept ? m->limits->most_blocks - m->blocks_kept : 1;
	int64_t wanted = walk_warp(m->code, &counts, room, &path);
	if (wanted < 0) {
		gs_buf_free(&path);
		return (int)wanted;
	}
	*out = (struct warp_path){.blocks = (uint32_t *)(void *)path.data, .block_count = path.len / sizeof(uint32_t)};
	m->blocks_kept += out->block_count;
	m->blocks_wanted += (uint64_t)wanted > out->block_count ? (uint64_t)wanted : out->block_count;
	return 0;
}

static int add_path(struct maker *m, uint64_t hash, size_t slot)
{
	struct path_store *store = m->out->store;
	struct kept_path *paths = grow(m->paths, m->path_count, sizeof *paths);
	m->paths = paths ? paths : m->paths;
	struct warp_path *out = grow(m->out->paths, m->path_count, sizeof *out);
	m->out->paths = out ? out : m->out->paths;
	uint32_t **blocks = grow(store->blocks, m->path_count, sizeof *blocks);
	store->blocks = blocks ? blocks : store->blocks;
	double *key = malloc(m->key_size * sizeof *key + 1);
	int result = paths && out && blocks && key ? walk_new_path(m, &out[m->path_count]) : -ENOMEM;
	if (result) {
		free(key);
		return result;
	}
	memcpy(key, m->warp, m->key_size * sizeof *key);
	store->blocks[store->count++] = (uint32_t *)out[m->path_count].blocks;
	paths[m->path_count] = (struct kept_path){hash, key};
	m->slots[slot] = (uint32_t)++m->path_count;
	return 0;
}

/* The path of the warp in m->warp. */
static int find_path(struct maker *m, uint32_t *out)
{
	size_t bytes = m->key_size * sizeof *m->warp;
	if (2 * m->path_count >= m->slot_count && !grow_slots(m))
		return -ENOMEM;
	uint64_t hash = hash_bytes(m->warp, bytes);
	size_t s = hash & (m->slot_count - 1);
	for (; m->slots[s]; s = (s + 1) & (m->slot_count - 1)) {
		const struct kept_path *p = &m->paths[m->slots[s] - 1];
		if (p->hash == hash && !memcmp(p->key, m->warp, bytes)) {
			*out = m->slots[s] - 1;
			return 0;
		}
	}
	int result = add_path(m, hash, s);
	*out = (uint32_t)m->path_count - 1;
	return result;
}

static int make_all(struct maker *m, const struct launch_shape *shape)
{
	struct synthesis *out = m->out;
	uint32_t warps = out->warps.warps_per_group;
	for (uint64_t g = 0; g < out->sampled_groups; g++) {
		/* Evenly over the launch, its first and its last group among them. */
		uint64_t group = out->sampled_groups > 1
		                     ? (uint64_t)((__uint128_t)g * (shape->groups - 1) / (out->sampled_groups - 1)) : 0;
		for (uint32_t w = 0; w < warps; w++) {
			int result = sum_warp(m, shape, group, w);
			if (!result)
				result = find_path(m, &out->path_of[g * warps + w]);
			if (result)
				return result;
		}
	}
	return 0;
}

static int begin(struct maker *m, const struct launch_shape *shape)
{
	struct synthesis *out = m->out;
	uint64_t most = m->limits->most_items / shape->threads_per_group;
	most = most ? most : 1;
	out->sampled_groups = shape->groups < most ? shape->groups : most;
	out->warps = (struct launch_warps){
		.code = m->code, .groups = shape->groups, .pattern_groups = out->sampled_groups,
		.warps_per_group = (shape->threads_per_group + shape->warp_size - 1) / shape->warp_size,
	};
	m->key_size = (size_t)m->code->edge_count + m->code->block_count;
	m->row = calloc(m->lanes->columns + 1, sizeof *m->row);
	m->counts = calloc(m->code->counter_count + 1, sizeof *m->counts);
	m->warp = calloc(m->key_size + 1, sizeof *m->warp);
	out->path_of = calloc(out->sampled_groups * out->warps.warps_per_group + 1, sizeof *out->path_of);
	out->store = calloc(1, sizeof *out->store);
	return m->row && m->counts && m->warp && out->path_of && out->store ? 0 : -ENOMEM;
}

static void end(struct maker *m)
{
	for (size_t i = 0; i < KEPT_ROWS; i++) {
		free(m->kept[i].row);
		free(m->kept[i].edges);
		free(m->kept[i].blocks);
	}
	for (size_t i = 0; i < m->path_count; i++)
		free(m->paths[i].key);
	free(m->paths);
	free(m->slots);
	free(m->row);
	free(m->counts);
	free(m->warp);
	free(m);
}

int synthesise(const struct kernel_code *code, const struct launch_shape *shape, const struct lane_counts *lanes,
               const struct synthesis_limits *limits, struct synthesis *out)
{
	struct maker *m = calloc(1, sizeof *m);
	*out = (struct synthesis){.fraction = 1};
	if (!m)
		return -ENOMEM;
	*m = (struct maker){.code = code, .lanes = lanes, .limits = limits, .out = out};
	int result = shape->groups && shape->threads_per_group && shape->warp_size ? begin(m, shape) : -EINVAL;
	if (!result)
		result = make_all(m, shape);
	out->warps.paths = out->paths;
	out->warps.path_count = (uint32_t)m->path_count;
	out->warps.path_of = out->path_of;
	if (m->blocks_wanted)
		out->fraction = (double)m->blocks_kept / (double)m->blocks_wanted;
	if (m->warp_instructions > 0)
		out->lane_efficiency = m->lane_instructions / (m->warp_instructions * shape->warp_size);
	end(m);
	if (result)
		synthesis_free(out);
	return result;
}

void synthesis_free(struct synthesis *s)
{
	for (size_t i = 0; s->store && i < s->store->count; i++)
		free(s->store->blocks[i]);
	if (s->store)
		free(s->store->blocks);
	free(s->store);
	free(s->paths);
	free(s->path_of);
	*s = (struct synthesis){0};
}
