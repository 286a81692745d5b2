/* Records what every warp of a launch executes: blocks and accesses. Warps that do the same share one record. */
#include "tests/oracle/internal.h"

#include <errno.h>
#include <stdlib.h>

struct list {
	void *data;
	size_t count, room;
};

/* What a warp of the current group has done so far. */
struct record {
	struct list blocks;          /* uint32_t */
	struct list accesses, waits; /* uint16_t */
	struct list first, parts;    /* uint32_t, struct memory_part: only if there is a GPU */
	uint64_t lanes;
};

struct recorder {
	const struct oracle *program;
	const struct gpu *gpu;
	uint32_t warps_per_group;
	struct record *warps;
	struct oracle_l1 l1;
	uint64_t group;
	struct list paths;       /* struct warp_path */
	struct list path_of;     /* uint32_t */
	struct list path_hashes; /* uint64_t */
	uint32_t *slots;         /* hash table: 1 + index of a path */
	size_t slot_count;
	uint64_t sum;
	bool failed;
};

static void *add(struct recorder *r, struct list *l, size_t size)
{
	static char spare[64];
	if (l->count == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		void *grown = reallocarray(l->data, room, size);
		if (!grown) {
			r->failed = true;
			return spare;
		}
		l->data = grown;
		l->room = room;
	}
	return (char *)l->data + size * l->count++;
}

static uint64_t hash_data(uint64_t hash, const void *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
	return hash;
}

static bool same(const struct warp_path *p, const struct record *w)
{
	size_t bytes = w->accesses.count * sizeof(uint16_t);
	return p->block_count == w->blocks.count && p->access_count == w->accesses.count &&
	       p->active_lanes == w->lanes && !memcmp(p->blocks, w->blocks.data, w->blocks.count * sizeof(uint32_t)) &&
	       (!bytes || (!memcmp(p->accesses, w->accesses.data, bytes) && !memcmp(p->waits, w->waits.data, bytes)));
}

static void grow_table(struct recorder *r)
{
	size_t count = r->slot_count ? r->slot_count * 2 : 1024;
	uint32_t *slots = calloc(count, sizeof *slots);
	if (!slots) {
		r->failed = true;
		return;
	}
	for (size_t p = 0; p < r->paths.count; p++) {
		size_t s = ((uint64_t *)r->path_hashes.data)[p] & (count - 1);
		while (slots[s])
			s = (s + 1) & (count - 1);
		slots[s] = (uint32_t)p + 1;
	}
	free(r->slots);
	r->slots = slots;
	r->slot_count = count;
}

static uint32_t add_path(struct recorder *r, struct record *w)
{
	struct warp_path path = {.blocks = w->blocks.data,
	                         .block_count = w->blocks.count,
	                         .accesses = w->accesses.data,
	                         .waits = w->waits.data,
	                         .access_count = w->accesses.count,
	                         .active_lanes = w->lanes};
	if (r->gpu) {
		*(uint32_t *)add(r, &w->first, sizeof(uint32_t)) = (uint32_t)w->parts.count;
		struct path_requests *requests = malloc(sizeof *requests);
		if (requests)
			*requests = (struct path_requests){w->first.data, w->parts.data};
		r->failed |= !requests;
		path.requests = requests;
	}
	*(struct warp_path *)add(r, &r->paths, sizeof path) = path;
	*w = (struct record){0}; /* the path owns the lists now */
	return (uint32_t)r->paths.count - 1;
}

/* The path of this warp. If no equal path exists, it makes a new one. */
static uint32_t find_path(struct recorder *r, struct record *w)
{
	if (r->gpu)
		return add_path(r, w);
	size_t bytes = w->accesses.count * sizeof(uint16_t);
	uint64_t hash = hash_data(UINT64_C(14695981039346656037), w->blocks.data, w->blocks.count * sizeof(uint32_t));
	hash = hash_data(hash_data(hash, w->accesses.data, bytes), w->waits.data, bytes) + w->lanes;
	hash ^= hash >> 29;
	if (r->paths.count * 2 >= r->slot_count)
		grow_table(r);
	if (r->failed)
		return 0;
	size_t s = hash & (r->slot_count - 1);
	for (; r->slots[s]; s = (s + 1) & (r->slot_count - 1))
		if (((uint64_t *)r->path_hashes.data)[r->slots[s] - 1] == hash &&
		    same((struct warp_path *)r->paths.data + r->slots[s] - 1, w))
			return r->slots[s] - 1;
	*(uint64_t *)add(r, &r->path_hashes, sizeof hash) = hash;
	add_path(r, w);
	r->slots[s] = (uint32_t)r->paths.count;
	return r->slots[s] - 1;
}

static void finish_group(struct recorder *r)
{
	for (uint32_t i = 0; i < r->warps_per_group && !r->failed; i++) {
		struct record *w = &r->warps[i];
		uint32_t path = find_path(r, w);
		*(uint32_t *)add(r, &r->path_of, sizeof path) = path;
		w->blocks.count = w->accesses.count = w->waits.count = 0;
		w->lanes = 0;
	}
	r->group++;
}

static void on_block(void *user, uint64_t group, uint32_t warp, uint32_t block, uint32_t mask)
{
	struct recorder *r = user;
	while (r->group < group)
		finish_group(r);
	*(uint32_t *)add(r, &r->warps[warp].blocks, sizeof block) = block;
	r->warps[warp].lanes += (uint64_t)__builtin_popcount(mask) * r->program->blocks[block].count;
}

/* Returns the number of accesses by the GPU's rules. */
static uint32_t add_parts(struct recorder *r, struct record *w, const struct oracle_access *access, uint32_t accesses)
{
	static struct memory_part parts[ORACLE_PARTS];
	uint32_t count = oracle_parts(r->gpu, access, parts);
	*(uint32_t *)add(r, &w->first, sizeof(uint32_t)) = (uint32_t)w->parts.count;
	for (uint32_t i = 0; i < count; i++)
		*(struct memory_part *)add(r, &w->parts, sizeof *parts) = parts[i];
	return count && access->space != SPACE_local && r->gpu->l1_access_bytes < r->gpu->l1_line_bytes ? count : accesses;
}

static void on_memory(void *user, const struct oracle_access *access)
{
	struct recorder *r = user;
	uint32_t n = oracle_gtx480_accesses(access);
	if (r->gpu)
		n = add_parts(r, &r->warps[access->warp], access, n);
	*(uint16_t *)add(r, &r->warps[access->warp].accesses, sizeof(uint16_t)) = (uint16_t)n;
	*(uint16_t *)add(r, &r->warps[access->warp].waits, sizeof(uint16_t)) =
	    (uint16_t)oracle_gtx480_wait(&r->l1, access);
	r->sum += n;
}

static void free_recorder(struct recorder *r)
{
	for (uint32_t w = 0; r->warps && w < r->warps_per_group; w++) {
		free(r->warps[w].blocks.data);
		free(r->warps[w].accesses.data);
		free(r->warps[w].waits.data);
		free(r->warps[w].first.data);
		free(r->warps[w].parts.data);
	}
	free(r->warps);
	free(r->slots);
	free(r->path_hashes.data);
}

static uint32_t instructions_before(const struct oracle *o)
{
	uint32_t count = 0;
	for (const struct ptx_function *f = o->module->functions; f != o->function; f++)
		count += f->instruction_count;
	return count;
}

/* The buffers in the order in which the host wrote them. */
static struct memory_range *find_buffers(const struct oracle *o, const struct oracle_launch *launch, size_t *count)
{
	struct memory_range *ranges = calloc(launch->argument_count + 1, sizeof *ranges);
	uint64_t at = GLOBAL_BASE + oracle_align(o->static_bytes);
	*count = 0;
	for (uint32_t i = 0; i < launch->argument_count && ranges; i++) {
		const struct oracle_argument *a = &launch->arguments[i];
		if (a->kind != ORACLE_BUFFER)
			continue;
		ranges[(*count)++] = (struct memory_range){.address = at, .bytes = a->bytes, .traffic = (double)a->bytes};
		at += oracle_align(a->bytes);
	}
	return ranges;
}

int oracle_trace(const struct oracle *o, const struct oracle_launch *launch, struct oracle_trace *out,
                 struct gs_error *err)
{
	return oracle_trace_for(o, launch, NULL, out, err);
}

int oracle_trace_for(const struct oracle *o, const struct oracle_launch *launch, const struct gpu *gpu,
                     struct oracle_trace *out, struct gs_error *err)
{
	uint64_t threads = launch->local[0] * launch->local[1] * launch->local[2], groups = 1;
	struct recorder r = {.program = o, .gpu = gpu, .warps_per_group = (uint32_t)((threads + ORACLE_WARP - 1) / ORACLE_WARP)};
	struct oracle_launch traced = *launch;
	for (uint32_t d = 0; d < 3; d++)
		groups *= launch->global[d] / launch->local[d];
	r.warps = calloc(r.warps_per_group, sizeof *r.warps);
	traced.events = (struct oracle_events){.block = on_block, .memory = on_memory, .user = &r};
	*out = (struct oracle_trace){0};
	struct kernel_code *code = oracle_code(o);
	int result =
	    !r.warps || !code ? gs_fail(err, ENOMEM, "out of memory") : oracle_run(o, &traced, &out->counts, err);
	while (!result && r.group < groups)
		finish_group(&r);
	out->warps = (struct launch_warps){.code = code,
	                                   .paths = r.paths.data,
	                                   .path_count = (uint32_t)r.paths.count,
	                                   .groups = groups,
	                                   .warps_per_group = r.warps_per_group,
	                                   .path_of = r.path_of.data,
	                                   .pattern_groups = groups,
	                                   .code_offset = instructions_before(o)};
	out->accesses = r.sum;
	out->warps.warm = gpu ? find_buffers(o, launch, &out->warps.warm_count) : NULL;
	if (!result && r.failed)
		result = gs_fail(err, ENOMEM, "out of memory");
	free_recorder(&r);
	if (result)
		oracle_trace_free(out);
	return result;
}

static void free_requests(const struct path_requests *r)
{
	if (!r)
		return;
	free((void *)r->first);
	free((void *)r->parts);
	free((void *)r);
}

void oracle_trace_free(struct oracle_trace *t)
{
	for (uint32_t p = 0; p < t->warps.path_count; p++) {
		free((void *)t->warps.paths[p].blocks);
		free((void *)t->warps.paths[p].accesses);
		free((void *)t->warps.paths[p].waits);
		free_requests(t->warps.paths[p].requests);
	}
	free((void *)t->warps.warm);
	free((void *)t->warps.paths);
	free((void *)t->warps.path_of);
	oracle_code_free((struct kernel_code *)t->warps.code);
	*t = (struct oracle_trace){0};
}
