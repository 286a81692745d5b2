/*
 * Compares a twin with its kernel in one launch. Three copies hold the memory before the launch, the memory after the twin, and
 * the memory after the kernel. If the last two differ, the kernel runs again on the first. If it then differs from itself, the
 * launch says nothing against its twin.
 */
#include "runtime/guest/launches/verify.h"

#include "runtime/config/log.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/shadow.h"
#include "runtime/guest/programs/programs.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/model/proof.h"

#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "twin"

struct verification {
	struct verification *previous, *next;
	struct shadow *shadow;
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

/* A kernel does not run again if it prints, or has variables that outlive a launch. */
static cl_kernel kernel_again(struct kernel *k, unsigned hazards, struct shadow_plan *plan, struct shadow *s)
{
	cl_int code = CL_SUCCESS;
	if (!k->program || hazards & (HAZARD_PRINTS | HAZARD_VARIABLES))
		return NULL;
	cl_kernel again = cl.clCreateKernel(k->program->handle, k->name, &code);
	for (size_t i = 0; again && i < k->arg_count && code == CL_SUCCESS; i++)
		if (k->args[i].kind == ARG_VALUE || k->args[i].kind == ARG_LOCAL)
			code = cl.clSetKernelArg(again, (cl_uint)i, k->args[i].size, k->args[i].value);
	if (again && code == CL_SUCCESS)
		code = shadow_set(s, COPY_BEFORE, plan, again);
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

struct verification *verification_new(struct kernel *k, const struct request *r, struct shadow_plan *plan, struct shadow *s,
                                      struct proof *p, unsigned hazards, cl_device_id device)
{
	struct verification *v = calloc(1, sizeof *v);
	if (!v)
		return NULL;
	*v = (struct verification){.shadow = shadow_retain(s), .proof = p, .device = device};
	v->pool = pool_retain(k->build->pool);
	v->program = k->program ? k->program->handle : NULL;
	v->kernel = kernel_again(k, hazards, plan, s);
	keep_range(v, r);
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
	shadow_release(v->shadow);
	pool_unref(v->pool);
	free(v);
}
