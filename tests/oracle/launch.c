/* A launch: its memory, and its work-groups one after the other. */
#include "tests/oracle/internal.h"
#include "tests/oracle/warp.h"

#include <errno.h>
#include <stdlib.h>

void oracle_fail(struct run *r, const char *what, uint32_t instruction)
{
	const struct ptx_function *f = r->program->function;
	if (!r->failed)
		gs_fail(r->err, EFAULT, "%s, line %u: %s", f->name, f->instructions[instruction].ptx_line, what);
	r->failed = true;
}

/* Places the module's variables, then every buffer at a boundary of its own, as an allocator would do. */
static int set_up_memory(struct run *r)
{
	const struct oracle *o = r->program;
	uint64_t bytes = oracle_align(o->static_bytes), shared = o->shared_bytes;
	for (uint32_t i = 0; i < r->launch->argument_count; i++) {
		const struct oracle_argument *a = &r->launch->arguments[i];
		bytes += a->kind == ORACLE_BUFFER ? oracle_align(a->bytes) : 0;
		shared = a->kind == ORACLE_LOCAL ? (shared + 15) / 16 * 16 + a->bytes : shared;
	}
	r->global_bytes = bytes;
	r->shared_bytes = shared;
	r->global = calloc(1, bytes + 1);
	r->shared = calloc(1, shared + 1);
	r->parameters = calloc(1, o->parameter_bytes + 8);
	r->local = calloc(1, o->local_bytes * r->warp_count * ORACLE_WARP + 1);
	if (!r->global || !r->shared || !r->parameters || !r->local)
		return gs_fail(r->err, ENOMEM, "out of memory");
	memcpy(r->global, o->statics, o->static_bytes);
	return 0;
}

/* Copies arguments to the parameters. With `back`, copies buffers back to the caller. */
static void pass_arguments(struct run *r, bool back)
{
	const struct oracle *o = r->program;
	uint64_t global = oracle_align(o->static_bytes), shared = o->shared_bytes;
	for (uint32_t i = 0; i < r->launch->argument_count; i++) {
		const struct oracle_argument *a = &r->launch->arguments[i];
		const struct ptx_variable *v = &o->function->variables[i];
		uint64_t address = 0;
		const void *value = &address;
		if (a->kind == ORACLE_BUFFER) {
			address = GLOBAL_BASE + global;
			memcpy(back ? a->data : r->global + global, back ? r->global + global : a->data, a->bytes);
			global += oracle_align(a->bytes);
		} else if (a->kind == ORACLE_LOCAL) {
			shared = (shared + 15) / 16 * 16;
			address = shared;
			shared += a->bytes;
		} else {
			value = a->data;
		}
		size_t size = a->kind == ORACLE_VALUE && a->bytes < v->bytes ? a->bytes : v->bytes;
		if (!back)
			memcpy(r->parameters + o->variable_at[i], value,
			       size < 8 || a->kind == ORACLE_VALUE ? size : 8);
	}
}

static uint64_t special(const struct run *r, const char *name, uint32_t thread)
{
	const uint64_t *local = r->launch->local;
	const uint64_t ids[3] = {thread % local[0], thread / local[0] % local[1], thread / (local[0] * local[1])};
	size_t length = strlen(name);
	uint32_t dimension = length > 2 && name[length - 2] == '.' ? (uint32_t)(name[length - 1] - 'x') % 3 : 0;
	if (!strncmp(name, "%tid.", 5))
		return ids[dimension];
	if (!strncmp(name, "%ntid.", 6))
		return local[dimension];
	if (!strncmp(name, "%ctaid.", 7))
		return r->group_at[dimension];
	if (!strncmp(name, "%nctaid.", 8))
		return r->groups[dimension];
	uint32_t lane = thread % ORACLE_WARP;
	if (!strcmp(name, "%laneid"))
		return lane;
	if (!strncmp(name, "%lanemask_", 10)) {
		uint32_t own = 1u << lane, below = own - 1;
		const char *which = name + 10;
		return !strcmp(which, "eq") ? own : !strcmp(which, "lt") ? below : !strcmp(which, "le") ? below | own : !strcmp(which, "gt") ? ~(below | own) : ~below;
	}
	if (!strcmp(name, "%nwarpid"))
		return r->warp_count;
	return !strcmp(name, "%warpid") ? thread / ORACLE_WARP : 0;
}

static void begin_warp(struct run *r, struct warp *w, uint32_t number)
{
	const struct oracle *o = r->program;
	uint32_t first = number * ORACLE_WARP,
		 count = r->threads - first < ORACLE_WARP ? r->threads - first : ORACLE_WARP;
	w->number = number;
	w->first_thread = first;
	memset(w->rows, 0, (size_t)o->row_count * ORACLE_WARP * sizeof *w->rows);
	for (uint32_t s = 0; s < o->special_count; s++)
		for (uint32_t l = 0; l < count; l++)
			oracle_row(w, (int32_t)(o->function->register_count + s))[l] =
			    special(r, o->specials[s], first + l);
	warp_begin(w, count == ORACLE_WARP ? UINT32_MAX : (1u << count) - 1);
}

/* bar.red d, barrier, p: all warps that wait get what their lanes' predicates make. */
static void finish_reductions(struct run *r)
{
	uint64_t count = 0, lanes = 0;
	for (uint32_t k = 0; k < 2; k++) { /* first all lanes are counted */
		for (uint32_t n = 0; n < r->warp_count; n++) {
			struct warp *w = &r->warps[n];
			const struct oracle_op *o = w->reduction;
			for (uint32_t rest = o ? w->reduced_lanes : 0; rest; rest &= rest - 1) {
				uint32_t l = (uint32_t)__builtin_ctz(rest);
				bool yes = !(oracle_row(w, o->b)[l] & 1) == !!(o->negated & 2);
				count += k == 0 && yes;
				lanes += k == 0;
				if (k == 1)
					oracle_row(w, o->d)[l] = oracle_has(o->opcode, "popc") ? count
					                         : oracle_has(o->opcode, "and") ? count == lanes
					                                                        : count > 0;
			}
			w->reduction = k == 1 ? NULL : o;
		}
	}
}

/* Every warp runs to its next barrier, until none is left. Other warps do not wait for warps that have returned. */
static void run_group(struct run *r)
{
	uint32_t alive = r->warp_count;
	bool *done = calloc(r->warp_count, sizeof *done);
	if (!done) {
		oracle_fail(r, "out of memory", 0);
		return;
	}
	memset(r->shared, 0, r->shared_bytes);
	for (uint32_t w = 0; w < r->warp_count; w++)
		begin_warp(r, &r->warps[w], w);
	while (alive && !r->failed) {
		for (uint32_t w = 0; w < r->warp_count && !r->failed; w++) {
			if (!done[w] && !warp_run(&r->warps[w])) {
				done[w] = true;
				alive--;
			}
		}
		finish_reductions(r);
	}
	free(done);
}

static int make_warps(struct run *r)
{
	r->warps = calloc(r->warp_count, sizeof *r->warps);
	if (!r->warps)
		return gs_fail(r->err, ENOMEM, "out of memory");
	for (uint32_t w = 0; w < r->warp_count; w++) {
		r->warps[w] = (struct warp){.run = r, .program = r->program};
		r->warps[w].rows = calloc((size_t)(r->program->row_count + 1) * ORACLE_WARP, sizeof(uint64_t));
		if (!r->warps[w].rows)
			return gs_fail(r->err, ENOMEM, "out of memory");
	}
	return 0;
}

static void run_groups(struct run *r)
{
	for (uint64_t z = 0; z < r->groups[2]; z++) {
		for (uint64_t y = 0; y < r->groups[1]; y++) {
			for (uint64_t x = 0; x < r->groups[0] && !r->failed; x++) {
				r->group_at[0] = x;
				r->group_at[1] = y;
				r->group_at[2] = z;
				run_group(r);
				r->group++;
			}
		}
	}
}

int oracle_run(const struct oracle *o, const struct oracle_launch *launch, struct oracle_counts *counts,
               struct gs_error *err)
{
	struct run r = {.program = o, .launch = launch, .counts = counts, .err = err};
	if (launch->argument_count != o->function->parameter_count)
		return gs_fail(err, EINVAL, "%s has %u parameters", o->function->name, o->function->parameter_count);
	for (uint32_t d = 0; d < 3; d++)
		r.groups[d] = launch->global[d] / launch->local[d];
	r.threads = (uint32_t)(launch->local[0] * launch->local[1] * launch->local[2]);
	r.warp_count = (r.threads + ORACLE_WARP - 1) / ORACLE_WARP;
	int result = make_warps(&r);
	if (!result)
		result = set_up_memory(&r);
	if (!result) {
		pass_arguments(&r, false);
		run_groups(&r);
		pass_arguments(&r, true);
		result = r.failed ? -EFAULT : 0;
	}
	for (uint32_t w = 0; r.warps && w < r.warp_count; w++) {
		free(r.warps[w].rows);
		free(r.warps[w].stack);
	}
	free(r.warps);
	free(r.global);
	free(r.shared);
	free(r.parameters);
	free(r.local);
	return result;
}

int oracle_create(const char *ptx, size_t length, const char *kernel, struct oracle **out, struct gs_error *err)
{
	struct oracle *o = calloc(1, sizeof *o);
	if (!o)
		return gs_fail(err, ENOMEM, "out of memory");
	int result = ptx_read(ptx, length, &o->module, err);
	if (!result) {
		o->function = ptx_find(o->module, kernel);
		if (!o->function || o->function->external || !o->function->instruction_count)
			result = gs_fail(err, ENOENT, "no kernel %s", kernel);
	}
	if (!result && oracle_find_blocks(o))
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result)
		result = oracle_layout(o, ptx, length, err);
	if (!result)
		result = oracle_decode(o, err);
	if (result) {
		oracle_free(o);
		return result;
	}
	*out = o;
	return 0;
}

void oracle_free(struct oracle *o)
{
	if (!o)
		return;
	ptx_free(o->module);
	free(o->ops);
	free(o->blocks);
	free(o->block_of);
	free(o->constants);
	free(o->variable_at);
	free(o->module_at);
	free(o->statics);
	free(o);
}

const struct ptx_function *oracle_function(const struct oracle *o)
{
	return o->function;
}

const struct oracle_block *oracle_blocks(const struct oracle *o, uint32_t *count)
{
	*count = o->block_count;
	return o->blocks;
}
