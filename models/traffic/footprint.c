/*
 * Footprints: addresses of groups that were not traced, and what they come to.
 *
 *   linear: address + sum over dimensions of step * (group's place - place of the traced group)
 *   lists: address + begin of the group's list - begin of the traced group's
 *   else: turned by a hash of the group within the memory that the instruction was seen to touch, but for lines that are common
 * Distinct lines are counted for one of SAMPLE lines, chosen by a hash of its address, so that a line is counted for all
 * groups or for none.
 */
#include "models/traffic/footprint.h"

#include "models/accesses/image.h"
#include "models/code/costs.h"
#include "models/memory/map.h"
#include "models/gpu/kept.h"
#include "models/traffic/reuse.h"
#include "models/util/divide.h"
#include "models/util/hash.h"
#include "models/util/sort.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One of SAMPLE lines is counted, and no more than MOST_PARTS parts of requests: that bounds the time. Twice as large a sample
 * halves the variance of a share. */
enum { SAMPLE = 16, MOST_PARTS = 1 << 20 };

bool launch_has_requests(const struct launch_warps *warps)
{
	for (uint32_t p = 0; p < warps->path_count; p++)
		if (warps->paths[p].requests)
			return true;
	return false;
}

bool launch_move(const struct launch_warps *warps, uint64_t group, int64_t moved[3])
{
	moved[0] = moved[1] = moved[2] = 0;
	if (!warps->pattern_ids || !warps->grid[0] || !warps->grid[1])
		return false;
	uint64_t from = warps->pattern_ids[warps_pattern(warps, group)], to = group;
	for (int d = 0; d < 3; d++) {
		uint64_t size = d < 2 ? warps->grid[d] : UINT64_MAX;
		moved[d] = (int64_t)(to % size) - (int64_t)(from % size);
		to /= size;
		from /= size;
	}
	return moved[0] || moved[1] || moved[2];
}

/* How far apart two places of a plane are that is a row of groups. */
static void apart_in_plane(const struct address_shift *s, uint64_t group, int64_t moved, int64_t out[3])
{
	uint64_t from = group - (uint64_t)moved;
	out[0] = (int64_t)(group % s->split) - (int64_t)(from % s->split);
	out[1] = (int64_t)(group / s->split) - (int64_t)(from / s->split);
	out[2] = 0;
}

static uint64_t move_in_image(const struct launch_warps *warps, const struct address_shift *s, uint64_t address, const int64_t apart[3])
{
	uint64_t grid[3];
	shift_grid(s, warps->grid, grid);
	return image_moved(s->image, address, s->step, apart, grid);
}

/* A group at a border, for which one that is not stands, does not go out of its buffer: work-items that would are off, or their indices are
 * clamped or mirrored. Here they are mirrored, so that each line stays one of its own, near the border: one line for all that go out would be asked
 * for by thousands of groups, one after the other. */
static uint64_t within_buffer(const struct address_shift *s, uint64_t address)
{
	if (!s->bytes || address - s->low < s->bytes)
		return address;
	int64_t from = (int64_t)(address - s->low);
	uint64_t beyond = from < 0 ? (uint64_t)-from : (uint64_t)from - s->bytes;
	beyond %= s->bytes;
	return from < 0 ? s->low + beyond : s->low + s->bytes - 1 - beyond;
}

uint64_t launch_address(const struct launch_warps *warps, uint32_t instruction, uint64_t address, uint64_t group,
                        const int64_t moved[3], uint64_t line_bytes)
{
	if (!warps->shifts)
		return address;
	const struct address_shift *s = &warps->shifts[instruction];
	if (s->linear) {
		int64_t in_plane[3];
		if (s->split)
			apart_in_plane(s, group, moved[0], in_plane);
		const int64_t *apart = s->split ? in_plane : moved;
		if (s->image)
			return quotient(move_in_image(warps, s, address, apart), line_bytes) * line_bytes;
		int64_t by = s->step[0] * apart[0] + s->step[1] * apart[1] + s->step[2] * apart[2];
		if (s->places)
			by = (int64_t)(shift_start(s, group) - shift_start(s, group - (uint64_t)moved[0]));
		return quotient(within_buffer(s, address + (uint64_t)by), line_bytes) * line_bytes;
	}
	if (s->bytes <= line_bytes || line_set_has(warps->common, address))
		return address;
	struct memory_span in = shift_span(s, address);
	if (in.bytes <= line_bytes)
		return address;
	uint64_t by = (hash_high(group) >> 16) % in.bytes;
	return quotient(in.low + (address - in.low + by) % in.bytes, line_bytes) * line_bytes;
}

/* Where an access comes to in the rounds of a gap: its last, or both ends of the buffer that it goes round in. */
static uint32_t ends_of(const struct path_gap *gap, uint32_t n, uint64_t address, uint64_t out[2])
{
	const struct round_shift *s = &gap->shifts[n];
	double end = (double)(int64_t)(address - s->low) + (double)s->step * gap->rounds;
	out[0] = round_address(s, address, gap->rounds, gap->iterations, 0, 1);
	bool back = s->step > 0 ? out[0] < address : out[0] > address; /* rounds are made whole, which may lead round */
	if (s->bytes && (s->chance || back || end < 0 || end >= (double)s->bytes)) {
		out[0] = s->low;
		out[1] = s->low + s->bytes - 1;
		return 2;
	}
	return s->step != 0;
}

static bool visit_rounds(const struct warp_path *path, size_t request, uint32_t instruction, const struct memory_part *part,
                         footprint_fn *visit, void *ctx)
{
	for (size_t g = 0; g < path->gap_count; g++) {
		const struct path_gap *gap = &path->gaps[g];
		uint64_t ends[2];
		struct memory_part moved = *part;
		if (!gap->shifts || request - gap->first_access >= gap->access_count)
			continue;
		uint32_t count = ends_of(gap, (uint32_t)(request - gap->first_access), part->address, ends);
		for (uint32_t i = 0; i < count; i++) {
			moved.address = ends[i];
			if (!visit(ctx, instruction, &moved))
				return false;
		}
	}
	return true;
}

/* The parts of a request, with the rounds of gaps. ends: only the lowest and the highest, between which all others are, in any round. */
static bool visit_request(const struct warp_path *path, size_t request, uint32_t instruction, bool ends, footprint_fn *visit, void *ctx)
{
	const struct memory_part *first = path->requests->parts + path->requests->first[request];
	const struct memory_part *end = path->requests->parts + path->requests->first[request + 1], *low = first, *high = first;
	for (const struct memory_part *p = first; p < end && ends; p++) {
		low = p->address < low->address ? p : low;
		high = p->address > high->address ? p : high;
	}
	for (const struct memory_part *p = first; p < end; p++)
		if ((!ends || p == low || p == high) &&
		    (!visit(ctx, instruction, p) || (path->gap_count && !visit_rounds(path, request, instruction, p, visit, ctx))))
			return false;
	return true;
}

static bool is_of_memory(const struct code_instruction *in)
{
	return in->space == SPACE_global || in->space == SPACE_generic || in->space == SPACE_texture;
}

static bool visit_path(const struct launch_warps *warps, const struct warp_path *path, bool ends, footprint_fn *visit, void *ctx)
{
	const struct kernel_code *code = warps->code;
	size_t n = 0;
	for (size_t b = 0; b < path->block_count && path->requests; b++) {
		const struct code_block *block = &code->blocks[path->blocks[b]];
		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			const struct code_instruction *in = &code->code[i];
			if (!code_has_accesses(in->class))
				continue;
			size_t request = n++;
			if (request >= path->access_count)
				return true;
			if (!is_of_memory(in))
				continue;
			if (!visit_request(path, request, i, ends, visit, ctx))
				return false;
		}
	}
	return true;
}

bool footprint_visit(const struct launch_warps *warps, uint64_t pattern_group, footprint_fn *visit, void *ctx)
{
	for (uint32_t w = 0; w < warps->warps_per_group; w++) {
		uint32_t path = warps->path_of[pattern_group * warps->warps_per_group + w];
		if (!visit_path(warps, &warps->paths[path], false, visit, ctx))
			return false;
	}
	return true;
}

/* ---- ranges ---- */

struct extent {
	uint64_t low, high; /* high 0: nothing yet */
};
/* What instructions touch: of all groups, and of one path, as it was traced. */
struct extents {
	const struct launch_warps *warps;
	uint64_t line;
	struct extent *of, *own;   /* per instruction; of: behind these, by argument, of instructions that ask for several */
	uint32_t *touched, count;  /* instructions that have an own one */
};

static void widen(struct extent *e, uint64_t low, uint64_t high)
{
	if (!e->high || low < e->low)
		e->low = low;
	if (high > e->high)
		e->high = high;
}

/* The memory of another argument than that which an instruction has asked for first. */
static void extend_other(const struct extents *x, uint32_t instruction, uint64_t address, struct extent *other)
{
	const struct address_shift *s = x->warps->shifts ? &x->warps->shifts[instruction] : NULL;
	struct memory_span in = s && !s->linear && s->bytes ? shift_span(s, address) : (struct memory_span){0};
	widen(other, address, address + x->line);
	if (in.bytes)
		widen(other, in.low, in.low + in.bytes);
}

static bool extend(void *ctx, uint32_t instruction, const struct memory_part *part)
{
	struct extents *x = ctx;
	struct extent *e = &x->own[instruction];
	uint64_t argument = argument_of_address(part->address);
	if (e->high && argument != argument_of_address(e->low) && argument < SPANNED_ARGUMENTS) {
		extend_other(x, instruction, part->address, &x->of[x->warps->code->code_count + argument]);
		return true;
	}
	if (!e->high)
		x->touched[x->count++] = instruction;
	widen(e, part->address, part->address + x->line);
	return true;
}

/* Steps are of texels row after row. The memory that they are in is all of the image's at most. */
static void bound_to_image(uint64_t image, uint64_t address, uint64_t *low, uint64_t *high)
{
	uint64_t begin = image_begin(address), end = begin + argument_memory(image);
	*low = *low > begin && *low < end ? *low : begin;
	*high = *high > *low && *high < end ? *high : end;
}

/* Memory of argument a is at (a + 1) << 40 (models/trace/trace.h). */
static void bound_to_argument(const struct address_shift *s, uint64_t address, uint64_t *low, uint64_t *high)
{
	uint64_t begin = s->bytes ? s->low : address >> ARGUMENT_BITS << ARGUMENT_BITS;
	uint64_t end = begin + (s->bytes ? s->bytes : 1ull << ARGUMENT_BITS);
	*low = *low > begin && *low < end ? *low : begin;
	*high = *high > *low && *high < end ? *high : end;
}

/* Of one instruction of the path, in this traced group. */
static void extend_to_grid(struct extents *x, uint32_t instruction, uint64_t group)
{
	uint64_t from[3], grid[3];
	const struct address_shift *s = x->warps->shifts ? &x->warps->shifts[instruction] : NULL;
	uint64_t low = x->own[instruction].low, high = x->own[instruction].high;
	if (s && s->linear) {
		/* From the first group's to the last one's, in each dimension. */
		shift_grid(s, x->warps->grid, grid);
		shift_place(s, x->warps->grid, group, from);
		for (int d = 0; d < 3; d++) {
			int64_t first = -s->step[d] * (int64_t)from[d];
			int64_t last = s->step[d] * ((int64_t)grid[d] - 1 - (int64_t)from[d]);
			low += (uint64_t)(first < last ? first : last);
			high += (uint64_t)(first < last ? last : first);
		}
		if (s->image)
			bound_to_image(s->image, x->own[instruction].low, &low, &high);
		else
			bound_to_argument(s, x->own[instruction].low, &low, &high);
	} else if (s && s->bytes) {
		/* What groups touched is of the traced iterations of their loops; the path goes on to the last one. */
		struct memory_span in = shift_span(s, low);
		low = in.bytes && in.low < low ? in.low : low;
		high = in.low + in.bytes > high ? in.low + in.bytes : high;
	}
	widen(&x->of[instruction], low, high);
}

/* Warps in the order of their paths: first[p] to first[p + 1] of `warps` are those with path p. */
static void sort_by_path(const struct launch_warps *warps, uint64_t count, uint64_t *first, uint64_t *sorted)
{
	for (uint64_t w = 0; w < count; w++)
		first[warps->path_of[w] + 1]++;
	for (uint32_t p = 0; p < warps->path_count; p++)
		first[p + 1] += first[p];
	for (uint64_t w = count; w-- > 0;)
		sorted[--first[warps->path_of[w] + 1]] = w;
}

/* Paths are long and many groups have the same: each is walked once, and what it touches is moved to its groups. */
static int find_extents(struct extents *x)
{
	const struct launch_warps *warps = x->warps;
	uint64_t count = warps->pattern_groups * warps->warps_per_group;
	uint64_t *first = calloc(warps->path_count + 2, sizeof *first), *sorted = calloc(count + 1, sizeof *sorted);
	int rc = first && sorted ? 0 : -ENOMEM;
	if (!rc)
		sort_by_path(warps, count, first, sorted);
	for (uint32_t p = 0; p < warps->path_count && !rc; p++) {
		uint64_t begin = first[p + 1], end = p + 1 < warps->path_count ? first[p + 2] : count;
		if (begin < end)
			visit_path(warps, &warps->paths[p], true, extend, x);
		for (uint64_t w = begin; w < end && x->count; w++) {
			uint64_t group = sorted[w] / warps->warps_per_group;
			if (w > begin && sorted[w - 1] / warps->warps_per_group == group)
				continue;
			for (uint32_t i = 0; i < x->count; i++)
				extend_to_grid(x, x->touched[i], warps->pattern_ids ? warps->pattern_ids[group] : group);
		}
		while (x->count)
			x->own[x->touched[--x->count]] = (struct extent){0};
	}
	free(first);
	free(sorted);
	return rc;
}

/* ---- traffic ---- */

/* Lines that are kept of a group: bounds memory. Groups, from all of the launch, whose traffic stands for that of all. */
enum { MOST_LINES = 1 << 16, FEW_GROUPS = 8 };

struct touched {
	uint64_t line_bytes, count;
	const struct kernel_code *code;
	uint64_t *lines; /* their numbers, doubled, odd where one is written */
};

static bool touch_part(void *ctx, uint32_t instruction, const struct memory_part *part)
{
	struct touched *t = ctx;
	enum code_class class = t->code->code[instruction].class;
	if (t->count < MOST_LINES)
		t->lines[t->count++] = quotient(part->address, t->line_bytes) * 2 + (class == CODE_store || class == CODE_atomic);
	return t->count < MOST_LINES;
}

/* Lines of a group are counted once; they and the ranges are in order. */
static void count_lines(const struct touched *t, struct memory_range *ranges, size_t count)
{
	size_t r = 0;
	for (uint64_t i = 0; i < t->count; i++) {
		uint64_t address = t->lines[i] / 2 * t->line_bytes;
		while (r < count && address >= ranges[r].address + ranges[r].bytes)
			r++;
		if (r == count)
			return;
		ranges[r].written |= t->lines[i] & 1;
		ranges[r].traffic += i == 0 || t->lines[i - 1] / 2 != t->lines[i] / 2;
	}
}

/* Whether an access goes elsewhere in the rounds that its path leaves out. */
static bool moves_in_gaps(const struct warp_path *path, size_t request)
{
	for (size_t g = 0; g < path->gap_count; g++) {
		const struct path_gap *gap = &path->gaps[g];
		size_t n = request - gap->first_access;
		if (gap->shifts && n < gap->access_count && (gap->shifts[n].chance || gap->shifts[n].step))
			return true;
	}
	return false;
}

/* Parts of requests: those of the path, with the last round of what it leaves out (visit_rounds), and those of the other rounds that go elsewhere. */
struct weighed {
	double visited, left_out;
};

static void weigh_request(const struct warp_path *path, size_t request, double times, const struct memory_range *ranges, size_t count, struct weighed *w)
{
	const struct memory_part *p = path->requests->parts + path->requests->first[request];
	const struct memory_part *end = path->requests->parts + path->requests->first[request + 1];
	bool moves = times > 1 && moves_in_gaps(path, request);
	for (; p < end; p++)
		for (size_t r = 0; r < count; r++)
			if (p->address - ranges[r].address < ranges[r].bytes) {
				w[r].visited += moves ? 2 : 1;
				w[r].left_out += moves ? fmax(times - 2, 0) : 0;
				break;
			}
}

static void weigh_path(const struct launch_warps *warps, const struct warp_path *path, const struct memory_range *ranges, size_t count, struct weighed *w)
{
	size_t n = 0;
	for (size_t b = 0; b < path->block_count && path->requests && n < MOST_LINES; b++) {
		const struct code_block *block = &warps->code->blocks[path->blocks[b]];
		for (uint32_t i = block->first; i < block->first + block->count; i++)
			if (code_has_accesses(warps->code->code[i].class) && n++ < path->access_count && is_of_memory(&warps->code->code[i]))
				weigh_request(path, n - 1, path_weight(path, b), ranges, count, w);
	}
}

static void weigh_group(const struct launch_warps *warps, uint64_t group, const struct memory_range *ranges, size_t count, struct weighed *w)
{
	const uint32_t *paths = &warps->path_of[group * warps->warps_per_group];
	bool gaps = false;
	for (uint32_t i = 0; i < warps->warps_per_group && count; i++)
		gaps |= warps->paths[paths[i]].gap_count > 0;
	for (uint32_t i = 0; i < warps->warps_per_group && gaps; i++)
		weigh_path(warps, &warps->paths[paths[i]], ranges, count, w);
}

/* Rounds that are left out touch lines as those do that are there, until a group has touched all. */
static void set_times(struct memory_range *range, const struct weighed *w, double lines_of_group, double groups, uint64_t line_bytes)
{
	double lines = (double)range->bytes / (double)line_bytes, more = w->visited > 0 ? w->left_out / w->visited : 0;
	range->times = lines_of_group * groups / lines;
	range->all_times = fmin(range->times * (1 + more), fmax(groups, range->times));
}

static int count_traffic(const struct gpu *gpu, const struct launch_warps *warps, struct memory_range *ranges, size_t count)
{
	struct touched t = {.line_bytes = gpu->l2_line_bytes, .code = warps->code, .lines = malloc(2 * MOST_LINES * sizeof *t.lines)};
	struct weighed *w = calloc(count + 1, sizeof *w);
	int result = t.lines && w ? 0 : -ENOMEM;
	/* From all of the launch: its first groups may have nothing to do. */
	uint64_t few = warps->pattern_groups < FEW_GROUPS ? warps->pattern_groups : FEW_GROUPS;
	const uint32_t *before = NULL;
	for (uint64_t i = 0; i < few && !result; i++) {
		uint64_t group = (2 * i + 1) * warps->pattern_groups / (2 * few);
		const uint32_t *paths = &warps->path_of[group * warps->warps_per_group];
		if (!before || memcmp(before, paths, warps->warps_per_group * sizeof *paths)) {
			t.count = 0;
			footprint_visit(warps, group, touch_part, &t);
			sort_numbers(t.lines, t.count, t.lines + MOST_LINES);
			weigh_group(warps, group, ranges, gpu->l2_partitions > 1 ? count : 0, w);
		}
		before = paths;
		count_lines(&t, ranges, count);
	}
	for (size_t i = 0; i < count && few && !result; i++)
		set_times(&ranges[i], &w[i], ranges[i].traffic / (double)few, (double)warps->groups, t.line_bytes);
	free(w);
	free(t.lines);
	return result;
}

/* ---- all of it ---- */

static double cold_share(const struct gpu *gpu, const struct memory_before *before, uint64_t address)
{
	uint64_t argument = argument_of_address(address);
	if (!before || !before->known || argument >= MEMORY_ARGUMENTS)
		return gpu->l2_warm ? 0 : 1;
	return (double)before->cold[argument] / ALL_COLD;
}

static int by_address(const void *a, const void *b)
{
	const struct memory_range *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static size_t merge_ranges(struct memory_range *ranges, size_t count)
{
	size_t kept = 0;
	qsort(ranges, count, sizeof *ranges, by_address);
	for (size_t i = 0; i < count; i++) {
		struct memory_range *last = kept ? &ranges[kept - 1] : NULL;
		uint64_t end = ranges[i].address + ranges[i].bytes;
		if (!last || ranges[i].address > last->address + last->bytes)
			ranges[kept++] = ranges[i];
		else {
			last->bytes = end > last->address + last->bytes ? end - last->address : last->bytes;
			last->anywhere |= ranges[i].anywhere;
		}
	}
	return kept;
}

static uint64_t bytes_of(const struct memory_range *ranges, size_t count)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < count; i++)
		bytes += ranges[i].bytes;
	return bytes;
}

/* Whether most of what is touched is asked for by several groups. */
static bool is_shared(const struct memory_range *ranges, size_t count)
{
	enum { SEVERAL = 2 };
	double times = 0;
	for (size_t i = 0; i < count; i++)
		times += ranges[i].times * (double)ranges[i].bytes;
	return times >= SEVERAL * (double)bytes_of(ranges, count);
}

/* A partition has a copy of a line for those that ask for it after the first, if all do at about the same time. */
static double far_share(const struct gpu *gpu, const struct memory_range *range, uint64_t bytes)
{
	double asked = range->anywhere ? 1 : fmax(range->all_times / gpu->l2_partitions, 1);
	return kept_far(gpu, bytes, range->anywhere) / asked;
}

/* The same of lines that were written before the launch, and that nobody has loaded since. */
static double written_far_share(const struct gpu *gpu, const struct memory_before *before, const struct memory_range *range)
{
	uint64_t argument = argument_of_address(range->address);
	if (!before || !before->known || argument >= MEMORY_ARGUMENTS || gpu->l2_partitions < 2)
		return 0;
	double elsewhere = 1 - 1.0 / gpu->l2_partitions;
	return elsewhere * before->alone[argument] / ALL_ALONE / fmax(range->all_times / gpu->l2_partitions, 1);
}

/* What is not in L2 when the launch begins, and what is far. */
static void find_cold(const struct gpu *gpu, const struct launch_warps *warps, struct memory_range *ranges, size_t count)
{
	uint64_t bytes = bytes_of(ranges, count);
	double lost = bytes <= kept_room(gpu, bytes) ? 1 - kept_share(gpu, bytes, is_shared(ranges, count)) : 0; /* of what does not fit, others decide (warm.h) */
	uint64_t touched = 0;
	for (size_t i = 0; i < count; i++)
		touched += (uint64_t)(fmin(ranges[i].all_times, 1) * (double)ranges[i].bytes); /* a range may have holes */
	for (size_t i = 0; i < count; i++) {
		ranges[i].cold = fmax(cold_share(gpu, warps->before, ranges[i].address), lost);
		ranges[i].far = fmax(far_share(gpu, &ranges[i], touched), written_far_share(gpu, warps->before, &ranges[i]));
	}
}

static int extents_init(struct extents *x, uint32_t instructions)
{
	x->of = calloc(instructions + SPANNED_ARGUMENTS + 1, sizeof *x->of);
	x->own = calloc(instructions + 1, sizeof *x->own);
	x->touched = calloc(instructions + 1, sizeof *x->touched);
	return x->of && x->own && x->touched ? 0 : -ENOMEM;
}

static void extents_free(struct extents *x)
{
	free(x->of);
	free(x->own);
	free(x->touched);
}

int footprint_ranges(const struct gpu *gpu, const struct launch_warps *warps, struct memory_range **out, size_t *count)
{
	struct extents x = {.warps = warps, .line = gpu->l1_line_bytes};
	const uint32_t instructions = warps->code->code_count, extents = instructions + SPANNED_ARGUMENTS;
	*out = calloc(extents + 1, sizeof **out);
	*count = 0;
	int rc = extents_init(&x, instructions);
	if (!rc)
		rc = *out ? find_extents(&x) : -ENOMEM;
	for (uint32_t i = 0; i < extents && !rc; i++)
		if (x.of[i].high > x.of[i].low)
			(*out)[(*count)++] = (struct memory_range){.address = x.of[i].low, .bytes = x.of[i].high - x.of[i].low,
			                                           .anywhere = warps->shifts && (i >= instructions || !warps->shifts[i].linear)};
	extents_free(&x);
	if (rc)
		return rc;
	*count = merge_ranges(*out, *count);
	rc = count_traffic(gpu, warps, *out, *count);
	find_cold(gpu, warps, *out, *count);
	return rc;
}

/* ---- shares ---- */

struct counting {
	const struct launch_warps *warps;
	uint64_t line, group, count, parts, room;
	uint64_t *seen; /* a hash table of lines; 0: none */
	int64_t moved[3];
	bool moves, failed;
};

static bool add_line(uint64_t *seen, uint64_t room, uint64_t line)
{
	uint64_t at = hash_number(line) / SAMPLE & (room - 1);
	for (; seen[at]; at = (at + 1) & (room - 1))
		if (seen[at] == line)
			return false;
	seen[at] = line;
	return true;
}

static bool grow_table(struct counting *c)
{
	uint64_t room = c->room ? 2 * c->room : 4096, *seen = calloc(room, sizeof *seen);
	if (!seen)
		return false;
	for (uint64_t i = 0; i < c->room; i++)
		if (c->seen[i])
			add_line(seen, room, c->seen[i]);
	free(c->seen);
	c->seen = seen;
	c->room = room;
	return true;
}

static bool count_part(void *ctx, uint32_t instruction, const struct memory_part *part)
{
	struct counting *c = ctx;
	uint64_t address = part->address;
	if (c->moves)
		address = launch_address(c->warps, instruction, address, c->group, c->moved, c->line);
	uint64_t line = quotient(address, c->line) + 1;
	c->parts++;
	if (hash_number(line) % SAMPLE)
		return true;
	if (2 * c->count >= c->room && !grow_table(c)) {
		c->failed = true;
		return false;
	}
	c->count += add_line(c->seen, c->room, line);
	return true;
}

int footprint_share(const struct gpu *gpu, const struct launch_warps *warps, uint64_t some, uint64_t all, double *out)
{
	struct counting c = {.warps = warps, .line = gpu->l1_line_bytes};
	double at_some = 0, halfway = 0;
	uint64_t n = 0, half = 0, before = all < warps->groups ? (warps->groups - all) / 2 : 0;
	for (; n < all && !c.failed && (c.parts < MOST_PARTS || n < 2); n++) {
		if (n == some)
			at_some = (double)c.count;
		if (c.parts < MOST_PARTS / 2) {
			half = n;
			halfway = (double)c.count;
		}
		c.group = before + n;
		c.moves = launch_move(warps, c.group, c.moved);
		footprint_visit(warps, warps_pattern(warps, c.group), count_part, &c);
	}
	/* The rest goes on as the second half did. */
	double slope = n > half ? ((double)c.count - halfway) / (double)(n - half) : 0, counted = (double)c.count;
	double total = counted + slope * (double)(all - n);
	if (some >= n)
		at_some = counted + slope * (double)(some - n);
	*out = total > 0 && at_some < total ? at_some / total : 1;
	free(c.seen);
	return c.failed ? -ENOMEM : 0;
}

int footprint_capacity(const struct gpu *gpu, const struct launch_warps *warps, const struct memory_range *ranges, size_t count,
                       uint64_t some, uint64_t all, double *out)
{
	uint64_t bytes = bytes_of(ranges, count), room = kept_room(gpu, bytes);
	double anywhere = 0, traffic = 0;
	*out = room > 0 ? (double)room / (double)(gpu->l2_bytes / gpu->l2_partitions) : 1;
	for (size_t i = 0; i < count; i++) {
		traffic += ranges[i].traffic;
		anywhere += ranges[i].anywhere ? ranges[i].traffic : 0;
	}
	if (some >= all || bytes <= room)
		return 0;
	/* How often groups find lines of others depends on the number of lines alone; how often they find their own, on who else asks. */
	if (anywhere > traffic / 2) {
		int rc = reuse_share(gpu, warps, some, all, out);
		return rc < 0 ? rc : 0;
	}
	return footprint_share(gpu, warps, some, all < warps->groups ? all : warps->groups, out);
}
