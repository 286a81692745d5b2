/*
 * A launch of which groups are traced. A small one is run by the traced twin as a whole. Of a large one the sampled groups are:
 * it is cut into boxes (boxes.h), and each goes to the twin that traces or to the one that counts.
 *
 * To the application it stays one command. The first box waits for what the launch waits for, and each other one for the box
 * before it, by the order of the queue or by its event: so the last ends last. Its event is the launch's, with the times of
 * the first (events.c). The other boxes' events are held until then, and no box waits in two ways for one thing: POCL 3.1 does not
 * survive either when what is waited for fails.
 */
#include "launch.h"

#include "runtime/cc/traces.h"
#include "runtime/log.h"

#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "trace"

enum { CHUNK_WORDS = TRACE_CHUNK_BYTES / 8 };

/* ---- what to trace ---- */

/* The bytes that an argument points to, where the driver tells that it is memory. Asking about anything else could be fatal. */
static uint64_t argument_size(const struct kernel_twin *t, const struct kernel_arg *a, cl_uint index)
{
	cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
	cl_mem mem = NULL;
	size_t bytes = 0;
	if (a->kind == ARG_LOCAL)
		return a->size;
	if (a->kind != ARG_VALUE || a->size != sizeof mem || !cl.clGetKernelArgInfo ||
	    cl.clGetKernelArgInfo(t->kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL) != CL_SUCCESS ||
	    (space != CL_KERNEL_ARG_ADDRESS_GLOBAL && space != CL_KERNEL_ARG_ADDRESS_CONSTANT))
		return 0;
	memcpy(&mem, a->value, sizeof mem);
	if (mem)
		cl.clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
	return bytes;
}

static bool keep_argument_sizes(struct launch *l, const struct kernel *k, const struct kernel_twin *t)
{
	l->argument_bytes = calloc(l->argument_count + 1, sizeof *l->argument_bytes);
	for (size_t i = 0; l->argument_bytes && i < l->argument_count; i++)
		l->argument_bytes[i] = argument_size(t, &k->args[i], (cl_uint)i);
	return l->argument_bytes;
}

/* The same for every run of a program. */
static uint64_t seed_of(const struct launch *l)
{
	char hex[33];
	gs_hash_hex(l->kernel_name, strlen(l->kernel_name), hex);
	hex[16] = 0;
	return strtoull(hex, NULL, 16) ^ l->global[0] ^ l->global[1] << 20 ^ l->global[2] << 40;
}

/* False: it is too large to be traced as a whole, and cannot be cut. */
static bool choose_groups(const struct launch *l, struct trace_plan *p)
{
	enum { WHOLE = 4, OF = 16 };
	uint64_t groups[3] = {1, 1, 1}, items = 1, group_items = 1, most = runtime.options.trace_items.number;
	bool divides = true;
	for (int d = 0; d < 3; d++) {
		items *= l->global[d];
		divides = divides && p->local[d] && l->global[d] % p->local[d] == 0;
		group_items *= p->local[d];
		groups[d] = divides ? l->global[d] / p->local[d] : 1;
	}
	if (!items)
		return false;
	if (divides) {
		struct needed_groups needed = trace_needed(l->facts, l->global, l->local);
		boxes_choose(groups, most / group_items ? most / group_items : 1, seed_of(l), &needed, &p->boxes);
		return true;
	}
	boxes_choose((const uint64_t[3]){1, 1, 1}, 1, 0, NULL, &p->boxes);
	if (items > most) {
		p->of = OF;
		p->part = OF * most / items ? OF * most / items : 1;
	}
	return items <= WHOLE * most;
}

/* At most half of what there is, so that two launches in flight are traced. */
static size_t buffer_words(const struct launch *l)
{
	enum { CHUNKS_PER_ITEM = 16, LEAST = 1024 }; /* chunks; some 4000 events of each work-item */
	uint64_t room = TRACE_BUFFER_SHARE(runtime.options.trace_memory.number) / 2 / sizeof(uint64_t), items = 1, words = 1;
	for (int d = 0; d < 3; d++)
		items *= l->global[d];
	items = items < runtime.options.trace_items.number ? items : runtime.options.trace_items.number;
	uint64_t wanted = items * CHUNKS_PER_ITEM * CHUNK_WORDS;
	wanted = wanted < LEAST * CHUNK_WORDS ? LEAST * CHUNK_WORDS : wanted;
	while (words * 2 <= room && words < wanted)
		words *= 2;
	return words > TRACE_HEADER_WORDS + CHUNK_WORDS ? words : 0;
}

/* What was learnt of launches of these sizes decides which groups are traced, and must not depend on how far the worker happens to
 * be. Nothing is learnt of those that a user event holds. */
static void wait_for_earlier(const struct request *r, const struct launch *l)
{
	enum { PATIENCE_MS = 200, ROUNDS = 150 };
	uint64_t moves = worker_moves();
	bool waits = trace_unsettled(l->facts, l->global, l->local);
	if (waits)
		cl.clFlush(r->queue);
	while (waits && worker_wait_progress(moves, PATIENCE_MS, ROUNDS)) {
		moves = worker_moves();
		waits = trace_unsettled(l->facts, l->global, l->local);
	}
}

static bool is_wanted(const struct request *r, const struct launch *l, struct trace_plan *p)
{
	if (!traces_wanted() || !l->artifact->traced_texts || !trace_due(l->facts, l->global, l->local))
		return false;
	wait_for_earlier(r, l);
	trace_chosen(l->facts, l->global, l->local, p->local);
	return choose_groups(l, p);
}

bool plan_trace(struct kernel *k, const struct request *r, cl_device_id device, struct launch *l, struct trace_plan *p)
{
	struct gs_error why = {""};
	memset(p, 0, sizeof *p);
	if (!is_wanted(r, l, p))
		return false;
	p->twin = kernel_prepare_twin(k, device, true, &why);
	size_t words = buffer_words(l);
	if (!p->twin || p->twin->box_argument < 0 || !words) {
		log_debug("%s is not traced: %s", l->kernel_name, p->twin ? "no memory for it" : why.text);
		return false;
	}
	l->trace_buffer = take_buffer(r, k->build->pool, device, TRACE_BUFFER, words);
	if (l->trace_buffer && keep_argument_sizes(l, k, p->twin)) {
		p->chunks = (l->trace_buffer->word_count - TRACE_HEADER_WORDS) / CHUNK_WORDS;
		return true;
	}
	return false;
}

/* ---- launching it ---- */

/* One box as a command. */
struct part {
	struct request request;
	size_t offset[3], global[3], local[3];
	cl_ulong16 box;
};

/* Chunks are the boxes' in proportion to their groups, so that what does not fit is missing everywhere and not at the end. */
static void make_part(const struct request *r, const struct launch *l, const struct trace_plan *p, size_t index,
                      uint64_t traced_before, struct part *out)
{
	const struct box *b = &p->boxes.list[index];
	*out = (struct part){.request = *r};
	uint64_t traced = traced_before + (b->traced ? box_groups(b) : 0);
	if (b->traced) {
		out->box.s[9] = (cl_ulong)((double)p->chunks * (double)traced / (double)p->boxes.traced_groups);
		out->box.s[10] = p->of;
		out->box.s[11] = p->part;
	}
	if (p->boxes.count == 1)
		return;
	for (cl_uint d = 0; d < 3; d++) {
		uint64_t offset = r->offset && d < r->dims ? r->offset[d] : 0;
		out->box.s[d] = b->first[d];
		out->box.s[3 + d] = l->global[d] / p->local[d] - b->count[d];
		out->offset[d] = (size_t)(offset + b->first[d] * p->local[d]);
		out->global[d] = (size_t)(b->count[d] * p->local[d]);
		out->local[d] = (size_t)p->local[d];
	}
	out->request.offset = out->offset;
	out->request.global = out->global;
	out->request.local = out->local;
}

static cl_int set_trace_buffer(const struct kernel_twin *t, const struct launch *l)
{
	return cl.clSetKernelArg(t->kernel, (cl_uint)t->box_argument + 1, sizeof l->trace_buffer->mem, &l->trace_buffer->mem);
}

static bool in_order(const struct request *r)
{
	return !(r->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

static cl_int enqueue_part(struct request *r, struct kernel_twin *t, const struct launch *l, struct part *p, cl_event *event)
{
	cl_int code = set_arguments(t, l, &p->box);
	if (code == CL_SUCCESS && t->traces)
		code = set_trace_buffer(t, l);
	if (code == CL_SUCCESS)
		code = enqueue(&p->request, t->kernel, event);
	r->not_ours_ns = p->request.not_ours_ns;
	return code;
}

static void give_parts(struct launch *l, cl_event event, cl_event *parts, size_t count)
{
	if (count)
		l->boxed = boxed_event_new(event, parts, count);
	while (!l->boxed && count)
		cl.clReleaseEvent(parts[--count]);
}

cl_int enqueue_traced(struct request *r, struct kernel_twin *t, struct launch *l, const struct trace_plan *plan,
                      cl_event *event, bool app_wants_event, bool *started)
{
	cl_event parts[MOST_BOXES];
	size_t part_count = 0;
	uint64_t traced = 0;
	cl_int code = CL_SUCCESS;
	for (size_t i = 0; i < plan->boxes.count && code == CL_SUCCESS; i++) {
		const struct box *b = &plan->boxes.list[i];
		bool last = i + 1 == plan->boxes.count;
		struct part p;
		make_part(r, l, plan, i, traced, &p);
		traced += b->traced ? box_groups(b) : 0;
		if (i) {
			p.request.wait_count = !in_order(r);
			p.request.wait = in_order(r) ? NULL : &parts[i - 1];
		}
		cl_event *where = last ? event : &parts[i];
		code = enqueue_part(r, b->traced ? plan->twin : t, l, &p, where);
		if (code != CL_SUCCESS && b->traced && *started) /* the others have begun: these have to run, traced or not */
			code = enqueue_part(r, t, l, &p, where);
		*started = *started || code == CL_SUCCESS;
		part_count += !last && code == CL_SUCCESS;
	}
	log_debug("%s: %zu boxes, %llu groups traced: %d", l->kernel_name, plan->boxes.count,
	          (unsigned long long)plan->boxes.traced_groups, code);
	if (code == CL_SUCCESS)
		trace_taken(l->facts, l->global, l->local);
	bool asked = app_wants_event && code == CL_SUCCESS && r->properties & CL_QUEUE_PROFILING_ENABLE;
	give_parts(l, asked ? *event : NULL, parts, part_count);
	return code;
}
