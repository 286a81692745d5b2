/*
 * Traces some groups of a launch. The traced twin runs them in the shadow (shadow.h), before the launch itself, on copies of
 * the memory that the kernel may write. All groups of a small launch are traced. Of a larger one, runs of neighbouring groups
 * are; or all run, and counters say which are traced (trace_choice.h). Each run is a box (boxes.h), and each box is a command; on devices
 * with memory of their own all boxes are one.
 */
#include "runtime/guest/launches/traced.h"

#include "runtime/config/log.h"
#include "models/util/minmax.h"
#include "runtime/format/counters.h"
#include "runtime/format/profile_file.h"
#include "runtime/format/traces.h"
#include "runtime/guest/launches/commands.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/unsized.h"
#include "runtime/guest/launches/worker.h"
#include "runtime/guest/driver/device.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/support/trace_choice.h"
#include "runtime/guest/support/trace_columns.h"
#include "runtime/model/trace_decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "trace"

enum { CHUNK_WORDS = TRACE_CHUNK_BYTES / 8 };
/* Windows of a launch that is traced as a whole. It is small, so this costs little, and loops of a few hundred iterations have no gap:
 * lanes that drift apart do so in later iterations, too. */
enum { LONGER_WINDOWS = 4 };
/* Devices with memory of their own write an event in a word, not in a byte or two (runtime/format/traces.h). */
enum { COLUMNS_LONGER = 4 };

/* ---- what to trace ---- */

/* The same number in every run of a program. */
static uint64_t seed_of(const struct launch *l)
{
	char hex[33];
	gs_hash_hex(l->record.kernel_name, strlen(l->record.kernel_name), hex);
	hex[16] = 0;
	return strtoull(hex, NULL, 16) ^ l->record.global[0] ^ l->record.global[1] << 20 ^ l->record.global[2] << 40;
}

/* Words of the largest buffer. At most half of the memory for traces, so that two launches in flight can be traced; of memory of the device's
 * own a quarter. */
static uint64_t most_words(const struct trace_plan *p)
{
	uint64_t bytes = buffer_bound(TRACE_BUFFER, p->device) / (p->in_columns ? 4 : 2);
	return (*simulation.options.record.text && !p->in_columns ? min_u64(bytes, PROFILE_MOST_TRACE) : bytes) / sizeof(uint64_t);
}

/* Work-items to trace. Rather fewer of them than none whole: on a GPU those of a box run out of room together. *each: chunks for one. */
static uint64_t most_items(const struct launch *l, const struct trace_plan *p, double *each)
{
	const struct launch_record *r = &l->record;
	const uint64_t longer = p->in_columns ? COLUMNS_LONGER : 1;
	if (simulation.all_groups) { /* how many chunks each needs is not known before: those that are left without can be told by the others */
		*each = 1;
		return most_words(p) / CHUNK_WORDS / longer;
	}
	uint64_t items = trace_items(r->facts, r->global, r->local, simulation.options.trace_items.number, most_words(p) / CHUNK_WORDS / longer, each);
	*each *= (double)longer;
	return items;
}

enum { SPARING = 4 }; /* a launch that is traced only because of its longest work-items needs few others */

/* False: the launch is too large to be traced as a whole, and cannot be divided. */
static bool choose_groups(const struct launch *l, struct trace_plan *p)
{
	enum { WHOLE = 4, OF = 16 };
	double each;
	uint64_t groups[3] = {1, 1, 1}, items = 1, group_items = 1, most = most_items(l, p, &each) / (p->due ? 1 : SPARING);
	bool divides = true;
	for (int d = 0; d < 3; d++) {
		items *= l->record.global[d];
		divides = divides && p->local[d] && l->record.global[d] % p->local[d] == 0;
		group_items *= p->local[d];
		groups[d] = divides ? l->record.global[d] / p->local[d] : 1;
	}
	if (!items)
		return false;
	if (divides) {
		struct needed_groups needed = trace_needed(l->record.facts, l->record.global, l->record.local);
		boxes_choose(groups, most / group_items ? most / group_items : 1, seed_of(l), &needed, &p->boxes);
		return p->boxes.count == 1 || !(l->record.facts->hazards & HAZARD_WAITS); /* or groups may wait for others for ever */
	}
	boxes_choose((const uint64_t[3]){1, 1, 1}, 1, 0, NULL, &p->boxes);
	if (items > most) {
		p->of = OF;
		p->part = OF * most / items ? OF * most / items : 1;
	}
	return items <= WHOLE * most;
}

/* How long a whole trace is cannot be known before: it has the largest buffer, of which only what is used is ever touched. */
static size_t buffer_words(const struct launch *l, const struct trace_plan *p, bool longer, double most_each)
{
	enum { LEAST = 1024 }; /* chunks in all */
	double each;
	uint64_t room = most_words(p), items = 1, most = most_items(l, p, &each), words = 1;
	for (int d = 0; d < 3; d++)
		items *= l->record.global[d];
	items = items < most ? items : most;
	each = most_each > 0 && most_each < each ? most_each : each;
	longer &= most <= simulation.options.trace_items.number && /* of many work-items most do little */
	          !(l->record.facts->hazards & HAZARD_STRAIGHT);   /* there are no windows without loops */
	uint64_t wanted = (uint64_t)((double)items * each) * (longer ? LONGER_WINDOWS : 1) * CHUNK_WORDS;
	wanted = wanted < LEAST * CHUNK_WORDS ? LEAST * CHUNK_WORDS : wanted;
	while (words * 2 <= room && (words < wanted || simulation.whole_traces))
		words *= 2;
	return words > TRACE_HEADER_WORDS + CHUNK_WORDS ? words : 0;
}

/* Whether the counters of all work-items are where the traced twin can see them. */
static bool counts_are_near(const struct launch *l)
{
	return l->buffer && l->buffer->shared && l->record.artifact->counts_by_item && !l->record.facts->summed && l->record.facts->words &&
	       l->record.places >= l->record.global[0] * l->record.global[1] * l->record.global[2];
}

/* What was chosen is the sample, to which counters add groups. All run, as one box. If the sample is due, it is as it would be without them. */
static void let_counters_add(const struct launch *l, struct trace_plan *p, uint64_t each)
{
	uint64_t group_items = p->local[0] * p->local[1] * p->local[2], most = simulation.options.trace_items.number / 2 / group_items;
	uint64_t words = buffer_words(l, p, false, 0), chunks = words ? (words - TRACE_HEADER_WORDS) / CHUNK_WORDS : 0;
	p->sample = p->boxes;
	p->more = most ? most : 1;
	p->share = p->due ? chunks * TRACE_SHARE_ONE / (p->boxes.traced_groups * group_items) : each * TRACE_SHARE_ONE;
	p->share = min_u64(p->share, UINT32_MAX);
	p->boxes = (struct boxes){.count = 1};
	for (int d = 0; d < 3; d++)
		p->boxes.list[0].count[d] = l->record.global[d] / p->local[d];
	p->boxes.list[0].traced = true;
	p->boxes.traced_groups = box_groups(&p->boxes.list[0]);
}

static bool plan_for(const struct launch *l, cl_device_id device, bool in_columns, bool may_choose, struct trace_plan *p)
{
	const struct launch_record *r = &l->record;
	uint64_t each;
	memset(p, 0, sizeof *p);
	p->device = device;
	p->in_columns = in_columns;
	r->facts->dear_traces = p->in_columns;
	if (!traces_wanted(&simulation) || !r->artifact->traced_texts)
		return false;
	p->due = trace_due(&simulation, r->facts, r->global, r->local, trace_arguments(r->argument_values, r->argument_count));
	p->chosen = may_choose && counts_are_near(l) && trace_chooses(&simulation, r->facts, r->global, r->local, &each);
	if (!p->due && !p->chosen)
		return false;
	trace_chosen(r->facts, r->global, r->local, p->local);
	if (!choose_groups(l, p))
		return false;
	p->whole = p->boxes.count == 1;
	p->chosen &= p->boxes.count > 1;
	p->windows = simulation.whole_traces ? 1 : p->whole || !p->due ? LONGER_WINDOWS : 0;
	if (p->chosen)
		let_counters_add(l, p, each);
	return p->due || p->chosen;
}

bool plan_groups(const struct launch *l, cl_device_id device, struct trace_plan *p)
{
	return plan_for(l, device, !device_is_cpu(device), false, p);
}

bool plan_groups_in_columns(const struct launch *l, struct trace_plan *p)
{
	return plan_for(l, NULL, true, false, p);
}

/* A launch that needs its whole trace waits for memory that launches before it still have. A user event may hold these up: then it is not traced. */
static struct counter_buffer *wait_for_buffer(struct context_pool *pool, cl_device_id device, size_t words)
{
	enum { PATIENCE_MS = 1000, ROUNDS = 300 };
	for (;;) {
		uint64_t moves = worker_moves();
		struct counter_buffer *b = buffer_take(pool, device, TRACE_BUFFER, words);
		if (b || !simulation.whole_traces || !buffers_in_use(TRACE_BUFFER) || !worker_wait_progress(moves, PATIENCE_MS, ROUNDS))
			return b;
	}
}

/* Into chunks, and into columns: the text decides which of them it writes. False: there are too many work-items for columns. */
static bool divide_buffer(const struct launch *l, size_t words, struct trace_plan *p)
{
	uint64_t columns = p->boxes.count > 1 ? p->boxes.traced_groups : 1;
	for (int d = 0; d < 3; d++)
		columns *= p->boxes.count > 1 ? p->local[d] : l->record.global[d];
	p->chunks = (words - TRACE_HEADER_WORDS) / CHUNK_WORDS;
	p->columns = columns;
	p->column_words = trace_column_room(words, columns);
	return p->column_words || !p->in_columns;
}

static uint64_t chosen_items(const struct trace_plan *p)
{
	return (p->sample.traced_groups + p->more) * p->local[0] * p->local[1] * p->local[2];
}

/* Launches that follow one another faster than their traces are read must not keep the next ones from being traced. Few need the room of longer
 * windows, or that where lanes part, and most no more than traces of their shape did. */
static size_t fitting_words(struct launch *l, const struct trace_plan *p)
{
	const struct launch_record *r = &l->record;
	const uint64_t most = buffer_bound(TRACE_BUFFER, p->device), used = buffers_in_use(TRACE_BUFFER);
	const double least = p->in_columns ? 0 : trace_least_room(r->facts, r->global, r->local);
	if (p->chosen)
		return min_u64(TRACE_HEADER_WORDS + chosen_items(p) * p->share / TRACE_SHARE_ONE * CHUNK_WORDS, most_words(p));
	const bool parts = r->facts->hazards & HAZARD_PARTS;
	size_t words = buffer_words(l, p, p->whole, 0);
	if ((!p->whole && !parts) || simulation.whole_traces || used + words * sizeof(uint64_t) <= most / 2)
		return words;
	words = buffer_words(l, p, false, parts ? trace_usual_room() : 0);
	if (!p->whole)
		return words;
	l->trace_is_tight = least > 0 && used + words * sizeof(uint64_t) > most / 4;
	return l->trace_is_tight ? buffer_words(l, p, false, least) : words;
}

size_t plan_columns(struct launch *l, struct trace_plan *p)
{
	size_t words = fitting_words(l, p);
	return words && divide_buffer(l, words, p) ? words : 0;
}

/* What work-items may take, so that what is recorded of a group does not depend on the others. Whole traces are as long as they are. */
static uint64_t trace_share(const struct launch *l, const struct trace_plan *p)
{
	static _Atomic uint32_t number;
	uint64_t items = p->boxes.count > 1 ? p->boxes.traced_groups : 1;
	for (int d = 0; d < 3; d++)
		items *= p->boxes.count > 1 ? p->local[d] : l->record.global[d];
	uint64_t each = p->chosen ? p->share : items ? min_u64(p->chunks * TRACE_SHARE_ONE / items, UINT32_MAX) : 0;
	return simulation.whole_traces || each <= TRACE_SHARE_ONE ? 0 : (uint64_t)++number << 32 | each;
}

/* Where the traced twin finds which groups are traced. */
static bool take_choice(struct launch *l, const struct trace_plan *p)
{
	const struct launch_record *r = &l->record;
	if (!p->chosen)
		return true;
	const struct choice_counters counters = {
		.words = (const uint32_t *)(l->buffer->words + COUNTER_HEADER_WORDS + r->slots + 1), .places = r->places, .word_count = r->facts->words,
		.flag_words = r->facts->words - (r->facts->column_count - r->facts->flag_count), .groups = p->boxes.traced_groups,
		.group_items = p->local[0] * p->local[1] * p->local[2],
	};
	l->choice = trace_choice_new(&counters, &p->sample, p->boxes.list[0].count, p->more, p->due, &r->facts->even_launches);
	l->trace_buffer->words[TRACE_CHOICE_WORD] = (uintptr_t)l->choice;
	return l->choice;
}

bool take_trace_buffer(struct context_pool *pool, cl_device_id device, struct launch *l, struct trace_plan *p)
{
	size_t words = fitting_words(l, p);
	if (!words) {
		log_debug("%s is not traced: no memory for it", l->record.kernel_name);
		return false;
	}
	l->trace_buffer = wait_for_buffer(pool, device, words);
	if (l->trace_buffer && divide_buffer(l, l->trace_buffer->word_count, p) && take_choice(l, p)) {
		if (l->trace_buffer->shared)
			l->trace_buffer->words[TRACE_SHARE_WORD] = trace_share(l, p);
		return true;
	}
	simulation.cost.untraced++;
	return false;
}

bool plan_trace(struct kernel *k, cl_device_id device, struct launch *l, bool may_choose, struct trace_plan *p)
{
	struct gs_error err = {""};
	memset(p, 0, sizeof *p);
	/* A twin that runs in place of its kernel prints. Nothing may be printed twice. */
	if (simulation.options.twin.number == TWINS_DIRECT && l->record.facts->hazards & HAZARD_PRINTS)
		return false;
	if (!plan_for(l, device, !device_is_cpu(device), may_choose, p))
		return false;
	p->twin = kernel_prepare_twin(k, device, true, &err);
	if (!p->twin || p->twin->box_argument < 0) {
		log_debug("%s is not traced: %s", l->record.kernel_name, p->twin ? "no memory for it" : err.text);
		return false;
	}
	return take_trace_buffer(k->build->pool, device, l, p);
}

/* ---- launching it ---- */

/* One box as a command. */
struct part {
	struct request request;
	size_t offset[3], global[3], local[3];
	cl_ulong16 box;
};

/* A box as its own launch. */
static void place_part(const struct request *r, const struct launch *l, const struct trace_plan *p, const struct box *b, struct part *out)
{
	for (cl_uint d = 0; d < 3; d++) {
		uint64_t offset = r->offset && d < r->dims ? r->offset[d] : 0;
		out->box.s[BOX_FIRST_X + d] = b->first[d];
		out->box.s[BOX_OTHERS_X + d] = l->record.global[d] / p->local[d] - b->count[d];
		out->offset[d] = (size_t)(offset + b->first[d] * p->local[d]);
		out->global[d] = (size_t)(b->count[d] * p->local[d]);
		out->local[d] = (size_t)p->local[d];
	}
	out->request.offset = out->offset;
	out->request.global = out->global;
	out->request.local = out->local;
}

static void begin_part(const struct request *r, const struct launch *l, const struct trace_plan *p, struct part *out)
{
	*out = (struct part){.request = twin_request(r, l)};
	out->box.s[BOX_COLUMNS] = p->columns | p->column_words << 32;
	out->box.s[BOX_CHUNKS] = p->chunks;
	out->box.s[BOX_TRACED_OF] = p->of;
	out->box.s[BOX_TRACED_BELOW] = p->part;
	out->box.s[BOX_TRACED_WHOLE] = p->windows;
}

/* Each box gets chunks in proportion to its groups. If they are too few, every box loses events, not only the last ones. */
static void make_part(const struct request *r, const struct launch *l, const struct trace_plan *p, size_t index,
                      uint64_t traced_before, struct part *out)
{
	const struct box *b = &p->boxes.list[index];
	uint64_t traced = traced_before + box_groups(b);
	begin_part(r, l, p, out);
	out->box.s[BOX_CHUNKS] = (cl_ulong)((double)p->chunks * (double)traced / (double)p->boxes.traced_groups);
	if (p->boxes.count == 1)
		return;
	out->box.s[BOX_COLUMN] = traced_before * p->local[0] * p->local[1] * p->local[2];
	place_part(r, l, p, b, out);
}

/* All boxes as one launch along x, for text that writes columns. A box is a run of groups whose linear ids follow each other. False: they
 * are too many. */
static bool make_runs(const struct request *r, const struct launch *l, const struct trace_plan *p, struct part *out)
{
	static const enum box_slot slots[BOX_MOST_RUNS] = {BOX_RUN_0, BOX_RUN_1, BOX_RUN_2, BOX_RUN_3, BOX_RUN_4, BOX_RUN_5, BOX_RUN_6, BOX_RUN_7};
	const struct box all = {.count = {p->boxes.traced_groups, 1, 1}};
	uint64_t groups[2] = {l->record.global[0] / p->local[0], l->record.global[1] / p->local[1]};
	size_t runs = 0;
	begin_part(r, l, p, out);
	place_part(r, l, p, &all, out);
	for (size_t i = 0; i < p->boxes.count; i++) {
		const struct box *b = &p->boxes.list[i];
		uint64_t first = (b->first[2] * groups[1] + b->first[1]) * groups[0] + b->first[0];
		if (!b->traced)
			continue;
		if (runs == BOX_MOST_RUNS || box_groups(b) >> BOX_RUN_BITS || first >> (64 - BOX_RUN_BITS))
			return false;
		out->box.s[slots[runs++]] = first << BOX_RUN_BITS | box_groups(b);
	}
	out->box.s[BOX_RUNS] = runs;
	return true;
}

static cl_int set_trace_buffer(const struct kernel_twin *t, const struct launch *l)
{
	return cl.clSetKernelArg(t->kernel, (cl_uint)t->box_argument + 1, sizeof l->trace_buffer->mem, &l->trace_buffer->mem);
}

/* If all groups are traced, the twin uses the counters of the launch. Otherwise the launch counts these groups again, so the
 * counts of the traced twin go into a scratch buffer. */
static struct counter_use counters_for(const struct launch *l, const struct trace_plan *p)
{
	return p->whole ? (struct counter_use){l->buffer, l->record.slots, l->record.places} : (struct counter_use){l->scratch, 1, 0};
}

static cl_int enqueue_part(struct commands *c, const struct launch *l, const struct trace_plan *plan, struct part *p)
{
	struct kernel_twin *t = plan->twin;
	const struct counter_use counters = counters_for(l, plan);
	cl_event event;
	p->request.wait_count = commands_wait(c, &p->request.wait);
	cl_int code = set_arguments(t, l->record.artifact, &counters, &p->box);
	if (code == CL_SUCCESS)
		code = set_trace_buffer(t, l);
	if (code == CL_SUCCESS)
		code = enqueue(&p->request, t->kernel, &event);
	if (code == CL_SUCCESS)
		commands_done(c, event);
	return code;
}

cl_int enqueue_traced(struct commands *c, struct launch *l, const struct trace_plan *plan)
{
	uint64_t traced = 0;
	cl_int code = CL_SUCCESS;
	struct part p;
	bool at_once = plan->in_columns && plan->boxes.count > 1 && make_runs(c->request, l, plan, &p);
	if (at_once)
		code = enqueue_part(c, l, plan, &p);
	for (size_t i = 0; i < plan->boxes.count && code == CL_SUCCESS && !at_once; i++) {
		const struct box *b = &plan->boxes.list[i];
		if (!b->traced)
			continue;
		make_part(c->request, l, plan, i, traced, &p);
		traced += box_groups(b);
		code = enqueue_part(c, l, plan, &p);
	}
	log_debug("%s: %llu groups traced: %d", l->record.kernel_name, (unsigned long long)plan->boxes.traced_groups, code);
	if (code == CL_SUCCESS)
		trace_taken(l->record.facts, l->record.global, l->record.local);
	return code;
}

/* ---- after it has completed ---- */

static struct kept_trace *pack(const struct launch *l, const uint64_t *words, size_t count)
{
	const struct artifact *a = l->record.artifact;
	size_t chunks = (count - TRACE_HEADER_WORDS) / CHUNK_WORDS;
	if (!words[TRACE_COLUMNS_WORD])
		return trace_pack(words, chunks);
	uint64_t *made = columns_to_chunks(words, count, (uint32_t)a->block_count, (uint32_t)a->site_count, &chunks);
	struct kept_trace *t = made ? trace_pack(made, chunks) : NULL;
	free(made);
	return t;
}

/* It had less room than usual, and needed more than others of its shape: as if there had been none. The next ones have more. */
static void drop_cut(const struct launch *l, struct kept_trace **t)
{
	trace_took(l->record.facts, l->record.global, l->record.local, INFINITY);
	kept_trace_free(*t);
	*t = NULL;
	simulation.cost.untraced++;
}

struct kept_trace *trace_bring_back(struct launch *l)
{
	struct counter_buffer *b = l->trace_buffer;
	struct kept_trace *t = NULL;
	size_t words = 0;
	if (!buffer_fetch_trace(b, &words)) {
		t = pack(l, b->words, words);
		if (t && t->cut && l->trace_is_tight)
			drop_cut(l, &t);
		else if (t && t->cut)
			trace_was_cut(l->record.facts, l->record.global, l->record.local);
	} else {
		words = b->word_count;
	}
	buffer_give_back(b, words);
	l->trace_buffer = NULL;
	worker_moved();
	if (t && !trace_keep_sizes(t, l->record.argument_bytes, l->record.argument_count)) {
		kept_trace_free(t);
		t = NULL;
	}
	return t;
}
