/* Traces of kernels in pieces (annotator/lift/pieces.c). */
#include "tests/annotator/lift/run_kernel.h"

#include "tests/lift/traced.h"

#include <stdlib.h>

enum { THREADS = 40, FEW = 5, FILLERS = 420 };

/* All threads load, the first five store, and all load again where the branch comes together. */
static void write_large(struct gs_buf *ptx)
{
	gs_buf_puts(ptx, HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<20>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n" BEGIN
	                 "mov.u32 %r6, %r0;\nsetp.lt.u32 %p1, %r0, 5;\nsetp.lt.u32 %p2, %r0, 32;\n");
	for (int n = 0; n < FILLERS; n++)
		gs_buf_puts(ptx, "add.u32 %r6, %r6, %r0;\n");
	gs_buf_puts(ptx, "ld.global.u32 %r7, [%rd1];\n@%p1 st.global.u32 [%rd1+2048], %r6;\n@%p2 bra END;\nadd.u32 %r6, %r6, 7;\nEND:\n"
	                 "ld.global.u32 %r8, [%rd0+8];\nadd.u32 %r6, %r6, %r7;\nst.global.u32 [%rd1], %r6;\nret;\n}\n");
}

/* Lane `i` accesses its own word, one that is 2048 bytes further, the third one of all, and its own again. */
static void check_lane(const struct lane_trace *lane, uint32_t i)
{
	const uint64_t first = (uint64_t)words, own = first + 4 * i, expected[] = {own, own + 2048, first + 8, own};
	uint32_t next = 0;
	for (size_t e = 0; e < lane->count; e++) {
		if (!(lane->events[e].what & TRACE_ACCESS))
			continue;
		if (next == 1 && i >= FEW)
			next++;
		CU_ASSERT_FATAL(next < GS_ARRAY_LEN(expected));
		CU_ASSERT_EQUAL(lane->events[e].what, TRACE_ACCESS + next);
		CU_ASSERT_EQUAL(lane->events[e].address, expected[next]);
		CU_ASSERT_EQUAL(lane->events[e].bytes, 4);
		next++;
	}
	CU_ASSERT_EQUAL(next, GS_ARRAY_LEN(expected));
	CU_ASSERT_FALSE(lane->cut);
}

static void large_kernels_record_what_each_lane_accesses(void)
{
	struct gs_buf ptx = {0};
	struct lift_runner *r = NULL;
	struct trace_site *sites = NULL;
	struct launch_trace *trace = NULL;
	struct gs_error err = {""};
	uint64_t address = (uint64_t)words, compared = 0;
	const void *arguments[] = {&address};
	struct lift_run own = {.kernel = "k", .block = {THREADS, 1, 1}, .grid = {1, 1, 1}, .arguments = arguments, .argument_count = 1, .chunks = 1 << 10};
	memset(words, 0, sizeof words);
	write_large(&ptx);
	CU_ASSERT_EQUAL_FATAL(runner_create(ptx.data, ptx.len, LIFT_TRACING, &r, &err), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(runner_text(r), "gs_piece_0_k"));
	CU_ASSERT_EQUAL_FATAL(runner_run(r, &own, &err), 0);
	CU_ASSERT_EQUAL_FATAL(traced_read(r, &own, &sites, &trace, &err), 0);
	CU_ASSERT_EQUAL(traced_differences(r, &own, trace, &compared), 0);
	CU_ASSERT(compared > 0);
	CU_ASSERT_EQUAL_FATAL(trace->group_count, 1);
	CU_ASSERT_EQUAL_FATAL(trace->groups[0].lane_count, THREADS);
	for (uint32_t i = 0; i < THREADS; i++)
		check_lane(&trace->groups[0].lanes[i], i);
	CHECK_WORDS(THREADS, (FILLERS + 1) * i + (i < 32 ? 0 : 7));
	trace_free(trace);
	free(sites);
	runner_run_free(&own);
	runner_free(r);
	gs_buf_free(&ptx);
}

/* Of floats in rows of 64 bytes: texel 2; the first that a filter weighs at (3, 1.5), whose middle is half a texel further; and of a surface, byte 8 of row 2. */
#define TEXTURES \
	BEGIN "mov.f32 %f4, 0f40400000;\nmov.f32 %f5, 0f3FC00000;\nmov.u32 %r1, 2;\nmov.u32 %r3, 8;\n" \
	"tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd0, {%r1}];\ntex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%f4, %f5}];\n" \
	"suld.b.2d.b32.trap {%r2}, [%rd0, {%r3, %r1}];\nsust.b.2d.b32.trap [%rd0, {%r3, %r1}], {%r2};\nret;\n"

static void textures_record_texels(void)
{
	static const struct {
		uint32_t kind;
		uint64_t offset;
	} expected[] = {{TRACE_image_read, 8}, {TRACE_image_filter, 64 + 8}, {TRACE_image_read, 128 + 8}, {TRACE_image_write, 128 + 8}};
	struct lifted_texture texture = {.address = (uint64_t)words, .pitch = 64, .width = 8, .height = 8, .depth = 1, .channels = 1, .bits = 32, .kind = 2,
	                                 .modes = {1, 1, 1}, .filters = 1, .levels = 1};
	const char *ptx = HEAD KERNEL(TEXTURES);
	struct lift_runner *r = NULL;
	struct trace_site *sites = NULL;
	struct launch_trace *trace = NULL;
	struct gs_error err = {""};
	uint64_t object = (uint64_t)&texture;
	const void *arguments[] = {&object};
	struct lift_run own = {.kernel = "k", .block = {1, 1, 1}, .grid = {1, 1, 1}, .arguments = arguments, .argument_count = 1, .chunks = 16};
	CU_ASSERT_EQUAL_FATAL(runner_create(ptx, strlen(ptx), LIFT_TRACING, &r, &err), 0);
	CU_ASSERT_EQUAL_FATAL(runner_run(r, &own, &err), 0);
	CU_ASSERT_EQUAL_FATAL(traced_read(r, &own, &sites, &trace, &err), 0);
	const struct lane_trace *lane = &trace->groups[0].lanes[0];
	uint32_t next = 0;
	for (size_t e = 0; e < lane->count; e++) {
		if (!(lane->events[e].what & TRACE_ACCESS))
			continue;
		CU_ASSERT_FATAL(next < GS_ARRAY_LEN(expected));
		CU_ASSERT_EQUAL(sites[lane->events[e].what & ~TRACE_ACCESS].kind, expected[next].kind);
		CU_ASSERT_EQUAL(lane->events[e].address, (uint64_t)words + expected[next].offset);
		CU_ASSERT_EQUAL(lane->events[e].bytes, 4);
		next++;
	}
	CU_ASSERT_EQUAL(next, GS_ARRAY_LEN(expected));
	trace_free(trace);
	free(sites);
	runner_run_free(&own);
	runner_free(r);
}

void add_single_tests(void)
{
	CU_pSuite suite = CU_add_suite("single", NULL, NULL);
	CU_add_test(suite, "large kernels record what each lane accesses", large_kernels_record_what_each_lane_accesses);
	CU_add_test(suite, "textures record texels", textures_record_texels);
}
