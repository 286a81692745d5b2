/* Makes the result for a CUDA module: chooses its PTX, lifts it, and describes it. */
#include "runtime/cc/lifted.h"

#include "analysis/fatbin/fatbin.h"
#include "runtime/base/tool.h"
#include "runtime/cc/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Division and square root are exact in PTX unless it says .approx. */
static const char host_options[] = "-w -cl-fp32-correctly-rounded-divide-sqrt";

struct module_work {
	struct words archs;
	struct gs_buf ptx;
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

static int choose_ptx(struct module_work *w, const struct gs_section *image, struct gs_pack *result, const char **stage,
                      struct gs_error *err)
{
	struct fatbin f;
	struct gs_buf note = {0};
	int failed = fatbin_read(image->data, image->len, &f, err);
	if (!failed) {
		failed = fatbin_choose(&f, fatbin_arch(w->archs.count ? w->archs.items[0] : ""), &w->ptx, &note, err);
		fatbin_free(&f);
	}
	*stage = stage_of(failed);
	if (!failed && note.len)
		gs_pack_puts(result, "note", note.data);
	gs_buf_free(&note);
	return failed;
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
	*stage = "lift";
	failed = ptx_read(w->ptx.data ? w->ptx.data : "", w->ptx.len, &w->module, err);
	if (!failed)
		failed = lift_module(w->module, &w->lifted, err);
	if (!failed)
		failed = write_texts(w->lifted, result, err);
	if (failed)
		return failed;
	*stage = "internal";
	lifted_write_tables(w->lifted, result);
	return lifted_write_targets(w->lifted, w->archs.items, w->archs.count, &w->ptx, result, err);
}

int lifted_request(const struct gs_pack *request, struct gs_pack *result, const char **stage, struct gs_error *err)
{
	struct module_work w = {0};
	int failed = do_request(&w, request, result, stage, err);
	lift_free(w.lifted);
	ptx_free(w.module);
	gs_buf_free(&w.ptx);
	words_free(&w.archs);
	return failed;
}
