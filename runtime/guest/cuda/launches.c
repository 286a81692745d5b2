/*
 * A launch. It is checked and recorded when the program asks for it. It runs on the thread of its stream, as one command of the driver, or
 * as two where some of its groups are traced and others are not. Each group runs once, on the program's own memory: CUDA promises no
 * order of groups. When the launch has ended, the worker takes it over, as it does with OpenCL's.
 */
#include "runtime/guest/cuda/launches.h"

#include "runtime/config/log.h"
#include "runtime/format/traces.h"
#include "runtime/guest/cuda/commands.h"
#include "runtime/guest/cuda/faults.h"
#include "runtime/guest/cuda/groups.h"
#include "runtime/guest/cuda/prints.h"
#include "runtime/guest/cuda/scratch.h"
#include "runtime/guest/cuda/start.h"
#include "runtime/guest/driver/ending.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/traced.h"
#include "runtime/guest/launches/worker.h"
#include "runtime/guest/support/pages.h"
#include "runtime/model/profile.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/process/thread.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

/* ---- the driver ---- */

static void free_queue(void *queue)
{
	if (!program_is_ending()) /* else the driver may be gone */
		cl.clReleaseCommandQueue(queue);
}

static cl_command_queue queue_of(struct cuda_stream *s)
{
	cl_int code;
	if (!s->driver) {
		s->driver = cl.clCreateCommandQueue(cuda_device()->context, cuda_device()->device, 0, &code);
		s->driver_free = free_queue;
	}
	return s->driver;
}

/* Waits for its end. */
static cl_int run_items(struct launch_command *c, struct cuda_stream *s, struct lifted_form *form, size_t items)
{
	const cl_ulong words = (cl_ulong)(uintptr_t)&c->words;
	const size_t one = 1;
	cl_command_queue queue = queue_of(s);
	pthread_mutex_lock(&c->kernel->lock);
	cl_int code = queue ? cl.clSetKernelArg(form->kernel, 0, sizeof words, &words) : CL_OUT_OF_HOST_MEMORY;
	if (code == CL_SUCCESS)
		code = cl.clEnqueueNDRangeKernel(queue, form->kernel, 1, NULL, &items, &one, 0, NULL, NULL);
	pthread_mutex_unlock(&c->kernel->lock);
	return code == CL_SUCCESS ? cl.clFinish(queue) : code;
}

/* The driver compiles a kernel at its first launch. One without groups shows how long that takes.
 * POCL 3.1 keeps a compiled kernel for global sizes up to that of the launch it was compiled for, counts its users, and at the end of a launch
 * looks it up once more by the size. If a launch with a larger size has brought another one meanwhile, in another stream, it finds that, and an
 * assertion ends the program. So the first launch has as many work-items as others may have (but those of
 * kernels that wait, whose groups are not many). */
static cl_int compile_form(struct launch_command *c, struct cuda_stream *s, struct lifted_form *form)
{
	const uint64_t begin = clock_ns(), together = c->words.together;
	c->words.count = c->words.together = 0;
	c->words.each = 1;
	cl_int code = run_items(c, s, form, LIFTED_ITEMS);
	c->words.together = together;
	run_first_at_exit();
	pthread_mutex_lock(&c->kernel->lock);
	if (!form->launched) /* another stream may have been sooner */
		form->build_ns += clock_ns() - begin;
	form->launched = true;
	pthread_mutex_unlock(&c->kernel->lock);
	return code;
}

/* Runs so many groups, and waits for them. */
static cl_int run_groups(struct launch_command *c, struct cuda_stream *s, struct lifted_form *form, size_t count)
{
	cl_int code = CL_SUCCESS;
	if (!count)
		return code;
	if (!form->launched)
		code = compile_form(c, s, form);
	const size_t items = lifted_items(&c->words, count, cuda_device()->units, c->kernel->lifted->waits);
	return code == CL_SUCCESS ? run_items(c, s, form, items) : code;
}

static struct lifted_form *form_of(struct launch_command *c, bool traces, struct gs_error *err)
{
	pthread_mutex_lock(&c->kernel->lock);
	struct lifted_form *f = kernel_form(c->kernel, traces, err);
	pthread_mutex_unlock(&c->kernel->lock);
	return f;
}

/* ---- counters and traces ---- */

/* A launch without counters is estimated from others. */
static void take_counters(struct launch_command *c)
{
	struct launch *l = c->launch;
	const struct cuda_device *d = cuda_device();
	if (!l)
		return;
	pthread_mutex_lock(&c->kernel->lock);
	launch_take_counters(l, d->pool, d->device);
	pthread_mutex_unlock(&c->kernel->lock);
	if (!l->buffer || buffer_set_slots(l->buffer, l->record.slots)) {
		launch_give_back(l);
		l->alone = no_room_for_counters;
		return;
	}
	c->words.counters = (uint64_t)(uintptr_t)l->buffer->words;
	c->words.counter_slots = l->record.slots;
	c->words.counter_places = l->record.places;
	l->record.spread = true;
}

struct traced_part {
	struct lifted_form *form; /* NULL: nothing is traced */
	struct trace_plan plan;
	struct group_lists lists;
};

static void do_not_trace(struct launch *l, struct traced_part *t)
{
	if (l->trace_buffer)
		buffer_give_back(l->trace_buffer, TRACE_HEADER_WORDS);
	l->trace_buffer = NULL;
	t->form = NULL;
}

static void choose_trace(struct launch_command *c, struct traced_part *t)
{
	struct launch *l = c->launch;
	const struct cuda_device *d = cuda_device();
	struct gs_error err = {""};
	*t = (struct traced_part){0};
	/* Groups may wait for earlier ones, and those that are traced would come first. */
	if (c->kernel->lifted->waits && !c->together && c->groups > 1)
		return;
	if (!l || l->alone || program_is_ending() || !plan_groups(l, d->device, &t->plan))
		return;
	/* Already now: building takes seconds, and launches of other streams meanwhile are not to be traced as well. */
	trace_taken(l->record.facts, l->record.global, l->record.local);
	t->form = form_of(c, true, &err);
	if (!t->form)
		log_info("%s is not traced: %s", l->record.kernel_name, err.text);
	else if (!take_trace_buffer(d->pool, d->device, l, &t->plan) ||
	         (!t->plan.whole && !(c->together ? groups_mark : groups_divide)(&t->plan.boxes, c->words.grid, &t->lists)))
		do_not_trace(l, t);
}

/* ---- running it ---- */

static cl_int run_traced(struct launch_command *c, struct cuda_stream *s, struct traced_part *t, size_t count)
{
	struct launch *l = c->launch;
	c->words.traces = (uint64_t)(uintptr_t)l->trace_buffer->words;
	c->words.chunks = t->plan.chunks;
	c->words.traced_whole = t->plan.windows;
	c->words.order = (uint64_t)(uintptr_t)t->lists.traced; /* 0 where all groups are traced */
	l->times.first_traced |= !t->form->launched;
	cl_int code = run_groups(c, s, t->form, count);
	l->times.traces_end_ns = clock_ns();
	c->words.traces = c->words.chunks = 0;
	c->words.order = (uint64_t)(uintptr_t)t->lists.others;
	return code;
}

/* Builds the text that traces for groups that are not traced, where it is built sooner than the other. */
static cl_int build_for_lending(struct launch_command *c, struct cuda_stream *s)
{
	struct gs_error err = {""};
	struct lifted_form *form = lending_wants_text(c->kernel) ? form_of(c, true, &err) : NULL;
	return form && !form->launched ? compile_form(c, s, form) : CL_SUCCESS;
}

/* Runs groups in the text that traces while that is allowed. Sets how many. */
static cl_int run_lent(struct launch_command *c, struct cuda_stream *s, size_t count, size_t *done)
{
	/* Groups may wait for later ones that are not yet running. */
	const bool whole = c->words.together || c->kernel->lifted->waits;
	cl_int code = build_for_lending(c, s);
	for (size_t n = lending_groups(c->kernel, 0, count, whole); n && code == CL_SUCCESS && c->fault.kind == LIFTED_NO_FAULT;
	     n = lending_groups(c->kernel, n, count - *done, whole)) {
		const uint64_t begin = clock_ns();
		code = run_groups(c, s, &c->kernel->tracing, n);
		lending_took(c->kernel, n, clock_ns() - begin);
		*done += n;
		if (c->words.order)
			c->words.order += n * sizeof(uint32_t);
		else
			c->words.first += n;
	}
	return code;
}

static cl_int run_counting(struct launch_command *c, struct cuda_stream *s, size_t count)
{
	struct gs_error err = {""};
	size_t done = 0;
	cl_int code = run_lent(c, s, count, &done);
	if (code != CL_SUCCESS || done == count || c->fault.kind != LIFTED_NO_FAULT)
		return code;
	struct lifted_form *form = form_of(c, false, &err);
	if (!form) {
		log_error("%s", err.text);
		return CL_BUILD_PROGRAM_FAILURE;
	}
	bool first = !form->launched;
	code = run_groups(c, s, form, count - done);
	if (first)
		lending_ends(c->kernel);
	if (c->launch && first) {
		c->launch->times.first_counted = true;
		c->launch->times.twin_end_ns = clock_ns();
	}
	return code;
}

/* What atomic operations find depends on the order in which groups come to them. A GPU executes many at once, so that its order is not that of
 * their numbers: lists that are made by it are sorted on no GPU. */
static void mix_groups(struct launch_command *c, struct traced_part *t)
{
	bool traces = t->form;
	if (!c->mixed || (!t->lists.traced && !groups_list(c->words.grid, traces, &t->lists)))
		return;
	groups_mix(t->lists.traced, t->lists.traced_count, c->mixed);
	groups_mix(t->lists.others, t->lists.other_count, c->mixed);
	if (!traces)
		c->words.order = (uint64_t)(uintptr_t)t->lists.others;
}

/* Groups that are traced run in a text of their own. Where the order of groups matters, they are run in parts, with parts of the others in
 * between: if all of them came first, atomic operations would find what they find at the begin of the launch. */
static cl_int run_in_parts(struct launch_command *c, struct cuda_stream *s, struct traced_part *t)
{
	enum { PARTS = 8 };
	const struct group_lists all = t->lists;
	cl_int code = CL_SUCCESS;
	for (size_t n = 0, traced = 0, others = 0; n < PARTS && code == CL_SUCCESS && c->fault.kind == LIFTED_NO_FAULT; n++) {
		const size_t to = all.traced_count * (n + 1) / PARTS, others_to = all.other_count * (n + 1) / PARTS;
		t->lists = (struct group_lists){.traced = all.traced + traced, .others = all.others + others};
		code = run_traced(c, s, t, to - traced);
		if (code == CL_SUCCESS && c->fault.kind == LIFTED_NO_FAULT)
			code = run_counting(c, s, others_to - others);
		traced = to;
		others = others_to;
	}
	t->lists = all;
	return code;
}

static cl_int run_all(struct launch_command *c, struct cuda_stream *s)
{
	struct traced_part t;
	cl_int code = CL_SUCCESS;
	choose_trace(c, &t);
	mix_groups(c, &t);
	if (t.form && c->mixed && !t.plan.whole && t.lists.traced)
		code = run_in_parts(c, s, &t);
	else if (t.form)
		code = run_traced(c, s, &t, t.lists.traced ? t.lists.traced_count : c->groups);
	if (code == CL_SUCCESS && !(t.form && (c->mixed || t.plan.whole)) && c->fault.kind == LIFTED_NO_FAULT)
		code = run_counting(c, s, t.form ? t.lists.other_count : c->groups);
	free(t.lists.traced);
	return code;
}

/* All groups in one command. */
static cl_int run_together(struct launch_command *c, struct cuda_stream *s)
{
	struct traced_part t;
	void *groups = calloc(c->held, LIFTED_GROUP_BYTES);
	if (!groups)
		return CL_OUT_OF_HOST_MEMORY;
	choose_trace(c, &t);
	c->words.groups = (uint64_t)(uintptr_t)groups;
	c->words.together = c->groups;
	c->words.held = c->held;
	c->words.workspace = c->cooperative ? (uint64_t)(uintptr_t)c->workspace : 0;
	cl_int code = t.form ? run_traced(c, s, &t, 1) : run_counting(c, s, 1);
	free(t.lists.traced);
	free(groups);
	return code;
}

/* The print buffer is larger than most launches need, so its pages come with their use. */
static struct lifted_prints *prints_new(void)
{
	enum { BYTES = 1 << 20 };
	struct lifted_prints *p = calloc(1, sizeof *p + BYTES);
	if (p)
		p->room = BYTES;
	return p;
}

static cl_int run_with_memory(struct launch_command *c, struct cuda_stream *s)
{
	enum { SPARE_SLOTS = 2 };
	const struct lifted_kernel *k = c->kernel->lifted;
	uint64_t threads = c->words.block[0] * c->words.block[1] * c->words.block[2];
	struct scratch *scratch = scratch_take(c->together ? c->held : cuda_device()->units + SPARE_SLOTS,
	                                       lifted_slot_bytes(&k->sizes, c->words.dynamic_shared, threads));
	struct lifted_prints *prints = k->prints ? prints_new() : NULL;
	if (!scratch || (k->prints && !prints)) {
		free(prints);
		if (scratch)
			scratch_give_back(scratch);
		return CL_OUT_OF_HOST_MEMORY;
	}
	if (c->words.cluster[0] && c->words.cluster[0] * c->words.cluster[1] * c->words.cluster[2] > 1 && c->groups * scratch->slot_bytes > INT32_MAX) {
		free(prints); /* addresses in shared memory of others have 32 bits */
		scratch_give_back(scratch);
		return CL_OUT_OF_HOST_MEMORY;
	}
	c->words.slot_flags = (uint64_t)(uintptr_t)scratch->flags;
	c->words.slots = scratch->slots;
	c->words.scratch = (uint64_t)(uintptr_t)scratch->memory;
	c->words.slot_bytes = scratch->slot_bytes;
	c->words.prints = (uint64_t)(uintptr_t)prints;
	c->words.clock = clock_ns();
	c->words.heap = heap_address();
	cl_int code = c->together ? run_together(c, s) : run_all(c, s);
	if (prints)
		prints_keep(prints);
	free(prints);
	scratch_give_back(scratch);
	return code;
}

/* From here on the launch is the worker's. */
static void hand_over(struct launch_command *c, cl_int code)
{
	struct launch *l = c->launch;
	if (!l)
		return;
	l->times.own_end_ns = clock_ns();
	l->status = code == CL_SUCCESS && c->fault.kind == LIFTED_NO_FAULT ? CL_COMPLETE : -1;
	c->launch = NULL;
	worker_completed(l);
}

/* Which pages of managed memory are the processor's when the launch begins, and, at its end, which were nobody's. */
static void find_pages(const struct launch_command *c, bool ends)
{
	struct launch_record *l = &c->launch->record;
	for (uint64_t i = 0; i < c->words.base_count && l->managed; i++) {
		const void *address = (const void *)(uintptr_t)c->bases[2 * i + 1];
		struct argument_pages *pages = &l->argument_pages[c->bases[2 * i]];
		if (ends)
			pages_grown(address, pages);
		else
			pages_found(address, pages);
	}
}

static void run_launch(struct cuda_command *command, struct cuda_stream *s)
{
	struct launch_command *c = (struct launch_command *)command;
	cl_int code = -1;
	pages_before_command();
	if (c->launch)
		find_pages(c, false);
	if (!fault_now(NULL)) {
		take_counters(c);
		fault_watch(c->kernel->title);
		code = run_with_memory(c, s);
		fault_watch_end();
		fault_note(&c->fault, c->kernel->title, c->words.grid);
		if (code != CL_SUCCESS)
			fault_of_driver(c->kernel->title, code);
	}
	if (c->launch)
		find_pages(c, true);
	pages_after_command();
	hand_over(c, code);
}

static void discard_launch(struct cuda_command *command)
{
	struct launch_command *c = (struct launch_command *)command;
	command_end(command);
	module_release(c->kernel->module);
	free(c);
}

/* ---- enqueueing it ---- */

static int check_sizes(const struct cuda_launch *l, struct gs_error *err)
{
	static const uint64_t most_groups[3] = {INT32_MAX, 65535, 65535};
	const struct gpu *gpu = cuda_gpu();
	const struct lifted_kernel *k = l->kernel->lifted;
	uint64_t threads = 1, most[3] = {gpu->max_threads_per_block, gpu->max_threads_per_block, 64};
	for (int d = 0; d < 3; d++) {
		if (!l->grid[d] || l->grid[d] > most_groups[d])
			return gs_fail(err, EINVAL, "a grid of %u x %u x %u blocks is not possible", l->grid[0], l->grid[1], l->grid[2]);
		if (!l->block[d] || l->block[d] > most[d] || (k->reqntid[0] && l->block[d] != (k->reqntid[d] ? k->reqntid[d] : 1)))
			return gs_fail(err, EINVAL, "blocks of %u x %u x %u threads are not possible", l->block[0], l->block[1], l->block[2]);
		threads *= l->block[d];
	}
	uint64_t asked = (uint64_t)k->maxntid[0] * (k->maxntid[1] ? k->maxntid[1] : 1) * (k->maxntid[2] ? k->maxntid[2] : 1);
	if (threads > gpu->max_threads_per_block || (asked && threads > asked))
		return gs_fail(err, EINVAL, "blocks of %llu threads are not possible", (unsigned long long)threads);
	if (l->dynamic_shared > gpu->max_shared_bytes_per_block || k->sizes.shared_bytes + l->dynamic_shared > gpu->max_shared_bytes_per_block)
		return gs_fail(err, EINVAL, "a block cannot have %llu bytes of shared memory",
		               (unsigned long long)(k->sizes.shared_bytes + l->dynamic_shared));
	return 0;
}

/* All groups of the launch have their memory at once, as long as that is not too much. */
enum { MOST_TOGETHER = 1 << 30 };
static uint64_t bytes_together(const struct cuda_launch *l, uint64_t groups)
{
	return groups * lifted_slot_bytes(&l->kernel->lifted->sizes, l->dynamic_shared, (uint64_t)l->block[0] * l->block[1] * l->block[2]);
}

static uint64_t cluster_groups(const struct cuda_launch *l)
{
	return l->cluster[0] ? (uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2] : 1;
}

static int check_cluster(const struct cuda_launch *l, struct gs_error *err)
{
	uint64_t groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	for (int d = 0; d < 3 && l->cluster[0]; d++)
		if (!l->cluster[d] || l->grid[d] % l->cluster[d])
			return gs_fail(err, EINVAL, "a grid of %u x %u x %u blocks does not consist of whole clusters", l->grid[0], l->grid[1], l->grid[2]);
	if (cluster_groups(l) > 1 && bytes_together(l, groups) > MOST_TOGETHER)
		return gs_fail(err, ENOTSUP, "kernel %s was not launched: clusters of %llu blocks in a grid of %llu need more memory than %u MiB here", l->kernel->title,
		               (unsigned long long)cluster_groups(l), (unsigned long long)groups, MOST_TOGETHER >> 20);
	return 0;
}

static uint64_t groups_resident(const struct cuda_launch *l)
{
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
	return (uint64_t)cuda_occupancy(l->kernel, (unsigned)threads, l->dynamic_shared) * cuda_gpu()->sm_count;
}

/* Blocks of an ordinary launch wait for one another as well, where all of them are resident. That many need memory for all at once. */
static bool groups_may_wait(const struct cuda_launch *l, uint64_t groups)
{
	if (!l->kernel->lifted->waits || groups < 2)
		return false;
	uint64_t resident = groups_resident(l);
	return groups <= resident && bytes_together(l, groups) <= MOST_TOGETHER;
}

/* Blocks that take work from a queue share it, instead of the first taking all: as many at a time as the GPU holds, and as there is memory for.
 * Returns how many; 0: it has no such queue. */
static uint64_t groups_share(const struct cuda_launch *l, uint64_t groups)
{
	if (!l->kernel->lifted->fetches || groups < 2)
		return 0;
	uint64_t resident = groups_resident(l), wanted = groups < resident ? groups : resident, most = MOST_TOGETHER / bytes_together(l, 1);
	if (wanted > most && !atomic_exchange(&l->kernel->shortage_told, true))
		log_warning("kernel %s: %llu blocks share a queue of work, but only %llu of them have memory at once here: its times are too long",
		            l->kernel->title, (unsigned long long)wanted, (unsigned long long)most);
	return wanted < most ? wanted : most;
}

static struct launch_command *command_new(const struct cuda_launch *l)
{
	enum { ALIGNMENT = 16 };
	size_t most = launch_most_bases(l->kernel), bases = most * (2 * sizeof(uint64_t) + sizeof(struct lifted_image));
	size_t head = (sizeof(struct launch_command) + bases + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	size_t bytes = l->kernel->lifted->sizes.parameter_bytes;
	struct launch_command *c = calloc(1, head + bytes + ALIGNMENT);
	if (!c)
		return NULL;
	c->kernel = l->kernel;
	c->bases = (uint64_t *)(c + 1);
	c->images = (struct lifted_image *)(c->bases + 2 * most);
	c->parameters = (uint8_t *)c + head;
	if (bytes)
		memcpy(c->parameters, l->parameters, bytes);
	c->groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	c->words.parameters = (uint64_t)(uintptr_t)c->parameters;
	c->words.variables = (uint64_t)(uintptr_t)l->kernel->module->variables;
	for (int d = 0; d < 3; d++) {
		c->words.grid[d] = l->grid[d];
		c->words.block[d] = l->block[d];
		c->words.cluster[d] = l->cluster[d];
	}
	c->words.dynamic_shared = l->dynamic_shared;
	c->cooperative = l->cooperative;
	c->together = l->cooperative || cluster_groups(l) > 1 || groups_may_wait(l, c->groups);
	c->held = c->together ? c->groups : groups_share(l, c->groups);
	c->together |= c->held;
	if (l->kernel->lifted->meets_groups && !l->kernel->lifted->waits && !c->together)
		c->mixed = groups_resident(l);
	c->words.fault = (uint64_t)(uintptr_t)&c->fault;
	return c;
}

/* Why a launch is not modelled; NULL: it is. */
static const char *not_modelled(const struct cuda_kernel *k)
{
	return !k->wanted ? "not among GPUSIM_KERNELS" : !worker_ready() ? "no thread could be started" : NULL;
}

/* Numbers launches in the order in which the program makes them. The timeline has those that are not modelled, too. */
static const struct schedule_command *log_launch(const struct stream_call *call, void *data)
{
	struct launch_command *c = data;
	struct schedule_command *entry = timeline_stream_launch(c->kernel->title, call);
	if (!c->launch) {
		timeline_resolve(entry, 0, NULL);
		return entry;
	}
	c->launch->command = entry;
	c->launch->times.enqueued_ns = clock_ns();
	worker_launched(c->launch);
	return entry;
}

int cuda_enqueue_launch(const struct cuda_call *call, const struct cuda_launch *l, struct gs_error *err)
{
	uint64_t begin = clock_ns();
	struct cuda_call later = *call;
	struct call_log log;
	int failed = check_sizes(l, err);
	if (!failed)
		failed = check_cluster(l, err);
	if (failed)
		return failed;
	struct launch_command *c = command_new(l);
	if (!c)
		return gs_fail(err, ENOMEM, "out of memory");
	c->command.run = run_launch;
	c->command.discard = discard_launch;
	later.blocking = false; /* it is logged before it runs */
	failed = call_begin(&log, &later, &c->command, err);
	if (failed) {
		free(c);
		return failed;
	}
	module_retain(l->kernel->module);
	const char *why = not_modelled(l->kernel);
	c->launch = why ? NULL : launch_record_new(c, l->block, l->dynamic_shared);
	if (!c->launch)
		launch_not_modelled(l->kernel->title, why ? why : "out of memory");
	simulation.cost.launches++;
	simulation.cost.launch_ns += clock_ns() - begin;
	call_end(&log, &c->command, TURN_LATER, log_launch, c);
	if (call->blocking)
		stream_wait(call->stream);
	return 0;
}
