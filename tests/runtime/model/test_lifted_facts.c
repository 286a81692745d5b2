/* What gpusim-cc says about a CUDA module: good tables, and damaged ones. */
#include "tests/tests.h"

#include "runtime/model/lifted_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

static const char good[] = "ptx 8.5 sm_90a\n"
                           "kernel add 28 4096 48 128 256 1 1 0 0 0 pbfa 0:8:8 8:16:4 24:4:4\n"
                           "cluster add 2 1 0\n"
                           "refused other line 7: wgmma.fence: what it does is not known here\n"
                           "kernel empty 0 0 0 0 0 0 0 0 0 0 -\n"
                           "variable table const 0 16 4\n"
                           "variable pointer global 16 16 512\n"
                           "relocation 16 4 data\nrelocation 24 3 function\n";

static int read_tables(const char *text, struct lifted_facts **out)
{
	struct gs_pack result = {0};
	gs_pack_puts(&result, "lifted", text);
	gs_pack_add(&result, "image", "0123456789abcdef\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
	int code = lifted_facts_read(&result, out, &error);
	gs_pack_free(&result);
	return code;
}

static void kernels_have_sizes_and_parameters(void)
{
	struct lifted_facts *f;
	CU_ASSERT_EQUAL_FATAL(read_tables(good, &f), 0);
	CU_ASSERT_EQUAL(f->ptx_version, 85);
	CU_ASSERT_EQUAL(f->ptx_arch, 90);
	CU_ASSERT_STRING_EQUAL(f->ptx_target, "sm_90a");
	CU_ASSERT_EQUAL_FATAL(f->kernel_count, 3);
	const struct lifted_kernel *k = lifted_facts_kernel(f, "add");
	CU_ASSERT_PTR_NULL(k->refused);
	CU_ASSERT_TRUE(k->sizes.parameter_bytes == 28 && k->sizes.shared_bytes == 4096 && k->sizes.local_bytes == 48 &&
	               k->sizes.warp_bytes == 128);
	CU_ASSERT_TRUE(k->maxntid[0] == 256 && k->maxntid[2] == 1 && k->reqntid[0] == 0);
	CU_ASSERT_TRUE(k->prints && k->barriers && k->fetches && k->meets_groups && !k->waits);
	CU_ASSERT_TRUE(k->cluster[0] == 2 && k->cluster[1] == 1 && k->cluster[2] == 1);
	CU_ASSERT_EQUAL_FATAL(k->parameter_count, 3);
	CU_ASSERT_TRUE(k->parameters[1].offset == 8 && k->parameters[1].bytes == 16 && k->parameters[1].align == 4);
	CU_ASSERT_STRING_EQUAL(lifted_facts_kernel(f, "other")->refused, "line 7: wgmma.fence: what it does is not known here");
	CU_ASSERT_EQUAL(lifted_facts_kernel(f, "empty")->parameter_count, 0);
	CU_ASSERT_PTR_NULL(lifted_facts_kernel(f, "nobody"));
	lifted_facts_free(f);
}

static void images_are_placed_with_addresses(void)
{
	struct lifted_facts *f;
	char to[32];
	uint64_t word;
	CU_ASSERT_EQUAL_FATAL(read_tables(good, &f), 0);
	CU_ASSERT_EQUAL(f->image_align, 512);
	CU_ASSERT_TRUE(lifted_facts_variable(f, "table")->constant && !lifted_facts_variable(f, "pointer")->constant);
	CU_ASSERT_EQUAL(lifted_facts_variable(f, "pointer")->offset, 16);
	lifted_facts_place(f, to);
	CU_ASSERT_EQUAL(memcmp(to, "0123456789abcdef", 16), 0);
	memcpy(&word, to + 16, sizeof word);
	CU_ASSERT_EQUAL(word, (uint64_t)(uintptr_t)to + 4);
	memcpy(&word, to + 24, sizeof word);
	CU_ASSERT_EQUAL(word, 3);
	lifted_facts_free(f);
}

static void damaged_tables_are_refused(void)
{
	static const char *const wrong[] = {
	    "nonsense\n",
	    "kernel\n",
	    "cluster k 2 1 1\n",                        /* of no kernel */
	    "kernel k 8 0 0 0 0 0 0 0 0 0\n",           /* no flags */
	    "kernel k 8 0 0 0 0 0 0 0 0 0 - 4:8:8\n",   /* beyond the parameters */
	    "kernel k 16 0 0 0 0 0 0 0 0 0 - 4:8:8 8:8:8\n", /* they overlap */
	    "kernel k 8 0 0 0 0 0 0 0 0 0 - 0:8:3\n",   /* no alignment */
	    "kernel k 8 0 8 0 0 0 0 0 0 0 -\n",         /* local memory is a multiple of 16 */
	    "kernel k 99999999 0 0 0 0 0 0 0 0 0 -\n",
	    "kernel k -8 0 0 0 0 0 0 0 0 0 -\n",
	    "variable v global 30 4 4\n",               /* beyond the image */
	    "variable v global 18446744073709551615 4 4\n",
	    "variable v shared 0 4 4\n",
	    "variable v global 0 4\n",
	    "relocation 25 0 data\n",
	    "relocation 8 0\n",
	    "refused\n",
	    "ptx x y\n",
	};
	struct lifted_facts *f;
	for (size_t i = 0; i < GS_ARRAY_LEN(wrong); i++)
		CU_ASSERT_EQUAL(read_tables(wrong[i], &f), -EINVAL);
	struct gs_pack none = {0};
	CU_ASSERT_EQUAL(lifted_facts_read(&none, &f, &error), -ENOENT);
}

/* Every character is changed in turn. Whatever is read then must be consistent. */
static void every_changed_character_is_survived(void)
{
	static const char others[] = "0 \n9:-xz";
	for (size_t at = 0; at + 1 < sizeof good; at++)
		for (size_t o = 0; o + 1 < sizeof others; o++) {
			char text[sizeof good], to[32];
			struct lifted_facts *f;
			memcpy(text, good, sizeof text);
			text[at] = others[o];
			if (read_tables(text, &f))
				continue;
			lifted_facts_place(f, to);
			for (uint32_t v = 0; v < f->variable_count; v++)
				CU_ASSERT_TRUE(f->variables[v].offset + f->variables[v].bytes <= sizeof to);
			lifted_facts_free(f);
		}
}

void add_lifted_facts_tests(void)
{
	CU_pSuite suite = CU_add_suite("lifted_facts", NULL, NULL);
	CU_ADD_TEST(suite, kernels_have_sizes_and_parameters);
	CU_ADD_TEST(suite, images_are_placed_with_addresses);
	CU_ADD_TEST(suite, damaged_tables_are_refused);
	CU_ADD_TEST(suite, every_changed_character_is_survived);
}
