/* The graphs as DOT files; see explain.h. */
#include "runtime/cmd/explain/explain.h"

#include "models/code/costs.h"

#include <errno.h>
#include <stdlib.h>

static int write_dot(const char *folder, const char *kernel, const char *part, struct gs_buf *text,
		     struct gs_error *err)
{
	struct gs_buf path = {0};
	gs_buf_printf(&path, "%s/%s%s.dot", folder, kernel, part);
	int result = path.failed || text->failed ? gs_fail(err, ENOMEM, "out of memory")
						 : gs_write_file(path.data, text->data, text->len, err);
	gs_buf_free(&path);
	gs_buf_free(text);
	return result;
}

static int write_pipeline(const struct explain *e, const struct explain_kernel *k, uint32_t block, const char *folder,
                          struct gs_error *err)
{
	struct gs_buf text = {0}, part = {0};
	gs_buf_printf(&part, ".block-%u", block);
	int result =
	    part.failed || pipeline_dot(&e->gpu, k->code, block, &text) ? gs_fail(err, ENOMEM, "out of memory") : 0;
	if (!result)
		result = write_dot(folder, k->name, part.data, &text, err);
	gs_buf_free(&part);
	return result;
}

int explain_dot(const struct explain *e, const char *folder, struct gs_error *err)
{
	int result = gs_make_dirs(folder, 0777, err);
	for (size_t i = 0; i < e->kernel_count && !result; i++) {
		const struct explain_kernel *k = &e->kernels[i];
		struct gs_buf text = {0};
		graph_dot(k->graph, true, &text);
		result = write_dot(folder, k->name, "", &text, err);
		for (uint32_t b = 0; b < k->code->block_count && !result; b++)
			result = write_pipeline(e, k, b, folder, err);
	}
	return result;
}
