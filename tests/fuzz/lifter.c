/*
 * Fuzz target of what gpusim-cc does with a CUDA module: it reads a fat binary or PTX, lifts it, and describes it for two targets. Any bytes
 * must be lifted or refused without a fault, and the tables must be consistent. libFuzzer's -timeout finds inputs that take too long for
 * their length.
 */
#include "runtime/cc/lifted.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what)
{
	fprintf(stderr, "lifter: %s\n", what);
	abort();
}

/* What readers of the result rely on (lift.h). */
static void check_tables(const struct lifted *l)
{
	for (uint32_t i = 0; i < l->variable_count; i++)
		if (l->variables[i].offset > l->image_bytes || l->variables[i].bytes > l->image_bytes - l->variables[i].offset)
			fail("a variable is outside of the image");
	for (uint32_t i = 0; i < l->relocation_count; i++)
		if (l->image_bytes < 8 || l->relocations[i].offset > l->image_bytes - 8)
			fail("a relocation is outside of the image");
	for (uint32_t i = 0; i < l->row_count; i++)
		for (uint32_t k = 0; k < l->rows[i].term_count; k++)
			if (l->terms[l->rows[i].first_term + k].row >= i)
				fail("a row is the sum of higher rows");
	for (uint32_t i = 0; i < l->site_count; i++)
		if (l->sites[i].row >= l->row_count)
			fail("an access has no row");
	for (uint32_t i = 0; i < l->kernel_count; i++)
		for (uint32_t k = 0; !*l->kernels[i].refused.text && k < l->kernels[i].column_count; k++)
			if (l->kernels[i].columns[k] >= l->row_count)
				fail("a column has no row");
}

static void lift(const char *text, size_t length)
{
	struct ptx_module *module;
	struct lifted *l;
	struct gs_error err;
	if (ptx_read(text, length, &module, &err))
		return;
	if (!lift_module(module, &l, &err)) {
		check_tables(l);
		lift_free(l);
	}
	ptx_free(module);
}

static void request(const void *image, size_t bytes)
{
	struct gs_pack request = {0}, result = {0};
	struct gs_error err = {""};
	const char *stage = "";
	gs_pack_puts(&request, "targets", "sm_70 sm_90");
	gs_pack_add(&request, "fatbin", image, bytes);
	if (lifted_request(&request, &result, &stage, &err) && (!*stage || !*err.text))
		fail("a request fails without a reason");
	gs_pack_free(&request);
	gs_pack_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	lift((const char *)data, size);
	if (size) /* a request has an image */
		request(data, size);
	return 0;
}
