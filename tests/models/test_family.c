/* A launch among others of its kernel: its features from counters, and its estimate from those of two others. */
#include "tests/tests.h"

#include "models/accesses/image.h"
#include "models/family.h"
#include "tests/models/code_builder.h"

#include <math.h>
#include <string.h>

/* Block 0 has two instructions, and block 1 three. Each block's edge has the count of its source block. */
static struct built_code two_blocks;
static struct code_term terms[2] = {{0, 1}, {1, 1}};

static void make_code(void)
{
	build_start(&two_blocks);
	build(&two_blocks, CODE_int, "1 <- 2");
	build(&two_blocks, CODE_int, "2 <- 1");
	build_block(&two_blocks);
	build(&two_blocks, CODE_fp32, "3 <- 1");
	build(&two_blocks, CODE_fp32, "3 <- 3");
	build_memory(&two_blocks, CODE_load, SPACE_global, "3 <- 3");
	two_blocks.code.terms = terms;
	two_blocks.code.term_count = two_blocks.code.counter_count = 2;
	for (uint32_t i = 0; i < 2; i++) {
		two_blocks.edges[i].first_term = i;
		two_blocks.edges[i].term_count = two_blocks.edges[i].denominator = 1;
	}
}

/* 200 groups of 48 work-items: 2 warps each, and on 15 SMs 14 groups at most. Block 0 was executed 9600 times, block 1 1000 times: 2 *
 * 9600 + 3 * 1000 instructions. */
static void test_features(void)
{
	struct gpu gpu = test_gpu("gtx480", "");
	uint64_t counts[2] = {9600, 1000};
	uint16_t accesses[5] = {1, 1, 1, 1, 1};
	struct launch_profile launch = {.global = {9600, 1, 1}, .local = {48, 1, 1}, .groups = {200, 1, 1}, .code = &two_blocks.code,
	                                .counts = counts, .scale = 1, .accesses = accesses, .unknown_accesses = 1};
	const struct trace_glance untraced = {0}, traced = {.sectors = 0.125}, farther = {.sectors = 0.125, .reach = 3 << 8};
	struct family_features x, y;
	make_code();
	CU_ASSERT_EQUAL_FATAL(launch_family(&gpu, &launch, untraced, &x), 0);
	CU_ASSERT_EQUAL(x.size, 22200);
	CU_ASSERT_EQUAL(x.warps, 400);
	CU_ASSERT_EQUAL(x.steps, 14);
	CU_ASSERT_EQUAL(x.parts[0], 19200);
	CU_ASSERT_EQUAL(x.parts[1], 3000);
	CU_ASSERT_EQUAL(x.parts[2], 0);
	launch.groups[0] = 10;
	counts[0] = 480;
	launch_family(&gpu, &launch, untraced, &y);
	CU_ASSERT_EQUAL(y.kind, x.kind);
	CU_ASSERT_EQUAL(y.steps, 1);
	launch_family(&gpu, &launch, traced, &y); /* it is traced */
	CU_ASSERT_NOT_EQUAL(y.kind, x.kind);
	CU_ASSERT_EQUAL(y.sectors, 0.125);
	launch_family(&gpu, &launch, farther, &x); /* with as many sectors of more memory */
	CU_ASSERT_NOT_EQUAL(y.kind, x.kind);
	launch_family(&gpu, &launch, untraced, &x);
	accesses[3] = 4;
	launch_family(&gpu, &launch, untraced, &y);
	CU_ASSERT_NOT_EQUAL(y.kind, x.kind);
	accesses[3] = 1;
	struct image_shape shape = {.width = 8, .height = 8, .depth = 1, .texel_bytes = 4, .sampler = IMAGE_NEAREST};
	uint64_t kinds[3], images[3];
	images[0] = image_shape_pack(&shape);
	shape.width = 9; /* it may be larger */
	images[1] = image_shape_pack(&shape);
	shape.sampler = IMAGE_LINEAR;
	images[2] = image_shape_pack(&shape);
	for (int i = 0; i < 3; i++) {
		launch.argument_bytes = &images[i];
		launch.argument_count = 1;
		launch_family(&gpu, &launch, untraced, &y);
		kinds[i] = y.kind;
	}
	CU_ASSERT(kinds[0] == kinds[1] && kinds[1] != kinds[2] && kinds[0] != x.kind);
	launch.argument_bytes = NULL;
	launch.argument_count = 0;
	/* All addresses are known: it does not matter whether it is traced, and the load falls into three accesses. */
	launch.unknown_accesses = 0;
	accesses[4] = 3;
	launch_family(&gpu, &launch, untraced, &x);
	launch_family(&gpu, &launch, traced, &y);
	CU_ASSERT_EQUAL(y.kind, x.kind);
	CU_ASSERT_EQUAL(x.sectors, 3);
	CU_ASSERT_EQUAL(y.sectors, 3);
	launch.local_bytes = 4;
	launch_family(&gpu, &launch, untraced, &y);
	CU_ASSERT_NOT_EQUAL(y.kind, x.kind);
}

static struct estimate simulated(double issue, double dram)
{
	struct estimate e = {.model = "full", .simulated_fraction = 1, .lane_efficiency = 0.5, .warp_instructions = (uint64_t)issue * 10,
	                     .machine_instructions = (uint64_t)issue * 8, .register_bank_conflicts = issue / 10};
	e.by[CYCLES_issue] = issue;
	e.by[CYCLES_dram] = dram;
	e.by[CYCLES_launch] = 1000;
	e.memory = (struct memory_statistics){.requests = issue, .l1_hit = 0.2, .l2_hit = NAN, .dram_read_bytes = dram * 100};
	e.fixed_point = (struct fixed_point){.history = {issue}, .count = 1};
	return e;
}

/* A quarter of the way from a to b: 0.75 a + 0.25 b. The overhead of a launch, 1000 cycles, is in each and in none of the sum. */
static void test_between(void)
{
	struct estimate a = simulated(1000, 200), b = simulated(2000, 600), e = {.thread_instructions = 77};
	struct instruction_count of_a[2] = {{9, 10, 20, 8, 32}, {0, 0, 0, 0, 0}}, of_b[2] = {{9, 30, 40, 16, 48}, {0, 4, 8, 0, 0}}, out[2] = {{5, 0, 0, 0, 0}, {0, 0, 0, 0, 0}};
	struct family_between between = {&a, &b, of_a, of_b, 125, 100, 200, 0.25, 0.03, 1};
	a.spread = 0.04;
	b.memory.l1_hit = 0.6;
	a.memory.l2_read_bytes = 1000; /* and 3000 of b */
	b.memory.l2_read_bytes = 3000;
	b.accesses.shared_requests = 20;
	a.unit_cycles[RESOURCE_int] = 4;
	b.memory.l2_hit = 0.5;
	flag_add(&b.flags, FLAG_addresses_unknown);
	estimate_between(&between, 1000, 0, &e);
	CU_ASSERT_EQUAL(e.by[CYCLES_issue], 1250);
	CU_ASSERT_EQUAL(e.by[CYCLES_dram], 300);
	CU_ASSERT_EQUAL(e.by[CYCLES_launch], 0);
	CU_ASSERT_EQUAL(e.warp_instructions, 12500);
	CU_ASSERT_EQUAL(e.machine_instructions, 10000);
	CU_ASSERT_EQUAL(e.register_bank_conflicts, 125);
	CU_ASSERT_EQUAL(e.memory.requests, 1250);
	CU_ASSERT_EQUAL(e.memory.dram_read_bytes, 30000);
	CU_ASSERT_EQUAL(e.memory.l2_read_bytes, 1500);
	CU_ASSERT_EQUAL(e.accesses.shared_requests, 5);
	CU_ASSERT_EQUAL(e.unit_cycles[RESOURCE_int], 3);
	CU_ASSERT_DOUBLE_EQUAL(e.memory.l1_hit, 0.3, 1e-12);
	CU_ASSERT_EQUAL(e.memory.l2_hit, 0.5); /* a's is not known */
	CU_ASSERT_EQUAL(e.fixed_point.history[0], 1250); /* of a, which is nearer, times 125 / 100 */
	CU_ASSERT_DOUBLE_EQUAL(e.spread, 0.05, 1e-12); /* of 3 and 4 */
	CU_ASSERT_EQUAL(e.thread_instructions, 77);
	CU_ASSERT_EQUAL(e.simulated_fraction, 0);
	CU_ASSERT(e.sampled);
	CU_ASSERT_EQUAL(e.flags, ((flag_set)1 << FLAG_sampled | (flag_set)1 << FLAG_addresses_unknown));
	instructions_between(&between, out, 2);
	CU_ASSERT(out[0].threads == 5 && out[0].warps == 15 && out[0].transactions == 25);
	CU_ASSERT(out[0].requests == 10 && out[0].sectors == 36);
	CU_ASSERT(out[1].threads == 0 && out[1].warps == 1 && out[1].transactions == 2);
}

/* Half as long again as launches near it, 1000 cycles of overhead and all: 1.5 * (1000 + 1000 + 200) - 1000 for what 1200 cycles were. */
static void test_times(void)
{
	struct estimate a = simulated(1000, 200), e = {0};
	struct family_between between = {&a, &a, NULL, NULL, 100, 100, 100, 0, 0, 1.5};
	estimate_between(&between, 1000, 0, &e);
	CU_ASSERT_DOUBLE_EQUAL(e.by[CYCLES_issue], 1000 * 2300 / 1200.0, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.by[CYCLES_dram], 200 * 2300 / 1200.0, 1e-9);
	CU_ASSERT_EQUAL(e.warp_instructions, 10000);
}

/* Near one launch: 1.02 times as much of everything, and the same rates. */
static void test_near(void)
{
	struct estimate a = simulated(1000, 200), e = {0};
	struct family_between between = {&a, &a, NULL, NULL, 102, 100, 100, 0, 0.02, 1};
	estimate_between(&between, 1000, 0.04, &e);
	CU_ASSERT_DOUBLE_EQUAL(e.by[CYCLES_issue], 1020, 1e-9);
	CU_ASSERT_EQUAL(e.by[CYCLES_launch], 0);
	CU_ASSERT_EQUAL(e.warp_instructions, 10200);
	CU_ASSERT_DOUBLE_EQUAL(e.memory.requests, 1020, 1e-9);
	CU_ASSERT_EQUAL(e.memory.l1_hit, 0.2);
	CU_ASSERT(isnan(e.memory.l2_hit));
	CU_ASSERT_EQUAL(e.lane_efficiency, 0.5);
	CU_ASSERT_DOUBLE_EQUAL(e.spread, hypot(0.04, 0.02), 1e-12);
}

/* The launch's own counters, and the overhead of one launch. */
static void test_model_between(void)
{
	struct gpu gpu = test_gpu("gtx480", "");
	uint64_t counts[2] = {9600, 1000};
	struct launch_profile launch = {.global = {9600, 1, 1}, .local = {48, 1, 1}, .groups = {200, 1, 1}, .code = &two_blocks.code,
	                                .counts = counts, .scale = 1};
	double overhead = gpu.launch_overhead_ns * gpu.clock_mhz / 1000;
	struct estimate a = simulated(1000, 200), b = simulated(2000, 600), e;
	struct family_between between = {&a, &b, NULL, NULL, 22200, 20000, 24400, 0.5, 0.01, 1};
	struct model_options options = {.kind = MODEL_FULL};
	struct gs_error err;
	make_code();
	a.by[CYCLES_launch] = b.by[CYCLES_launch] = overhead;
	CU_ASSERT_EQUAL_FATAL(model_between(&gpu, &launch, &options, &between, &e, &err), 0);
	CU_ASSERT_EQUAL(e.thread_instructions, 22200);
	CU_ASSERT_EQUAL(e.warps, 400);
	CU_ASSERT(e.occupancy.blocks_per_sm > 0);
	CU_ASSERT_DOUBLE_EQUAL(e.cycles, 1500 + 400 + overhead, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(e.time_ns, e.cycles * 1000 / gpu.clock_mhz, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(e.low_ns, e.time_ns * 0.99, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(e.high_ns, e.time_ns * 1.01, 1e-6);
}

/* 3 us and 1 us at 700 MHz: 2,100 and 700 cycles. */
static void test_overhead_by_api(void)
{
	struct gpu gpu = test_gpu("gtx480", "launch_overhead_ns=3000,cuda_launch_overhead_ns=1000,clock_mhz=700");
	uint64_t counts[2] = {9600, 1000};
	struct launch_profile launch = {.global = {9600, 1, 1}, .local = {48, 1, 1}, .groups = {200, 1, 1}, .code = &two_blocks.code,
	                                .counts = counts, .scale = 1};
	struct estimate a = simulated(1000, 200), opencl, cuda;
	struct family_between between = {&a, &a, NULL, NULL, 22200, 22200, 22200, 0.5, 0.01, 1};
	struct model_options options = {.kind = MODEL_FULL};
	struct gs_error err;
	make_code();
	a.by[CYCLES_launch] = 0;
	CU_ASSERT_EQUAL_FATAL(model_between(&gpu, &launch, &options, &between, &opencl, &err), 0);
	launch.cuda = true;
	CU_ASSERT_EQUAL_FATAL(model_between(&gpu, &launch, &options, &between, &cuda, &err), 0);
	CU_ASSERT_DOUBLE_EQUAL(opencl.by[CYCLES_launch], 2100, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(cuda.by[CYCLES_launch], 700, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(opencl.time_ns - cuda.time_ns, 2000, 1e-6);
	/* Another 1 us where several groups access global memory. */
	gpu.launch_end_ns = 1000;
	for (int n = 0; n < 3; n++) {
		launch.groups[0] = n == 1 ? 1 : 200;
		two_blocks.code.code[4].space = n == 2 ? SPACE_shared : SPACE_global; /* its only access */
		CU_ASSERT_EQUAL_FATAL(model_between(&gpu, &launch, &options, &between, &cuda, &err), 0);
		CU_ASSERT_DOUBLE_EQUAL(cuda.by[CYCLES_launch], n ? 700 : 1400, 1e-6);
	}
}

/* 4096 work-items are 128 warps. Where the longest does 100 and all together 512, it does 25 times the mean; with 200 of 8192, about 3 times. */
static void test_unseen(void)
{
	struct launch_profile few = {.global = {64, 64, 1}, .together = 512, .longest = 100}, many = few, unknown = {.global = {64, 64, 1}};
	many.together = 8192;
	many.longest = 200;
	many.other_trace = many.longest_missed = unknown.other_trace = true;
	CU_ASSERT_EQUAL(unseen_spread(&few), 0); /* its own trace has them */
	CU_ASSERT_EQUAL(unseen_spread(&many), 0);
	CU_ASSERT_EQUAL(unseen_spread(&unknown), 0);
	few.other_trace = true;
	CU_ASSERT_EQUAL(unseen_spread(&few), 0.3);
	few.longest_missed = true;
	CU_ASSERT_EQUAL(unseen_spread(&few), 0.5);
	few.other_trace = false;
	CU_ASSERT_EQUAL(unseen_spread(&few), 0.5);
}

void add_family_tests(void)
{
	CU_pSuite suite = CU_add_suite("family", NULL, NULL);
	CU_add_test(suite, "features follow from counters", test_features);
	CU_add_test(suite, "an estimate between two others", test_between);
	CU_add_test(suite, "an estimate near another", test_near);
	CU_add_test(suite, "as long as the mean of those near it", test_times);
	CU_add_test(suite, "a launch that is not simulated has its own counts", test_model_between);
	CU_add_test(suite, "the overhead of a launch depends on the program's API", test_overhead_by_api);
	CU_add_test(suite, "bands know of long work-items that no trace has", test_unseen);
}
