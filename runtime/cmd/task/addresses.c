/* Where the lanes of a warp access memory. */
#include "runtime/cmd/task/execute.h"

uint64_t task_chance(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xbf58476d1ce4e5b9) + c * UINT64_C(0x94d049bb133111eb) + UINT64_C(0x2545f4914f6cdd1d);
	for (int i = 0; i < 2; i++) {
		x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	}
	return x ^ x >> 31;
}

void task_place_lane(struct task_warp *w, uint32_t lane)
{
	const uint64_t *block = w->launch->kernel->block;
	uint64_t local = (uint64_t)w->number * TASK_LANES + lane;
	w->variables[VARIABLE_lx] = (int64_t)(local % block[0]);
	w->variables[VARIABLE_ly] = (int64_t)(local / block[0] % block[1]);
	w->variables[VARIABLE_lz] = (int64_t)(local / block[0] / block[1]);
	w->variables[VARIABLE_local] = (int64_t)local;
	w->variables[VARIABLE_lane] = lane;
	w->variables[VARIABLE_item] = (int64_t)(w->group * w->items + local);
}

/* Rows of a table are those of the first warp that uses it, then those of the second, and so on. */
static const struct task_row *find_row(const struct task_warp *w, const struct task_table *t, uint64_t n)
{
	uint64_t warps = w->range_warps ? w->range_warps : w->all_warps, each = t->row_count / warps ? t->row_count / warps : 1;
	return &t->rows[((w->range_warps ? w->rank : w->k) * each + n % each) % t->row_count];
}

static uint64_t element_of(const struct task_warp *w, const struct task_access *a, uint64_t n, uint64_t elements)
{
	bool shared = a->target < 0;
	uint64_t id = (uint64_t)w->variables[shared ? VARIABLE_local : VARIABLE_item];
	uint64_t all = shared ? w->items : w->items * w->launch->groups;
	if (a->target == TARGET_PRIVATE) { /* every work-item has its own */
		id = 0;
		all = 1;
	}
	switch (a->pattern) {
	case PATTERN_STRIDED:
		return (id * (uint64_t)a->stride + n) % elements;
	case PATTERN_RANDOM:
		return task_chance(id, n, (uint64_t)(a - w->launch->list->accesses)) % elements;
	case PATTERN_BROADCAST:
		return n % elements;
	default:
		return (id + n * all) % elements;
	}
}

void task_addresses(struct task_warp *w, int32_t access, uint32_t mask, uint64_t out[TASK_LANES])
{
	const struct task_list *l = w->launch->list;
	const struct task_access *a = &l->accesses[access];
	const uint64_t n = w->executions[access]++ / a->reuse, elements = a->footprint / a->width;
	const struct task_row *row = a->pattern == PATTERN_TABLE ? find_row(w, &l->tables[a->table], n) : NULL;
	const uint64_t begin = (a->target >= 0 ? l->buffers[a->target].begin : a->target == TARGET_LOCAL ? EXPORT_SHARED_BASE : EXPORT_LOCAL_BASE) + a->offset;
	uint32_t rank = 0;
	w->variables[VARIABLE_n] = (int64_t)n;
	for (uint32_t left = mask; left; left &= left - 1, rank++) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint64_t offset;
		task_place_lane(w, lane);
		if (row)
			offset = row->count == 1 ? l->tables[a->table].values[row->first] + (uint64_t)row->stride * rank
			                         : l->tables[a->table].values[row->first + rank % row->count];
		else if (a->pattern == PATTERN_AT)
			offset = (uint64_t)expression_value(a->at, w->variables);
		else
			offset = element_of(w, a, n, elements) * a->width;
		out[lane] = begin + (offset <= a->footprint - a->width ? offset : offset % elements * a->width);
	}
}
