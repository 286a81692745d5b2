/* Compiling for targets; see targets.h. The target's code decides what the host has to count, so this comes before host text is
 * written. */
#include "runtime/cc/targets.h"

#include "analysis/builtins/builtins.h"
#include "analysis/builtins/target_name.h"
#include "runtime/cc/assemble.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- compiling ---- */

bool targets_only_read(const struct targets *t, const char *kernel, unsigned parameter)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].module && target_only_reads(t->items[i].ptx.data, kernel, parameter))
			return true;
	return false;
}

static void take_ptx(struct compile_target *t, struct target_job *job)
{
	if (!job || target_compile_finish(job, &t->ptx, &t->err) ||
	    ptx_read(t->ptx.data ? t->ptx.data : "", t->ptx.len, &t->module, &t->err))
		t->failed = true;
}

/* Compiles for AT_ONCE architectures at a time. */
int targets_compile(struct targets *t, char *const *archs, size_t count, const struct target_unit *units,
                    size_t unit_count, struct gs_error *err)
{
	enum { AT_ONCE = 8 };
	struct target_bitcode *bitcode = NULL;
	struct gs_error failure = {""};
	t->items = calloc(count + 1, sizeof *t->items);
	if (!t->items)
		return gs_fail(err, ENOMEM, "out of memory");
	t->count = count;
	if (count)
		target_bitcode_create(units, unit_count, &bitcode, &failure);
	for (size_t first = 0; first < count; first += AT_ONCE) {
		struct target_job *jobs[AT_ONCE] = {0};
		size_t end = count - first < AT_ONCE ? count : first + AT_ONCE;
		for (size_t i = first; i < end; i++) {
			t->items[i].arch = archs[i];
			t->items[i].err = failure;
			if (!bitcode || target_compile_start(bitcode, archs[i], &jobs[i - first], &t->items[i].err))
				jobs[i - first] = NULL;
		}
		for (size_t i = first; i < end; i++)
			take_ptx(&t->items[i], jobs[i - first]);
	}
	target_bitcode_free(bitcode);
	return 0;
}

void targets_free(struct targets *t)
{
	for (size_t i = 0; i < t->count; i++) {
		ptx_free(t->items[i].module);
		gs_buf_free(&t->items[i].ptx);
	}
	free(t->items);
	*t = (struct targets){0};
}

/* ---- the source's side ---- */

struct source {
	struct mapping_source mapping;
	struct source_loop *loops;
	int32_t *loop_of, *parent_of;
	bool *solid;
	struct trip_count *trips;
	struct source_site *sites;
};

static void source_free(struct source *s)
{
	free(s->loops);
	free(s->loop_of);
	free(s->parent_of);
	free(s->solid);
	free(s->trips);
	free(s->sites);
}

static struct trip_count trip_count_of(const struct block *b)
{
	return (struct trip_count){
	    .loop = b->trips.loop,
	    .block = b->trips.block,
	    .factor = b->trips.factor,
	    .residue = b->trips.residue,
	    .kind = b->trips.kind == TRIPS_COUNT_EVERY ? TRIPS_EVERY : TRIPS_REACHED,
	    .counter = b->id,
	};
}

static struct source_site source_site_of(const struct access_site *s)
{
	return (struct source_site){.site = {.block = s->block, .line = s->place.line, .column = s->place.column,
	                                     .kind = (uint8_t)s->kind, .space = (uint8_t)s->space, .bytes = (uint32_t)s->bytes},
	                            .file = s->place.file};
}

static int source_make(const struct annotation *a, struct source *s, struct gs_error *err)
{
	const struct block *blocks;
	const struct loop *loops;
	const struct access_site *sites;
	size_t block_count = annotation_blocks(a, &blocks), loop_count = annotation_loops(a, &loops);
	size_t site_count = annotation_sites(a, &sites);
	*s = (struct source){.loops = calloc(loop_count + 1, sizeof *s->loops),
	                     .loop_of = calloc(block_count + 1, sizeof *s->loop_of),
	                     .parent_of = calloc(block_count + 1, sizeof *s->parent_of),
	                     .solid = calloc(block_count + 1, sizeof *s->solid),
	                     .trips = calloc(block_count + 1, sizeof *s->trips),
	                     .sites = calloc(site_count + 1, sizeof *s->sites)};
	if (!s->loops || !s->loop_of || !s->parent_of || !s->solid || !s->trips || !s->sites) {
		source_free(s);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	s->mapping = (struct mapping_source){.counter_count = (uint32_t)block_count,
	                                     .loops = s->loops,
	                                     .loop_count = (uint32_t)loop_count,
	                                     .loop_of = s->loop_of,
	                                     .parent_of = s->parent_of,
	                                     .solid = s->solid,
	                                     .trips = s->trips,
	                                     .sites = s->sites,
	                                     .site_count = (uint32_t)site_count};
	for (size_t i = 0; i < site_count; i++)
		s->sites[i] = source_site_of(&sites[i]);
	for (size_t i = 0; i < loop_count; i++)
		s->loops[i] = (struct source_loop){
		    loops[i].parent, loops[i].body, loops[i].next < 0 ? UINT32_MAX : (uint32_t)loops[i].next, loops[i].has_trips};
	for (size_t i = 0; i < block_count; i++) {
		s->loop_of[i] = blocks[i].loop;
		s->parent_of[i] = blocks[i].parent;
		s->solid[i] = blocks[i].solid;
		if (blocks[i].trips.kind)
			s->trips[s->mapping.trip_count++] = trip_count_of(&blocks[i]);
	}
	return 0;
}

/* ---- trips ---- */

static int want_all(struct annotation *a, const struct trip_count *wanted, uint32_t count, uint32_t *refused,
                    struct gs_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < count && !result; i++) {
		unsigned counter;
		const struct trips t = {
		    .kind = wanted[i].kind == TRIPS_EVERY ? TRIPS_COUNT_EVERY : TRIPS_COUNT_REACHED,
		    .loop = wanted[i].loop,
		    .block = wanted[i].block,
		    .factor = wanted[i].factor,
		    .residue = wanted[i].residue,
		};
		result = annotation_want_trips(a, &t, &counter, err);
		if (result == -ENOSPC || result == -EINVAL) {
			++*refused;
			result = 0;
		}
	}
	return result;
}

/* If code cannot be analysed, no trips are wanted for it. targets_write reports why. */
static int want_for_kernel(const struct compile_target *t, const struct kernel_entry *k, struct source *s,
                           struct trip_count **wanted, uint32_t *count)
{
	struct mapping *m = NULL;
	struct gs_error ignored;
	const struct ptx_function *f = ptx_find(t->module, k->name);
	s->mapping.entry = k->entry;
	if (!f || mapping_create(t->module, f, &m, &ignored))
		return -EINVAL;
	int result = mapping_wants(m, &s->mapping, wanted, count, &ignored);
	mapping_free(m);
	return result;
}

int targets_want_trips(const struct targets *t, struct annotation *a, struct gs_pack *notes, struct gs_error *err)
{
	const struct kernel_entry *kernels;
	size_t kernel_count = annotation_kernels(a, &kernels);
	struct source s;
	uint32_t refused = 0;
	int result = source_make(a, &s, err);
	if (result)
		return result;
	for (size_t i = 0; i < t->count && !result; i++)
		for (size_t k = 0; k < kernel_count && !t->items[i].failed && !result; k++) {
			struct trip_count *wanted = NULL;
			uint32_t count = 0;
			if (!want_for_kernel(&t->items[i], &kernels[k], &s, &wanted, &count))
				result = want_all(a, wanted, count, &refused, err);
			free(wanted);
		}
	source_free(&s);
	if (refused) {
		char text[128];
		snprintf(text, sizeof text, "%u counts of loop trips are left out: a kernel would have too many counters", refused);
		gs_pack_puts(notes, "note", text);
	}
	return result;
}

/* ---- code ---- */

static int make_code(const struct compile_target *t, const struct kernel_entry *k, struct source *s, struct kernel_code **code,
                     struct gs_error *err)
{
	struct mapping *m = NULL;
	const struct ptx_function *f = ptx_find(t->module, k->name);
	s->mapping.entry = k->entry;
	if (!f)
		return gs_fail(err, ENOENT, "the target's code has no kernel of that name");
	int result = mapping_create(t->module, f, &m, err);
	if (!result)
		result = mapping_solve(m, &s->mapping, target_assembler(t->arch), code, err);
	mapping_free(m);
	return result;
}

/* Lists the library functions that a kernel calls and that have their cost in a table. */
static void write_library(const struct compile_target *t, const struct kernel_entry *k, struct gs_buf *section)
{
	const struct ptx_function *function = ptx_find(t->module, k->name);
	struct gs_buf list = {0};
	char *line;
	if (function)
		builtin_list(t->module, function, &list);
	for (char *rest = list.data; (line = strsep(&rest, "\n")) && *line;)
		gs_buf_printf(section, "library %s %s\n", k->name, line);
	gs_buf_free(&list);
}

static void write_kernel(const struct compile_target *t, const struct kernel_entry *k, struct source *s, const struct assembled_module *machine,
                         struct gs_buf *section, struct gs_pack *result)
{
	struct kernel_code *code = NULL;
	struct gs_error err = {""};
	struct gs_buf bytes = {0};
	if (make_code(t, k, s, &code, &err)) {
		gs_buf_printf(section, "kernel %s failure %.*s\n", k->name, (int)strcspn(err.text, "\n"), err.text);
		return;
	}
	assemble_kernel(machine, NULL, t->module, k->name, code, section);
	gs_buf_printf(section, "kernel %s instructions=%u shared_bytes=%u registers=%u\n", k->name, code->instructions,
	              code->shared_bytes, code->registers);
	write_library(t, k, section);
	gs_buf_printf(&bytes, "%s %s\n", t->arch, k->name);
	code_write(code, &bytes);
	gs_pack_add(result, "code", bytes.data, bytes.len);
	result->failed |= bytes.failed;
	gs_buf_free(&bytes);
	code_free(code);
}

static void write_target(const struct compile_target *t, const struct annotation *a, struct gs_pack *result)
{
	const struct kernel_entry *kernels;
	size_t count = annotation_kernels(a, &kernels);
	struct gs_buf section = {0}, clean = {0};
	struct gs_error err = t->err;
	struct source s = {0};
	struct assembled_module machine = {.there = false};
	bool failed = t->failed || source_make(a, &s, &err);
	if (!failed)
		assemble(t->ptx.data, t->ptx.len, t->module, t->arch, false, &machine);
	gs_buf_printf(&section, "%s\n", t->arch);
	if (failed)
		gs_buf_printf(&section, "failure %.*s\n", (int)strcspn(err.text, "\n"), err.text);
	for (size_t i = 0; i < count && !failed; i++)
		write_kernel(t, &kernels[i], &s, &machine, &section, result);
	if (!failed)
		ptx_without_probes(t->ptx.data, t->ptx.len, &clean);
	gs_pack_add(result, "target", section.data, section.len);
	gs_pack_add(result, "ptx", clean.data ? clean.data : "", clean.len);
	result->failed |= section.failed || clean.failed;
	source_free(&s);
	assembled_module_free(&machine);
	gs_buf_free(&section);
	gs_buf_free(&clean);
}

void targets_write(const struct targets *t, const struct annotation *a, struct gs_pack *result)
{
	for (size_t i = 0; i < t->count; i++)
		write_target(&t->items[i], a, result);
}
