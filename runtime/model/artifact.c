/* What gpusim-cc made of a program (runtime/format/protocol.h), read into structs. */
#include "runtime/model/artifact.h"

#include "runtime/format/counters.h"
#include "runtime/format/protocol.h"
#include "runtime/model/proof.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_shapes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void artifact_release(struct artifact *a)
{
	if (!a || --a->refs)
		return;
	for (size_t i = 0; i < a->kernel_count; i++) {
		trace_shapes_free(&a->kernels[i]);
		proofs_free(&a->kernels[i]);
		free(a->kernels[i].name);
		free(a->kernels[i].columns);
		free(a->kernels[i].computed);
		free(a->kernels[i].argument_kinds);
		for (size_t t = 0; t < MAX_TARGETS; t++) {
			code_free(a->kernels[i].code[t]);
			free(a->kernels[i].failure[t]);
			if (a->kernels[i].estimates[t])
				a->free_estimates(a->kernels[i].estimates[t]);
			free(a->kernels[i].library[t]);
			free(a->kernels[i].selected[t]);
		}
	}
	free(a->terms);
	for (size_t i = 0; i < a->block_count; i++) {
		free(a->blocks[i].function);
		free(a->blocks[i].file);
	}
	free(a->blocks);
	for (size_t i = 0; i < a->host_count; i++) {
		free(a->host_texts[i]);
		free(a->host_options[i]);
		if (a->traced_texts)
			free(a->traced_texts[i]);
		if (a->sources)
			free(a->sources[i]);
	}
	free(a->sources);
	for (size_t i = 0; i < a->site_file_count; i++)
		free(a->site_files[i]);
	free(a->site_files);
	free(a->sites);
	free(a->traced_texts);
	free(a->renames);
	free(a->host_texts);
	free(a->host_options);
	free(a->dependencies);
	free(a->kernels);
	free(a);
}

struct artifact_kernel *artifact_kernel(struct artifact *a, const char *name)
{
	for (size_t i = 0; i < a->kernel_count; i++)
		if (!strcmp(a->kernels[i].name, name))
			return &a->kernels[i];
	return NULL;
}

/* More than any program has. A crafted file must neither fill the memory nor make lookups take hours. */
enum { MOST_KERNELS = 1 << 14, MOST_BLOCKS = 1 << 18, MOST_TERMS = 1 << 20, MOST_SITES = 1 << 18, MOST_SITE_FILES = 1 << 12 };

static bool is_column(const struct artifact_kernel *k, unsigned block)
{
	for (size_t i = 0; i < k->column_count; i++)
		if (k->columns[i] == block)
			return true;
	return false;
}

static bool has_terms(const struct artifact *a, unsigned block)
{
	for (size_t i = 0; i < a->term_count; i++)
		if (a->terms[i].block == block)
			return true;
	return false;
}

/* Lifted kernels count edges rather than blocks, so their entry may be the sum of others, or have a column. */
static void settle_entries(struct artifact *a)
{
	for (size_t i = 0; i < a->kernel_count; i++) {
		struct artifact_kernel *k = &a->kernels[i];
		if (k->entry_block >= 0 && a->counts_by_item && (is_column(k, (unsigned)k->entry_block) || has_terms(a, (unsigned)k->entry_block)))
			k->entry_block = -1;
	}
}

/* Calls `take` with each line of `text`; the lines are cut in place. */
static int each_line(struct artifact *a, char *text, int (*take)(struct artifact *a, char *line))
{
	for (char *save, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (take(a, line))
			return -1;
	return 0;
}

static int find_word(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(words[i], word))
			return (int)i;
	return -1;
}

#define HAZARDS_NOT_READ UINT_MAX

static int take_kernel(struct artifact *a, char *line)
{
	char *space = strchr(line, ' ');
	if (!space || a->kernel_count == MOST_KERNELS)
		return -1;
	struct artifact_kernel *grown = realloc(a->kernels, (a->kernel_count + 1) * sizeof *grown);
	if (!grown)
		return -1;
	a->kernels = grown;
	*space = 0;
	struct artifact_kernel k = {.name = strdup(line), .entry_block = -1, .hazards = HAZARDS_NOT_READ};
	k.arguments = (unsigned)strtoul(space + 1, NULL, 10);
	if (!k.name)
		return -1;
	a->kernels[a->kernel_count++] = k;
	return 0;
}

/* Names of C++ templates are long. */
enum { NAME_BYTES = 16384 };

static int take_block(struct artifact *a, char *line)
{
	unsigned id;
	char function[NAME_BYTES];
	struct artifact_block block = {0};
	int file = 0;
	if (sscanf(line, "%u %u %16383s %15s %u %u%n", &id, &block.unit, function, block.kind, &block.line, &block.column, &file) != 6 ||
	    line[file] != ' ' || id != a->block_count || id == MOST_BLOCKS)
		return -1;
	struct artifact_block *grown = realloc(a->blocks, (id + 1) * sizeof *grown);
	if (!grown)
		return -1;
	a->blocks = grown;
	struct artifact_kernel *k = strcmp(block.kind, "entry") ? NULL : artifact_kernel(a, function);
	/* A kernel's helper clone has the same name; the kernel's own entry comes first. */
	if (k && k->entry_block < 0)
		k->entry_block = (int)id;
	block.function = strdup(function);
	block.file = strdup(line + file + 1);
	a->blocks[a->block_count++] = block;
	return block.function && block.file ? 0 : -1;
}

/* KIND:FACTOR:RESIDUE:BLOCK, where BLOCK is a column of the kernel. */
static int take_computed(struct artifact *a, struct artifact_kernel *k, unsigned long id, char **at)
{
	char kind[8];
	unsigned of;
	int skip = 0;
	struct computed_trips t = {.block = (unsigned)id};
	if (sscanf(*at, "%7[a-z]:%u:%u:%u%n", kind, &t.factor, &t.residue, &of, &skip) != 4 || !skip || !t.factor ||
	    t.residue >= t.factor || id >= a->block_count || k->summed || k->computed_count >= MOST_BLOCKS)
		return -1;
	t.every = !strcmp(kind, "every");
	size_t i = k->flag_count;
	while (i < k->column_count && k->columns[i] != of)
		i++;
	struct computed_trips *grown = realloc(k->computed, (k->computed_count + 1) * sizeof *grown);
	if (grown)
		k->computed = grown;
	if (!grown || i >= k->column_count)
		return -1;
	t.word = (k->flag_count + COUNTER_FLAGS - 1) / COUNTER_FLAGS + i - k->flag_count;
	grown[k->computed_count++] = t;
	*at += skip;
	return 0;
}

/* NAME FLAGS ID... ID=TRIPS... */
static int take_columns(struct artifact *a, char *line)
{
	char *at = line + strcspn(line, " ");
	size_t most = strlen(at) / 2;
	if (!*at)
		return -1;
	*at++ = 0;
	struct artifact_kernel *k = artifact_kernel(a, line);
	if (!k || k->columns || !(k->columns = calloc(most + 1, sizeof *k->columns)))
		return -1;
	k->summed = !strncmp(at, "sums", 4);
	k->flag_count = k->summed ? 0 : strtoul(at, &at, 10);
	at += k->summed ? 4 : 0;
	while (*at == ' ') {
		unsigned long id = strtoul(at + 1, &at, 10);
		if (*at == '=') {
			at++;
			if (take_computed(a, k, id, &at))
				return -1;
			continue;
		}
		if (id >= a->block_count || k->column_count == most || k->column_count == a->block_count || k->computed_count)
			return -1;
		k->columns[k->column_count++] = (unsigned)id;
	}
	if (!k->summed)
		k->words = (k->flag_count + COUNTER_FLAGS - 1) / COUNTER_FLAGS + k->column_count - k->flag_count;
	return *at || k->flag_count > k->column_count ? -1 : 0;
}

/* ID END_LINE END_COLUMN LOOP TRIPS TERM... */
static int take_details(struct artifact *a, char *line)
{
	unsigned id, of;
	int skip = 0, factor;
	if (sscanf(line, "%u %*u %*u %*d %*s%n", &id, &skip) != 1 || !skip || id >= a->block_count)
		return -1;
	for (line += skip; sscanf(line, " %d*%u%n", &factor, &of, &skip) == 2; line += skip) {
		if (of >= id || a->term_count == MOST_TERMS)
			return -1;
		struct count_term *grown = realloc(a->terms, (a->term_count + 1) * sizeof *grown);
		if (!grown)
			return -1;
		a->terms = grown;
		a->terms[a->term_count++] = (struct count_term){.block = id, .of = of, .factor = factor};
	}
	return *line ? -1 : 0;
}

static int take_table(struct artifact *a, const struct gs_pack *result, const char *name,
                      int (*take)(struct artifact *a, char *line))
{
	char *text = strdup(gs_pack_text(result, name));
	int failed = text ? each_line(a, text, take) : -1;
	free(text);
	return failed;
}

/* NAME KIND... */
static int take_arguments(struct artifact *a, char *line)
{
#define KIND(name, word) word,
	static const char *const kinds[] = {ARGUMENT_KINDS(KIND)};
#undef KIND
	size_t length = strlen(line);
	char *save, *word = strtok_r(line, " ", &save);
	struct artifact_kernel *k = word ? artifact_kernel(a, word) : NULL;
	unsigned count = 0;
	if (!k || k->argument_kinds || k->arguments > length || !(k->argument_kinds = calloc((size_t)k->arguments + 1, 1)))
		return -1;
	for (; (word = strtok_r(NULL, " ", &save)); count++) {
		int kind = find_word(kinds, GS_ARRAY_LEN(kinds), word);
		if (kind < 0 || count == k->arguments)
			return -1;
		k->argument_kinds[count] = (unsigned char)kind;
	}
	return count == k->arguments ? 0 : -1;
}

/* NAME WORD...; a word that is not known is a hazard that is not known. */
static int take_safety(struct artifact *a, char *line)
{
#define HAZARD(name, bit, word) word,
	static const char *const words[] = {KERNEL_HAZARDS(HAZARD)};
#undef HAZARD
#define HAZARD(name, bit, word) bit,
	static const unsigned bits[] = {KERNEL_HAZARDS(HAZARD)};
#undef HAZARD
	char *save, *word = strtok_r(line, " ", &save);
	struct artifact_kernel *k = word ? artifact_kernel(a, word) : NULL;
	if (!k || k->hazards != HAZARDS_NOT_READ)
		return -1;
	k->hazards = 0;
	while ((word = strtok_r(NULL, " ", &save))) {
		int hazard = find_word(words, GS_ARRAY_LEN(words), word);
		if (hazard < 0)
			return -1;
		k->hazards |= bits[hazard];
	}
	return 0;
}

/* All kernels have to have them. */
static int take_facts(struct artifact *a, const struct gs_pack *result)
{
	int failed = take_table(a, result, "arguments", take_arguments) || take_table(a, result, "safety", take_safety);
	for (size_t i = 0; i < a->kernel_count; i++)
		failed |= !a->kernels[i].argument_kinds || a->kernels[i].hazards == HAZARDS_NOT_READ;
	return failed;
}

/* The index of an architecture among ours, or -1. */
static int find_arch(const struct simulation *sim, const char *name, size_t length)
{
	for (size_t i = 0; i < sim->arch_count; i++)
		if (strlen(sim->archs[i]) == length && !memcmp(sim->archs[i], name, length))
			return (int)i;
	return -1;
}

static void set_failure(struct artifact_kernel *k, int arch, const char *text)
{
	free(k->failure[arch]);
	k->failure[arch] = strdup(text);
}

/* "failure TEXT": of all kernels; "kernel NAME failure TEXT": of one. */
static void take_failure(struct artifact *a, int arch, char *line)
{
	char name[NAME_BYTES];
	int skip = 0;
	if (!strncmp(line, "failure ", 8)) {
		for (size_t i = 0; i < a->kernel_count; i++)
			set_failure(&a->kernels[i], arch, line + 8);
	} else if (sscanf(line, "kernel %16383s failure %n", name, &skip) == 1 && skip) {
		struct artifact_kernel *k = artifact_kernel(a, name);
		if (k)
			set_failure(k, arch, line + skip);
	}
}

/* "library KERNEL FUNCTION" */
static void take_library(struct artifact *a, int arch, char *line)
{
	char *kernel = line + strlen("library "), *function, *grown;
	if (strncmp(line, "library ", strlen("library ")) || !(function = strchr(kernel, ' ')))
		return;
	*function++ = 0;
	struct artifact_kernel *k = artifact_kernel(a, kernel);
	if (!k || asprintf(&grown, "%s%s\n", k->library[arch] ? k->library[arch] : "", function) < 0)
		return;
	free(k->library[arch]);
	k->library[arch] = grown;
}

/* "code KERNEL selected WHY" */
static void take_selected(struct artifact *a, int arch, const char *line)
{
	char name[NAME_BYTES];
	int skip = 0;
	struct artifact_kernel *k = sscanf(line, "code %16383s selected %n", name, &skip) == 1 && skip ? artifact_kernel(a, name) : NULL;
	if (k && !k->selected[arch])
		k->selected[arch] = strdup(line + skip);
}

/* arch: among ours, -1: as the section says. */
static void take_target(const struct simulation *sim, struct artifact *a, const struct gs_section *s, int arch)
{
	char *text = strdup(s->data), *save, *line = text ? strtok_r(text, "\n", &save) : NULL;
	arch = line && arch < 0 ? find_arch(sim, line, strlen(line)) : arch;
	while (arch >= 0 && line && (line = strtok_r(NULL, "\n", &save))) {
		take_failure(a, arch, line);
		take_library(a, arch, line);
		take_selected(a, arch, line);
	}
	free(text);
}

static void take_code_for(struct artifact *a, struct artifact_kernel *k, int arch, const char *bytes, size_t length)
{
	struct gs_error err;
	if (!k || k->code[arch])
		return;
	if (code_read(bytes, length, &k->code[arch], &err)) {
		set_failure(k, arch, err.text);
	} else if (k->code[arch]->counter_count != a->block_count) {
		code_free(k->code[arch]);
		k->code[arch] = NULL;
		set_failure(k, arch, "the code and the source do not belong together");
	}
}

/* "ARCHITECTURE NAME", a new line, and the code's bytes. Where the architecture is "any", it is the same for all. as: among ours, -1: as it says. */
static void take_code(const struct simulation *sim, struct artifact *a, const struct gs_section *s, int as)
{
	char *end = memchr(s->data, '\n', s->len), *space = memchr(s->data, ' ', s->len);
	if (!end || !space || space > end)
		return;
	bool any = as < 0 && space - s->data == 3 && !memcmp(s->data, "any", 3);
	int arch = any ? 0 : as < 0 ? find_arch(sim, s->data, (size_t)(space - s->data)) : as;
	*end = 0;
	struct artifact_kernel *k = artifact_kernel(a, space + 1);
	*end = '\n';
	for (; arch >= 0 && arch < (int)sim->arch_count; arch = any ? arch + 1 : -1)
		take_code_for(a, k, arch, end + 1, s->len - (size_t)(end + 1 - s->data));
}

static bool has_target(const struct artifact *a, size_t arch)
{
	for (size_t i = 0; i < a->kernel_count; i++)
		if (a->kernels[i].code[arch] || a->kernels[i].failure[arch])
			return true;
	return false;
}

/* The length of a target's name (gpu_target_name) up to what says that machine instructions are wanted, and whose; 0: it does not say so. */
static size_t length_of_rest(const char *name, size_t length)
{
	static const char *const endings[] = {":machine:sass", ":selected:sass", ":sass"};
	for (size_t i = 0; i < GS_ARRAY_LEN(endings); i++) {
		size_t ending = strlen(endings[i]);
		if (length >= ending && !memcmp(name + length - ending, endings[i], ending))
			return length - ending;
	}
	return 0;
}

static bool is_like(const char *name, size_t length, const char *other)
{
	size_t a = length_of_rest(name, length), b = length_of_rest(other, strlen(other));
	return a && a == b && !memcmp(name, other, a);
}

/* A profile has the code that it was recorded with: where only the wish for machine code (GPUSIM_CODE) was another one, that is taken. */
static void take_like(const struct simulation *sim, struct artifact *a, const struct gs_pack *result, size_t arch)
{
	const char *from = NULL;
	size_t length = 0;
	for (size_t i = 0; i < result->count; i++) {
		const struct gs_section *s = &result->sections[i];
		bool target = !strcmp(s->name, "target");
		size_t own = strcspn(s->data, " \n");
		if ((!target && strcmp(s->name, "code")) || (!from && !is_like(s->data, own, sim->archs[arch])))
			continue;
		length = from ? length : own;
		from = from ? from : s->data;
		if (own != length || memcmp(s->data, from, length))
			continue;
		if (target)
			take_target(sim, a, s, (int)arch);
		else
			take_code(sim, a, s, (int)arch);
	}
	for (size_t i = 0; i < a->kernel_count; i++) {
		struct artifact_kernel *k = &a->kernels[i];
		if (strstr(sim->archs[arch], ":machine:") && k->code[arch] && k->code[arch]->origin == CODE_SELECTED && !k->selected[arch])
			k->selected[arch] = strdup("the profile was recorded without GPUSIM_CODE=machine");
	}
}

static void take_targets(const struct simulation *sim, struct artifact *a, const struct gs_pack *result)
{
	for (size_t i = 0; i < result->count; i++) {
		const struct gs_section *s = &result->sections[i];
		if (!strcmp(s->name, "target"))
			take_target(sim, a, s, -1);
		else if (!strcmp(s->name, "code"))
			take_code(sim, a, s, -1);
	}
	for (size_t i = 0; i < sim->arch_count; i++)
		if (!has_target(a, i))
			take_like(sim, a, result, i);
}

static int take_host_texts(struct artifact *a, const struct gs_pack *result)
{
	a->host_texts = calloc(result->count + 1, sizeof *a->host_texts);
	a->host_options = calloc(result->count + 1, sizeof *a->host_options);
	if (!a->host_texts || !a->host_options)
		return -1;
	size_t texts = 0, options = 0;
	bool all = true;
	for (size_t i = 0; i < result->count && all; i++) {
		const struct gs_section *s = &result->sections[i];
		if (!strcmp(s->name, "host"))
			all = (a->host_texts[texts++] = strdup(s->data));
		else if (!strcmp(s->name, "host-options"))
			all = (a->host_options[options++] = strdup(s->data));
	}
	a->host_count = texts > options ? texts : options; /* what artifact_release frees, also where there are too few of one */
	return all && texts && texts == options ? 0 : -1;
}

/* Reports look for a block's text by the number of its unit. */
static int check_units(const struct artifact *a)
{
	for (size_t i = 0; i < a->block_count; i++)
		if (a->blocks[i].unit >= a->host_count)
			return -1;
	return 0;
}

/* ---- traces ---- */

/* Its index among the files, to which it is added if need be; -1: out of memory, or too many. */
static long file_index(struct artifact *a, const char *name)
{
	/* Most sites are in the file of the one before. */
	for (size_t i = a->site_file_count; i-- > 0;)
		if (!strcmp(a->site_files[i], name))
			return (long)i;
	char **grown = a->site_file_count == MOST_SITE_FILES ? NULL : realloc(a->site_files, (a->site_file_count + 1) * sizeof *grown);
	if (!grown)
		return -1;
	a->site_files = grown;
	if (!(grown[a->site_file_count] = strdup(name)))
		return -1;
	return (long)a->site_file_count++;
}

/* ID UNIT BLOCK KIND SPACE BYTES LINE COLUMN FILE */
static int take_site(struct artifact *a, char *line)
{
#define NAME(name) #name,
	static const char *const kinds[] = {TRACE_SITE_KINDS(NAME)}, *const spaces[] = {CODE_SPACES(NAME)};
#undef NAME
	char kind[16], space[16];
	unsigned id;
	struct trace_site site = {0};
	int skip = 0;
	if (sscanf(line, "%u %*u %u %15s %15s %u %u %u %n", &id, &site.block, kind, space, &site.bytes, &site.line, &site.column,
	           &skip) != 7 || !skip || id != a->site_count || id == MOST_SITES || site.block >= a->block_count)
		return -1;
	int kind_index = find_word(kinds, GS_ARRAY_LEN(kinds), kind), space_index = find_word(spaces, GS_ARRAY_LEN(spaces), space);
	long file = file_index(a, line + skip);
	if (kind_index < 0 || space_index < 0 || file < 0)
		return -1;
	site.kind = (uint8_t)kind_index;
	site.space = (uint8_t)space_index;
	site.file = (uint32_t)file;
	if (!(id & (id - 1))) { /* room for twice as many */
		struct trace_site *grown = realloc(a->sites, (id ? 2 * (size_t)id : 1) * sizeof *grown);
		if (!grown)
			return -1;
		a->sites = grown;
	}
	a->sites[a->site_count++] = site;
	return 0;
}

/* Without all of them there are no traces, but everything else. */
static void take_traced(struct artifact *a, const struct gs_pack *result)
{
	char **texts = calloc(a->host_count, sizeof *texts);
	size_t count = 0;
	for (size_t i = 0; i < result->count && texts; i++)
		if (!strcmp(result->sections[i].name, "traced") && count < a->host_count &&
		    (texts[count] = strdup(result->sections[i].data)))
			count++;
	if (texts && count == a->host_count && !take_table(a, result, "sites", take_site)) {
		const struct gs_section *renames = gs_pack_find(result, "renames");
		a->traced_texts = texts;
		a->renames = renames && count == 1 ? strdup(renames->data) : NULL;
		return;
	}
	while (count)
		free(texts[--count]);
	free(texts);
}

void artifact_text_together(const struct artifact *a, struct gs_buf *out)
{
	gs_buf_printf(out, "%s\n", a->host_texts[0]);
	for (const char *name = a->renames; *name; name += strcspn(name, "\n"), name += *name == '\n') {
		int length = (int)strcspn(name, "\n");
		gs_buf_printf(out, "#define %.*s " TRACED_PREFIX "%.*s\n", length, name, length, name);
	}
	gs_buf_puts(out, a->traced_texts[0]);
}

int artifact_read(const struct simulation *sim, struct artifact **out, const struct gs_pack *result, struct gs_error *err)
{
	const struct gs_section *failure = gs_pack_find(result, "failure");
	if (failure)
		return gs_fail(err, ENOTSUP, "%s", failure->data);
	struct artifact *a = calloc(1, sizeof *a);
	int failed = -1;
	if (a) {
		a->refs = 1;
		a->dependencies = strdup(gs_pack_text(result, "dependency"));
		a->counts_by_item = !strcmp(gs_pack_text(result, "layout"), "item");
		failed = take_table(a, result, "kernels", take_kernel) || take_facts(a, result) || take_table(a, result, "blocks", take_block) ||
		         take_table(a, result, "columns", take_columns) ||
		         take_table(a, result, "block-details", take_details) || take_host_texts(a, result) || check_units(a);
	}
	if (!failed) {
		settle_entries(a);
		take_targets(sim, a, result);
		take_traced(a, result);
	}
	if (failed) {
		artifact_release(a);
		return gs_fail(err, EBADMSG, "gpusim-cc gave a result that cannot be read");
	}
	*out = a;
	return 0;
}
