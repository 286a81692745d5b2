/*
 * Compares a twin with its kernel in one launch. Three copies hold the memory before the launch, the memory after the twin, and
 * the memory after the kernel. If the last two differ, the kernel runs again on the first. If it then differs from itself, the
 * launch says nothing against its twin.
 *
 * The kernel runs again on a thread of ours, when the application may have changed or released its memory. So it gets nothing but copies,
 * also of what it only reads. To keep a reference to that would not do, because the application's threads go on using it: POCL 3.1 releases
 * an event twice if two threads enqueue commands for one buffer, the first of which brings it to the device and only reads it
 * (pocl_create_migration_commands), and aborts later.
 */
#include "runtime/guest/launches/verify.h"

#include "runtime/config/log.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/ways.h"
#include "runtime/guest/programs/programs.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/model/proof.h"

#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "twin"

struct verification {
	struct verification *previous, *next;
	struct shadow *shadow, *inputs;
	cl_mem parts[2 * MOST_OBJECTS]; /* sub-buffers of copies that the kernel gets */
	size_t part_count;
	struct proof *proof;
	struct context_pool *pool;
	cl_device_id device;
	cl_program program;
	cl_kernel kernel; /* the application's kernel, to run again on the copies from before the launch; NULL: it cannot */
	cl_uint dims;
	bool is_task, has_offset, has_local;
	bool judged; /* its kernel may be running: only the thread that judges it uses it */
	size_t offset[3], global[3], local[3];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of the members `kernel` and `judged` in each */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;   /* one has left the list */
static struct verification *all;

/* Drivers need not hold the arguments of a kernel, so we do. */
static cl_int set_copies(struct verification *v, struct shadow *s, struct shadow_plan *plan, cl_kernel kernel)
{
	cl_int code = shadow_set(s, COPY_BEFORE, plan, kernel);
	while (plan->part_count)
		v->parts[v->part_count++] = plan->parts[--plan->part_count];
	return code;
}

static cl_kernel kernel_again(struct verification *v, struct attempt *a)
{
	const struct kernel *k = a->kernel;
	cl_int code = CL_SUCCESS;
	if (!k->program || !a->runs_again)
		return NULL;
	cl_kernel again = cl.clCreateKernel(k->program->handle, k->name, &code);
	for (size_t i = 0; again && i < k->arg_count && code == CL_SUCCESS; i++)
		if (k->args[i].kind == ARG_VALUE || k->args[i].kind == ARG_LOCAL)
			code = cl.clSetKernelArg(again, (cl_uint)i, k->args[i].size, k->args[i].value);
	if (again && code == CL_SUCCESS)
		code = set_copies(v, v->shadow, &a->plan, again);
	if (again && code == CL_SUCCESS && v->inputs)
		code = set_copies(v, v->inputs, a->inputs, again);
	if (again && code != CL_SUCCESS) {
		cl.clReleaseKernel(again);
		again = NULL;
	}
	return again;
}

static void keep_range(struct verification *v, const struct request *r)
{
	v->dims = r->dims;
	v->is_task = !r->global;
	v->has_offset = r->offset;
	v->has_local = r->local;
	for (cl_uint d = 0; d < r->dims && r->global; d++) {
		v->global[d] = r->global[d];
		v->offset[d] = r->offset ? r->offset[d] : 0;
		v->local[d] = r->local ? r->local[d] : 0;
	}
}

struct verification *verification_new(struct attempt *a)
{
	const struct kernel *k = a->kernel;
	struct verification *v = calloc(1, sizeof *v);
	if (!v)
		return NULL;
	*v = (struct verification){.shadow = shadow_retain(a->launch->shadow), .proof = a->proof, .device = a->device};
	v->inputs = a->launch->inputs ? shadow_retain(a->launch->inputs) : NULL;
	v->pool = pool_retain(k->build->pool);
	v->program = k->program ? k->program->handle : NULL;
	v->kernel = kernel_again(v, a);
	keep_range(v, a->request);
	pthread_mutex_lock(&lock);
	v->next = all;
	if (all)
		all->previous = v;
	all = v;
	pthread_mutex_unlock(&lock);
	return v;
}

static void begin_judging(struct verification *v)
{
	pthread_mutex_lock(&lock);
	v->judged = true;
	pthread_mutex_unlock(&lock);
}

/* After this, no other thread uses it. */
static void leave_list(struct verification *v)
{
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&left);
	*(v->previous ? &v->previous->next : &all) = v->next;
	if (v->next)
		v->next->previous = v->previous;
	pthread_mutex_unlock(&lock);
}

static bool is_judged(cl_program program)
{
	for (const struct verification *v = all; v; v = v->next)
		if (v->program == program && v->judged)
			return true;
	return false;
}

void verifications_abandon(cl_program program)
{
	enum { MOST = 64 };
	cl_kernel kernels[MOST];
	size_t count = 0;
	pthread_mutex_lock(&lock);
	for (struct verification *v = all; v && count < MOST; v = v->next)
		if (v->program == program && v->kernel && !v->judged) {
			kernels[count++] = v->kernel;
			v->kernel = NULL;
		}
	while (is_judged(program)) /* for as long as the kernel runs once more */
		pthread_cond_wait(&left, &lock);
	pthread_mutex_unlock(&lock);
	while (count)
		cl.clReleaseKernel(kernels[--count]);
}

/* Runs the kernel again on the memory from before the launch. */
static bool run_again(const struct verification *v)
{
	cl_command_queue queue = pool_queue(v->pool, v->device);
	cl_int code = !queue || !v->kernel ? CL_INVALID_KERNEL
	              : v->is_task ? cl.clEnqueueTask(queue, v->kernel, 0, NULL, NULL)
	                           : cl.clEnqueueNDRangeKernel(queue, v->kernel, v->dims, v->has_offset ? v->offset : NULL, v->global,
	                                                       v->has_local ? v->local : NULL, 0, NULL, NULL);
	return code == CL_SUCCESS && cl.clFinish(queue) == CL_SUCCESS;
}

static enum verdict judge(const struct verification *v)
{
	int same = shadow_same(v->shadow, COPY_FOR_TWIN, COPY_AFTER);
	if (same > 0)
		return VERDICT_SAME;
	if (same < 0)
		return VERDICT_NONE;
	return run_again(v) && shadow_same(v->shadow, COPY_BEFORE, COPY_AFTER) != 1 ? VERDICT_RACY : VERDICT_DIFFERS;
}

void verification_end(struct verification *v, const char *kernel, bool completed, uint64_t took_ns)
{
	if (!v)
		return;
	begin_judging(v);
	enum verdict verdict = completed ? judge(v) : VERDICT_NONE;
	if (v->kernel)
		cl.clReleaseKernel(v->kernel);
	leave_list(v);
	proof_end(v->proof, verdict, took_ns);
	if (verdict >= VERDICT_SAME)
		stats_add_comparison(&simulation.stats, kernel,
		                     verdict == VERDICT_SAME ? TWIN_SAME : verdict == VERDICT_RACY ? TWIN_RACY : TWIN_DIFFERS);
	while (v->part_count)
		cl.clReleaseMemObject(v->parts[--v->part_count]);
	shadow_release(v->shadow);
	shadow_release(v->inputs);
	pool_unref(v->pool);
	free(v);
}
