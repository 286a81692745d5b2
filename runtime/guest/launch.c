/* The application's launch: its twin with the same range, arguments, wait list and event; or the kernel itself. */
#include "programs.h"

#include "runtime/cc/counters.h"
#include "runtime/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "launch"

/* A launch as the application asked for it. */
struct request {
	cl_command_queue queue;
	cl_uint dims;
	const size_t *offset, *global, *local;
	cl_uint wait_count;
	const cl_event *wait;
	uint64_t not_ours_ns; /* time spent in the driver's own enqueue and waiting for the twin's build */
};

static cl_int enqueue(struct request *r, cl_kernel kernel, cl_event *event)
{
	uint64_t begin = clock_ns();
	cl_int result = r->global ? cl.clEnqueueNDRangeKernel(r->queue, kernel, r->dims, r->offset, r->global, r->local,
	                                                      r->wait_count, r->wait, event)
	                          : cl.clEnqueueTask(r->queue, kernel, r->wait_count, r->wait, event);
	r->not_ours_ns += clock_ns() - begin;
	return result;
}

static void CL_CALLBACK launch_completed(cl_event event, cl_int status, void *data)
{
	struct launch *l = data;
	cl_ulong start, end;
	l->status = status;
	if (l->profiled && status == CL_COMPLETE &&
	    cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) == CL_SUCCESS &&
	    cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS && end > start)
		l->measured_ns = end - start;
	worker_completed(l);
}

/* Work-groups, as far as the local size is known. Where the driver chooses it there could be as many as work-items, but no
 * driver wants that. */
static uint64_t upper_group_count(const struct launch *l)
{
	enum { MOST_OF_UNKNOWN = 65536 };
	uint64_t groups = 1;
	for (int d = 0; d < 3; d++)
		groups *= l->local[d] ? (l->global[d] + l->local[d] - 1) / l->local[d] : l->global[d];
	return !l->local[0] && groups > MOST_OF_UNKNOWN ? MOST_OF_UNKNOWN : groups;
}

static size_t at_most(uint64_t wanted, uint64_t room)
{
	uint64_t n = wanted > room ? room : wanted;
	return n ? (size_t)n : 1;
}

/*
 * A slot for every group and a place for every work-item where that fits a quarter of the bound; else groups share slots
 * and may lose counts, or only the first work-items are counted.
 */
static void choose_size(struct launch *l)
{
	const struct artifact *a = l->artifact;
	uint64_t room = runtime.options.counter_memory.number / 4 / sizeof(uint64_t), items = 1;
	if (!a->counts_by_item || l->facts->summed) {
		l->slots = at_most(upper_group_count(l), room / (launch_columns(l) + 1));
		return;
	}
	for (int d = 0; d < 3; d++)
		items *= l->global[d];
	size_t words = l->facts->words;
	l->slots = at_most(upper_group_count(l), words ? room / 2 : room);
	l->places = words ? at_most(items, (room - room / 2) * 2 / words) : 0;
}

/* When the bound is reached, launches that end make room; but nothing may depend on our waiting. */
static struct counter_buffer *take_buffer(const struct request *r, struct context_pool *pool, cl_device_id device,
                                          size_t words)
{
	enum { PATIENCE_MS = 1000, MOST_TRIES = 50 }; /* one launch may well take a second */
	struct counter_buffer *b = buffer_take(pool, device, words);
	if (b)
		return b;
	cl.clFlush(r->queue);
	for (int i = 0; i < MOST_TRIES && !b && worker_wait_progress(PATIENCE_MS); i++)
		b = buffer_take(pool, device, words);
	return b;
}

/* What addresses may be computed from. A number of 8 bytes that could be a handle is taken for a buffer, which drivers
 * align. */
static void keep_arguments(struct launch *l, const struct kernel *k)
{
	l->argument_count = k->arg_count;
	for (size_t i = 0; i < k->arg_count; i++) {
		const struct kernel_arg *a = &k->args[i];
		uint64_t value = 0;
		l->arguments_known[i] = a->kind == ARG_SVM || (a->kind == ARG_VALUE && a->size <= sizeof value);
		if (l->arguments_known[i] && a->kind == ARG_VALUE && a->value)
			memcpy(&value, a->value, a->size);
		if (a->kind == ARG_SVM || (a->size == sizeof value && value >> 32))
			value = (uint64_t)(i + 1) << 40;
		l->argument_values[i] = value;
	}
}

static struct launch *launch_new(const struct kernel *k, const struct request *r, const struct kernel_twin *t)
{
	struct launch *l = calloc(1, sizeof *l + k->arg_count * (sizeof(uint64_t) + sizeof(bool)));
	if (!l || !(l->kernel_name = strdup(k->name))) {
		free(l);
		return NULL;
	}
	l->argument_values = (uint64_t *)(l + 1);
	l->arguments_known = (bool *)(l->argument_values + k->arg_count);
	keep_arguments(l, k);
	for (cl_uint d = 0; d < 3; d++) {
		l->global[d] = r->global && d < r->dims ? r->global[d] : 1;
		l->local[d] = !r->global || (r->local && d < r->dims) ? (r->global ? r->local[d] : 1) : r->local ? 1 : 0;
	}
	for (size_t i = 0; i < k->arg_count; i++)
		if (k->args[i].kind == ARG_LOCAL)
			l->local_bytes += k->args[i].size;
	l->artifact = t->twin->artifact;
	l->artifact->refs++;
	l->facts = t->facts;
	return l;
}

void launch_free(struct launch *l)
{
	artifact_release(l->artifact);
	free(l->kernel_name);
	free(l);
}

static bool queue_profiles(cl_command_queue queue)
{
	cl_command_queue_properties properties = 0;
	cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
	return properties & CL_QUEUE_PROFILING_ENABLE;
}

/* All of the launch: the device's own answers are right. */
static cl_int set_whole_box(struct kernel_twin *t)
{
	const cl_ulong16 whole = {.s = {0}};
	if (t->box_argument < 0 || t->whole)
		return CL_SUCCESS;
	cl_int code = cl.clSetKernelArg(t->kernel, (cl_uint)t->box_argument, sizeof whole, &whole);
	t->whole = code == CL_SUCCESS;
	return code;
}

static cl_int set_arguments(struct kernel_twin *t, const struct launch *l)
{
	const cl_ulong sizes[2] = {l->slots, l->places};
	cl_uint first = t->facts->arguments;
	cl_int code = cl.clSetKernelArg(t->kernel, first, sizeof l->buffer->mem, &l->buffer->mem);
	for (cl_uint i = 0; i < 2 && l->artifact->counts_by_item && code == CL_SUCCESS; i++)
		code = cl.clSetKernelArg(t->kernel, first + 1 + i, sizeof sizes[i], &sizes[i]);
	return code == CL_SUCCESS ? set_whole_box(t) : code;
}

/* With the kernel's lock held, so that nobody sets another buffer before the twin is enqueued. */
static bool enqueue_twin(struct request *r, struct kernel_twin *t, struct launch *l, cl_int *result,
                         cl_event *event, struct gs_error *why)
{
	struct counter_buffer *b = l->buffer;
	cl_event mine = NULL;
	if (buffer_set_slots(b, l->slots) || set_arguments(t, l) != CL_SUCCESS) {
		gs_fail(why, EIO, "the driver refuses the counters of the annotated kernel");
		return false;
	}
	*result = enqueue(r, t->kernel, &mine);
	if (*result != CL_SUCCESS) {
		gs_fail(why, EIO, "the driver refuses to launch the annotated kernel (%d)", *result);
		return false;
	}
	l->profiled = queue_profiles(r->queue);
	t->launched = true;
	worker_launched(l);
	/* From here on the launch may be gone. The driver keeps an event until its callbacks have run, so we keep no
	 * reference: the application finds its objects with the counts that it expects. */
	bool told = cl.clSetEventCallback(mine, CL_COMPLETE, launch_completed, l) == CL_SUCCESS;
	if (!told)
		log_info("the driver takes no callback for an event: the launch will not be modelled");
	if (event)
		*event = mine;
	else
		cl.clReleaseEvent(mine);
	return true;
}

static bool launch_twin(struct kernel *k, struct request *r, cl_int *result, cl_event *event, struct gs_error *why)
{
	cl_device_id device = NULL;
	struct launch *l = NULL;
	bool launched = false;
	if (cl.clGetCommandQueueInfo(r->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
	    r->dims < 1 || r->dims > 3)
		return gs_fail(why, EINVAL, "the launch is not valid"), false;
	if (!device_wanted(device))
		return gs_fail(why, ENOTSUP, "its device is not the one of GPUSIM_DEVICE"), false;
	pthread_mutex_lock(&k->lock);
	uint64_t begin = clock_ns();
	struct kernel_twin *t = kernel_prepare_twin(k, device, why);
	if (t && !t->launched) /* the first time it waited for the build */
		r->not_ours_ns += clock_ns() - begin;
	if (t && !(l = launch_new(k, r, t)))
		gs_fail(why, ENOMEM, "out of memory");
	if (l) {
		choose_size(l);
		l->buffer = take_buffer(r, k->build->pool, device, launch_words(l));
		if (l->buffer)
			launched = enqueue_twin(r, t, l, result, event, why);
		else
			gs_fail(why, ENOMEM, "its counters do not fit (GPUSIM_COUNTER_MEMORY)");
	}
	pthread_mutex_unlock(&k->lock);
	if (l && !launched) {
		if (l->buffer)
			buffer_give_back(l->buffer, COUNTER_HEADER_WORDS);
		launch_free(l);
	}
	return launched;
}

cl_int kernel_launch(cl_command_queue queue, cl_kernel handle, cl_uint dims, const size_t *offset, const size_t *global,
                     const size_t *local, cl_uint wait_count, const cl_event *wait, cl_event *event)
{
	struct request r = {queue, dims, offset, global, local, wait_count, wait, 0};
	uint64_t begin = clock_ns();
	struct gs_error why = {""};
	struct kernel *k = kernel_find(handle);
	int saved = errno;
	cl_int result;
	if (k && !k->wanted)
		gs_fail(&why, 0, "not among GPUSIM_KERNELS");
	else if (k && k->why)
		gs_fail(&why, 0, "%s", k->why);
	else if (k && launch_twin(k, &r, &result, event, &why))
		goto out;
	errno = saved;
	result = enqueue(&r, handle, event);
	saved = errno;
	if (result == CL_SUCCESS)
		launch_not_modelled(k && k->name ? k->name : "(unknown)", k ? why.text : "a kernel that we do not know");
out:
	if (k)
		kernel_unref(k);
	tool_cost.launches++;
	tool_cost.launch_ns += clock_ns() - begin - r.not_ours_ns;
	errno = saved;
	return result;
}
