/* Where source blocks begin in the target's code, and which accesses of the source its accesses belong to. */
#include "tests/tests.h"

#include "tests/analysis/traced_code.h"

#include <string.h>

static struct gs_error error;
static struct traced_code traced;
static struct kernel_code *code;

static void solve(const char *body, const struct mapping_source *source)
{
	traced_code_make(&traced, "", body, source);
	code = traced.code;
}

static void finish(void)
{
	traced_code_free(&traced);
}

/* The probe of source block 1 has no instruction of its own: it is on the edge that falls through. Block 2 begins twice in the
 * loop, which was unrolled. */
static void blocks_and_edges_have_their_probes(void)
{
	solve(P(0) "@%p1 bra B;\n" P(1) "B: add.u32 %r1, %r1, 1;\n" P(2) "add.u32 %r1, %r1, 1;\n" P(3) P(2)
	      "@%p2 bra B;\n" P(9) "ret;\n",
	      &(struct mapping_source){.counter_count = 4, .entry = 0});
	CU_ASSERT_EQUAL_FATAL(code->block_count, 3);
	CU_ASSERT_EQUAL(code->probe_count, 5);
	CU_ASSERT_EQUAL_FATAL(code->blocks[0].probe_count, 1);
	CU_ASSERT_EQUAL(code->probes[code->blocks[0].first_probe], 0);
	const struct code_edge *falls = &code->edges[code->blocks[0].first_edge];
	falls += falls->taken;
	CU_ASSERT_EQUAL_FATAL(falls->probe_count, 1);
	CU_ASSERT_EQUAL(code->probes[falls->first_probe], 1);
	CU_ASSERT_EQUAL_FATAL(code->blocks[1].probe_count, 3);
	CU_ASSERT_FALSE(memcmp(&code->probes[code->blocks[1].first_probe], (uint32_t[]){2, 3, 2}, 3 * sizeof(uint32_t)));
	CU_ASSERT_EQUAL(code->blocks[2].probe_count, 0); /* there is no source block 9 */
	CU_ASSERT_EQUAL(code->code[1].probes_before, 0);
	CU_ASSERT_EQUAL(code->code[2].probes_before, 1);
	CU_ASSERT_EQUAL(code->code[3].probes_before, 3);
	finish();
}

static const struct source_site sites[] = {
	{{.block = 0, .line = 5, .column = 8, .kind = TRACE_load, .space = SPACE_global, .bytes = 4}, "k.cl"},
	{{.block = 0, .line = 5, .column = 2, .kind = TRACE_store, .space = SPACE_shared, .bytes = 4}, "k.cl"},
	{{.block = 0, .line = 6, .column = 3, .kind = TRACE_load, .space = SPACE_global, .bytes = 16}, "k.cl"},
	{{.block = 0, .line = 7, .column = 3, .kind = TRACE_load, .space = SPACE_global, .bytes = 4}, "k.cl"},
	{{.block = 0, .line = 7, .column = 9, .kind = TRACE_load, .space = SPACE_global, .bytes = 4}, "k.cl"},
	{{.block = 0, .line = 5, .column = 8, .kind = TRACE_load, .space = SPACE_global, .bytes = 4}, "other.h"},
	{{.block = 0, .line = 8, .column = 3, .kind = TRACE_atomic, .space = SPACE_generic, .bytes = 4}, "k.cl"},
};

static int32_t site_of(uint32_t instruction)
{
	return code->code[instruction].site;
}

static void accesses_are_tied_by_place_kind_and_size(void)
{
	const struct mapping_source source = {.counter_count = 1, .entry = 0, .sites = sites, .site_count = 7};
	solve(P(0) LOC(5, 8) "ld.global.f32 %f1, [%rd1];\n"     /* 0: site 0 */
	      LOC(5, 2) "st.shared.f32 [%rd2], %f1;\n"          /* 1: site 1 */
	      LOC(5, 20) "ld.global.f32 %f2, [%rd1];\n"         /* 2: the only load of the line */
	      LOC(7, 9) "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\n" /* 3: site 4 and its neighbours */
	      LOC(7, 5) "ld.global.f32 %f2, [%rd1];\n"          /* 4: one of two */
	      LOC(7, 3) "ld.shared.f32 %f2, [%rd1];\n"          /* 5: another space */
	      LOC(7, 3) "ld.global.f64 %rd3, [%rd1];\n"         /* 6: too wide */
	      LOC(8, 3) "atom.global.add.u32 %r1, [%rd1], 1;\n" /* 7: site 6 */
	      LOC(5, 8) "add.u32 %r1, %r1, 1;\n"                /* 8: no access */
	      "ret;\n", &source);
	const int32_t expected[] = {0, 1, 0, 4, -1, -1, -1, 6, -1};
	for (uint32_t i = 0; i < GS_ARRAY_LEN(expected); i++)
		CU_ASSERT_EQUAL(site_of(i), expected[i]);
	CU_ASSERT_EQUAL(code->site_count, 7);
	finish();
}

/* A site of 16 bytes was split. One base register has parts at 16, 20 and 28, which are 0, 4 and 12 bytes into the site, and its
 * next copy at 32. Another base register has only one part. It counts as the first. */
static void parts_of_an_access_have_offsets(void)
{
	const struct mapping_source source = {.counter_count = 1, .entry = 0, .sites = sites, .site_count = 7};
	solve(P(0) LOC(6, 3) "ld.global.f32 %f1, [%rd1+20];\nld.global.f32 %f2, [%rd1+16];\nld.global.f32 %f3, [%rd1+28];\n"
	      "ld.global.f32 %f4, [%rd2+4];\nld.global.f32 %f5, [%rd1+36];\nret;\n", &source);
	const uint32_t expected[] = {4, 0, 12, 0, 4};
	for (uint32_t i = 0; i < GS_ARRAY_LEN(expected); i++) {
		CU_ASSERT_EQUAL(site_of(i), 2);
		CU_ASSERT_EQUAL(code->code[i].site_offset, expected[i]);
	}
	finish();
}

/* A load of 16 bytes has the place of a use of its value. A store has no place. */
static void accesses_without_a_place_are_the_only_ones_that_fit(void)
{
	static const struct source_site some[] = {
		{{.block = 1, .line = 5, .column = 8, .kind = TRACE_load, .space = SPACE_global, .bytes = 16}, "k.cl"},
		{{.block = 0, .line = 4, .column = 8, .kind = TRACE_load, .space = SPACE_global, .bytes = 16}, "k.cl"},
		{{.block = 0, .line = 9, .column = 8, .kind = TRACE_store, .space = SPACE_global, .bytes = 4}, "k.cl"},
		{{.block = 3, .line = 9, .column = 8, .kind = TRACE_store, .space = SPACE_global, .bytes = 4}, "k.cl"},
	};
	const struct mapping_source source = {.counter_count = 4, .entry = 0, .sites = some, .site_count = 4};
	solve(P(0) LOC(4, 8) "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\nLOOP:\n" P(1) LOC(6, 3)
	      "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\n@%p1 bra LOOP;\n" P(2) LOC(0, 0)
	      "st.global.f32 [%rd2], %f1;\nret;\n", &source);
	CU_ASSERT_EQUAL(site_of(0), 1);
	CU_ASSERT_EQUAL(site_of(1), 0); /* a site of the block that begins there */
	CU_ASSERT_EQUAL(site_of(3), 2); /* a site of this kernel: source block 3 is in another kernel */
	finish();
}

static void code_keeps_probes_and_sites(void)
{
	const struct mapping_source source = {.counter_count = 1, .entry = 0, .sites = sites, .site_count = 7};
	struct gs_buf bytes = {0};
	struct kernel_code *back = NULL;
	solve(P(0) LOC(6, 3) "ld.global.f32 %f1, [%rd1+20];\nret;\n", &source);
	code_write(code, &bytes);
	CU_ASSERT_EQUAL_FATAL(code_read(bytes.data, bytes.len, &back, &error), 0);
	CU_ASSERT_EQUAL(back->code[0].site, 2);
	CU_ASSERT_EQUAL(back->site_count, 7);
	CU_ASSERT_EQUAL(back->probe_count, 1);
	CU_ASSERT_EQUAL(back->blocks[0].probe_count, 1);
	code_free(back);
	/* Indices beyond their arrays are errors. */
	code->code[0].site = 7;
	bytes.len = 0;
	code_write(code, &bytes);
	CU_ASSERT_NOT_EQUAL(code_read(bytes.data, bytes.len, &back, &error), 0);
	code->code[0].site = 2;
	code->probes[0] = 1;
	bytes.len = 0;
	code_write(code, &bytes);
	CU_ASSERT_NOT_EQUAL(code_read(bytes.data, bytes.len, &back, &error), 0);
	gs_buf_free(&bytes);
	finish();
}

void add_sites_tests(void)
{
	CU_pSuite suite = CU_add_suite("sites", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(blocks_and_edges_have_their_probes);
	TEST(accesses_are_tied_by_place_kind_and_size);
	TEST(parts_of_an_access_have_offsets);
	TEST(accesses_without_a_place_are_the_only_ones_that_fit);
	TEST(code_keeps_probes_and_sites);
#undef TEST
}
