/*
 * Whether the addresses of an instruction are linear in the ids of its group.
 *
 *   address(group) = address(first) + step . (id(group) - id(first))
 * The steps are solved from as many traced groups as there are dimensions and checked on all others, for the first and for
 * the last execution by the same lane. Where that fails, or where traced groups do not differ in a dimension, all that is
 * known is which part of memory was touched. Instructions that touch about the same part share it, because they may meet there: a group
 * that loads a place twice, or stores where it has loaded, does so wherever it is moved.
 */
#include "models/trace/internal.h"

#include <math.h>
#include <stdlib.h>

/* Of one instruction in one group: the first execution by the lane that was the first of all, and its last. */
struct seen {
	uint64_t first, last;
	bool any;
};

struct shift_finder {
	const struct kernel_code *code;
	size_t groups;
	uint64_t grid[3];
	uint32_t *number;  /* per instruction: among those that access memory */
	struct seen *seen; /* number i of group g at i * groups + g */
	struct whose {
		uint32_t warp, lane;
		uint64_t low, high;
		uint64_t image;
		bool used;
	} *whose;
};

struct shift_finder *shift_finder_new(const struct kernel_code *code, size_t groups, const uint64_t grid[3])
{
	struct shift_finder *f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	*f = (struct shift_finder){.code = code, .groups = groups, .grid = {grid[0], grid[1], grid[2]}};
	f->number = calloc(code->code_count + 1u, sizeof *f->number);
	f->whose = calloc(code->code_count + 1u, sizeof *f->whose);
	uint32_t count = 0;
	for (uint32_t i = 0; i < code->code_count && f->number; i++) {
		f->number[i] = count;
		count += code_accesses_memory(&code->code[i]);
	}
	f->seen = calloc((size_t)count * groups + 1, sizeof *f->seen);
	if (!f->seen || !f->whose || !f->number) {
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
	free(f->whose);
	free(f);
}

void shift_finder_add(struct shift_finder *f, uint32_t instruction, size_t n, uint32_t warp, uint32_t lane,
                      uint64_t address, uint64_t bytes)
{
	struct whose *w = &f->whose[instruction];
	struct seen *s = &f->seen[f->number[instruction] * f->groups + n];
	if (!w->used)
		*w = (struct whose){.warp = warp, .lane = lane, .low = address, .high = address + bytes, .used = true};
	w->low = address < w->low ? address : w->low;
	w->high = address + bytes > w->high ? address + bytes : w->high;
	if (w->warp != warp || w->lane != lane)
		return;
	s->first = s->any ? s->first : address;
	s->last = address;
	s->any = true;
}

void shift_finder_image(struct shift_finder *f, uint32_t instruction, uint64_t image)
{
	f->whose[instruction].image = image;
}

static void ids_of(const struct shift_finder *f, uint64_t group, double *id)
{
	for (int d = 0; d < 3; d++) {
		id[d] = (double)(group % f->grid[d]);
		group /= f->grid[d];
	}
}

/* Rows of differences of ids, followed by that of the address, made triangular: one per dimension at most. */
struct system {
	double row[3][4];
	bool used[3];
};

static void add_row(struct system *s, double *row)
{
	for (int d = 0; d < 3; d++) {
		if (fabs(row[d]) < 1e-9)
			continue;
		if (!s->used[d]) {
			for (int k = 0; k < 4; k++)
				s->row[d][k] = row[k];
			s->used[d] = true;
			return;
		}
		double factor = row[d] / s->row[d][d];
		for (int k = d; k < 4; k++)
			row[k] -= factor * s->row[d][k];
	}
}

/* False where some dimension that there is stays open. */
static bool solve(const struct shift_finder *f, const struct system *s, int64_t *step)
{
	for (int d = 2; d >= 0; d--) {
		if (!s->used[d] && f->grid[d] > 1)
			return false;
		double rest = s->used[d] ? s->row[d][3] : 0;
		for (int k = d + 1; k < 3 && s->used[d]; k++)
			rest -= s->row[d][k] * (double)step[k];
		step[d] = s->used[d] ? llround(rest / s->row[d][d]) : 0;
	}
	return true;
}

static bool is_linear(const struct shift_finder *f, uint32_t instruction, const uint64_t *ids, int64_t *step)
{
	const struct seen *seen = &f->seen[f->number[instruction] * f->groups];
	struct system system = {.used = {false}};
	double first[3], id[3];
	size_t reference = 0;
	while (reference < f->groups && !seen[reference].any)
		reference++;
	if (reference == f->groups)
		return false;
	ids_of(f, ids[reference], first);
	for (size_t g = reference + 1; g < f->groups; g++) {
		ids_of(f, ids[g], id);
		double row[4] = {id[0] - first[0], id[1] - first[1], id[2] - first[2],
		                 (double)(int64_t)(seen[g].first - seen[reference].first)};
		if (seen[g].any)
			add_row(&system, row);
	}
	if (!solve(f, &system, step))
		return false;
	for (size_t g = reference; g < f->groups; g++) {
		int64_t moved = 0;
		ids_of(f, ids[g], id);
		for (int d = 0; d < 3; d++)
			moved += step[d] * (int64_t)(id[d] - first[d]);
		if (seen[g].any && (seen[g].first - seen[reference].first != (uint64_t)moved ||
		                    seen[g].last - seen[reference].last != (uint64_t)moved))
			return false;
	}
	return true;
}

void shift_finder_widen(struct shift_finder *f, uint32_t instruction, uint64_t low, uint64_t high)
{
	struct whose *w = &f->whose[instruction];
	w->low = w->used && low < w->low ? low : w->low;
	w->high = w->used && high > w->high ? high : w->high;
}

void shift_finder_range(const struct shift_finder *f, uint32_t instruction, uint64_t *low, uint64_t *bytes)
{
	const struct whose *w = &f->whose[instruction];
	*low = w->low;
	*bytes = w->used ? w->high - w->low : 0;
}

/* Whether two instructions touched about the same. */
static bool overlap(const struct address_shift *a, const struct address_shift *b)
{
	uint64_t a_end = a->low + a->bytes, b_end = b->low + b->bytes;
	uint64_t low = a->low > b->low ? a->low : b->low, high = a_end < b_end ? a_end : b_end, larger = a->bytes > b->bytes ? a->bytes : b->bytes;
	return high > low && high - low >= larger / 2;
}

/* Instructions whose addresses are not linear, and which touched about the same as one before them, take the part of both. */
static void share_parts(const struct shift_finder *f, struct address_shift *out)
{
	const uint32_t count = f->code->code_count;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < i && out[i].bytes; j++)
			if (out[j].bytes && overlap(&out[i], &out[j])) {
				uint64_t low = out[i].low < out[j].low ? out[i].low : out[j].low;
				uint64_t i_end = out[i].low + out[i].bytes, j_end = out[j].low + out[j].bytes;
				out[j].bytes = out[i].bytes = (i_end > j_end ? i_end : j_end) - low;
				out[j].low = out[i].low = low;
			}
}

void shift_finder_finish(const struct shift_finder *f, const uint64_t *ids, struct address_shift *out)
{
	for (uint32_t i = 0; i < f->code->code_count; i++) {
		const struct whose *w = &f->whose[i];
		out[i] = (struct address_shift){.linear = false};
		if (!w->used)
			continue;
		out[i].linear = is_linear(f, i, ids, out[i].step);
		if (!out[i].linear)
			out[i] = (struct address_shift){.low = w->low, .bytes = w->high - w->low};
		else
			out[i].image = w->image;
	}
	share_parts(f, out);
}
