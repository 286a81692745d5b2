/* See traced_code.h. */
#include "tests/analysis/traced_code.h"
#include "tests/tests.h"

void traced_code_make(struct traced_code *t, const char *functions, const char *body, const struct mapping_source *source)
{
	struct gs_buf text = {0};
	struct gs_error error = {""};
	*t = (struct traced_code){0};
	gs_buf_printf(&text,
	              ".version 3.2\n.target sm_20\n.address_size 64\n.file 1 \"/tmp/x/k.cl\"\n%s\n.visible .entry k()\n{\n"
	              ".reg .pred %%p<9>;\n.reg .b32 %%r<9>;\n.reg .b64 %%rd<9>;\n.reg .f32 %%f<9>;\n%s}\n", functions, body);
	CU_ASSERT_EQUAL_FATAL(ptx_read(text.data, text.len, &t->module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_create(t->module, ptx_find(t->module, "k"), &t->mapping, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_solve(t->mapping, source, "sm_20", &t->code, &error), 0);
	gs_buf_free(&text);
}

void traced_code_free(struct traced_code *t)
{
	mapping_free(t->mapping);
	ptx_free(t->module);
	code_free(t->code);
}
