/*
 * Traced groups into the paths of warps.
 *
 *   lanes' ways (models/trace/lanes.c) -> replay with reconvergence (replay.c) -> for every executed memory instruction the
 *   addresses of the lanes that are on -> its parts (coalesce.c) or turns of the banks (accesses.c)
 * Private memory is placed as the hardware does: word w of all work-items of a group lies together. Source: CUDA C programming
 * guide, "Local Memory"; GPGPU-Sim 4.
 */
#include "models/trace/warps.h"

#include "models/accesses/coalesce.h"
#include "models/accesses/gathered.h"
#include "models/accesses/image.h"
#include "models/util/limits.h"
#include "models/util/minmax.h"
#include "models/warps/replay.h"
#include "models/trace/computed.h"
#include "models/trace/internal.h"
#include "models/trace/lanes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_PATTERN = 1 << 16, /* groups of the launch that have their own place in the pattern; of larger ones, MANY do */
	MANY = 1 << 12,         /* both bound memory (some MB) and the time to compare groups */
	MOST_PARTS = 1 << 22,   /* kept, of all paths, 64 MB; fewer groups are used if need be */
	MOST_BLOCKS = MODEL_MOST_BLOCKS,
};
#define PRIVATE_BASE (1ull << 62)

struct trace_maker {
	const struct gpu *gpu;
	const struct kernel_code *code;
	const struct launch_trace *trace;
	const struct trace_shape *shape;
	const uint16_t *usual;
	struct computed_groups *computed; /* NULL: lanes have traces */
	struct trace_warps *out;
	struct trace_reader *reader;
	struct traced_lane *lanes[REPLAY_MOST_LANES];
	struct shift_finder *shifts;
	double *executions, *active, *divergent; /* per block of the code */
	double *accesses;              /* per instruction */
	double *once, *more;           /* per block: arms_note, of all paths */
	struct arm_shares shares;      /* keep NULL: nothing is known of arms */
	uint32_t *places[REPLAY_MOST_LANES]; /* of lanes with gaps: by step, the block of the path */
	size_t place_room[REPLAY_MOST_LANES], next_gap[REPLAY_MOST_LANES], steps[REPLAY_MOST_LANES];
	uint64_t items;                /* of a group */
	/* The warp under way. */
	size_t number; /* of its group among those that are used */
	uint64_t group;
	uint32_t warp, lane_count;
	struct recorded_path path;
	uint64_t with_gaps; /* lanes */
};

/* ---- one request ---- */

struct warp_request {
	struct access_kind kind;
	uint64_t addresses[REPLAY_MOST_LANES];
	uint32_t lanes[REPLAY_MOST_LANES];
	uint32_t count;
	bool bulk; /* a copy of rows, by one thread */
	uint32_t texel_bytes; /* of a fetch from plain memory; 0: not known */
};

/* The address itself shows what the compiler did not know of it. */
static enum code_space space_of(const struct trace_maker *m, const struct code_instruction *in, uint64_t address)
{
	if (in->space != SPACE_generic)
		return in->space == SPACE_texture ? SPACE_global : (enum code_space)in->space;
	uint8_t space = m->computed ? SPACE_generic : m->trace->sites[in->site].space;
	if (space != SPACE_generic)
		return space == SPACE_const || space == SPACE_texture ? SPACE_global : (enum code_space)space;
	return address >= 1ull << 40 ? SPACE_global : SPACE_shared;
}

static bool lane_address(const struct trace_maker *m, uint32_t lane, uint32_t instruction, uint64_t *address, uint32_t *bytes)
{
	*bytes = 0;
	return m->computed ? computer_address(m->computed->computer, instruction, lane, address)
	                   : traced_lane_address(m->lanes[lane], instruction, address, bytes);
}

/* The code may only seem to show it: how often lanes go around a loop is the same for those that are in it, and not for those that come out. */
static bool is_one_address(const struct warp_request *r)
{
	for (uint32_t i = 1; i < r->count; i++)
		if (r->addresses[i] != r->addresses[0])
			return false;
	return true;
}

static void gather_addresses(struct trace_maker *m, uint32_t instruction, uint64_t mask, struct warp_request *r)
{
	const struct code_instruction *in = &m->code->code[instruction];
	uint32_t bytes;
	r->count = r->texel_bytes = 0;
	r->bulk = false;
	r->kind = (struct access_kind){.space = in->space, .atomic = in->class == CODE_atomic, .store = in->class == CODE_store,
	                           .bytes = in->bytes};
	for (uint64_t left = mask; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctzll(left);
		if (!lane_address(m, lane, instruction, &r->addresses[r->count], &bytes))
			continue;
		if (bytes && in->space == SPACE_texture) {
			r->texel_bytes = r->kind.bytes = bytes;
		} else if (bytes) {
			r->kind.bytes = r->bulk ? max_u32(r->kind.bytes, bytes) : bytes;
			r->bulk = true;
		}
		r->lanes[r->count++] = lane;
	}
	if (r->count)
		r->kind.space = space_of(m, in, r->addresses[0]);
	if (in->space == SPACE_param || (in->flags & CODE_EXPANDED && in->site < 0))
		return;
	m->out->statistics.addresses += r->count;
	m->out->statistics.unknown_addresses += (uint32_t)__builtin_popcountll(mask) - r->count;
	if (r->count > 1 && is_gathered(m->gpu, m->code, in) && is_one_address(r))
		r->count = 1;
}

static uint64_t place_private(const struct trace_maker *m, uint64_t offset, uint32_t item)
{
	uint64_t per_group = ((uint64_t)m->code->local_bytes / 4 + 1) * 4 * m->items;
	return PRIVATE_BASE + m->group * per_group + offset / 4 * 4 * m->items + (uint64_t)item * 4 + offset % 4;
}

static uint32_t coalesce_private(struct trace_maker *m, struct warp_request *r, struct memory_part *parts)
{
	struct access_kind word = {.space = SPACE_local, .bytes = r->kind.bytes < 4 ? r->kind.bytes : 4};
	uint64_t placed[REPLAY_MOST_LANES];
	uint32_t count = 0, first_item = m->warp * m->gpu->warp_size;
	for (uint32_t at = 0; at < r->kind.bytes && count + REPLAY_MOST_LANES < COALESCE_MOST_PARTS; at += 4) {
		struct memory_part own[COALESCE_MOST_PARTS];
		for (uint32_t i = 0; i < r->count; i++)
			placed[i] = place_private(m, r->addresses[i] + at, first_item + r->lanes[i]);
		uint32_t n = coalesce(m->gpu, &word, placed, r->count, own);
		n = n < COALESCE_MOST_PARTS - count ? n : COALESCE_MOST_PARTS - count;
		memcpy(parts + count, own, n * sizeof *own);
		count += n;
	}
	r->addresses[0] = place_private(m, r->addresses[0], first_item + r->lanes[0]);
	return count;
}

/* Whether a request is to an image that is known: of what shape, and whether it goes between texels. */
struct image_use {
	uint64_t packed;
	struct image_shape shape;
	bool filtered;
};

static bool uses_image(const struct trace_maker *m, const struct code_instruction *in, const struct warp_request *r, struct image_use *out)
{
	uint64_t argument = argument_of_address(r->addresses[0]);
	if (in->space != SPACE_texture)
		return false;
	out->packed = m->computed                              ? computer_argument_bytes(m->computed->computer, argument)
	              : argument < m->trace->argument_count ? m->trace->argument_bytes[argument]
	                                                      : 0;
	bool between = !m->computed && in->site >= 0 && m->trace->sites[in->site].kind == TRACE_image_filter;
	if (!image_shape_of(out->packed, &out->shape))
		return false;
	out->filtered = out->shape.sampler == IMAGE_SAMPLER_OF_SITE ? between : out->shape.sampler == IMAGE_LINEAR && (between || m->computed);
	return true;
}

/* A filter reads the neighbours, too. */
static uint32_t coalesce_texels(const struct trace_maker *m, struct warp_request *r, const struct image_use *use, struct memory_part *parts)
{
	uint64_t all[REPLAY_MOST_LANES * IMAGE_MOST_WEIGHED];
	uint32_t count = 0;
	r->kind.bytes = use->shape.texel_bytes;
	if (!use->filtered)
		return coalesce(m->gpu, &r->kind, r->addresses, r->count, parts);
	for (uint32_t i = 0; i < r->count; i++) {
		uint64_t begin = image_begin(r->addresses[i]), *own = all + count;
		uint32_t n = image_weighed(&use->shape, r->addresses[i] - begin, own);
		for (uint32_t k = 0; k < n; k++)
			own[k] += begin;
		count += n;
	}
	return coalesce(m->gpu, &r->kind, all, count, parts);
}

/* Texels are looked up in fours; what is written, part by part. */
static uint16_t image_cycles(const struct trace_maker *m, const struct code_instruction *in, const struct warp_request *r, const struct image_use *use,
                             uint32_t parts)
{
	uint32_t texels = r->kind.store ? 1 : texture_cycles(m->gpu, r->count, use->shape.texel_bytes, in->bytes, use->filtered);
	uint32_t lines = r->kind.store ? parts : (parts + m->gpu->l1_tags_per_cycle - 1) / m->gpu->l1_tags_per_cycle;
	return (uint16_t)(texels > lines ? texels : lines);
}

/* A fetch from memory of which no shape is known, or that has none. */
static uint32_t fetch_cycles(const struct gpu *gpu, const struct code_instruction *in, const struct warp_request *r)
{
	return in->class == CODE_texture ? texture_cycles(gpu, r->count, r->texel_bytes, in->bytes, false) : 0;
}

/* How texels move from group to group: by one in the middle of a group, which no border of the image keeps from moving. */
static void follow_texel(struct trace_maker *m, uint32_t instruction, const struct warp_request *r, const struct image_use *use)
{
	uint32_t lane = r->count / 2;
	if (m->warp != m->out->warps.warps_per_group / 2)
		return;
	uint64_t texel = image_flat(&use->shape, r->addresses[lane]);
	shift_finder_add(m->shifts, instruction, m->number, m->warp, &(struct lane_addresses){&r->lanes[lane], &texel, 1, r->kind.bytes});
	shift_finder_image(m->shifts, instruction, use->packed);
}

static uint16_t shared_request(const struct trace_maker *m, const struct code_instruction *in, const struct warp_request *r)
{
	const char *opcode = m->code->strings ? m->code->strings + in->opcode : "";
	bool fragment = r->kind.bytes == FRAGMENT_PIECE && !strncmp(opcode, "wmma.load", 9);
	uint32_t places[REPLAY_MOST_LANES];
	for (uint32_t i = 0; i < r->count; i++)
		places[i] = fragment ? fragment_place(r->lanes[i]) : r->lanes[i];
	return (uint16_t)shared_cycles(m->gpu, &r->kind, r->addresses, places, r->count);
}

static uint16_t make_request(struct trace_maker *m, uint32_t instruction, uint64_t mask)
{
	const struct code_instruction *in = &m->code->code[instruction];
	struct image_use image;
	struct memory_part parts[COALESCE_MOST_PARTS];
	struct warp_request r;
	uint32_t count = 0;
	gather_addresses(m, instruction, mask, &r);
	struct first_lane first = {.instruction = instruction};
	if (!r.count) {
		gs_buf_add(&m->path.firsts, &first, sizeof first);
		return accesses_of_lanes(m->usual ? m->usual[instruction] : 1, (uint32_t)__builtin_popcountll(mask), m->gpu->warp_size);
	}
	if (r.kind.space == SPACE_shared) {
		gs_buf_add(&m->path.firsts, &first, sizeof first);
		return shared_request(m, in, &r);
	}
	bool texels = uses_image(m, in, &r, &image);
	if (r.kind.space == SPACE_local)
		count = coalesce_private(m, &r, parts);
	else if (texels)
		count = coalesce_texels(m, &r, &image, parts);
	else
		count = coalesce(m->gpu, &r.kind, r.addresses, r.count, parts);
	first.known = true;
	first.address = r.addresses[0];
	gs_buf_add(&m->path.firsts, &first, sizeof first);
	if (m->shape->requests) {
		gs_buf_add(&m->path.parts, parts, count * sizeof *parts);
		if (texels)
			follow_texel(m, instruction, &r, &image);
		else
			shift_finder_add(m->shifts, instruction, m->number, m->warp, &(struct lane_addresses){r.lanes, r.addresses, r.count, r.kind.bytes});
	}
	if (texels)
		return image_cycles(m, in, &r, &image, count);
	if (r.bulk) /* a line after the other */
		return (uint16_t)count;
	uint32_t cycles = unit_cycles(m->gpu, &r.kind, r.addresses, r.lanes, r.count, count), texels_take = fetch_cycles(m->gpu, in, &r);
	return (uint16_t)(cycles > texels_take ? cycles : texels_take);
}

/* ---- one warp ---- */

static bool path_failed(const struct recorded_path *p)
{
	return p->blocks.failed || p->accesses.failed || p->first.failed || p->parts.failed || p->lanes.failed || p->before.failed ||
	       p->firsts.failed || p->gaps.failed;
}

static bool diverges(const struct trace_maker *m, uint64_t mask)
{
	int32_t first = traced_lane_next(m->lanes[__builtin_ctzll(mask)]);
	for (uint64_t left = mask & (mask - 1); left; left &= left - 1)
		if (traced_lane_next(m->lanes[__builtin_ctzll(left)]) != first)
			return true;
	return false;
}

/* The lane comes to a step of its way, before which iterations may be missing. */
static int note_step(struct trace_maker *m, uint32_t lane, size_t step)
{
	size_t count;
	const struct way_gap *gaps = traced_lane_gaps(m->lanes[lane], &count);
	uint32_t at = (uint32_t)(m->path.blocks.len / sizeof(uint32_t));
	int result = 0;
	for (; m->next_gap[lane] < count && gaps[m->next_gap[lane]].at <= step && !result; m->next_gap[lane]++) {
		const struct way_gap *g = &gaps[m->next_gap[lane]];
		struct recorded_gap found = {.from = m->places[lane][g->from], .at = at, .body = g->body,
		                             .rounds = (double)g->iterations / g->kept, .iterations = g->kept};
		result = gaps_add(&m->path, &found);
	}
	if (step < traced_lane_way(m->lanes[lane])->steps)
		m->places[lane][step] = at;
	return result;
}

static bool record_gaps(struct trace_maker *m, uint64_t mask)
{
	for (uint64_t left = mask & m->with_gaps; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctzll(left);
		if (note_step(m, lane, m->steps[lane]++))
			return false;
	}
	return true;
}

static bool record_block(void *ctx, uint32_t block, uint64_t mask)
{
	struct trace_maker *m = ctx;
	const struct code_block *b = &m->code->blocks[block];
	uint8_t lanes = (uint8_t)(__builtin_popcountll(mask) - 1);
	uint32_t before = (uint32_t)(m->path.accesses.len / sizeof(uint16_t));
	if (!record_gaps(m, mask))
		m->path.gaps.failed = true;
	gs_buf_add(&m->path.blocks, &block, sizeof block);
	gs_buf_add(&m->path.before, &before, sizeof before);
	for (uint64_t left = mask; left && !m->computed; left &= left - 1)
		traced_lane_step(m->lanes[__builtin_ctzll(left)]);
	if (m->computed)
		computer_execute(m->computed->computer, block, mask);
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		if (!code_accesses_memory(&m->code->code[i]))
			continue;
		uint32_t first = (uint32_t)(m->path.parts.len / sizeof(struct memory_part));
		gs_buf_add(&m->path.first, &first, sizeof first);
		uint16_t n = make_request(m, i, mask);
		gs_buf_add(&m->path.accesses, &n, sizeof n);
	}
	if (b->edge_count > 1 && !m->computed && diverges(m, mask))
		lanes |= DIVERGES;
	gs_buf_add(&m->path.lanes, &lanes, sizeof lanes);
	return !path_failed(&m->path);
}

/* Where the lane's steps are in the path is kept if iterations are missing. */
static int begin_gaps(struct trace_maker *m, uint32_t lane)
{
	size_t count, steps = traced_lane_way(m->lanes[lane])->steps;
	traced_lane_gaps(m->lanes[lane], &count);
	if (!count)
		return 0;
	if (steps > m->place_room[lane]) {
		uint32_t *more = reallocarray(m->places[lane], steps, sizeof *more);
		if (!more)
			return -ENOMEM;
		m->places[lane] = more;
		m->place_room[lane] = steps;
	}
	m->next_gap[lane] = m->steps[lane] = 0;
	m->with_gaps |= 1ull << lane;
	return 0;
}

static int begin_lanes(struct trace_maker *m, const struct traced_group *group, struct lane_path *paths)
{
	m->with_gaps = 0;
	trace_reader_next_warp(m->reader);
	for (uint32_t l = 0; l < m->lane_count; l++) {
		uint32_t item = m->warp * m->gpu->warp_size + l;
		paths[l] = (struct lane_path){0};
		if (!group->lanes[item].count) /* beyond the end of the launch */
			continue;
		int result = traced_lane_begin(m->reader, m->lanes[l], group, item);
		m->out->statistics.lanes++;
		if (result == -ENOENT)
			m->out->statistics.guessed_lanes++;
		else if (result)
			return result;
		if (result)
			continue;
		const struct traced_way *way = traced_lane_way(m->lanes[l]);
		m->out->cut |= way->cut || way->shortened;
		m->out->statistics.guessed_lanes += way->guessed;
		paths[l] = (struct lane_path){way->blocks, way->steps};
		result = begin_gaps(m, l);
		if (result)
			return result;
	}
	return 0;
}

static int begin_computed(struct trace_maker *m, struct lane_path *paths)
{
	m->with_gaps = 0;
	return computed_begin(m->computed, m->group, m->warp * m->gpu->warp_size, m->lane_count, paths);
}

/* Gaps at the end of a lane's way: its last loop is what it ends with. */
static int end_lanes(struct trace_maker *m)
{
	int result = 0;
	for (uint64_t left = m->with_gaps; left && !result; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctzll(left);
		if (m->steps[lane] == traced_lane_way(m->lanes[lane])->steps)
			result = note_step(m, lane, m->steps[lane]);
	}
	return result;
}

/* What the warp did, with what its path leaves out. */
static void add_statistics(struct trace_maker *m)
{
	const uint32_t *blocks = (const uint32_t *)(const void *)m->path.blocks.data;
	const uint16_t *accesses = (const uint16_t *)(const void *)m->path.accesses.data;
	const double *weights = m->path.weights.len ? (const double *)(const void *)m->path.weights.data : NULL;
	double warp_instructions = 0, lane_instructions = 0;
	size_t next = 0;
	for (size_t n = 0; n < m->path.blocks.len / sizeof *blocks; n++) {
		const struct code_block *b = &m->code->blocks[blocks[n]];
		uint8_t lanes = (uint8_t)m->path.lanes.data[n];
		double times = weights ? weights[n] : 1, active = times * (1 + (lanes & ~DIVERGES));
		m->executions[blocks[n]] += times;
		m->active[blocks[n]] += active;
		m->divergent[blocks[n]] += lanes & DIVERGES ? times : 0;
		warp_instructions += times * b->count;
		lane_instructions += active * b->count;
		for (uint32_t i = b->first; i < b->first + b->count; i++)
			if (code_accesses_memory(&m->code->code[i]))
				m->accesses[i] += times * accesses[next++];
	}
	m->path.lane_instructions = (uint64_t)(lane_instructions + 0.5);
	m->out->statistics.warps++;
	m->out->statistics.warp_instructions += (uint64_t)(warp_instructions + 0.5);
	m->out->statistics.lane_instructions += m->path.lane_instructions;
}

static void clear_path(struct recorded_path *p)
{
	p->blocks.len = p->accesses.len = p->first.len = p->parts.len = p->lanes.len = p->before.len = p->firsts.len = p->gaps.len = 0;
	p->shifts.len = p->weights.len = 0;
	p->lane_instructions = 0;
}

static int run_warp(struct trace_maker *m, const struct traced_group *group)
{
	struct lane_path paths[REPLAY_MOST_LANES];
	clear_path(&m->path);
	int result = m->computed ? begin_computed(m, paths) : begin_lanes(m, group, paths);
	if (!result)
		result = replay_warp(m->code, paths, m->lane_count, record_block, m);
	if (!result)
		result = end_lanes(m);
	uint32_t end = (uint32_t)(m->path.parts.len / sizeof(struct memory_part));
	gs_buf_add(&m->path.first, &end, sizeof end);
	if (path_failed(&m->path))
		result = -ENOMEM;
	if (!result)
		result = gaps_finish(&(struct gap_finish){m->code, m->trace, m->shifts, m->shares.keep ? &m->shares : NULL}, &m->path);
	if (!result)
		add_statistics(m);
	if (!result && !m->shares.keep)
		arms_note(&m->path, m->once, m->more);
	return result;
}

/* ---- groups ---- */

static bool is_whole(const struct traced_group *g)
{
	for (uint32_t i = 0; i < g->lane_count; i++)
		if (g->lanes[i].cut)
			return false;
	return g->lane_count > 0;
}

static bool any_whole(const struct launch_trace *t)
{
	for (size_t i = 0; i < t->group_count; i++)
		if (is_whole(&t->groups[i]))
			return true;
	return false;
}

/* Of a group that is not whole, all work-items have a begin. */
static bool is_begun(const struct traced_group *g)
{
	for (uint32_t i = 0; i < g->lane_count; i++)
		if (!g->lanes[i].count)
			return false;
	return g->lane_count > 0;
}

/* The paths of a group's warps, in paths. */
static int run_group(struct trace_maker *m, const struct traced_group *g, uint32_t *paths)
{
	uint32_t size = m->gpu->warp_size;
	int result = 0;
	m->group = g->group;
	for (uint32_t w = 0; w < m->out->warps.warps_per_group && !result; w++) {
		uint64_t first = (uint64_t)w * size;
		m->warp = w;
		m->lane_count = first >= g->lane_count ? 0 : g->lane_count - first < size ? (uint32_t)(g->lane_count - first) : size;
		result = run_warp(m, g);
		if (!result)
			result = trace_store_keep(m->out->store, &m->path, m->shape->requests, &paths[w]);
	}
	return result;
}

/* Every n-th of the groups, so that all fit into what may be kept. */
static size_t stride(const struct trace_maker *m, size_t done, size_t wanted)
{
	double parts = (double)m->out->store->part_count / (double)done * (double)wanted / MOST_PARTS;
	double blocks = (double)m->out->store->block_count / (double)done * (double)wanted / MOST_BLOCKS;
	double most = parts > blocks ? parts : blocks;
	return most > 1 ? (size_t)most + 1 : 1;
}

/* Fills ids and paths (warps_per_group each) of the groups that are used. */
static int run_groups(struct trace_maker *m, uint64_t *ids, uint32_t *paths, size_t *used)
{
	size_t step = 1, after = 0;
	bool whole = any_whole(m->trace);
	int result = 0;
	for (size_t i = 0; i < m->trace->group_count && !result; i++) {
		const struct traced_group *g = &m->trace->groups[i];
		if ((whole ? !is_whole(g) : !is_begun(g)) || after++ % step)
			continue;
		m->number = *used;
		ids[*used] = g->group;
		result = run_group(m, g, paths + *used * m->out->warps.warps_per_group);
		++*used;
		if (*used == 4 && !result) {
			step = stride(m, *used, m->trace->group_count);
			after = 0;
		}
		if (m->out->store->part_count > 2 * (uint64_t)MOST_PARTS || m->out->store->block_count > 2 * (uint64_t)MOST_BLOCKS)
			break;
	}
	return result ? result : *used ? 0 : -ENOENT;
}

/* Another launch's groups have other counters, and of a large launch not all groups have some. */
static bool all_are_counted(const struct trace_maker *m, const struct lane_counts *lanes, const uint64_t *ids, size_t used)
{
	bool all = !m->shape->other;
	for (size_t i = 0; i < used && all && lanes && !m->computed; i++)
		all = lanes_are_counted(lanes, ids[i]);
	return all;
}

/* ---- arms that rounds take more rarely than windows ---- */

/* Nothing of the paths that were made remains. */
static int begin_again(struct trace_maker *m)
{
	struct warp_statistics *s = &m->out->statistics, none = {.instructions = s->instructions, .divergent = s->divergent};
	const struct kernel_code *c = m->code;
	*s = none;
	memset(m->executions, 0, c->block_count * sizeof *m->executions);
	memset(m->active, 0, c->block_count * sizeof *m->active);
	memset(m->divergent, 0, c->block_count * sizeof *m->divergent);
	memset(m->accesses, 0, c->code_count * sizeof *m->accesses);
	trace_store_free(m->out->store);
	m->out->store = calloc(1, sizeof *m->out->store);
	if (m->shifts) {
		shift_finder_free(m->shifts);
		m->shifts = shift_finder_new(c, m->trace->group_count, m->shape->groups);
	}
	m->out->cut = false;
	return m->out->store && (m->shifts || !m->shape->requests) ? 0 : -ENOMEM;
}

/* Where counters say that windows took arms much more often than the iterations that were left out, paths are made anew. */
static int thin_windows(struct trace_maker *m, const struct lane_counts *lanes, uint64_t *ids, uint32_t *paths, size_t *used)
{
	const struct kernel_code *c = m->code;
	if (m->computed || !lanes || !lanes->gather || !trace_store_has_gaps(m->out->store) || !code_is_traced_whole(c))
		return 0;
	struct group_sample sample = {m->shape, m->out->warps.groups < MANY ? m->out->warps.groups : MANY, m->gpu->warp_size, NULL};
	struct traced_ids of = {.ids = ids, .count = *used, .events = all_are_counted(m, lanes, ids, *used) ? NULL : m->trace};
	double *counted = calloc(c->block_count + 1u, sizeof *counted);
	struct arm_shares shares = {calloc(c->block_count + 1u, sizeof(double)), calloc(c->block_count + 1u, sizeof(double))};
	int result = counted && shares.keep && shares.carry ? count_traced_blocks(c, lanes, &sample, &of, counted) : -ENOMEM;
	if (!result && arms_share(c, counted, m->once, m->more, shares.keep)) {
		m->shares = shares;
		*used = 0;
		result = begin_again(m);
		if (!result)
			result = run_groups(m, ids, paths, used);
	} else {
		free(shares.keep);
		free(shares.carry);
	}
	free(counted);
	return result;
}

/* Loops in loops that change from iteration to iteration: counters know how much they did. */
static int fit_gaps(struct trace_maker *m, const struct lane_counts *lanes, const uint64_t *ids, const uint32_t *paths, size_t used)
{
	struct trace_store *s = m->out->store;
	uint32_t per_group = m->out->warps.warps_per_group;
	if (!lanes || !lanes->gather || !trace_store_has_gaps(s))
		return 0;
	struct work_shape shape = {m->code, lanes, used, (uint32_t)m->items, m->gpu->warp_size, NULL, NULL, NULL, NULL, false};
	struct code_map map = {0};
	struct counted_work *work = calloc(used + 1, sizeof *work);
	struct warp_path **own = calloc(per_group + 1u, sizeof *own);
	int result = work && own ? map_group_work(&shape, ids, used, &map) : -ENOMEM;
	shape.map = &map;
	if (!result)
		result = count_group_work(&shape, ids, used, work, NULL);
	for (size_t i = 0; i < used && !result; i++) {
		if (!lanes_are_counted(lanes, ids[i]))
			continue;
		for (uint32_t w = 0; w < per_group; w++)
			own[w] = &s->paths[paths[i * per_group + w]];
		double fitted = gaps_fit(m->code, own, per_group, work[i].warps);
		if (fabs(log(fitted)) > fabs(log(m->out->fitted)))
			m->out->fitted = fitted;
	}
	code_map_free(&map);
	free(work);
	free(own);
	return result;
}

/* Groups that were not traced are where the others would be if those had been moved. If addresses move by fixed steps, little can be
 * wrong with that; else caches meet other lines. */
static double stand_in_error(const struct trace_maker *m, uint64_t traced)
{
	static const double steps = 0.01; /* what is not known from the launch itself is never known better than to a percent */
	const struct address_shift *shifts = m->out->store->shifts;
	if (traced >= m->out->warps.groups && !m->shape->other)
		return 0;
	for (uint32_t i = 0; i < m->code->code_count && shifts; i++)
		if ((!shifts[i].linear || shifts[i].starts) && shifts[i].bytes > m->gpu->l1_line_bytes)
			return MEMORY_CHANCE;
	return steps;
}

static bool has_barriers(const struct kernel_code *code)
{
	for (uint32_t i = 0; i < code->code_count; i++)
		if (code->code[i].class == CODE_barrier)
			return true;
	return false;
}

/* Whether groups that were traced stand for some that were not. */
static bool stand_for_others(const struct trace_maker *m)
{
	return !m->computed && (m->trace->group_count < m->out->warps.groups || m->shape->other);
}

static int fill_pattern(struct trace_maker *m, const struct lane_counts *lanes, const uint64_t *ids, const uint32_t *paths,
                        size_t used)
{
	struct launch_warps *w = &m->out->warps;
	struct trace_store *s = m->out->store;
	struct group_sample sample = {m->shape, w->groups <= MOST_PATTERN ? w->groups : MANY, m->gpu->warp_size,
	                              stand_for_others(m) ? cycles_alone(m->gpu, m->code, s, m->shape->requests) : NULL};
	struct traced_ids traced = {ids, used, s->shifts, m->gpu->l1_line_bytes, m->shape->other,
	                            all_are_counted(m, lanes, ids, used) ? NULL : m->trace, NULL, m->shares.keep};
	uint64_t count = sample.count;
	struct group_stand_in *stand_ins = calloc(count + 1, sizeof *stand_ins);
	s->path_of = calloc(count * w->warps_per_group + 1, sizeof *s->path_of);
	s->pattern_ids = calloc(count + 1, sizeof *s->pattern_ids);
	double *least = calloc(used + 1, sizeof *least);
	struct pattern_counts counts = {NULL, NULL};
	int result = stand_ins && s->path_of && s->pattern_ids && least && (sample.cycles || !stand_for_others(m)) ? 0 : -ENOMEM;
	for (size_t i = 0; i < used && !result && stand_for_others(m); i++) {
		least[i] = fit_least(m->code, s, paths + i * w->warps_per_group, w->warps_per_group);
		traced.least = least;
	}
	if (!result)
		result = trace_groups(m->code, &sample, lanes, &traced, stand_ins, &counts, &m->out->needed);
	if (!result && stand_for_others(m))
		result = stand_ins_fit(&(struct fit_input){m->code, s, paths, w->warps_per_group, stand_ins, count, counts.by_warp,
		                                           has_barriers(m->code)}, s->path_of);
	for (uint64_t g = 0; g < count && !result; g++) {
		s->pattern_ids[g] = ids[stand_ins[g].traced];
		if (!stand_for_others(m))
			memcpy(s->path_of + g * w->warps_per_group, paths + (size_t)stand_ins[g].traced * w->warps_per_group,
			       w->warps_per_group * sizeof *paths);
	}
	if (!result && s->starts)
		result = lists_place(s, m->code, &traced, counts.work, count);
	bool own = used >= count && !m->shape->other;
	if (!result) {
		m->out->represented = own ? 1 : share_represented(stand_ins, count);
		m->out->longest_represented = own ? 0 : longest_represented(m->gpu, w, stand_ins, count, &m->out->longest_group);
	}
	w->pattern_groups = count;
	w->stand_in = stand_in_error(m, used);
	free(stand_ins);
	free(least);
	free((void *)sample.cycles);
	pattern_counts_free(&counts);
	return result;
}

static struct memory_span range_of(void *ctx, uint32_t instruction, uint64_t address)
{
	return shift_finder_range(ctx, instruction, address);
}

static void place_gaps(struct trace_maker *m)
{
	const struct trace_store *s = m->out->store;
	for (size_t i = 0; i < s->list_count; i++)
		gaps_place(m->trace, s->lists[i].shifts, s->lists[i].count, range_of, m->shifts);
}

/* Of the launch's own groups, in a row, where each has its place in the pattern. */
static bool may_have_lists(const struct trace_maker *m, size_t used)
{
	const uint64_t *g = m->shape->groups;
	return !m->shape->other && g[1] == 1 && g[2] == 1 && used < g[0] && g[0] <= MOST_PATTERN;
}

static int fill_shifts(struct trace_maker *m, const uint64_t *ids, size_t used)
{
	struct trace_store *s = m->out->store;
	s->shifts = calloc(m->code->code_count + 1u, sizeof *s->shifts);
	if (!s->shifts)
		return -ENOMEM;
	shift_finder_finish(m->shifts, m->trace, ids, s->shifts);
	shift_finder_spans(m->shifts, s->spans);
	for (uint32_t i = 0; i < m->code->code_count; i++)
		s->shifts[i].spans = s->spans;
	if (may_have_lists(m, used))
		s->starts = shift_finder_lists(m->shifts, m->trace, ids, used, s->shifts);
	place_gaps(m);
	return 0;
}

static int point_to_store(struct trace_maker *m)
{
	struct launch_warps *w = &m->out->warps;
	struct trace_store *s = m->out->store;
	for (size_t i = 0; i < s->path_count && m->shape->requests; i++)
		s->paths[i].requests = &s->requests[i];
	w->paths = s->paths;
	w->path_count = (uint32_t)s->path_count;
	w->path_of = s->path_of;
	if (!m->shape->requests)
		return 0;
	memcpy(w->grid, m->shape->groups, sizeof w->grid);
	w->pattern_ids = s->pattern_ids;
	w->shifts = s->shifts;
	w->common = &s->common;
	return common_lines(w, &s->common);
}

/* ---- life ---- */

static int start_warps(struct trace_maker *m, const struct lane_counts *lanes, struct gs_error *err)
{
	struct trace_warps *out = m->out;
	const uint64_t *g = m->shape->groups, *l = m->shape->local;
	m->items = l[0] * l[1] * l[2];
	if (!m->items || !g[0] || !g[1] || !g[2])
		return gs_fail(err, EINVAL, "the launch has no work-items");
	if (m->gpu->warp_size > REPLAY_MOST_LANES)
		return gs_fail(err, EINVAL, "its warps have %u lanes; at most %d can be modelled", m->gpu->warp_size, REPLAY_MOST_LANES);
	out->warps = (struct launch_warps){.code = m->code, .groups = g[0] * g[1] * g[2],
	                                   .warps_per_group = (uint32_t)((m->items + m->gpu->warp_size - 1) / m->gpu->warp_size)};
	out->store = calloc(1, sizeof *out->store);
	out->statistics.instructions = calloc(m->code->code_count + 1u, sizeof *out->statistics.instructions);
	out->statistics.divergent = calloc(m->code->block_count + 1u, sizeof *out->statistics.divergent);
	m->executions = calloc(m->code->block_count + 1u, sizeof *m->executions);
	m->active = calloc(m->code->block_count + 1u, sizeof *m->active);
	m->divergent = calloc(m->code->block_count + 1u, sizeof *m->divergent);
	m->accesses = calloc(m->code->code_count + 1u, sizeof *m->accesses);
	m->once = calloc(m->code->block_count + 1u, sizeof *m->once);
	m->more = calloc(m->code->block_count + 1u, sizeof *m->more);
	m->reader = m->computed ? NULL : trace_reader_new(m->code, m->trace, m->shape->other ? NULL : lanes);
	m->shifts = m->shape->requests ? shift_finder_new(m->code, m->trace->group_count, g) : NULL;
	for (uint32_t i = 0; i < m->gpu->warp_size && m->reader; i++)
		if (!(m->lanes[i] = traced_lane_new(m->reader)))
			return -ENOMEM;
	return out->store && out->statistics.instructions && out->statistics.divergent && m->executions && m->active &&
	       m->divergent && m->accesses && m->once && m->more && (m->reader || m->computed) && (m->shifts || !m->shape->requests) ? 0 : -ENOMEM;
}

static void end_warps(struct trace_maker *m)
{
	for (uint32_t i = 0; i < REPLAY_MOST_LANES; i++) {
		traced_lane_free(m->lanes[i]);
		free(m->places[i]);
	}
	trace_reader_free(m->reader);
	shift_finder_free(m->shifts);
	free(m->executions);
	free(m->active);
	free(m->divergent);
	free(m->accesses);
	free(m->once);
	free(m->more);
	free(m->shares.keep);
	free(m->shares.carry);
	gs_buf_free(&m->path.blocks);
	gs_buf_free(&m->path.accesses);
	gs_buf_free(&m->path.first);
	gs_buf_free(&m->path.parts);
	gs_buf_free(&m->path.lanes);
	gs_buf_free(&m->path.before);
	gs_buf_free(&m->path.firsts);
	gs_buf_free(&m->path.gaps);
	gs_buf_free(&m->path.shifts);
	gs_buf_free(&m->path.weights);
}

/* Of all groups: those that were traced stand for more or fewer others. */
static int fill_efficiency(struct trace_maker *m)
{
	const struct launch_warps *w = &m->out->warps;
	const struct trace_store *s = m->out->store;
	double active = 0, lanes = 0;
	uint64_t *times = calloc(s->path_count + 1, sizeof *times);
	if (!times)
		return -ENOMEM;
	for (uint64_t i = 0; i < w->pattern_groups * w->warps_per_group; i++)
		times[s->path_of[i]]++;
	for (size_t p = 0; p < s->path_count; p++) {
		active += (double)times[p] * (double)s->paths[p].active_lanes;
		lanes += (double)times[p] * path_instructions(m->code, &s->paths[p]) * m->gpu->warp_size;
	}
	m->out->lane_efficiency = lanes > 0 ? active / lanes : 0;
	free(times);
	return 0;
}

static void sum_up(struct trace_maker *m)
{
	struct warp_statistics *s = &m->out->statistics;
	for (uint32_t b = 0; b < m->code->block_count; b++) {
		s->divergent[b] = (uint64_t)(m->divergent[b] + 0.5);
		for (uint32_t i = m->code->blocks[b].first; i < m->code->blocks[b].first + m->code->blocks[b].count; i++) {
			s->instructions[i].executions = (uint64_t)(m->executions[b] + 0.5);
			s->instructions[i].active_lanes = (uint64_t)(m->active[b] + 0.5);
			s->instructions[i].accesses = (uint64_t)(m->accesses[i] + 0.5);
		}
	}
}

static int make_warps(struct trace_maker *m, const struct lane_counts *lanes, struct gs_error *err)
{
	struct trace_warps *out = m->out;
	size_t used = 0;
	*out = (struct trace_warps){.fraction = 1, .fitted = 1};
	int result = start_warps(m, lanes, err);
	uint64_t *ids = calloc(m->trace->group_count + 1, sizeof *ids);
	uint32_t *paths = calloc(m->trace->group_count * out->warps.warps_per_group + 1, sizeof *paths);
	if (!result && (!ids || !paths))
		result = -ENOMEM;
	if (!result)
		result = run_groups(m, ids, paths, &used);
	if (!result)
		result = thin_windows(m, lanes, ids, paths, &used);
	if (!result && m->shape->requests)
		result = fill_shifts(m, ids, used);
	if (!result && m->shape->requests && !m->computed && !m->shape->other)
		result = fit_gaps(m, lanes, ids, paths, used);
	if (!result)
		result = fill_pattern(m, lanes, ids, paths, used);
	if (!result)
		result = fill_efficiency(m);
	if (!result) {
		out->traced_groups = used;
		out->complete = used == out->warps.groups && !m->computed && !m->shape->other && any_whole(m->trace) &&
		                !trace_store_has_gaps(out->store);
		sum_up(m);
		result = point_to_store(m);
	}
	free(ids);
	free(paths);
	end_warps(m);
	if (result)
		trace_warps_free(out);
	return result;
}

int trace_warps(const struct gpu *gpu, const struct kernel_code *code, const struct launch_trace *trace,
                const struct trace_shape *shape, const struct lane_counts *lanes, const uint16_t *usual,
                struct trace_warps *out, struct gs_error *err)
{
	struct trace_maker m = {.gpu = gpu, .code = code, .trace = trace, .shape = shape, .usual = usual, .out = out};
	return make_warps(&m, lanes, err);
}

static void count_drawn(const struct trace_maker *m, struct trace_warps *out)
{
	const bool *drawn = computer_drawn(m->computed->computer);
	for (uint32_t i = 0; i < m->code->code_count; i++) {
		const struct code_instruction *in = &m->code->code[i];
		if (!out->statistics.instructions[i].executions || !code_accesses_memory(in) || in->space == SPACE_param ||
		    in->space == SPACE_shared || in->space == SPACE_local)
			continue;
		out->accessing++;
		out->drawn += drawn[i];
	}
}

int computed_warps(const struct gpu *gpu, const struct kernel_code *code, const struct launch_arguments *arguments,
                   const struct trace_shape *shape, const struct lane_counts *lanes, const uint16_t *usual,
                   struct trace_warps *out, struct gs_error *err)
{
	struct computed_groups computed;
	struct trace_maker m = {.gpu = gpu, .code = code, .shape = shape, .usual = usual, .out = out, .computed = &computed};
	int result = computed_start(code, arguments, shape, lanes, usual, &computed);
	m.trace = &computed.trace;
	if (!result)
		result = make_warps(&m, lanes, err);
	if (!result) {
		out->fraction = computed.wanted > computed.kept ? (double)computed.kept / (double)computed.wanted : 1;
		out->inconsistent = computed.inconsistent;
		count_drawn(&m, out);
	}
	computed_free(&computed);
	return result;
}

size_t trace_warps_bytes(const struct trace_warps *t)
{
	return trace_store_bytes(t->store);
}

void trace_warps_free(struct trace_warps *t)
{
	trace_store_free(t->store);
	free(t->statistics.instructions);
	free(t->statistics.divergent);
	*t = (struct trace_warps){0};
}
