/*
 * Ends and begins of loops in machine code, loop_ends.ptx as ptxas 13.0 assembled it for sm_90: rounds that are left are executed under predicates, the last round
 * loads nothing for the next one, a known number of rounds leaves nothing, and what stays the same is computed on a way that the PTX has no block for. Numbers of instructions were counted in a listing.
 */
#include "tests/tests.h"

#include "analysis/assembled/assembled.h"
#include "analysis/mapping/mapping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

struct loop_case {
	struct gs_buf ptx, bytes;
	struct ptx_module *module;
	struct cubin cubin;
	struct kernel_code *code;
};

static void read_part(const char *ending, struct gs_buf *out)
{
	char path[4096];
	const char *root = getenv("GPUSIM_TEST_ROOT");
	snprintf(path, sizeof path, "%s/tests/analysis/sass/loop_ends%s", root ? root : ".", ending);
	CU_ASSERT_EQUAL_FATAL(gs_read_file(path, out, &error), 0);
}

static void make_case(const char *kernel, struct loop_case *c)
{
	const struct mapping_source nothing = {.counter_count = 0};
	struct mapping *m = NULL;
	*c = (struct loop_case){.code = NULL};
	read_part(".ptx", &c->ptx);
	read_part("-sm_90.cubin", &c->bytes);
	CU_ASSERT_EQUAL_FATAL(ptx_read(c->ptx.data, c->ptx.len, &c->module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(cubin_read(c->bytes.data, c->bytes.len, &c->cubin, &error), 0);
	const struct ptx_function *f = ptx_find(c->module, kernel);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL_FATAL(mapping_create(c->module, f, &m, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_solve(m, &nothing, "sm_90:vendor:sass", &c->code, &error), 0);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(f, &c->cubin, cubin_find(&c->cubin, kernel), c->code, &error), 0);
	mapping_free(m);
}

static void free_case(struct loop_case *c)
{
	code_free(c->code);
	cubin_free(&c->cubin);
	ptx_free(c->module);
	gs_buf_free(&c->ptx);
	gs_buf_free(&c->bytes);
}

/* Both loads have the line of the one that goes to the higher address. */
static void parts_of_a_load_may_go_down(void)
{
	struct loop_case c;
	uint32_t loads = 0, origins = 0;
	make_case("parted", &c);
	for (uint32_t i = 0; i < c.code->machine_count; i++)
		if (c.code->machine[i].class == CODE_load) {
			loads++;
			origins += c.code->machine_origins[i];
		}
	CU_ASSERT_EQUAL(loads, 2);
	CU_ASSERT_EQUAL(origins, 5 + 6); /* instructions of the PTX, counted from 0 */
	free_case(&c);
}

/* 19 instructions come before the rare case of a reciprocal root, which is a call, and 3 after it. */
static void reciprocal_roots_have_rare_calls(void)
{
	struct loop_case c;
	make_case("root", &c);
	CU_ASSERT_EQUAL(c.code->machine_count, 22);
	free_case(&c);
}

void add_loop_ends_tests(void)
{
	CU_pSuite suite = CU_add_suite("loop_ends", NULL, NULL);
	CU_add_test(suite, "parts of a load may go down", parts_of_a_load_may_go_down);
	CU_add_test(suite, "reciprocal roots have rare calls", reciprocal_roots_have_rare_calls);
}
