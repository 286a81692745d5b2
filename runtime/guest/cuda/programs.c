/*
 * Lifted text, built by the driver. Text that counts and text that traces are programs of their own: a small launch needs only one of them,
 * and a program that ends soon too (lending, below).
 * Of a module with many or large kernels, each that is launched gets a program of its own (ONLY_MACRO). POCL takes most of its time for a
 * program of small kernels to begin with it, and about a tenth of that for each kernel. Large ones take seconds each.
 */
#include "runtime/config/cache.h"
#include "runtime/config/log.h"
#include "runtime/format/facts.h"
#include "runtime/format/native.h"
#include "runtime/guest/cuda/modules.h"
#include "runtime/guest/cuda/start.h"
#include "runtime/guest/programs/twin.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

enum { ALL_KERNELS = -1, MANY_KERNELS = 12, LARGE_TEXT = 400000 };

/* Whether the driver's optimiser is not worth its time for the text that traces a kernel, by its number in the artifact. */
static bool of_warps(const struct cuda_module *m, long kernel)
{
	for (size_t i = 0; i < m->lifted->kernel_count; i++)
		if (m->kernels[i].facts == m->artifact->kernels + kernel)
			return m->kernels[i].lifted->of_warps;
	return false;
}

/* All kernels, or the one with this number. */
static cl_program build(const struct cuda_module *m, bool traces, long kernel, struct gs_error *err)
{
	const struct cuda_device *d = cuda_device();
	const struct artifact *a = m->artifact;
	struct gs_buf options = {0};
	cl_program p = NULL;
	gs_buf_puts(&options, a->host_options[0]);
	if (native_traces(d->device))
		gs_buf_puts(&options, " -D" NATIVE_MACRO "=1");
	if (kernel != ALL_KERNELS)
		gs_buf_printf(&options, " -D" ONLY_MACRO "=%ld", kernel);
	if (traces && kernel != ALL_KERNELS && of_warps(m, kernel))
		gs_buf_puts(&options, " -cl-opt-disable");
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
		uint64_t begin = clock_ns();
		cl_program p = program_with(k, traces, err);
		char name[LIFTED_NAME_BYTES];
		lifted_kernel_name(k->lifted->name, name);
		f->kernel = p ? cl.clCreateKernel(p, name, &code) : NULL;
		if (p && !f->kernel)
			gs_fail(err, ENOENT, "the driver does not find kernel %s in the lifted text (%d)", k->lifted->name, code);
		if (p)
			cl.clReleaseProgram(p);
		f->build_ns = clock_ns() - begin;
		f->state = f->kernel ? FORM_READY : FORM_FAILED;
	} else if (f->state == FORM_FAILED) {
		gs_fail(err, ENOTSUP, "its lifted text could not be built");
	}
	return f->state == FORM_READY ? f : NULL;
}

/* ---- lending ---- */

/*
 * Lending: groups that run in text that traces, though they are not traced.
 *
 * Text that traces counts as well, but is slower. If it is the only text of a kernel that is built, groups run in it until they have taken as long
 * as it took to build; only then is the text that counts built, which takes about as long. Many programs end before that, and others lose at most
 * the time of one build. How long groups take shows as they run: first as many as the host has threads, then more at a time.
 *
 * The text that traces a large kernel is made to be compiled soon (annotator/lift/pieces.c). Such a kernel begins with it even if it is not traced.
 * Groups that wait for one another run in one text all together: the first launch of a large kernel does so however long it takes, later ones as
 * long as they fit.
 *
 * The driver keeps what it has built, and builds it at once in later processes. So the cache has how long it took, and whether the text that
 * counts was built as well; then no more is lent.
 */

enum { FASTER = 4 };

static bool make_key(const struct cuda_kernel *k, char key[33])
{
	const struct artifact *a = k->module->artifact;
	struct gs_buf text = {0};
	gs_buf_printf(&text, "%s %s lending", a->key, k->lifted->name);
	bool made = *a->key && !text.failed;
	if (made)
		gs_hash_hex(text.data, text.len, key);
	gs_buf_free(&text);
	return made;
}

static void remember(const struct cuda_kernel *k, uint64_t bound_ns)
{
	struct gs_pack pack = {0};
	char key[33], text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)bound_ns);
	gs_pack_puts(&pack, "bound_ns", text);
	if (make_key(k, key))
		cache_put_pack(CACHE_TWINS, key, &pack, NULL);
	gs_pack_free(&pack);
}

/* With the kernel's lock held. A bound of 0 in the cache: the text that counts was built. */
static void begin(struct cuda_kernel *k)
{
	struct gs_pack pack = {0};
	struct kernel_lending *l = &k->lending;
	char key[33];
	l->begun = true;
	l->bound_ns = k->lifted->of_warps ? 2 * k->tracing.build_ns : k->tracing.build_ns; /* text that counts is optimised */
	if (make_key(k, key) && !cache_get_pack(CACHE_TWINS, key, &pack, NULL)) {
		uint64_t before = strtoull(gs_pack_text(&pack, "bound_ns"), NULL, 10);
		l->bound_ns = before && before < l->bound_ns ? l->bound_ns : before;
	} else {
		remember(k, l->bound_ns);
	}
	gs_pack_free(&pack);
}

/* Whether the text that counts was built in some process. */
static bool has_ended(const struct cuda_kernel *k)
{
	struct gs_pack pack = {0};
	char key[33];
	bool ended = make_key(k, key) && !cache_get_pack(CACHE_TWINS, key, &pack, NULL) && !strtoull(gs_pack_text(&pack, "bound_ns"), NULL, 10);
	gs_pack_free(&pack);
	return ended;
}

bool lending_wants_text(struct cuda_kernel *k)
{
	pthread_mutex_lock(&k->lock);
	bool wants = k->lifted->large && k->counting.state == FORM_NEW && k->tracing.state == FORM_NEW && !has_ended(k);
	pthread_mutex_unlock(&k->lock);
	return wants;
}

size_t lending_groups(struct cuda_kernel *k, size_t last, size_t count, bool whole)
{
	struct kernel_lending *l = &k->lending;
	size_t groups = 0;
	pthread_mutex_lock(&k->lock);
	bool may = k->counting.state == FORM_NEW && k->tracing.state == FORM_READY && k->tracing.launched && (!whole || k->lifted->large);
	if (may && !l->begun)
		begin(k);
	if (may && l->spent_ns < l->bound_ns) {
		size_t fit = l->group_ns ? (l->bound_ns - l->spent_ns) / l->group_ns : whole ? count : cuda_device()->units;
		groups = whole && fit < count ? 0 : fit;
	}
	pthread_mutex_unlock(&k->lock);
	if (last && groups / FASTER > last)
		groups = FASTER * last;
	return groups < count ? groups : count;
}

void lending_took(struct cuda_kernel *k, size_t groups, uint64_t ns)
{
	pthread_mutex_lock(&k->lock);
	k->lending.spent_ns += ns;
	k->lending.group_ns = ns / groups + 1;
	pthread_mutex_unlock(&k->lock);
}

void lending_ends(struct cuda_kernel *k)
{
	remember(k, 0);
}
