/* The steps of gpusim-cc in their order; see compile.h and protocol.h. */
#include "runtime/cc/compile.h"

#include "runtime/format/facts.h"
#include "runtime/cc/lifted.h"
#include "runtime/cc/preprocess.h"
#include "runtime/format/protocol.h"
#include "runtime/cc/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct requested_unit {
	struct build_options options;
	struct preprocess_unit source;
	char *folder; /* has the files of preprocessing */
	struct preprocessed pre;
	struct words parse_args, original_args;
	struct annotator_original original;
	struct gs_buf probed, target_options; /* what compiling for targets takes */
};

struct work {
	const struct gs_pack *request;
	struct gs_pack *result;
	struct host_device device;
	struct requested_unit *units;
	size_t unit_count;
	struct annotation *annotation;
	struct words archs;
	struct targets targets;
	const char *stage;
	struct gs_error err;
};

static int out_of_memory(struct work *w)
{
	return gs_fail(&w->err, ENOMEM, "out of memory");
}

static int read_units(struct work *w)
{
	for (size_t i = 0; i < w->request->count; i++)
		w->unit_count += !strcmp(w->request->sections[i].name, "source");
	w->units = calloc(w->unit_count + 1, sizeof *w->units);
	if (!w->units)
		return out_of_memory(w);
	return w->unit_count ? 0 : gs_fail(&w->err, EINVAL, "a request without a source");
}

/* A unit is an options section, its headers, and the source that closes it. */
static int preprocess_all(struct work *w)
{
	const struct gs_section *sections = w->request->sections, *cwd = gs_pack_find(w->request, "cwd");
	const char *options = "";
	size_t first_header = 0, unit = 0;
	int result = 0;
	w->stage = "preprocess";
	for (size_t i = 0; i < w->request->count && !result; i++) {
		if (!strcmp(sections[i].name, "options")) {
			options = sections[i].data;
			first_header = i + 1;
		} else if (!strcmp(sections[i].name, "source")) {
			struct requested_unit *u = &w->units[unit++];
			u->source = (struct preprocess_unit){
			    .options = &u->options,
			    .headers = &sections[first_header],
			    .header_count = i - first_header,
			    .source = sections[i].data,
			    .source_length = sections[i].len,
			    .cwd = cwd && cwd->len ? cwd->data : NULL,
			};
			result = build_options_read(options, device_quotes(&w->device), &u->options, &w->err);
			if (!result)
				result = folder_create(&u->folder, &w->err);
			if (!result)
				result = preprocess(&w->device, &u->source, u->folder, &u->pre, &w->err);
			first_header = i + 1;
			options = "";
		}
	}
	return result;
}

/* With the builtin functions that clang declares by itself, or with the complete header of OpenCL C. */
static void make_parse_args(struct work *w, struct requested_unit *u, bool full_header, struct words *args)
{
	words_free(args);
	device_language_args(&w->device, &u->options, args);
	if (u->pre.resource_folder) {
		words_add(args, "-isystem");
		words_add(args, u->pre.resource_folder);
	}
	if (full_header) {
		words_add(args, "-cl-no-stdinc");
		words_add(args, "-include");
		words_add(args, "opencl-c.h");
	}
}

static void make_original(struct work *w, struct requested_unit *u, bool full_header)
{
	make_parse_args(w, u, full_header, &u->original_args);
	preprocess_source_args(&w->device, &u->source, u->pre.headers, &u->original_args);
	if (u->source.cwd)
		words_printf(&u->original_args, "-working-directory=%s", u->source.cwd);
	u->original = (struct annotator_original){.path = u->pre.source, .folder = u->pre.headers,
	                                          .clang_args = (const char *const *)u->original_args.items};
}

static int parse_all(struct work *w, bool full_header)
{
	struct annotator_unit *sources = calloc(w->unit_count, sizeof *sources);
	bool failed = !sources;
	for (size_t i = 0; i < w->unit_count && !failed; i++) {
		struct requested_unit *u = &w->units[i];
		make_parse_args(w, u, full_header, &u->parse_args);
		make_original(w, u, full_header);
		failed = u->parse_args.failed || u->original_args.failed;
		sources[i] = (struct annotator_unit){
		    .text = u->pre.text.data,
		    .length = u->pre.text.len,
		    .clang_args = (const char *const *)u->parse_args.items,
		    .original = &u->original,
		};
	}
	int result = failed ? out_of_memory(w) : annotation_create(sources, w->unit_count, &w->annotation, &w->err);
	free(sources);
	return result;
}

static int annotate(struct work *w)
{
	w->stage = "annotate";
	for (size_t i = 0; i < w->unit_count; i++)
		if (w->units[i].options.standard && strncmp(w->units[i].options.standard, "CL", 2))
			return gs_fail(&w->err, ENOTSUP, "-cl-std=%s is not OpenCL C", w->units[i].options.standard);
		else if (w->units[i].options.standard && strchr(w->units[i].options.standard, '+'))
			return gs_fail(&w->err, ENOTSUP, "C++ for OpenCL (-cl-std=%s)", w->units[i].options.standard);
	int result = parse_all(w, false);
	struct gs_error first = w->err;
	if (result == -EINVAL && parse_all(w, true) == 0)
		return 0;
	w->err = first;
	return result;
}

/* KIND:FACTOR:RESIDUE:BLOCK */
static const char *const trips_kinds[] = {[TRIPS_COUNT_EVERY] = "every", [TRIPS_COUNT_REACHED] = "reached"};

static bool read_trips(const char *text, struct trips *t, int *skip)
{
	char kind[16];
	if (sscanf(text, "%u %15[a-z]:%u:%u:%u%n", &t->loop, kind, &t->factor, &t->residue, &t->block, skip) != 5)
		return false;
	t->kind = strcmp(kind, trips_kinds[TRIPS_COUNT_EVERY]) ? TRIPS_COUNT_REACHED : TRIPS_COUNT_EVERY;
	return true;
}

static int want_trips(struct work *w)
{
	struct trips t;
	unsigned counter;
	int skip, result = 0;
	const char *at = gs_pack_text(w->request, "trips");
	for (; !result && read_trips(at, &t, &skip); at += skip)
		result = annotation_want_trips(w->annotation, &t, &counter, &w->err);
	return result;
}

static void choose_variables(struct work *w)
{
	for (size_t i = 0; i < w->unit_count; i++)
		for (size_t j = 0; j < w->units[i].options.host.count; j++)
			if (!strcmp(w->units[i].options.host.items[j], "-cl-opt-disable"))
				annotation_without_variables(w->annotation);
}

/* Writes a unit's text in one of the forms for the host. */
static int write_form(struct work *w, size_t unit, enum marker_form form, struct gs_buf *out)
{
	struct gs_buf text = {0};
	int result = annotation_write(w->annotation, unit, form, &text, &w->err);
	if (!result)
		result = annotation_guard_definitions(w->annotation, text.data, text.len, out, &w->err);
	gs_buf_free(&text);
	return result;
}

static int write_host(struct work *w)
{
	int result = 0;
	for (size_t i = 0; i < w->unit_count && !result; i++) {
		struct gs_buf text = {0};
		result = write_form(w, i, w->device.counters, &text);
		gs_pack_add(w->result, "host", text.data, text.len);
		gs_buf_free(&text);
	}
	for (size_t i = 0; i < w->unit_count && !result; i++) {
		struct gs_buf text = {0};
		build_options_join(&w->units[i].options.host, &text);
		/* Drivers print warnings on stderr. The application's own build has already printed them. */
		gs_buf_puts(&text, text.len ? " -w" : "-w");
		gs_pack_add(w->result, "host-options", text.data, text.len);
		gs_buf_free(&text);
	}
	return result;
}

/* The driver's compiler needs much time for each event of traced text. A program with more events would take minutes. */
enum { MOST_EVENTS = 1500 };

/* Renamed, traced text can be in the same program as host text. Drivers build one program faster than two. */
static void write_renames(struct work *w, const struct gs_buf *traced)
{
	struct gs_buf names = {0};
	const struct annotator_unit text = {.text = traced->data, .length = traced->len,
	                                    .clang_args = (const char *const *)w->units[0].parse_args.items};
	if (!annotator_file_names(&text, &names) && names.len)
		gs_pack_add(w->result, "renames", names.data, names.len);
	gs_buf_free(&names);
}

static void write_not_traced(struct work *w, const char *why)
{
	struct gs_buf text = {0};
	gs_buf_printf(&text, "not traced: %s", why);
	gs_pack_add(w->result, "note", text.data, text.len);
	gs_buf_free(&text);
}

/* Writes all units, or nothing. */
static int write_traced_units(struct work *w, enum marker_form form)
{
	struct gs_buf *texts = calloc(w->unit_count, sizeof *texts);
	int result = texts ? 0 : out_of_memory(w);
	for (size_t i = 0; i < w->unit_count && !result; i++)
		result = write_form(w, i, form, &texts[i]);
	for (size_t i = 0; i < w->unit_count && !result; i++)
		gs_pack_add(w->result, "traced", texts[i].data, texts[i].len);
	if (w->unit_count == 1 && !result)
		write_renames(w, &texts[0]);
	for (size_t i = 0; texts && i < w->unit_count; i++)
		gs_buf_free(&texts[i]);
	free(texts);
	if (result != -ENOTSUP)
		return result;
	write_not_traced(w, w->err.text);
	return 0;
}

static int write_traced(struct work *w)
{
	const struct access_site *sites;
	const struct block *blocks;
	size_t events = annotation_sites(w->annotation, &sites) + annotation_blocks(w->annotation, &blocks);
	enum marker_form form = w->device.counters == MARK_COUNT_PLAIN ? MARK_TRACE_PLAIN : MARK_TRACE_ATOMIC;
	char why[80];
	if (events <= MOST_EVENTS)
		return write_traced_units(w, form);
	snprintf(why, sizeof why, "%zu places would have to be told of", events);
	write_not_traced(w, why);
	return 0;
}

static void add_table(struct work *w, const char *name, struct gs_buf *text)
{
	gs_pack_add(w->result, name, text->data ? text->data : "", text->len);
	w->result->failed |= text->failed;
	gs_buf_free(text);
}

static void write_trips(const struct trips *t, struct gs_buf *out)
{
	gs_buf_printf(out, "%s:%u:%u:%u", trips_kinds[t->kind], t->factor, t->residue, t->block);
}

static void write_kernel_tables(struct work *w)
{
	struct gs_buf names = {0}, columns = {0};
	const struct kernel_entry *kernels;
	const struct block *b;
	size_t count = annotation_kernels(w->annotation, &kernels);
	annotation_blocks(w->annotation, &b);
	for (size_t i = 0; i < count; i++) {
		gs_buf_printf(&names, "%s %u\n", kernels[i].name, kernels[i].arguments);
		gs_buf_printf(&columns, kernels[i].summed ? "%s sums" : "%s %zu", kernels[i].name, kernels[i].flag_count);
		for (size_t j = 0; j < kernels[i].column_count; j++)
			gs_buf_printf(&columns, " %u", kernels[i].columns[j]);
		for (size_t j = 0; j < kernels[i].computed_count; j++) {
			gs_buf_printf(&columns, " %u=", kernels[i].computed[j]);
			write_trips(&b[kernels[i].computed[j]].trips, &columns);
		}
		gs_buf_puts(&columns, "\n");
	}
	add_table(w, "kernels", &names);
	gs_pack_puts(w->result, "layout", annotation_layout(w->annotation) == COUNTERS_BY_ITEM ? "item" : "group");
	add_table(w, "columns", &columns);
}

static enum argument_kind kind_of_argument(const struct work *w, const struct kernel_entry *k, unsigned index)
{
	enum argument_kind kind = k->kinds[index];
	bool may_write = kind == ARGUMENT_GLOBAL || kind == ARGUMENT_CONST;
	return may_write && targets_only_read(&w->targets, k->name, index) ? ARGUMENT_UNWRITTEN : kind;
}

/* The sections safety and arguments, from which the guest decides how a twin may run. */
static void write_fact_tables(struct work *w)
{
#define HAZARD(name, bit, word) {bit, word},
	static const struct {
		unsigned bit;
		const char *word;
	} hazards[] = {KERNEL_HAZARDS(HAZARD)};
#undef HAZARD
#define KIND(name, word) word,
	static const char *const kinds[] = {ARGUMENT_KINDS(KIND)};
#undef KIND
	struct gs_buf safety = {0}, arguments = {0};
	const struct kernel_entry *kernels;
	size_t count = annotation_kernels(w->annotation, &kernels);
	for (size_t i = 0; i < count; i++) {
		gs_buf_puts(&safety, kernels[i].name);
		for (size_t j = 0; j < GS_ARRAY_LEN(hazards); j++)
			if (kernels[i].hazards & hazards[j].bit)
				gs_buf_printf(&safety, " %s", hazards[j].word);
		gs_buf_puts(&safety, "\n");
		gs_buf_puts(&arguments, kernels[i].name);
		for (unsigned j = 0; j < kernels[i].arguments; j++)
			gs_buf_printf(&arguments, " %s", kinds[kind_of_argument(w, &kernels[i], j)]);
		gs_buf_puts(&arguments, "\n");
	}
	add_table(w, "safety", &safety);
	add_table(w, "arguments", &arguments);
}

static void write_block_tables(struct work *w)
{
	struct gs_buf table = {0}, details = {0};
	const struct block *b;
	size_t count = annotation_blocks(w->annotation, &b);
	for (size_t i = 0; i < count; i++) {
		gs_buf_printf(&table, "%u %u %s %s %u %u %s\n", b[i].id, b[i].unit, b[i].function, b[i].kind,
		              b[i].place.line, b[i].place.column, b[i].place.file);
		gs_buf_printf(&details, "%u %u %u %d ", b[i].id, b[i].end.line, b[i].end.column, b[i].loop);
		if (b[i].trips.kind)
			write_trips(&b[i].trips, &details);
		else
			gs_buf_puts(&details, "-");
		for (size_t j = 0; j < b[i].term_count; j++)
			gs_buf_printf(&details, " %+d*%u", b[i].terms[j].factor, b[i].terms[j].block);
		gs_buf_puts(&details, "\n");
	}
	add_table(w, "blocks", &table);
	add_table(w, "block-details", &details);
}

static void write_loop_table(struct work *w)
{
	struct gs_buf table = {0};
	const struct loop *l;
	size_t count = annotation_loops(w->annotation, &l);
	for (size_t i = 0; i < count; i++)
		gs_buf_printf(&table, "%u %u %u %u %d %d\n", l[i].id, l[i].unit, l[i].parent, l[i].body, l[i].outer,
		              l[i].has_trips);
	add_table(w, "loops", &table);
}

static void write_site_table(struct work *w)
{
#define NAME(name) #name,
	static const char *const kinds[] = {TRACE_SITE_KINDS(NAME)}, *const spaces[] = {CODE_SPACES(NAME)};
#undef NAME
	struct gs_buf table = {0};
	const struct access_site *s;
	size_t count = annotation_sites(w->annotation, &s);
	for (size_t i = 0; i < count; i++)
		gs_buf_printf(&table, "%u %u %u %s %s %llu %u %u %s\n", s[i].id, s[i].unit, s[i].block, kinds[s[i].kind],
		              spaces[s[i].space], (unsigned long long)s[i].bytes, s[i].place.line, s[i].place.column, s[i].place.file);
	add_table(w, "sites", &table);
}

static void write_tables(struct work *w)
{
	write_site_table(w);
	write_kernel_tables(w);
	write_fact_tables(w);
	write_block_tables(w);
	write_loop_table(w);
}

static void write_dependencies(struct work *w)
{
	struct gs_buf text = {0};
	for (size_t i = 0; i < w->unit_count; i++)
		for (size_t j = 0; j < w->units[i].pre.files.count; j++) {
			struct gs_buf file = {0};
			char hex[33];
			/* A #line directive may name a file that does not exist. */
			if (!gs_read_file(w->units[i].pre.files.items[j], &file, NULL)) {
				gs_hash_hex(file.data, file.len, hex);
				gs_buf_printf(&text, "%s %s\n", hex, w->units[i].pre.files.items[j]);
			}
			gs_buf_free(&file);
		}
	if (text.len)
		gs_pack_add(w->result, "dependency", text.data, text.len);
	gs_buf_free(&text);
}

/* The target's prelude has static functions, which are new in OpenCL C 1.2. Programs in 1.1 are valid in 1.2, too. */
static const char *target_standard(const struct host_device *d, const struct build_options *options)
{
	const char *standard = device_standard(d, options);
	return !strcasecmp(standard, "CL1.0") || !strcasecmp(standard, "CL1.1") ? "CL1.2" : standard;
}

static int probe_all(struct work *w, struct target_unit *targets)
{
	int result = 0;
	for (size_t i = 0; i < w->unit_count && !result; i++) {
		struct requested_unit *u = &w->units[i];
		result = annotation_write(w->annotation, i, MARK_PROBE, &u->probed, &w->err);
		gs_buf_printf(&u->target_options, "-cl-std=%s ", target_standard(&w->device, &u->options));
		device_extensions_option(&w->device, &u->target_options);
		gs_buf_puts(&u->target_options, " ");
		build_options_join(&u->options.code, &u->target_options);
		if (!result && u->target_options.failed)
			result = out_of_memory(w);
		targets[i] = (struct target_unit){
			.text = u->probed.data, .length = u->probed.len, .options = u->target_options.data,
		};
	}
	return result;
}

static int compile_targets(struct work *w)
{
	struct target_unit *units = calloc(w->unit_count, sizeof *units);
	w->stage = "internal";
	build_options_split(gs_pack_text(w->request, "targets"), QUOTES_OF_SHELLS, &w->archs);
	int result = !units || w->archs.failed ? out_of_memory(w) : probe_all(w, units);
	if (!result)
		result = targets_compile(&w->targets, w->archs.items, w->archs.count, units, w->unit_count, &w->err);
	if (!result)
		result = targets_want_trips(&w->targets, w->annotation, w->result, &w->err);
	free(units);
	return result;
}

static int do_request(struct work *w)
{
	const char *version = gs_pack_text(w->request, "version");
	w->stage = "internal";
	if (strcmp(version, GPUSIM_CC_VERSION))
		return gs_fail(&w->err, EINVAL, "the request is of version '%s', gpusim-cc is %s", version,
		               GPUSIM_CC_VERSION);
	if (gs_pack_find(w->request, "fatbin"))
		return lifted_request(w->request, w->result, &w->stage, &w->err);
	int result = device_read(gs_pack_text(w->request, "device"), &w->device, &w->err);
	if (!result)
		result = read_units(w);
	if (!result)
		result = preprocess_all(w);
	if (!result)
		result = annotate(w);
	if (!result)
		result = want_trips(w);
	if (!result)
		result = compile_targets(w);
	if (!result) {
		w->stage = "annotate";
		choose_variables(w);
		result = write_host(w);
		if (!result)
			result = write_traced(w);
		write_tables(w);
		targets_write(&w->targets, w->annotation, w->result);
	}
	return result;
}

static void work_free(struct work *w)
{
	for (size_t i = 0; i < w->unit_count; i++) {
		build_options_free(&w->units[i].options);
		folder_remove(w->units[i].folder);
		free(w->units[i].folder);
		preprocessed_free(&w->units[i].pre);
		words_free(&w->units[i].parse_args);
		words_free(&w->units[i].original_args);
		gs_buf_free(&w->units[i].probed);
		gs_buf_free(&w->units[i].target_options);
	}
	free(w->units);
	targets_free(&w->targets);
	words_free(&w->archs);
	annotation_free(w->annotation);
	device_free(&w->device);
}

void compile_request(const struct gs_pack *request, struct gs_pack *result)
{
	struct work w = {.request = request, .result = result};
	gs_pack_puts(result, "version", GPUSIM_CC_VERSION);
	if (do_request(&w)) {
		struct gs_buf text = {0};
		gs_buf_printf(&text, "%s: %.*s", w.stage, (int)strcspn(w.err.text, "\r\n"), w.err.text);
		gs_pack_add(result, "failure", text.data, text.len);
		gs_buf_free(&text);
	}
	/* After a failure, too: if one of these headers changes, the program may compile. */
	write_dependencies(&w);
	work_free(&w);
}
