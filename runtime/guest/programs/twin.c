/*
 * Twin programs. They are built from annotated source, in the application's context, on a thread of ours. gpusim-cc works while
 * the driver builds the application's own program. The driver builds the twin after that, because in many drivers two builds at
 * once would wait for each other. A launch that needs a twin earlier builds it itself.
 *
 * Most kernels of a program with many kernels are never launched. So each of the first kernels that are launched gets a program
 * of its own, from the same text (ONLY_MACRO). When these have cost as much as one program for all kernels, one program is
 * built for all others.
 *
 * If launches will be traced, the traced text is part of the same program, provided that its names differ from the others. POCL
 * needs 40 ms to find that it has built a program before, whatever its length, unless the program comes from the cache (built.h). It
 * needs ten times that to read its own headers when it has not.
 */
#include "runtime/guest/programs/twin.h"

#include "runtime/config/log.h"
#include "runtime/format/native.h"
#include "runtime/format/protocol.h"
#include "runtime/guest/driver/buffers.h"
#include "runtime/guest/programs/built.h"
#include "runtime/guest/programs/compile.h"
#include "runtime/guest/driver/device.h"
#include "runtime/guest/driver/ending.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/model/lines.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/process/thread.h"
#include "runtime/report/record.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOG_DOMAIN "twin"

struct job {
	struct job *next;
	struct build *build;
	cl_device_id device;
};

static pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs_added = PTHREAD_COND_INITIALIZER;
static struct job *jobs, **jobs_end = &jobs;
static bool builder_started;

/* If the process ends while the driver is building, the driver crashes, because exit() takes away what it needs. So nothing of
 * ours is built then. */
static pthread_cond_t driver_left = PTHREAD_COND_INITIALIZER;
static unsigned in_driver; /* under jobs_lock */
static bool ending;
static _Thread_local bool in_driver_here;

/* Whether the options let a compiler round differently when the code around an expression changes. */
static bool options_relax(const char *options)
{
	static const char *const words[] = {"-cl-fast-relaxed-math", "-cl-unsafe-math", "-cl-mad-enable", "-cl-finite-math-only",
	                                    "-cl-no-signed-zeros", "-cl-denorms-are-zero", "fast-math", "-ffp-"};
	for (size_t i = 0; i < GS_ARRAY_LEN(words); i++)
		if (strstr(options, words[i]))
			return true;
	return false;
}

struct build *build_new(cl_context context, const struct unit_list *units)
{
	struct build *b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->refs = 1;
	b->context = context;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	b->units.cwd = units->cwd ? strdup(units->cwd) : NULL;
	b->units.units = calloc(units->count, sizeof *b->units.units);
	for (size_t i = 0; b->units.units && i < units->count; i++) {
		b->units.units[b->units.count++] = units->units[i];
		b->relaxed = b->relaxed || options_relax(units->units[i]->options);
		units->units[i]->refs++;
	}
	/* The twin is made later. The application may have released its context by then. */
	cl.clRetainContext(context);
	b->pool = pool_for(context);
	if (b->units.count == units->count && b->pool)
		return b;
	build_release(b);
	return NULL;
}

struct build *build_retain(struct build *b)
{
	b->refs++;
	return b;
}

static void free_programs(struct twin *t)
{
	while (t->programs) {
		struct twin_program *p = t->programs;
		t->programs = p->next;
		if (p->counting)
			cl.clReleaseProgram(p->counting);
		if (p->tracing)
			cl.clReleaseProgram(p->tracing);
		free(p);
	}
}

void build_release(struct build *b)
{
	if (!b || --b->refs)
		return;
	while (b->twins) {
		struct twin *t = b->twins;
		b->twins = t->next;
		free_programs(t);
		artifact_release(t->artifact);
		free(t);
	}
	unit_list_free(&b->units);
	if (b->pool)
		pool_unref(b->pool);
	cl.clReleaseContext(b->context);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->changed);
	free(b);
}

/* ---- making a twin ---- */

/* The first line of the build log that is an error, for the report. */
static void explain_build_failure(cl_program program, cl_device_id device, cl_int code, struct gs_error *err)
{
	char log[4096] = "";
	cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
	char *line = strstr(log, "error:");
	if (line)
		line[strcspn(line, "\n")] = 0;
	gs_fail(err, ENOTSUP, "the driver does not build the annotated source (%d)%s%s", code, line ? ": " : "",
	        line ? line : "");
}

/* A program to build from the texts of an artifact. */
struct twin_text {
	const struct build *build;
	const struct artifact *artifact;
	char *const *texts;
	cl_device_id device;
	long kernel; /* the only kernel that is wanted; -1: all are */
};

/* Whether kernels on a device can call functions of this library. They must run in this process, and their loader must find the
 * library's symbols. As a layer, the library was opened for the OpenCL loader alone. */
bool native_traces(cl_device_id device)
{
	if (!device_is_cpu(device))
		return false;
	void *library = dlopen(simulation.library, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD), *all = dlopen(NULL, RTLD_NOW);
	bool found = all && dlsym(all, NATIVE_PREFIX "begin");
	if (all)
		dlclose(all);
	if (library)
		dlclose(library);
	return found;
}

/* A twin in the shadow does not print: the kernel does. */
static char *twin_options(const struct twin_text *from, size_t unit)
{
	bool traced = from->texts != from->artifact->host_texts;
	struct gs_buf options = {0};
	gs_buf_puts(&options, from->artifact->host_options[unit]);
	if (traced && native_traces(from->device))
		gs_buf_puts(&options, " -D" NATIVE_MACRO "=1");
	if (simulation.options.twin.number != TWINS_DIRECT)
		gs_buf_puts(&options, " -D" SILENT_MACRO "=1");
	if (from->kernel >= 0)
		gs_buf_printf(&options, " -D" ONLY_MACRO "=%ld", from->kernel);
	if (!options.failed)
		return options.data;
	gs_buf_free(&options);
	return NULL;
}

/* Builds the text, or (not whole) compiles it, to be linked later. */
static cl_program compile_text(cl_context context, cl_device_id device, const char *text, const char *options, bool whole, struct gs_error *err)
{
	size_t length = strlen(text);
	char key[33];
	bool kept = whole && built_key(device, text, options, key);
	cl_int code;
	cl_program found = kept ? built_find(context, device, options, key) : NULL;
	if (found)
		return found;
	cl_program p = cl.clCreateProgramWithSource(context, 1, &text, &length, &code);
	if (!p) {
		gs_fail(err, ENOTSUP, "the driver does not take the annotated source (%d)", code);
		return NULL;
	}
	code = whole ? cl.clBuildProgram(p, 1, &device, options, NULL, NULL)
	             : cl.clCompileProgram(p, 1, &device, options, 0, NULL, NULL, NULL, NULL);
	if (code == CL_SUCCESS && kept)
		built_keep(p, key);
	if (code == CL_SUCCESS)
		return p;
	explain_build_failure(p, device, code, err);
	cl.clReleaseProgram(p);
	return NULL;
}

static cl_program compile_unit(const struct twin_text *from, size_t unit, bool whole, struct gs_error *err)
{
	char *options = twin_options(from, unit);
	if (!options) {
		gs_fail(err, ENOMEM, "out of memory");
		return NULL;
	}
	cl_program p = compile_text(from->build->context, from->device, from->texts[unit], options, whole, err);
	free(options);
	return p;
}

static cl_program link_units(const struct twin_text *from, struct gs_error *err)
{
	size_t count = from->artifact->host_count, made = 0;
	cl_program *parts = calloc(count, sizeof *parts), whole = NULL;
	while (parts && made < count && (parts[made] = compile_unit(from, made, false, err)))
		made++;
	if (parts && made == count) {
		cl_int code;
		whole = cl.clLinkProgram(from->build->context, 1, &from->device, NULL, (cl_uint)made, parts, NULL, NULL, &code);
		if (!whole || code != CL_SUCCESS) {
			gs_fail(err, ENOTSUP, "the driver does not link the annotated programs (%d)", code);
			if (whole)
				cl.clReleaseProgram(whole);
			whole = NULL;
		}
	}
	while (made)
		cl.clReleaseProgram(parts[--made]);
	free(parts);
	return whole;
}

/* For reports that show the source. If there is no memory for it, they do not show it. */
static void keep_sources(struct artifact *a, const struct unit_list *units)
{
	a->sources = a->host_count == units->count ? calloc(a->host_count, sizeof *a->sources) : NULL;
	for (size_t i = 0; i < a->host_count && a->sources; i++)
		a->sources[i] = strdup(units->units[i]->source);
}

static void annotate_twin(struct build *b, struct twin *t)
{
	struct gs_pack result = {0};
	char key[33] = "";
	if (!compile_units(&b->units, t->device, &result, key, &t->why) && !artifact_read(&simulation, &t->artifact, &result, &t->why)) {
		memcpy(t->artifact->key, key, sizeof key);
		record_program(&simulation, t->artifact, &result);
		if (lines_wanted(&simulation))
			keep_sources(t->artifact, &b->units);
	}
	gs_pack_free(&result);
}

static bool enter_driver(void)
{
	pthread_mutex_lock(&jobs_lock);
	bool entered = !ending;
	in_driver += entered;
	pthread_mutex_unlock(&jobs_lock);
	in_driver_here = entered;
	return entered;
}

static void leave_driver(void)
{
	in_driver_here = false;
	pthread_mutex_lock(&jobs_lock);
	in_driver--;
	pthread_cond_broadcast(&driver_left);
	pthread_mutex_unlock(&jobs_lock);
}

void builder_finish(void)
{
	enum { PATIENCE_S = 30 };
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += PATIENCE_S;
	/* exit() in a signal handler may have interrupted anything on this thread, even a build of ours. */
	if (pthread_mutex_timedlock(&jobs_lock, &deadline))
		return;
	ending = true;
	while (in_driver > in_driver_here)
		if (pthread_cond_timedwait(&driver_left, &jobs_lock, &deadline))
			break;
	pthread_mutex_unlock(&jobs_lock);
}

static atomic_uint_fast64_t driver_busy_ns, driver_busy_since;

uint64_t twin_builds_ns(void)
{
	uint64_t since = driver_busy_since;
	return driver_busy_ns + (since ? clock_ns() - since : 0);
}

/* The driver builds something for us. False: the program is ending, and it must not. */
static bool driver_begins(uint64_t begin, struct gs_error *err)
{
	if (!enter_driver()) {
		gs_fail(err, ECANCELED, "the program was ending");
		return false;
	}
	driver_busy_since = begin;
	return true;
}

static void driver_ends(uint64_t begin)
{
	driver_busy_since = 0;
	driver_busy_ns += clock_ns() - begin;
	simulation.cost.twin_build_ns += clock_ns() - begin;
	run_first_at_exit();
	leave_driver();
}

static cl_program build_texts(const struct build *b, const struct twin *t, long kernel, char *const *texts, struct gs_error *err)
{
	const struct twin_text from = {b, t->artifact, texts, t->device, kernel};
	uint64_t begin = clock_ns();
	if (!driver_begins(begin, err))
		return NULL;
	cl_program p = t->artifact->host_count == 1 ? compile_unit(&from, 0, true, err) : link_units(&from, err);
	driver_ends(begin);
	return p;
}

cl_program build_text(cl_context context, cl_device_id device, const char *text, const char *options, struct gs_error *err)
{
	uint64_t begin = clock_ns();
	if (!driver_begins(begin, err))
		return NULL;
	cl_program p = compile_text(context, device, text, options, true, err);
	driver_ends(begin);
	return p;
}

/* Building counting and traced text as one program is cheaper on CPUs. On other devices the time grows with the length of the
 * text. */
static bool together_is_cheaper(const struct twin *t)
{
	return device_is_cpu(t->device) && t->artifact->renames && traces_wanted(&simulation);
}

static void build_together(const struct build *b, const struct twin *t, struct twin_program *p)
{
	struct gs_buf text = {0};
	struct gs_error err;
	artifact_text_together(t->artifact, &text);
	if (!text.failed && (p->counting = build_texts(b, t, p->kernel, &text.data, &err))) {
		cl.clRetainProgram(p->counting);
		p->tracing = p->counting;
		p->traced_state = TWIN_READY;
		p->together = true;
	} else {
		log_debug("the texts that count and that trace are built one by one: %s", text.failed ? "out of memory" : err.text);
	}
	gs_buf_free(&text);
}

static void build_counting(const struct build *b, const struct twin *t, struct twin_program *p)
{
	if (together_is_cheaper(t))
		build_together(b, t, p);
	if (!p->counting)
		p->counting = build_texts(b, t, p->kernel, t->artifact->host_texts, &p->why);
}

/* With the build's lock held: finds the twin's record, or makes it. */
static struct twin *find_twin(struct build *b, cl_device_id device)
{
	for (struct twin *t = b->twins; t; t = t->next)
		if (t->device == device)
			return t;
	struct twin *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->device = device;
	t->next = b->twins;
	b->twins = t;
	return t;
}

/* With the build's lock held; it is released meanwhile. */
static void annotate_step(struct build *b, struct twin *t)
{
	t->state = TWIN_BUSY;
	pthread_mutex_unlock(&b->lock);
	annotate_twin(b, t);
	if (!t->artifact)
		log_info("kernels run as they are: %s", t->why.text);
	pthread_mutex_lock(&b->lock);
	t->state = t->artifact ? TWIN_READY : TWIN_FAILED;
	pthread_cond_broadcast(&b->changed);
}

/* With the build's lock held; it is released meanwhile. */
static void build_step(struct build *b, struct twin *t, struct twin_program *p)
{
	p->state = TWIN_BUSY;
	pthread_mutex_unlock(&b->lock);
	build_counting(b, t, p);
	if (!p->counting)
		log_info("kernels run as they are: %s", p->why.text);
	pthread_mutex_lock(&b->lock);
	p->state = p->counting ? TWIN_READY : TWIN_FAILED;
	pthread_cond_broadcast(&b->changed);
}

/* With the build's lock held. If it takes long, says so on a terminal. */
static void wait_for_change(struct build *b)
{
	enum { PATIENCE_S = 3 };
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += PATIENCE_S;
	if (pthread_cond_timedwait(&b->changed, &b->lock, &deadline) != ETIMEDOUT)
		return;
	if (log_on_terminal() && !b->told_to_wait)
		log_warning("a launch waits while its annotated kernel is compiled (once; the result is cached)");
	b->told_to_wait = true;
	pthread_cond_wait(&b->changed, &b->lock);
}

struct twin *build_twin(struct build *b, cl_device_id device)
{
	pthread_mutex_lock(&b->lock);
	struct twin *t = find_twin(b, device);
	while (t && t->state != TWIN_READY && t->state != TWIN_FAILED) {
		if (t->state == TWIN_BUSY)
			wait_for_change(b);
		else
			annotate_step(b, t);
	}
	pthread_mutex_unlock(&b->lock);
	return t;
}

/* A few kernels are built at once. POCL needs a quarter of a second to build a program with one kernel, and about a quarter of
 * that for each further kernel of the same text. */
static bool all_at_once(const struct twin *t)
{
	enum { FEW = 3, PER_SINGLE = 6 };
	size_t count = t->artifact->kernel_count;
	return count <= FEW || t->single_count >= (count < 2 * PER_SINGLE ? 2 : count / PER_SINGLE);
}

/* With the build's lock held: finds the program that has a kernel, or makes its record. */
static struct twin_program *find_program(struct twin *t, long kernel)
{
	struct twin_program *p = t->programs;
	while (p && p->kernel != -1 && p->kernel != kernel)
		p = p->next;
	if (p || !(p = calloc(1, sizeof *p)))
		return p;
	p->kernel = all_at_once(t) ? -1 : kernel;
	t->single_count += p->kernel >= 0;
	struct twin_program **end = &t->programs; /* so that a kernel stays in its first program */
	while (*end && (*end)->kernel >= 0)
		end = &(*end)->next;
	p->next = *end;
	*end = p;
	return p;
}

struct twin_program *build_program(struct build *b, struct twin *t, const struct artifact_kernel *k)
{
	pthread_mutex_lock(&b->lock);
	struct twin_program *p = find_program(t, k - t->artifact->kernels);
	while (p && p->state != TWIN_READY && p->state != TWIN_FAILED) {
		if (p->state == TWIN_BUSY)
			wait_for_change(b);
		else
			build_step(b, t, p);
	}
	pthread_mutex_unlock(&b->lock);
	return p;
}

cl_program build_traced(struct build *b, struct twin *t, struct twin_program *p)
{
	if (!t->artifact->traced_texts)
		return NULL;
	pthread_mutex_lock(&b->lock);
	while (p->traced_state == TWIN_BUSY)
		wait_for_change(b);
	if (p->traced_state == TWIN_NEW) {
		struct gs_error err;
		p->traced_state = TWIN_BUSY;
		pthread_mutex_unlock(&b->lock);
		cl_program tracing = build_texts(b, t, p->kernel, t->artifact->traced_texts, &err);
		if (!tracing)
			log_info("launches are not traced: %s", err.text);
		pthread_mutex_lock(&b->lock);
		p->tracing = tracing;
		p->traced_state = tracing ? TWIN_READY : TWIN_FAILED;
		pthread_cond_broadcast(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
	return p->tracing;
}

/* Does what can be done now and is not being done by another thread. It is not known which of many kernels will be launched. */
static void build_advance(struct build *b, cl_device_id device)
{
	pthread_mutex_lock(&b->lock);
	struct twin *t = find_twin(b, device);
	if (t && t->state == TWIN_NEW)
		annotate_step(b, t);
	if (t && t->state == TWIN_READY && b->confirmed && all_at_once(t)) {
		struct twin_program *p = find_program(t, -1);
		if (p && p->state == TWIN_NEW)
			build_step(b, t, p);
	}
	pthread_mutex_unlock(&b->lock);
}

/* ---- the builder thread ---- */

static void *builder(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&jobs_lock);
		while (!jobs)
			pthread_cond_wait(&jobs_added, &jobs_lock);
		struct job *j = jobs;
		jobs = j->next;
		if (!jobs)
			jobs_end = &jobs;
		pthread_mutex_unlock(&jobs_lock);
		if (j->build->refs > 1) /* otherwise only this job still uses the build */
			build_advance(j->build, j->device);
		build_release(j->build);
		free(j);
	}
	return NULL;
}

void build_schedule(struct build *b, cl_device_id device)
{
	struct job *j = calloc(1, sizeof *j);
	pthread_t thread;
	if (!j)
		return;
	/* Makes the record now, because build_confirm looks for it. The thread may start later. */
	pthread_mutex_lock(&b->lock);
	find_twin(b, device);
	pthread_mutex_unlock(&b->lock);
	*j = (struct job){.build = build_retain(b), .device = device};
	pthread_mutex_lock(&jobs_lock);
	if (!builder_started && !start_thread(&thread, builder, NULL)) {
		pthread_detach(thread);
		builder_started = true;
	}
	if (builder_started) {
		*jobs_end = j;
		jobs_end = &j->next;
		pthread_cond_signal(&jobs_added);
		j = NULL;
	}
	pthread_mutex_unlock(&jobs_lock);
	if (j) { /* there is no thread: the first launch will make the twin */
		build_release(j->build);
		free(j);
	}
}

void build_confirm(struct build *b)
{
	uint64_t begin = clock_ns();
	pthread_mutex_lock(&b->lock);
	struct twin *t = b->twins;
	while (t && unit_list_includes(&b->units) && (t->state == TWIN_NEW || t->state == TWIN_BUSY)) {
		if (t->state == TWIN_NEW)
			annotate_step(b, t);
		else
			wait_for_change(b);
		simulation.cost.wait_ns += clock_ns() - begin;
		begin = clock_ns();
	}
	b->confirmed = true;
	/* The thread that annotates a twin goes on with it by itself. */
	while (t && t->state != TWIN_READY)
		t = t->next;
	cl_device_id device = t ? t->device : NULL;
	pthread_mutex_unlock(&b->lock);
	if (device)
		build_schedule(b, device);
}

struct artifact *build_artifact(struct build *b)
{
	struct artifact *a = NULL;
	pthread_mutex_lock(&b->lock);
	for (struct twin *t = b->twins; t && !a; t = t->next)
		a = t->state == TWIN_READY ? t->artifact : NULL;
	pthread_mutex_unlock(&b->lock);
	return a;
}
