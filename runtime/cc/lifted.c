/* Makes the result for a CUDA module: chooses its PTX, lifts it, and describes it. */
#include "runtime/cc/lifted.h"

#include "annotator/count/count.h"
#include "runtime/base/tool.h"
#include "runtime/cc/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Division and square root are exact in PTX unless it says .approx. */
static const char host_options[] = "-w -cl-fp32-correctly-rounded-divide-sqrt";

struct module_work {
	struct words archs;
	struct fatbin image; /* in the request */
	struct gs_buf ptx;
	struct gs_buf own; /* the PTX as it was, if the other has been changed for lifting */
	struct ptx_module *module;
	struct lifted *lifted;
};

static void add_text(struct gs_pack *result, const char *name, struct gs_buf *text)
{
	gs_pack_add(result, name, text->data ? text->data : "", text->len);
	result->failed |= text->failed;
	gs_buf_free(text);
}

/* Why there is no PTX: the first word of a failure, for the guest. */
static const char *stage_of(int result)
{
	return result == -ENOENT ? "no-ptx" : result == -ENOMEM ? "internal" : "not-image";
}

/* Containers beyond the first are those of objects that were linked. The linked container itself has no PTX. */
static int choose_parts(const struct fatbin *f, uint32_t arch, struct gs_buf *texts, size_t *count, struct gs_buf *note, struct gs_error *err)
{
	struct gs_error why;
	int failed = 0;
	for (uint32_t i = 0; fatbin_container(f, i).count && !failed; i++) {
		struct fatbin part = fatbin_container(f, i);
		note->len = 0;
		failed = fatbin_choose(&part, arch, &texts[*count], note, &why);
		*count += !failed;
		failed = failed == -ENOENT ? 0 : failed;
	}
	if (failed)
		return gs_fail(err, -failed, "%s", why.text);
	return *count ? 0 : fatbin_choose(f, arch, &texts[0], note, err);
}

static int choose_ptx(struct module_work *w, const struct gs_section *image, struct gs_pack *result, const char **stage,
                      struct gs_error *err)
{
	struct fatbin *f = &w->image;
	struct gs_buf note = {0};
	size_t count = 0;
	int failed = fatbin_read(image->data, image->len, f, err);
	struct gs_buf *texts = failed ? NULL : calloc(f->count + 1, sizeof *texts);
	if (!failed && !texts)
		failed = gs_fail(err, ENOMEM, "out of memory");
	if (!failed)
		failed = choose_parts(f, fatbin_arch(w->archs.count ? w->archs.items[0] : ""), texts, &count, &note, err);
	if (!failed && count == 1) {
		w->ptx = texts[0];
		texts[0] = (struct gs_buf){0};
	} else if (!failed) {
		failed = ptx_link(texts, count, &w->ptx, err);
	}
	*stage = stage_of(failed);
	if (!failed && note.len)
		gs_pack_puts(result, "note", note.data);
	for (size_t i = 0; texts && i < f->count; i++)
		gs_buf_free(&texts[i]);
	free(texts);
	gs_buf_free(&note);
	return failed;
}

/* What is not known of a variable would be wrong data: it is better not to run. */
static int check_variables(const struct ptx_module *m, struct gs_error *err)
{
	for (uint32_t i = 0; i < m->variable_count; i++) {
		const struct ptx_variable *v = &m->variables[i];
		if (v->unclear)
			return gs_fail(err, ENOTSUP, "what variable %s begins with is not understood", v->name);
		if (v->linkage == PTX_EXTERN && v->space != SPACE_shared)
			return gs_fail(err, ENOTSUP, "variable %s is not defined in the module", v->name);
		for (uint32_t r = 0; r < v->relocation_count; r++)
			if (v->relocations[r].bytes != 8)
				return gs_fail(err, ENOTSUP, "variable %s begins with a part of an address", v->name);
	}
	return 0;
}

static int write_texts(const struct lifted *l, struct gs_pack *result, struct gs_error *err)
{
	struct gs_buf host = {0}, traced = {0};
	int failed = lift_write(l, LIFT_COUNTING, &host, err);
	if (!failed)
		failed = lift_write(l, LIFT_TRACING, &traced, err);
	if (failed) {
		gs_buf_free(&host);
		gs_buf_free(&traced);
		return failed;
	}
	add_text(result, "host", &host);
	gs_pack_puts(result, "host-options", host_options);
	add_text(result, "traced", &traced);
	return 0;
}

static int expand_fragments(struct module_work *w, struct gs_error *err)
{
	struct gs_buf expanded = {0};
	if (!w->ptx.data || !memmem(w->ptx.data, w->ptx.len, "wmma.", 5))
		return 0;
	int failed = ptx_expand_fragments(w->ptx.data, w->ptx.len, &expanded, err);
	w->own = w->ptx;
	w->ptx = expanded;
	return failed;
}

/* A real GPU's driver takes long to build a large text with counters, and lifting takes as long: a library's module may have thousands of kernels. */
static int check_size(const struct module_work *w, struct gs_error *err)
{
	enum { MOST_PTX = 2 << 20 };
	if (w->ptx.len <= MOST_PTX)
		return 0;
	return gs_fail(err, EFBIG, "its module has %.1f MiB of PTX, more than %d: it would take long to build that again with counters",
	               (double)w->ptx.len / (1 << 20), MOST_PTX >> 20);
}

/* For a program that a real GPU executes. */
static int write_counting(const struct module_work *w, struct gs_pack *result, struct gs_error *err)
{
	struct gs_buf text = {0}, kernels = {0}, traced = {0}, traced_kernels = {0};
	const struct gs_buf *ptx = w->own.data ? &w->own : &w->ptx;
	int failed = count_write(w->lifted, COUNT_ROWS, ptx->data, ptx->len, &text, &kernels, err);
	if (!failed)
		failed = count_write(w->lifted, COUNT_AND_TRACE, ptx->data, ptx->len, &traced, &traced_kernels, err);
	add_text(result, "counting", &text);
	add_text(result, "counting-kernels", &kernels);
	add_text(result, "tracing", &traced);
	add_text(result, "tracing-kernels", &traced_kernels);
	return failed;
}

static int do_request(struct module_work *w, const struct gs_pack *request, struct gs_pack *result, const char **stage,
                      struct gs_error *err)
{
	*stage = "internal";
	build_options_split(gs_pack_text(request, "targets"), QUOTES_OF_SHELLS, &w->archs);
	if (w->archs.failed)
		return gs_fail(err, ENOMEM, "out of memory");
	int failed = choose_ptx(w, gs_pack_find(request, "fatbin"), result, stage, err);
	if (failed)
		return failed;
	*stage = "too-large";
	if (gs_pack_find(request, "count") && (failed = check_size(w, err)))
		return failed;
	*stage = "lift";
	failed = expand_fragments(w, err);
	if (!failed)
		failed = ptx_read(w->ptx.data ? w->ptx.data : "", w->ptx.len, &w->module, err);
	if (!failed)
		failed = check_variables(w->module, err);
	if (!failed)
		failed = lift_module(w->module, &w->lifted, err);
	if (!failed)
		failed = write_texts(w->lifted, result, err);
	if (failed)
		return failed;
	*stage = "internal";
	if (gs_pack_find(request, "count"))
		failed = write_counting(w, result, err);
	if (failed)
		return failed;
	lifted_write_tables(w->lifted, result);
	return lifted_write_targets(w->lifted, w->archs.items, w->archs.count, &w->ptx, &w->image, result, err);
}

int lifted_request(const struct gs_pack *request, struct gs_pack *result, const char **stage, struct gs_error *err)
{
	struct module_work w = {0};
	int failed = do_request(&w, request, result, stage, err);
	lift_free(w.lifted);
	ptx_free(w.module);
	gs_buf_free(&w.ptx);
	gs_buf_free(&w.own);
	words_free(&w.archs);
	fatbin_free(&w.image);
	return failed;
}
