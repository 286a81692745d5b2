/*
 * Where the instructions of a launch go, group by group, and how that moves.
 *
 * Of each instruction some work-items are followed, the witnesses, for as many groups as were traced (fit.h). Where their addresses follow no steps, or
 * where traced groups do not differ in a dimension, all that is known is which part of memory was touched, or that each group's lowest address is
 * above that of the one before: lists that follow one another, as rows of a sparse matrix (lists.c). Instructions that touch about the same
 * part share it, because they may meet there: a group that loads a place twice, or stores where it has loaded, does so wherever it is moved.
 */
#include "models/accesses/image.h"
#include "models/trace/internal.h"
#include "models/trace/moves/fit.h"

#include <stdlib.h>

/* WITNESSES: of an instruction. A group that has none of those before it adds one. Of very many groups one is followed: that bounds memory,
 * and those are most of the launch, or all. */
enum { WITNESSES = 4, MANY_GROUPS = 4096 };
enum { LEAST_LISTS = 6 }; /* in order; by chance, one in 720 is */

/* Of one witness in one group. */
struct seen {
	uint64_t first, last;
	bool any;
};

struct shift_finder {
	const struct kernel_code *code;
	size_t groups;
	uint64_t grid[3];
	uint32_t witnesses; /* of an instruction, at most */
	uint32_t *number;   /* per instruction: among those that access memory */
	struct seen *seen;  /* number i, witness w, group g at (i * witnesses + w) * groups + g */
	uint64_t *lowest;   /* number i, group g at i * groups + g: addresses; 0: none */
	struct sighting *sightings;
	struct whose {
		struct witness {
			uint32_t warp, lane;
		} witnesses[WITNESSES];
		uint32_t count;
		size_t found; /* the last group that has one, + 1 */
		uint64_t low, high;
		uint64_t image;
		bool used;
	} *whose;
	struct memory_span spans[SPANNED_ARGUMENTS];
};

struct shift_finder *shift_finder_new(const struct kernel_code *code, size_t groups, const uint64_t grid[3])
{
	struct shift_finder *f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	*f = (struct shift_finder){.code = code, .groups = groups, .grid = {grid[0], grid[1], grid[2]},
	                          .witnesses = groups > MANY_GROUPS ? 1 : WITNESSES};
	f->number = calloc(code->code_count + 1u, sizeof *f->number);
	f->whose = calloc(code->code_count + 1u, sizeof *f->whose);
	uint32_t count = 0;
	for (uint32_t i = 0; i < code->code_count && f->number; i++) {
		f->number[i] = count;
		count += code_accesses_memory(&code->code[i]);
	}
	f->seen = calloc((size_t)count * f->witnesses * groups + 1, sizeof *f->seen);
	f->sightings = calloc(f->witnesses * groups + 1, sizeof *f->sightings);
	f->lowest = calloc((size_t)count * groups + 1, sizeof *f->lowest);
	if (!f->seen || !f->lowest || !f->sightings || !f->whose || !f->number) {
		shift_finder_free(f);
		return NULL;
	}
	return f;
}

void shift_finder_free(struct shift_finder *f)
{
	if (!f)
		return;
	free(f->number);
	free(f->seen);
	free(f->sightings);
	free(f->lowest);
	free(f->whose);
	free(f);
}

static void see(struct shift_finder *f, uint32_t instruction, size_t n, uint32_t witness, uint64_t address)
{
	struct seen *s = &f->seen[((size_t)f->number[instruction] * f->witnesses + witness) * f->groups + n];
	s->first = s->any ? s->first : address;
	s->last = address;
	s->any = true;
	f->whose[instruction].found = n + 1;
}

/* The place of a lane in a request; count: it is off. */
static uint32_t find_lane(const struct lane_addresses *a, uint32_t lane)
{
	uint32_t i = 0;
	if (lane < a->count && a->lanes[lane] == lane)
		return lane;
	while (i < a->count && a->lanes[i] != lane)
		i++;
	return i;
}

static void span_add(struct shift_finder *f, uint64_t low, uint64_t high)
{
	uint64_t argument = argument_of_address(low);
	if (argument >= SPANNED_ARGUMENTS || high <= low)
		return;
	struct memory_span *s = &f->spans[argument];
	uint64_t end = s->bytes && s->low + s->bytes > high ? s->low + s->bytes : high;
	s->low = s->bytes && s->low < low ? s->low : low;
	s->bytes = end - s->low;
}

void shift_finder_add(struct shift_finder *f, uint32_t instruction, size_t n, uint32_t warp, const struct lane_addresses *a)
{
	struct whose *w = &f->whose[instruction];
	uint64_t address = a->addresses[0], end = address + a->bytes, *lowest = &f->lowest[(size_t)f->number[instruction] * f->groups + n];
	*lowest = *lowest && *lowest < address ? *lowest : address;
	w->low = w->used && w->low < address ? w->low : address;
	w->high = w->used && w->high > end ? w->high : end;
	w->used = true;
	span_add(f, address, end);
	span_add(f, a->addresses[a->count - 1], a->addresses[a->count - 1] + a->bytes);
	for (uint32_t i = 0; i < w->count; i++) {
		uint32_t at = w->witnesses[i].warp == warp ? find_lane(a, w->witnesses[i].lane) : a->count;
		if (at < a->count)
			see(f, instruction, n, i, a->addresses[at]);
	}
	if (w->found == n + 1 || w->count == f->witnesses)
		return;
	/* One in the middle of the request: those at its ends are the first to be off in other groups. */
	w->witnesses[w->count] = (struct witness){warp, a->lanes[a->count / 2]};
	see(f, instruction, n, w->count++, a->addresses[a->count / 2]);
}

void shift_finder_image(struct shift_finder *f, uint32_t instruction, uint64_t image)
{
	f->whose[instruction].image = image;
}

static bool find_steps(const struct shift_finder *f, uint32_t instruction, const uint64_t *ids, struct address_shift *out)
{
	size_t count = 0;
	for (uint32_t w = 0; w < f->whose[instruction].count; w++) {
		const struct seen *seen = &f->seen[((size_t)f->number[instruction] * f->witnesses + w) * f->groups];
		for (size_t g = 0; g < f->groups; g++)
			if (seen[g].any)
				f->sightings[count++] = (struct sighting){ids[g], w, seen[g].first, seen[g].last};
	}
	return fit_moves(f->sightings, count, f->grid, out);
}

void shift_finder_widen(struct shift_finder *f, uint32_t instruction, uint64_t low, uint64_t high)
{
	struct whose *w = &f->whose[instruction];
	w->low = w->used && low < w->low ? low : w->low;
	w->high = w->used && high > w->high ? high : w->high;
	span_add(f, low, high);
}

struct memory_span shift_finder_range(const struct shift_finder *f, uint32_t instruction, uint64_t address)
{
	const struct whose *w = &f->whose[instruction];
	const struct address_shift range = {.low = w->low, .bytes = w->used ? w->high - w->low : 0, .spans = f->spans};
	return shift_span(&range, address);
}

void shift_finder_spans(const struct shift_finder *f, struct memory_span out[SPANNED_ARGUMENTS])
{
	memcpy(out, f->spans, sizeof f->spans);
}

/* Whether two instructions touched about the same. */
static bool overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	uint64_t low = a > b ? a : b, high = a_end < b_end ? a_end : b_end, larger = a_end - a > b_end - b ? a_end - a : b_end - b;
	return high > low && high - low >= larger / 2;
}

/* Instructions whose addresses are not linear, and which touched about the same as one before them, take the part of both. */
static void share_parts(const struct shift_finder *f, struct address_shift *out)
{
	const uint32_t count = f->code->code_count;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < i && out[i].bytes; j++)
			if (out[j].bytes && overlap(out[i].low, out[i].low + out[i].bytes, out[j].low, out[j].low + out[j].bytes)) {
				uint64_t low = out[i].low < out[j].low ? out[i].low : out[j].low;
				uint64_t i_end = out[i].low + out[i].bytes, j_end = out[j].low + out[j].bytes;
				out[j].bytes = out[i].bytes = (i_end > j_end ? i_end : j_end) - low;
				out[j].low = out[i].low = low;
			}
}

/* The same for the rounds of gaps: there an instruction may go anywhere, too, whose addresses follow steps from group to group. */
static void share_ranges(const struct shift_finder *f)
{
	for (uint32_t i = 0; i < f->code->code_count; i++)
		for (uint32_t j = 0; j < i && f->whose[i].used; j++) {
			struct whose *a = &f->whose[j], *b = &f->whose[i];
			if (!a->used || !overlap(a->low, a->high, b->low, b->high))
				continue;
			a->low = b->low = a->low < b->low ? a->low : b->low;
			a->high = b->high = a->high > b->high ? a->high : b->high;
		}
}

/* The buffer that an instruction was seen in. */
static void find_buffer(const struct launch_trace *trace, const struct whose *w, struct address_shift *out)
{
	uint64_t argument = argument_of_address(w->low);
	if (argument >= trace->argument_count || w->image)
		return;
	out->low = (argument + 1) << ARGUMENT_BITS;
	out->bytes = argument_memory(trace->argument_bytes[argument]);
}

void shift_finder_finish(const struct shift_finder *f, const struct launch_trace *trace, const uint64_t *ids, struct address_shift *out)
{
	for (uint32_t i = 0; i < f->code->code_count; i++) {
		const struct whose *w = &f->whose[i];
		out[i] = (struct address_shift){.linear = false};
		if (!w->used)
			continue;
		if (!find_steps(f, i, ids, &out[i]))
			out[i] = (struct address_shift){.low = w->low, .bytes = w->high - w->low};
		else
			out[i].image = w->image;
	}
	share_parts(f, out);
	for (uint32_t i = 0; i < f->code->code_count; i++)
		if (out[i].linear)
			find_buffer(trace, &f->whose[i], &out[i]);
	share_ranges(f);
}

/* Where the lists of groups begin that have none: where the next one does, or the last one. */
static void fill_starts(uint64_t *starts, size_t count)
{
	for (size_t n = count - 1; n-- > 0;)
		starts[n] = starts[n] ? starts[n] : starts[n + 1];
	for (size_t n = 1; n < count; n++)
		starts[n] = starts[n] ? starts[n] : starts[n - 1];
}

/* Whether the lists of most traced groups are known, and each begins after the one before. Fills the bytes of a group, on average. */
static bool finds_list(const uint64_t *starts, const uint64_t *ids, size_t count, int64_t *step)
{
	size_t known = 0, first = 0, last = 0;
	for (size_t n = 0; n < count; n++) {
		if (!starts[n])
			continue;
		if (known && (ids[n] <= ids[last] || starts[n] <= starts[last]))
			return false;
		first = known++ ? first : n;
		last = n;
	}
	*step = known > 1 ? (int64_t)(starts[last] - starts[first]) / (int64_t)(ids[last] - ids[first]) : 0;
	return known >= LEAST_LISTS && 2 * known >= count;
}

uint64_t *shift_finder_lists(struct shift_finder *f, const struct launch_trace *trace, const uint64_t *ids, size_t count, struct address_shift *out)
{
	bool any = false;
	for (uint32_t i = 0; i < f->code->code_count; i++) {
		const struct whose *w = &f->whose[i];
		uint64_t *starts = &f->lowest[(size_t)f->number[i] * f->groups];
		struct address_shift list = {.linear = true, .starts = starts};
		if (!w->used || w->image || out[i].linear || !finds_list(starts, ids, count, &list.step[0]))
			continue;
		fill_starts(starts, count);
		find_buffer(trace, w, &list);
		out[i] = list;
		any = true;
	}
	uint64_t *all = any ? f->lowest : NULL;
	f->lowest = any ? NULL : f->lowest;
	return all;
}
