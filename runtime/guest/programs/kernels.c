/*
 * The application's kernels and their arguments. An argument is remembered when the driver has accepted it. It is set on the
 * twin only when the twin is launched: the twin may not exist yet, and most arguments are replaced before they are used.
 */
#include "runtime/guest/programs/kernels.h"

#include "runtime/format/protocol.h"
#include "runtime/guest/programs/programs.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/support/table.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Thread_local uint64_t thread_waited_ns;

static pthread_mutex_t kernels_lock = PTHREAD_MUTEX_INITIALIZER;
static struct table kernels;

static void kernel_free(struct kernel *k)
{
	while (k->twins) {
		struct kernel_twin *t = k->twins;
		k->twins = t->next;
		if (t->kernel)
			cl.clReleaseKernel(t->kernel);
		free(t);
	}
	if (k->build)
		program_listeners.kernel_gone(k->build->pool);
	for (size_t i = 0; i < k->arg_count; i++)
		free(k->args[i].value);
	for (size_t i = 0; i < k->info_count; i++)
		free(k->infos[i].value);
	build_release(k->build);
	if (k->program)
		program_kernel_gone(k->program);
	pthread_mutex_destroy(&k->lock);
	free(k->args);
	free(k->infos);
	free(k->name);
	free(k);
}

void kernel_unref(struct kernel *k)
{
	if (!--k->refs)
		kernel_free(k);
}

struct kernel *kernel_find(cl_kernel handle)
{
	pthread_mutex_lock(&kernels_lock);
	struct kernel *k = table_get(&kernels, handle);
	if (k)
		k->refs++;
	pthread_mutex_unlock(&kernels_lock);
	return k;
}

static const char *why_not(const struct program *p)
{
	if (!p)
		return "its program came from a call that we do not know";
	switch (p->origin) {
	case FROM_IL:
		return "its program was created from IL";
	case FROM_BUILT_IN:
		return "it is built into the device";
	case FROM_BINARY:
		return "its program was created from a binary that was made without us; empty the cache that it comes from, or, with pyopencl, "
		       "set PYOPENCL_NO_CACHE=1";
	case FROM_SOURCE:
		break;
	}
	return "its program was linked from parts whose source is not known";
}

static char *kernel_name(cl_kernel handle)
{
	size_t size = 0;
	char *name = NULL;
	if (cl.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, 0, NULL, &size) == CL_SUCCESS &&
	    (name = calloc(1, size + 1)))
		cl.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, size, name, NULL);
	return name;
}

static struct kernel *kernel_new(cl_kernel handle, struct program *p, struct build *build)
{
	struct kernel *k = calloc(1, sizeof *k);
	if (!k)
		return NULL;
	k->refs = k->app_refs = 1;
	k->handle = handle;
	k->program = p;
	k->name = kernel_name(handle);
	k->build = build ? build_retain(build) : NULL;
	k->why = build ? NULL : why_not(p);
	k->wanted = k->name && kernel_wanted(&simulation, k->name);
	pthread_mutex_init(&k->lock, NULL);
	return k;
}

static void kernel_register(struct kernel *k)
{
	pthread_mutex_lock(&kernels_lock);
	struct kernel *before = table_put(&kernels, k->handle, k);
	pthread_mutex_unlock(&kernels_lock);
	if (before)
		kernel_unref(before); /* an old record, or `k` itself when memory is short */
}

void kernel_created(cl_kernel handle, cl_program program)
{
	struct program *p = program_of_new_kernel(program);
	struct kernel *k = kernel_new(handle, p, p ? p->build : NULL);
	if (k)
		kernel_register(k);
	else if (p)
		program_kernel_gone(p);
}

/* ---- arguments; with the kernel's lock held ---- */

static int keep_value(void **slot, const void *value, size_t size)
{
	void *copy = NULL;
	if (value && !(copy = malloc(size ? size : 1)))
		return -1;
	if (copy)
		memcpy(copy, value, size);
	free(*slot);
	*slot = copy;
	return 0;
}

static void set_arg(struct kernel *k, cl_uint index, int kind, size_t size, const void *value)
{
	enum { MAX_ARGS = 65536 };
	if (index >= MAX_ARGS)
		return;
	if (index >= k->arg_count) {
		struct kernel_arg *grown = realloc(k->args, (index + 1) * sizeof *grown);
		if (!grown)
			return;
		memset(grown + k->arg_count, 0, (index + 1 - k->arg_count) * sizeof *grown);
		k->args = grown;
		k->arg_count = index + 1;
	}
	struct kernel_arg *a = &k->args[index];
	/* The value of an SVM argument is the pointer itself. */
	const void *bytes = kind == ARG_SVM ? (const void *)&value : value;
	size_t length = kind == ARG_SVM ? sizeof value : size;
	bool in_place = bytes && a->value && a->size == length;
	if (in_place)
		memcpy(a->value, bytes, length);
	else if (keep_value(&a->value, bytes, length))
		return;
	a->kind = kind;
	a->size = length;
	a->version = ++k->clock;
}

static void set_info(struct kernel *k, cl_kernel_exec_info what, size_t size, const void *value)
{
	size_t i = 0;
	while (i < k->info_count && k->infos[i].what != what)
		i++;
	if (i == k->info_count) {
		struct exec_info *grown = realloc(k->infos, (i + 1) * sizeof *grown);
		if (!grown)
			return;
		k->infos = grown;
		k->infos[k->info_count++] = (struct exec_info){.what = what};
	}
	if (keep_value(&k->infos[i].value, value, size))
		return;
	k->infos[i].size = size;
	k->infos[i].version = ++k->clock;
}

void kernel_arg_set(cl_kernel handle, cl_uint index, size_t size, const void *value)
{
	struct kernel *k = kernel_find(handle);
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	set_arg(k, index, value ? ARG_VALUE : ARG_LOCAL, size, value);
	pthread_mutex_unlock(&k->lock);
	kernel_unref(k);
}

void kernel_svm_arg_set(cl_kernel handle, cl_uint index, const void *value)
{
	struct kernel *k = kernel_find(handle);
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	set_arg(k, index, ARG_SVM, 0, value);
	pthread_mutex_unlock(&k->lock);
	kernel_unref(k);
}

void kernel_exec_info_set(cl_kernel handle, cl_kernel_exec_info what, size_t size, const void *value)
{
	struct kernel *k = kernel_find(handle);
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	set_info(k, what, size, value);
	pthread_mutex_unlock(&k->lock);
	kernel_unref(k);
}

void kernel_cloned(cl_kernel handle, cl_kernel from)
{
	struct kernel *original = kernel_find(from);
	if (!original)
		return;
	struct program *p = original->program ? program_of_new_kernel(original->program->handle) : NULL;
	struct kernel *k = kernel_new(handle, p, original->build);
	if (k) {
		pthread_mutex_lock(&original->lock);
		for (size_t i = 0; i < original->arg_count; i++) {
			const struct kernel_arg *a = &original->args[i];
			if (a->kind != ARG_UNSET)
				set_arg(k, (cl_uint)i, a->kind, a->size,
				        a->kind == ARG_SVM ? *(void *const *)a->value : a->value);
		}
		for (size_t i = 0; i < original->info_count; i++)
			set_info(k, original->infos[i].what, original->infos[i].size, original->infos[i].value);
		pthread_mutex_unlock(&original->lock);
		kernel_register(k);
	} else if (p) {
		program_kernel_gone(p);
	}
	kernel_unref(original);
}

void kernel_retained(cl_kernel handle)
{
	pthread_mutex_lock(&kernels_lock);
	struct kernel *k = table_get(&kernels, handle);
	if (k)
		k->app_refs++;
	pthread_mutex_unlock(&kernels_lock);
}

void kernel_released(cl_kernel handle)
{
	pthread_mutex_lock(&kernels_lock);
	struct kernel *k = table_get(&kernels, handle);
	bool last = k && !--k->app_refs;
	if (last)
		table_remove(&kernels, handle);
	pthread_mutex_unlock(&kernels_lock);
	if (last)
		kernel_unref(k);
}

/* ---- the twin ---- */

static int apply_settings(struct kernel *k, struct kernel_twin *t)
{
	for (size_t i = 0; i < k->arg_count; i++) {
		const struct kernel_arg *a = &k->args[i];
		cl_int code = CL_SUCCESS;
		if (a->kind == ARG_UNSET || a->version <= t->applied)
			continue;
		if (a->kind == ARG_SVM)
			code = cl.clSetKernelArgSVMPointer(t->kernel, (cl_uint)i, *(void *const *)a->value);
		else
			code = cl.clSetKernelArg(t->kernel, (cl_uint)i, a->size, a->value);
		if (code != CL_SUCCESS)
			return -1;
	}
	for (size_t i = 0; i < k->info_count; i++)
		if (k->infos[i].version > t->applied &&
		    cl.clSetKernelExecInfo(t->kernel, k->infos[i].what, k->infos[i].size, k->infos[i].value) != CL_SUCCESS)
			return -1;
	t->applied = k->clock;
	return 0;
}

/* The index of the box, which comes after the arguments for counters. Some texts have none. */
static cl_int box_argument(const struct kernel_twin *t)
{
	cl_uint first = t->facts->arguments + (t->twin->artifact->counts_by_item ? 3 : 1), count = 0;
	cl.clGetKernelInfo(t->kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
	return count > first ? (cl_int)first : -1;
}

static struct kernel_twin *kernel_twin_new(struct kernel *k, struct twin *twin, bool traces)
{
	struct kernel_twin *t = calloc(1, sizeof *t);
	cl_int code;
	if (!t)
		return NULL;
	t->twin = twin;
	t->traces = traces;
	t->next = k->twins;
	k->twins = t;
	t->why = "the annotated program has no such kernel";
	t->facts = twin->state == TWIN_READY ? artifact_kernel(twin->artifact, k->name) : NULL;
	t->program = t->facts ? build_program(k->build, twin, t->facts) : NULL;
	if (!t->program || t->program->state != TWIN_READY)
		return t;
	cl_program program = traces ? build_traced(k->build, twin, t->program) : t->program->counting;
	struct gs_buf name = {0};
	gs_buf_printf(&name, "%s%s", traces && t->program->together ? TRACED_PREFIX : "", k->name);
	t->kernel = program && !name.failed ? cl.clCreateKernel(program, name.data, &code) : NULL;
	gs_buf_free(&name);
	if (t->kernel)
		t->box_argument = box_argument(t);
	return t;
}

struct kernel_twin *kernel_prepare_twin(struct kernel *k, cl_device_id device, bool traces, struct gs_error *err)
{
	struct kernel_twin *t = k->twins;
	while (t && (t->twin->device != device || t->traces != traces))
		t = t->next;
	if (!t) {
		uint64_t begin = clock_ns();
		struct twin *twin = build_twin(k->build, device);
		t = twin ? kernel_twin_new(k, twin, traces) : NULL;
		uint64_t waited_ns = clock_ns() - begin;
		simulation.cost.wait_ns += waited_ns;
		thread_waited_ns += waited_ns;
	}
	if (!t) {
		gs_fail(err, ENOMEM, "out of memory");
		return NULL;
	}
	if (!t->kernel) {
		gs_fail(err, ENOTSUP, "%s", t->twin->state == TWIN_FAILED ? t->twin->why.text :
		        t->program && t->program->state == TWIN_FAILED ? t->program->why.text : t->why);
		return NULL;
	}
	if (apply_settings(k, t)) {
		gs_fail(err, ENOTSUP, "the driver refuses an argument of the annotated kernel");
		return NULL;
	}
	return t;
}
