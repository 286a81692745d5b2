/*
 * Lifted text, built by the driver. Text that counts and text that traces are programs of their own: a small launch needs only one of them.
 * Of a module with many or large kernels, each that is launched gets a program of its own (ONLY_MACRO). POCL takes most of its time for a
 * program of small kernels to begin with it, and about a tenth of that for each kernel. Large ones take seconds each.
 */
#include "runtime/config/log.h"
#include "runtime/format/facts.h"
#include "runtime/format/native.h"
#include "runtime/guest/cuda/modules.h"
#include "runtime/guest/cuda/start.h"
#include "runtime/guest/programs/twin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

enum { ALL_KERNELS = -1, MANY_KERNELS = 12, LARGE_TEXT = 400000 };

/* All kernels, or the one with this number. */
static cl_program build(const struct cuda_module *m, bool traces, long kernel, struct gs_error *err)
{
	const struct cuda_device *d = cuda_device();
	const struct artifact *a = m->artifact;
	struct gs_buf options = {0};
	cl_program p = NULL;
	gs_buf_puts(&options, a->host_options[0]);
	if (traces)
		gs_buf_puts(&options, " -D" NATIVE_MACRO "=1");
	if (kernel != ALL_KERNELS)
		gs_buf_printf(&options, " -D" ONLY_MACRO "=%ld", kernel);
	if (options.failed)
		gs_fail(err, ENOMEM, "out of memory");
	else if (traces && (!a->traced_texts || !native_traces(d->device)))
		gs_fail(err, ENOTSUP, "kernels cannot call the functions that trace");
	else
		p = build_text(d->context, d->device, traces ? a->traced_texts[0] : a->host_texts[0], options.data, err);
	gs_buf_free(&options);
	return p;
}

static cl_program program_of(struct cuda_module *m, bool traces, struct gs_error *err)
{
	struct lifted_program *p = traces ? &m->tracing : &m->counting;
	pthread_mutex_lock(&m->lock);
	if (!p->built) {
		p->program = build(m, traces, ALL_KERNELS, &p->why);
		p->built = true;
		if (!p->program)
			log_info("lifted text that %s is not built: %s", traces ? "traces" : "counts", p->why.text);
	}
	if (!p->program)
		gs_fail(err, ENOTSUP, "%s", p->why.text);
	pthread_mutex_unlock(&m->lock);
	return p->program;
}

/* The caller releases it. NULL: *err says why. */
static cl_program program_with(struct cuda_kernel *k, bool traces, struct gs_error *err)
{
	const struct artifact *a = k->module->artifact;
	if (a->kernel_count > MANY_KERNELS || (a->kernel_count > 1 && strlen(a->host_texts[0]) > LARGE_TEXT))
		return build(k->module, traces, k->facts - a->kernels, err);
	cl_program p = program_of(k->module, traces, err);
	if (p)
		cl.clRetainProgram(p);
	return p;
}

struct lifted_form *kernel_form(struct cuda_kernel *k, bool traces, struct gs_error *err)
{
	struct lifted_form *f = traces ? &k->tracing : &k->counting;
	if (f->state == FORM_NEW) {
		cl_int code = CL_SUCCESS;
		cl_program p = program_with(k, traces, err);
		char name[LIFTED_NAME_BYTES];
		lifted_kernel_name(k->lifted->name, name);
		f->kernel = p ? cl.clCreateKernel(p, name, &code) : NULL;
		if (p && !f->kernel)
			gs_fail(err, ENOENT, "the driver does not find kernel %s in the lifted text (%d)", k->lifted->name, code);
		if (p)
			cl.clReleaseProgram(p);
		f->state = f->kernel ? FORM_READY : FORM_FAILED;
	} else if (f->state == FORM_FAILED) {
		gs_fail(err, ENOTSUP, "its lifted text could not be built");
	}
	return f->state == FORM_READY ? f : NULL;
}
