/* Reads the code of every kernel from gpusim-cc's answer; see explain.h. */
#include "runtime/cmd/explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct gs_error *err)
{
	return gs_fail(err, ENOMEM, "out of memory");
}

/* Finds the section "code" of a kernel. Its first line is ARCHITECTURE NAME. */
static const struct gs_section *code_section(const struct gs_pack *answer, const char *kernel, size_t *header)
{
	for (size_t i = 0; i < answer->count; i++) {
		const struct gs_section *s = &answer->sections[i];
		const char *end = memchr(s->data, '\n', s->len), *blank = memchr(s->data, ' ', s->len);
		if (strcmp(s->name, "code") || !end || !blank || blank > end ||
		    strlen(kernel) != (size_t)(end - blank - 1) || memcmp(blank + 1, kernel, strlen(kernel)))
			continue;
		*header = (size_t)(end - s->data) + 1;
		return s;
	}
	return NULL;
}

/* Counts the parameters in ".entry NAME( ... )" that are ".ptr .shared". The PTX reader does not keep that. */
static uint32_t count_local_pointers(const char *ptx, const char *kernel)
{
	static const char entry[] = ".entry ", pointer[] = ".ptr .shared";
	size_t length = strlen(kernel);
	uint32_t count = 0;
	while ((ptx = strstr(ptx, entry))) {
		ptx += strlen(entry);
		if (strncmp(ptx, kernel, length) || ptx[length] != '(')
			continue;
		const char *end = strchrnul(ptx, ')');
		for (const char *p = ptx; (p = strstr(p, pointer)) && p < end; p++)
			count++;
	}
	return count;
}

static int find_spills(const struct explain *e, struct explain_kernel *k, struct gs_error *err)
{
	struct liveness l;
	int result = graph_liveness(k->graph, &l, err);
	if (result)
		return result;
	graph_registers(k->graph, &l, e->gpu.arch, 0, &k->spilled);
	liveness_free(&l);
	return 0;
}

static int read_kernel(struct explain *e, struct explain_kernel *k, const struct gs_pack *answer, struct gs_error *err)
{
	size_t header = 0;
	const struct gs_section *s = code_section(answer, k->name, &header);
	int result = graph_build(k->function, &k->graph, err);
	if (!result)
		result = s ? code_read(s->data + header, s->len - header, &k->code, err) : out_of_memory(err);
	if (!result)
		result = find_spills(e, k, err);
	k->local_pointers = count_local_pointers(gs_pack_text(answer, "ptx"), k->name);
	return result;
}

/* Notes the text of "kernel NAME failure TEXT" in the section "target": the code of that kernel could not be analysed. */
static void note_failure(struct explain *e, const struct gs_pack *answer, const char *kernel)
{
	struct gs_buf line = {0};
	gs_buf_printf(&line, "\nkernel %s failure ", kernel);
	const char *found = line.data ? strstr(gs_pack_text(answer, "target"), line.data) : NULL;
	const char *text = found ? found + line.len : "its code is missing";
	gs_buf_printf(&e->failures, "%s: %.*s\n", kernel, (int)strcspn(text, "\n"), text);
	gs_buf_free(&line);
}

static int no_such_kernel(const struct explain *e, const char *only, struct gs_error *err)
{
	const char **names = calloc(e->module->function_count + 1u, sizeof *names);
	size_t count = 0;
	for (uint32_t i = 0; names && i < e->module->function_count; i++)
		if (e->module->functions[i].entry)
			names[count++] = e->module->functions[i].name;
	const char *nearest = names && only ? gs_nearest(only, names) : NULL;
	int result =
	    !only     ? gs_fail(err, ENOENT, "%s has no kernel", e->source.file)
	    : nearest ? gs_fail(err, ENOENT, "%s has no kernel '%s'; did you mean '%s'?", e->source.file, only, nearest)
		      : gs_fail(err, ENOENT, "%s has no kernel '%s'", e->source.file, only);
	free(names);
	return result;
}

int explain_read_code(struct explain *e, const struct gs_pack *answer, const char *only, struct gs_error *err)
{
	const char *ptx = gs_pack_text(answer, "ptx");
	int result = ptx_read(ptx, strlen(ptx), &e->module, err);
	if (result)
		return result;
	e->kernels = calloc(e->module->function_count + 1u, sizeof *e->kernels);
	if (!e->kernels)
		return out_of_memory(err);
	for (uint32_t i = 0; i < e->module->function_count && !result; i++) {
		const struct ptx_function *f = &e->module->functions[i];
		if (!f->entry || (only && strcmp(only, f->name)))
			continue;
		size_t header;
		if (!code_section(answer, f->name, &header)) {
			note_failure(e, answer, f->name);
			continue;
		}
		struct explain_kernel *k = &e->kernels[e->kernel_count++];
		k->name = f->name;
		k->function = f;
		result = read_kernel(e, k, answer, err);
	}
	if (result || e->kernel_count)
		return result;
	if (e->failures.len)
		return gs_fail(err, EIO, "%s: %.*s", e->source.file, (int)strcspn(e->failures.data, "\n"),
			       e->failures.data);
	return no_such_kernel(e, only, err);
}

void explain_free(struct explain *e)
{
	for (size_t i = 0; i < e->kernel_count; i++) {
		struct explain_kernel *k = &e->kernels[i];
		for (uint32_t l = 0; k->lines && l <= e->source.line_count; l++)
			explain_line_free(&k->lines[l]);
		for (size_t p = 0; p < k->place_count; p++)
			explain_line_free(&k->places[p].line);
		explain_line_free(&k->elsewhere);
		explain_line_free(&k->all);
		free(k->unrolled);
		free(k->machine_blocks);
		free(k->lines);
		free(k->places);
		graph_free(k->graph);
		code_free(k->code);
	}
	free(e->kernels);
	ptx_free(e->module);
	gs_buf_free(&e->failures);
	explain_source_free(&e->source);
}
