/*
 * Warps of traced groups, as lines of a trace: the ways of lanes (models/trace/lanes.h), replayed as a warp with its masks
 * (models/warps/replay.h), in the blocks of the machine as models/warps/machine/ has them: arms that became predicates are executed by the block
 * before them, and executions of an unrolled loop in a row by its copies.
 */
#include "runtime/cmd/accelsim/export/export.h"

#include "models/code/costs.h"
#include "models/trace/lanes.h"
#include "models/traffic/footprint.h"
#include "models/warps/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING UINT32_MAX

/* A block that the warp executed. */
struct executed_block {
	uint32_t block, mask, ended; /* ended: lanes whose way ends with it */
	uint32_t first_access;
};
/* Where a memory instruction of it goes: of the lanes of the mask, ascending. */
struct executed_access {
	uint32_t mask;
	size_t first_address;
};

struct warp_writer {
	const struct export_launch *launch;
	struct trace_reader *reader;
	bool cut;
	uint64_t as; /* the group that is written */
	const struct launch_warps *moves; /* NULL: addresses are as they were traced */
	int64_t moved[3];
	FILE *out; /* of the warp's lines */
	uint64_t lines;
	struct traced_lane *lanes[EXPORT_LANES];
	struct gs_buf blocks, accesses, addresses;
	uint32_t exited;
	/* Of executions of one block in a row: accesses in the order of the machine's instructions. */
	struct gs_buf pending; /* uint32_t: index of an access, or NOTHING */
	size_t run_first;
	uint32_t run_block, run;
};

/* ---- what a warp did ---- */

static void place_address(const struct export_launch *l, uint8_t space, uint64_t *address)
{
	const uint64_t buffers = UINT64_C(1) << 40, constants = UINT64_C(1) << 39;
	if (space == SPACE_local) {
		*address += EXPORT_LOCAL_BASE;
	} else if (*address >= buffers && (*address >> 40) - 1 < l->base_count) {
		*address = l->bases[(*address >> 40) - 1] + (*address & (buffers - 1));
	} else if (*address >= constants && *address < buffers) {
		*address += l->constants - constants;
	} else if (space == SPACE_generic) {
		*address += EXPORT_SHARED_BASE;
	}
}

static void record_access(struct warp_writer *w, uint32_t instruction, uint32_t mask)
{
	const struct code_instruction *in = &w->launch->code->code->code[instruction];
	struct executed_access a = {.first_address = w->addresses.len / sizeof(uint64_t)};
	for (uint32_t left = mask; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint64_t address;
		uint32_t bytes; /* an exported access has a width, which copies of rows have not */
		if (!traced_lane_address(w->lanes[lane], instruction, &address, &bytes))
			continue;
		if (w->moves && in->space != SPACE_shared && in->space != SPACE_local)
			address = launch_address(w->moves, instruction, address, w->as, w->moved, in->bytes ? in->bytes : 1);
		place_address(w->launch, in->space, &address);
		a.mask |= left & -left;
		gs_buf_add(&w->addresses, &address, sizeof address);
	}
	gs_buf_add(&w->accesses, &a, sizeof a);
}

static bool record_block(void *ctx, uint32_t block, uint64_t mask)
{
	struct warp_writer *w = ctx;
	const struct kernel_code *code = w->launch->code->code;
	struct executed_block e = {.block = block, .mask = (uint32_t)mask, .first_access = (uint32_t)(w->accesses.len / sizeof(struct executed_access))};
	for (uint32_t left = e.mask; left; left &= left - 1)
		traced_lane_step(w->lanes[__builtin_ctz(left)]);
	for (uint32_t i = code->blocks[block].first; i < code->blocks[block].first + code->blocks[block].count; i++)
		if (code_has_accesses(code->code[i].class))
			record_access(w, i, e.mask);
	for (uint32_t left = e.mask; left; left &= left - 1)
		e.ended |= traced_lane_next(w->lanes[__builtin_ctz(left)]) < 0 ? left & -left : 0;
	gs_buf_add(&w->blocks, &e, sizeof e);
	return !w->blocks.failed && !w->accesses.failed && !w->addresses.failed;
}

/* ---- lines ---- */

void export_line(FILE *out, const struct export_instruction *in, uint32_t pc, uint32_t mask, const char *opcode, const uint64_t *addresses,
                 unsigned width)
{
	uint32_t count = (uint32_t)__builtin_popcount(mask), run = mask >> __builtin_ctz(mask | 1u << 31);
	fprintf(out, "%04x %08x %d", pc, mask, in && in->result >= 0);
	if (in && in->result >= 0)
		fprintf(out, " R%d", in->result);
	fprintf(out, " %s %u", opcode, in ? in->source_count : 0);
	for (uint32_t i = 0; in && i < in->source_count; i++)
		fprintf(out, " R%d", in->sources[i]);
	fprintf(out, " %u", addresses ? width : 0);
	if (addresses) {
		bool even = !(run & (run + 1)), small = true; /* lanes that follow one another */
		int64_t stride = count > 1 ? (int64_t)(addresses[1] - addresses[0]) : 0;
		for (uint32_t i = 1; i < count; i++) {
			int64_t step = (int64_t)(addresses[i] - addresses[i - 1]);
			even &= step == stride;
			small &= step == (int32_t)step;
		}
		if (even && small) {
			fprintf(out, " 1 0x%016" PRIx64 " %" PRId64, addresses[0], stride);
		} else if (small) {
			fprintf(out, " 2 0x%016" PRIx64, addresses[0]);
			for (uint32_t i = 1; i < count; i++)
				fprintf(out, " %" PRId64, (int64_t)(addresses[i] - addresses[i - 1]));
		} else {
			fputs(" 0", out);
			for (uint32_t i = 0; i < count; i++)
				fprintf(out, " 0x%016" PRIx64, addresses[i]);
		}
	}
	fputs("\n", out);
}

static void write_access(struct warp_writer *w, uint32_t instruction, uint32_t access, uint32_t mask)
{
	const struct export_instruction *in = &w->launch->code->instructions[instruction];
	const struct code_instruction *code = &w->launch->code->view.code[instruction];
	const struct executed_access *a = access == NOTHING ? NULL : (const struct executed_access *)(const void *)w->accesses.data + access;
	if (in->memory && (!a || !a->mask) && (code->space == SPACE_shared || code->space == SPACE_global || code->space == SPACE_local)) {
		/* No lane goes there, or nobody knows where: as the tracer writes an instruction whose predicate is off. */
		export_line(w->out, in, in->pc, 0, in->opcode, &(const uint64_t){0}, code->bytes);
		w->lines++;
		return;
	}
	if (in->memory && (!a || !a->mask)) { /* the simulator could not tell its space */
		export_line(w->out, NULL, in->pc + EXPORT_PC_NOP, mask, "NOP", NULL, 0);
		w->lines++;
		return;
	}
	const uint64_t *addresses = in->memory ? (const uint64_t *)(const void *)w->addresses.data + a->first_address : NULL;
	export_line(w->out, in, in->pc, in->memory ? a->mask : mask, in->opcode, addresses, code->bytes);
	w->lines++;
}

static void write_exit(struct warp_writer *w, uint32_t pc, uint32_t lanes)
{
	lanes &= ~w->exited;
	if (!lanes)
		return;
	export_line(w->out, NULL, pc, lanes, "EXIT", NULL, 0);
	w->exited |= lanes;
	w->lines++;
}

/* One execution of a block of the view. next: of its accesses among those that are pending. */
static void write_block(struct warp_writer *w, uint32_t block, uint32_t mask, uint32_t ended, size_t *next)
{
	const struct export_code *c = w->launch->code;
	const struct code_block *b = &c->view.blocks[block];
	const uint32_t *pending = (const uint32_t *)(const void *)w->pending.data;
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		const struct export_instruction *in = &c->instructions[i];
		if (code_has_accesses(c->view.code[i].class)) {
			write_access(w, i, pending[(*next)++], mask);
			continue;
		}
		if (i + 1 == b->first + b->count && c->ends[block]) {
			write_exit(w, in->pc, ended);
			continue;
		}
		for (uint32_t n = 0; n < in->repeats; n++, w->lines++)
			export_line(w->out, in, in->pc + n * EXPORT_PC_STEP, mask, in->opcode, NULL, 0);
	}
	/* Its branch has led them out, which takes no instruction of its own. */
	write_exit(w, b->count ? c->instructions[b->first + b->count - 1].pc + EXPORT_PC_EXIT : c->end, ended);
}

/* ---- blocks of the machine ---- */

static const struct executed_block *executed(const struct warp_writer *w, size_t at)
{
	return (const struct executed_block *)(const void *)w->blocks.data + at;
}


/* The access of this execution of a block, or of an arm of it that is executed next. */
static uint32_t find_access(const struct warp_writer *w, size_t at, const struct access_origin *origin)
{
	const struct kernel_code *code = w->launch->code->code;
	size_t count = w->blocks.len / sizeof(struct executed_block);
	uint32_t block = executed(w, at)->block;
	while (executed(w, at)->block != origin->block)
		if (++at >= count || code->machine_blocks[executed(w, at)->block].merged != (int32_t)block)
			return NOTHING;
	return executed(w, at)->first_access + origin->rank;
}

/* The n-th execution of the block from `at` on. */
static size_t find_execution(const struct warp_writer *w, size_t at, uint32_t n)
{
	uint32_t block = executed(w, at)->block;
	for (; n; n--)
		do
			at++;
		while (executed(w, at)->block != block);
	return at;
}

/* Which execution a copy in a block is that stands for so many; `longest`: of a rest, how many the longest piece stands for, else 0. UINT32_MAX: it is off. */
static uint32_t execution_of(uint32_t copy, uint32_t times, uint32_t longest)
{
	return longest ? machine_execution_of_rest(longest, copy, times) : copy < times ? copy : 0;
}

/* The accesses of a block of the view that stands for executions of one from `at` on: the n-th with one origin is that of the n-th of them. */
static void add_pending(struct warp_writer *w, uint32_t block, uint32_t times, uint32_t longest, size_t at)
{
	const struct export_code *c = w->launch->code;
	const struct code_block *b = &c->view.blocks[block];
	w->pending.len = 0;
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		const struct access_origin *origin = &c->origins[i];
		uint32_t copy = 0;
		if (!code_has_accesses(c->view.code[i].class))
			continue;
		for (uint32_t o = b->first; o < i && (times > 1 || longest); o++)
			copy += code_has_accesses(c->view.code[o].class) && c->origins[o].block == origin->block && c->origins[o].rank == origin->rank;
		uint32_t execution = execution_of(copy, times, longest), access = NOTHING;
		size_t from = execution == UINT32_MAX ? at : find_execution(w, at, execution);
		if (execution != UINT32_MAX)
			access = c->blocks ? find_access(w, from, origin) : executed(w, from)->first_access + origin->rank;
		gs_buf_add(&w->pending, &access, sizeof access);
	}
}

/* Lanes that end with executions from `at` on, `count` of the block, and with arms of it. */
static uint32_t ended_by(const struct warp_writer *w, size_t *at, uint32_t count)
{
	const struct kernel_code *code = w->launch->code->code;
	size_t end = w->blocks.len / sizeof(struct executed_block);
	uint32_t block = executed(w, *at)->block, ended = 0;
	while (*at < end) {
		const struct executed_block *e = executed(w, *at);
		bool own = e->block == block, empty = w->launch->code->blocks && !code->machine_blocks[e->block].count;
		if (own ? !count : !empty)
			break;
		count -= own;
		ended |= e->ended;
		++*at;
	}
	return ended;
}

/* The piece of the block's loop for the most executions, up to so many; *times: how many those are. */
static uint32_t longest_piece(const struct warp_writer *w, uint32_t most, uint32_t *times)
{
	const struct kernel_code *code = w->launch->code->code;
	uint32_t best = w->run_block;
	*times = 1;
	for (uint32_t i = code->block_count; i < w->launch->code->view.block_count; i++)
		if (code->machine_blocks[i].of == w->run_block && code->machine_blocks[i].times <= most && code->machine_blocks[i].times > *times) {
			best = i;
			*times = code->machine_blocks[i].times;
		}
	return best;
}

/* What is executed when the loop is entered (times: 0) or left (CODE_REST); UINT32_MAX: nothing. */
static uint32_t beside_loop(const struct warp_writer *w, uint32_t times)
{
	const struct kernel_code *code = w->launch->code->code;
	for (uint32_t i = code->block_count; i < w->launch->code->view.block_count; i++)
		if (code->machine_blocks[i].of == w->run_block && code->machine_blocks[i].times == times)
			return i;
	return UINT32_MAX;
}

/* Whether the loop of the block was entered before the run, since the block before is in it. */
static bool is_inside(const struct warp_writer *w)
{
	const struct kernel_code *code = w->launch->code->code;
	int32_t loop = w->run_first ? code->blocks[executed(w, w->run_first - 1)->block].loop : -1;
	while (loop >= 0 && code->loops[loop].header != w->run_block)
		loop = code->loops[loop].outer;
	return loop >= 0;
}

static void write_rest(struct warp_writer *w, uint32_t rest, uint32_t left, size_t *at)
{
	uint32_t longest;
	size_t next = 0, from = *at < w->blocks.len / sizeof(struct executed_block) ? *at : *at - 1;
	uint32_t mask = executed(w, from)->mask;
	longest_piece(w, CODE_MOST_TIMES, &longest);
	add_pending(w, rest, left, longest, from);
	write_block(w, rest, mask, left ? ended_by(w, at, left) : 0, &next);
}

/* Executions of one block in a row, by the longest unrolled ones first, after what is executed when the loop is entered. */
static void write_run(struct warp_writer *w)
{
	const struct kernel_code *code = w->launch->code->code;
	size_t at = w->run_first, next = 0;
	uint32_t entry = w->run ? beside_loop(w, 0) : UINT32_MAX, rest = w->run ? beside_loop(w, CODE_REST) : UINT32_MAX, left = w->run;
	if (entry != UINT32_MAX && !is_inside(w))
		write_block(w, entry, executed(w, at)->mask, 0, &next);
	while (left) {
		uint32_t times, best = longest_piece(w, left < CODE_MOST_TIMES ? left : CODE_MOST_TIMES, &times);
		if (w->launch->code->blocks && !code->machine_blocks[best].count)
			break;
		for (; left >= times; left -= times) {
			uint32_t mask = executed(w, at)->mask;
			next = 0;
			add_pending(w, best, times, 0, at);
			write_block(w, best, mask, ended_by(w, &at, times), &next);
		}
	}
	if (rest != UINT32_MAX)
		write_rest(w, rest, left, &at);
	w->run = 0;
}

static void write_path(struct warp_writer *w)
{
	const struct export_code *c = w->launch->code;
	size_t count = w->blocks.len / sizeof(struct executed_block);
	for (size_t at = 0; at < count; at++) {
		uint32_t block = executed(w, at)->block;
		if (c->blocks && !machine_executes(c->code, block))
			continue;
		if (w->run && (block != w->run_block || !c->blocks))
			write_run(w);
		w->run_first = w->run ? w->run_first : at;
		w->run_block = block;
		w->run++;
	}
	write_run(w);
}

/* ---- groups ---- */

static int begin_lanes(struct warp_writer *w, const struct traced_group *g, uint32_t warp, struct lane_path *paths,
                       uint32_t lanes, struct gs_error *err)
{
	size_t gaps;
	trace_reader_next_warp(w->reader);
	for (uint32_t l = 0; l < lanes; l++) {
		uint32_t item = warp * EXPORT_LANES + l;
		paths[l] = (struct lane_path){0};
		if (item >= g->lane_count || !g->lanes[item].count)
			continue;
		int result = traced_lane_begin(w->reader, w->lanes[l], g, item);
		if (result)
			return gs_fail(err, -result, "the trace of a work-item does not fit the code");
		traced_lane_gaps(w->lanes[l], &gaps);
		const struct traced_way *way = traced_lane_way(w->lanes[l]);
		if (gaps || (way->cut && !w->cut))
			return gs_fail(err, ENOENT, "iterations of its loops are not in its trace; " EXPORT_RECORD);
		paths[l] = (struct lane_path){way->blocks, way->steps};
	}
	return 0;
}

static int write_warp(struct warp_writer *w, const struct traced_group *g, uint32_t warp, uint32_t lanes, FILE *out, struct gs_error *err)
{
	struct lane_path paths[EXPORT_LANES];
	char *text = NULL;
	size_t length = 0;
	w->blocks.len = w->accesses.len = w->addresses.len = w->pending.len = 0;
	w->lines = w->exited = w->run = 0;
	int result = begin_lanes(w, g, warp, paths, lanes, err);
	if (!result && replay_warp(w->launch->code->code, paths, lanes, record_block, w))
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result && !(w->out = open_memstream(&text, &length)))
		result = gs_fail(err, ENOMEM, "out of memory");
	if (result)
		return result;
	write_path(w);
	write_exit(w, w->launch->code->end, lanes < EXPORT_LANES ? (1u << lanes) - 1 : UINT32_MAX);
	bool failed = fclose(w->out) || w->pending.failed || w->blocks.failed || w->accesses.failed || w->addresses.failed;
	fprintf(out, "\nwarp = %u\ninsts = %" PRIu64 "\n", warp, w->lines);
	if (!failed)
		fwrite(text, 1, length, out);
	free(text);
	return failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

int export_group(struct warp_writer *w, const struct traced_group *g, uint64_t as, const struct launch_warps *moves, FILE *out, struct gs_error *err)
{
	const struct export_launch *l = w->launch;
	uint64_t items = l->local[0] * l->local[1] * l->local[2];
	int result = 0;
	w->as = as;
	w->moves = moves && launch_move(moves, as, w->moved) ? moves : NULL;
	fprintf(out, "\n#BEGIN_TB\n\nthread block = %" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", as % l->groups[0], as / l->groups[0] % l->groups[1],
	        as / l->groups[0] / l->groups[1]);
	for (uint32_t warp = 0; (uint64_t)warp * EXPORT_LANES < items && !result; warp++) {
		uint64_t left = items - (uint64_t)warp * EXPORT_LANES;
		result = write_warp(w, g, warp, (uint32_t)(left < EXPORT_LANES ? left : EXPORT_LANES), out, err);
	}
	fputs("\n#END_TB\n", out);
	return result;
}

struct warp_writer *warp_writer_new(const struct export_launch *launch, const struct launch_trace *trace, bool cut)
{
	struct warp_writer *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	*w = (struct warp_writer){.launch = launch, .cut = cut, .reader = trace_reader_new(launch->code->code, trace, launch->lanes)};
	bool ready = w->reader;
	for (uint32_t l = 0; l < EXPORT_LANES && ready; l++)
		ready = (w->lanes[l] = traced_lane_new(w->reader));
	if (ready)
		return w;
	warp_writer_free(w);
	return NULL;
}

void warp_writer_free(struct warp_writer *w)
{
	if (!w)
		return;
	for (uint32_t l = 0; l < EXPORT_LANES; l++)
		traced_lane_free(w->lanes[l]);
	trace_reader_free(w->reader);
	gs_buf_free(&w->blocks);
	gs_buf_free(&w->accesses);
	gs_buf_free(&w->addresses);
	gs_buf_free(&w->pending);
	free(w);
}
