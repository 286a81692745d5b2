/*
 * The application's programs: their sources, and what was compiled, linked, or read from a binary.
 *
 * When the driver returns a handle that we already have, the new program replaces the old record. So a release that we did not
 * see cannot lead to a wrong program. It only keeps a record too long.
 */
#include "runtime/guest/programs/programs.h"

#include "runtime/config/cache.h"
#include "runtime/config/log.h"
#include "runtime/guest/programs/compile.h"
#include "runtime/guest/programs/twin.h"
#include "runtime/guest/driver/device.h"
#include "runtime/guest/driver/ending.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/support/table.h"
#include "runtime/process/thread.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_DOMAIN "program"

struct program_listeners program_listeners;

static pthread_mutex_t programs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct table programs;

/* ---- records ---- */

/* Releasing objects of the driver may call callbacks of the application, so it is never done under the lock. With the lock
 * held, drop_references returns what program_free has to free after the lock is released. */
static struct program *drop_references(struct program *p, int references)
{
	p->refs -= references;
	return p->refs ? NULL : p;
}

static void program_free(struct program *p)
{
	if (!p)
		return;
	unit_list_free(&p->units);
	build_release(p->build);
	free(p->source);
	free(p);
}

void program_unref(struct program *p)
{
	pthread_mutex_lock(&programs_lock);
	struct program *dead = drop_references(p, 1);
	pthread_mutex_unlock(&programs_lock);
	program_free(dead);
}

struct program *program_find(cl_program handle)
{
	pthread_mutex_lock(&programs_lock);
	struct program *p = table_get(&programs, handle);
	if (p)
		p->refs++;
	pthread_mutex_unlock(&programs_lock);
	return p;
}

void program_created(cl_program handle, cl_context context, enum program_origin origin)
{
	struct program *p = calloc(1, sizeof *p);
	if (!p)
		return;
	p->refs = p->app_refs = 1;
	p->handle = handle;
	p->context = context;
	p->origin = origin;
	pthread_mutex_lock(&programs_lock);
	struct program *before = table_put(&programs, handle, p);
	/* An old record, or `p` itself when memory is short. */
	struct program *dead = before ? drop_references(before, 1) : NULL;
	pthread_mutex_unlock(&programs_lock);
	program_free(dead);
}

void program_source(cl_program handle, cl_uint count, const char **strings, const size_t *lengths)
{
	struct gs_buf text = {0};
	for (cl_uint i = 0; i < count; i++)
		gs_buf_add(&text, strings[i], lengths && lengths[i] ? lengths[i] : strlen(strings[i]));
	struct program *p = program_find(handle);
	if (!p || text.failed || !text.data) {
		gs_buf_free(&text);
	} else {
		p->source = text.data;
		p->source_length = text.len;
	}
	if (p)
		program_unref(p);
}

static void program_set_units(struct program *p, struct unit_list *units)
{
	pthread_mutex_lock(&programs_lock);
	struct unit_list before = p->units;
	p->units = *units;
	pthread_mutex_unlock(&programs_lock);
	unit_list_free(&before);
}

static void schedule_builds(struct build *b, cl_program handle, cl_uint count, const cl_device_id *devices)
{
	enum { MAX_DEVICES = 64 };
	cl_device_id all[MAX_DEVICES];
	size_t size = 0;
	if (address_space_is_short()) /* the builder's thread needs some, too; a launch will report why */
		return;
	if (!count || !devices) {
		if (cl.clGetProgramInfo(handle, CL_PROGRAM_DEVICES, sizeof all, all, &size) != CL_SUCCESS)
			return;
		devices = all;
		count = (cl_uint)(size / sizeof *all);
	}
	for (cl_uint i = 0; i < count; i++) {
		if (!device_wanted(devices[i]))
			continue;
		/* Only for the first device. A launch on another one makes the twin that it needs. */
		build_schedule(b, devices[i]);
		return;
	}
}

/* Takes over the reference to `b`, which may be NULL. */
static void program_set_build(struct program *p, struct build *b)
{
	pthread_mutex_lock(&programs_lock);
	struct build *before = p->build;
	p->build = b;
	pthread_mutex_unlock(&programs_lock);
	build_release(before);
}

struct build *program_build_begins(cl_program handle, const char *options, cl_uint count, const cl_device_id *devices)
{
	struct program *p = program_find(handle);
	struct unit_list units = {0};
	struct build *b = NULL;
	program_listeners.program_changes(handle);
	if (!p)
		return NULL;
	/* A program from a known binary already has its units, with the options of its own build. */
	if (p->source)
		unit_list_append(&units, unit_new(p->source, p->source_length, options));
	else
		unit_list_join(&units, &p->units);
	unit_list_set_cwd(&units);
	if (units.count && (b = build_new(p->context, &units))) {
		schedule_builds(b, handle, count, devices);
		b->builds_ns = twin_builds_ns();
	}
	unit_list_free(&units);
	program_unref(p);
	return b;
}

void program_built(cl_program handle, struct build *token, bool succeeded)
{
	struct program *p = succeeded ? program_find(handle) : NULL;
	if (!p) {
		build_release(token);
		return;
	}
	struct unit_list units = {0};
	run_first_at_exit(); /* the driver's compiler has just been at work */
	if (token) { /* drivers build one program at a time */
		simulation.cost.overlap_ns += twin_builds_ns() - token->builds_ns;
		build_confirm(token);
		if (!unit_list_join(&units, &token->units))
			program_set_units(p, &units);
	}
	program_set_build(p, token);
	program_unref(p);
}

/* Most compiled programs are linked alone. So the twin is annotated while the driver compiles the program. */
static void annotate_early(struct program *p, cl_uint count, const cl_device_id *devices)
{
	struct build *b = strstr(p->source, "kernel") ? build_new(p->context, &p->units) : NULL;
	if (b)
		schedule_builds(b, p->handle, count, devices);
	program_set_build(p, b);
}

void program_compile_begins(cl_program handle, const char *options, cl_uint count, const cl_device_id *devices, cl_uint header_count,
                            const cl_program *headers, const char **header_names)
{
	struct program *p = program_find(handle);
	struct unit_list units = {0};
	struct unit *u = p && p->source ? unit_new(p->source, p->source_length, options) : NULL;
	bool complete = u != NULL;
	program_listeners.program_changes(handle);
	for (cl_uint i = 0; complete && headers && header_names && i < header_count; i++) {
		struct program *h = program_find(headers[i]);
		complete = h && h->source && !unit_add_header(u, header_names[i], h->source);
		if (h)
			program_unref(h);
	}
	if (complete && !unit_list_append(&units, u)) {
		unit_list_set_cwd(&units);
		program_set_units(p, &units);
		annotate_early(p, count, devices);
	}
	else if (!complete)
		unit_release(u);
	if (p)
		program_unref(p);
}

void program_linked(cl_program handle, cl_context context, cl_uint input_count, const cl_program *inputs, cl_uint count,
                    const cl_device_id *devices)
{
	struct unit_list units = {0};
	struct build *b = NULL;
	bool complete = true;
	program_created(handle, context, FROM_SOURCE);
	struct program *p = program_find(handle);
	if (!p)
		return;
	for (cl_uint i = 0; i < input_count; i++) {
		struct program *input = program_find(inputs[i]);
		complete = complete && input && input->units.count && !unit_list_join(&units, &input->units);
		if (complete && input_count == 1 && input->build && input->context == context)
			b = build_retain(input->build);
		if (input)
			program_unref(input);
	}
	if (!b && complete && units.count && (b = build_new(context, &units)))
		schedule_builds(b, handle, count, devices);
	if (b)
		build_confirm(b);
	if (complete)
		program_set_units(p, &units);
	else
		unit_list_free(&units);
	program_set_build(p, b);
	program_unref(p);
}

/* ---- binaries ---- */

void program_binary_read(cl_program handle, const void *binary, size_t length)
{
	struct program *p = program_find(handle);
	struct gs_pack pack = {0};
	if (!p)
		return;
	pthread_mutex_lock(&programs_lock);
	int failed = p->units.count ? unit_list_encode(&p->units, &pack) : -1;
	struct build *b = p->build ? build_retain(p->build) : NULL;
	pthread_mutex_unlock(&programs_lock);
	/* The binary was made from the files as they were then. If their hashes are not known, the binary is not kept. */
	if (b && unit_list_includes(&b->units)) {
		struct artifact *a = build_artifact(b);
		if (a && a->dependencies)
			gs_pack_puts(&pack, "dependency", a->dependencies);
		else
			failed = -1;
	}
	build_release(b);
	struct gs_error err;
	char key[33];
	gs_hash_hex(binary, length, key);
	if (!failed && cache_put_pack(CACHE_BINARIES, key, &pack, &err))
		log_info("a program's binary will not be recognised later: %s", err.text);
	gs_pack_free(&pack);
	program_unref(p);
}

void program_binary(cl_program handle, const void *binary, size_t length)
{
	struct program *p = binary ? program_find(handle) : NULL;
	struct gs_pack pack = {0};
	struct unit_list units = {0};
	char key[33];
	if (!p)
		return;
	gs_hash_hex(binary, length, key);
	if (!p->units.count && !cache_get_pack(CACHE_BINARIES, key, &pack, NULL) &&
	    dependencies_hold(gs_pack_text(&pack, "dependency"))) {
		if (!unit_list_decode(&units, &pack))
			program_set_units(p, &units);
		else
			unit_list_free(&units);
	}
	gs_pack_free(&pack);
	program_unref(p);
}

/* ---- references of the application ---- */

void program_retained(cl_program handle)
{
	pthread_mutex_lock(&programs_lock);
	struct program *p = table_get(&programs, handle);
	if (p)
		p->app_refs++;
	pthread_mutex_unlock(&programs_lock);
}

void program_released(cl_program handle)
{
	pthread_mutex_lock(&programs_lock);
	struct program *p = table_get(&programs, handle), *dead = NULL;
	/* While kernels exist, the driver keeps the program, and the application can get its handle from them. */
	if (p && !--p->app_refs && !p->kernels) {
		table_remove(&programs, handle);
		dead = drop_references(p, 1);
	}
	pthread_mutex_unlock(&programs_lock);
	program_free(dead);
}

struct program *program_of_new_kernel(cl_program handle)
{
	pthread_mutex_lock(&programs_lock);
	struct program *p = table_get(&programs, handle);
	if (p) {
		p->refs++;
		p->kernels++;
	}
	pthread_mutex_unlock(&programs_lock);
	return p;
}

void program_kernel_gone(struct program *p)
{
	pthread_mutex_lock(&programs_lock);
	int references = 1; /* the kernel's reference */
	if (!--p->kernels && p->app_refs <= 0 && table_get(&programs, p->handle) == p) {
		table_remove(&programs, p->handle);
		references++;
	}
	struct program *dead = drop_references(p, references);
	pthread_mutex_unlock(&programs_lock);
	program_free(dead);
}
