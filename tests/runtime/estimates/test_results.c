/* Estimates as bytes, and in the cache on disk. */
#include "tests/tests.h"

#include "runtime/config/cache.h"
#include "runtime/estimates/kept/estimate_bytes.h"
#include "runtime/estimates/kept/results.h"
#include "runtime/model/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTIONS = 3, FILES = 2 };

/* Every byte is some value that an estimate may have: a member that is not written comes back as 0, and is found. */
static void fill_estimate(struct estimate *e, uint32_t *random)
{
	static const struct estimate known = {.model = "full",
	                                      .fixed_point = {.start = "probabilistic", .model = "occupancy", .count = 3, .converged = true},
	                                      .iterations = 2, .warp_instructions = 77, .warps = 5, .machine_instructions = 99,
	                                      .sampled = true, .flags = 5, .occupancy = {1, 2, 0.5, OCCUPANCY_GRID, {1, 2, 3, 4}},
	                                      .needed = {{1, 2, 3, 4, 5, 6}, 6}};
	memcpy(e, &known, sizeof *e); /* with the bytes between members, which are 0; an assignment may leave them as they are */
	e->limiter = cycle_kind_name(CYCLES_dram);
	e->thread_instructions = 1 + next_random(random);
	e->cycles = next_random(random);
	e->time_ns = 2;
	e->low_ns = 1.5;
	e->high_ns = 3.25;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		e->by[k] = next_random(random);
	for (int k = 0; k < MACHINE_PIPE_COUNT; k++)
		e->by_pipe[k] = 1.0 / (k + 2);
	for (int i = 0; i < FIXED_POINT_HISTORY; i++)
		e->fixed_point.history[i] = i + 0.5;
	for (int i = 0; i < ESTIMATE_MAX_LINES; i++) {
		e->divergence[i].line = (uint32_t)i + 1;
		e->divergence[i].file = 1;
		e->divergence[i].executions = 10 + i;
		e->divergence[i].divergent = 1 + i;
	}
	e->register_bank_conflicts = 4;
	e->simulated_fraction = 0.25;
	e->lane_efficiency = 0.75;
	e->spread = 0.125;
	e->memory = (struct memory_statistics){NAN, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
	e->accesses = (struct access_counts){1, NAN, 2, 3, 4, 5, 6, 7, 8};
	for (int u = 0; u < RESOURCE_COUNT; u++)
		e->unit_cycles[u] = u + 0.25;
}

static const struct instruction_count instructions[INSTRUCTIONS] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {11, 12, 13, 14, 15}};

/* NAN is the same bytes, too. Names are compared as text: two files may have a literal at two addresses. */
static bool same(const struct estimate *a, const struct estimate *b)
{
	struct estimate named;
	memcpy(&named, b, sizeof named);
	if (strcmp(a->model, b->model) || strcmp(a->fixed_point.start, b->fixed_point.start) || strcmp(a->fixed_point.model, b->fixed_point.model))
		return false;
	named.model = a->model;
	named.fixed_point.start = a->fixed_point.start;
	named.fixed_point.model = a->fixed_point.model;
	return !memcmp(a, &named, sizeof *a);
}

static void an_estimate_comes_back_as_it_was(void)
{
	struct estimate e, back;
	struct instruction_count counts[INSTRUCTIONS];
	struct gs_buf bytes = {0};
	uint32_t random = 1;
	fill_estimate(&e, &random);
	CU_ASSERT(estimate_write(&e, instructions, INSTRUCTIONS, &bytes));
	CU_ASSERT(estimate_read(bytes.data, bytes.len, FILES, &back, counts, INSTRUCTIONS));
	CU_ASSERT(same(&e, &back));
	CU_ASSERT(!memcmp(counts, instructions, sizeof counts));
	CU_ASSERT(estimate_read(bytes.data, bytes.len, FILES, &back, NULL, INSTRUCTIONS));
	/* Another kernel has more instructions, or fewer files. */
	CU_ASSERT_FALSE(estimate_read(bytes.data, bytes.len, FILES, &back, counts, INSTRUCTIONS - 1));
	CU_ASSERT_FALSE(estimate_read(bytes.data, bytes.len, 1, &back, counts, INSTRUCTIONS));
	gs_buf_free(&bytes);
	e.limiter = "weather"; /* no name that would come back */
	CU_ASSERT_FALSE(estimate_write(&e, NULL, 0, &bytes));
	CU_ASSERT_EQUAL(bytes.len, 0);
	gs_buf_free(&bytes);
}

/* An estimate without its instructions is of no use to a report with lines. */
static void instructions_that_are_wanted_must_be_there(void)
{
	struct estimate e, back;
	struct instruction_count counts[INSTRUCTIONS];
	struct gs_buf bytes = {0};
	uint32_t random = 2;
	fill_estimate(&e, &random);
	CU_ASSERT(estimate_write(&e, NULL, INSTRUCTIONS, &bytes));
	CU_ASSERT(estimate_read(bytes.data, bytes.len, FILES, &back, NULL, INSTRUCTIONS));
	CU_ASSERT_FALSE(estimate_read(bytes.data, bytes.len, FILES, &back, counts, INSTRUCTIONS));
	gs_buf_free(&bytes);
}

/* Whatever the bytes are, what is read can be used: names are texts, numbers are finite, counts and indices are in bounds. */
static void garbage_is_refused_or_harmless(void)
{
	struct estimate e, back;
	struct instruction_count counts[INSTRUCTIONS];
	struct gs_buf bytes = {0};
	uint32_t random = 3;
	size_t failures = 0, refused = 0;
	fill_estimate(&e, &random);
	estimate_write(&e, instructions, INSTRUCTIONS, &bytes);
	for (size_t cut = 0; cut < bytes.len; cut++)
		failures += estimate_read(bytes.data, cut, FILES, &back, counts, INSTRUCTIONS);
	for (int i = 0; i < 20000; i++) {
		char *copy = malloc(bytes.len);
		memcpy(copy, bytes.data, bytes.len);
		for (int j = 0; j < 4; j++)
			copy[next_random(&random) % bytes.len] = (char)next_random(&random);
		if (!estimate_read(copy, bytes.len, FILES, &back, counts, INSTRUCTIONS)) {
			refused++;
		} else {
			failures += !strlen(back.model) || !strlen(back.limiter) || !isfinite(back.time_ns) || back.needed.count > MOST_NEEDED ||
			            back.occupancy.limit > OCCUPANCY_NONE || back.flags >> FLAG_COUNT;
			for (int j = 0; j < ESTIMATE_MAX_LINES; j++)
				failures += back.divergence[j].divergent != 0 && back.divergence[j].file >= FILES;
		}
		free(copy);
	}
	CU_ASSERT_EQUAL(failures, 0);
	CU_ASSERT(refused > 0);
	gs_buf_free(&bytes);
}

/* ---- the cache ---- */

static struct simulation simulation = SIMULATION_INIT;
static const char key[33] = "0123456789abcdef0123456789abcdef", other[33] = "fedcba9876543210fedcba9876543210";

static struct results *results_with(double clock_mhz, const struct kernel_code *code)
{
	struct artifact_kernel k = {.code = {(struct kernel_code *)code}};
	struct launch_record l = {.facts = &k};
	simulation.targets[0].gpu.clock_mhz = clock_mhz;
	simulation.target_count = 1;
	return results_of(&simulation, &l, 0);
}

static void results_are_of_one_kernel_gpu_and_options(void)
{
	uint32_t files[FILES] = {0, 0};
	struct kernel_code code = {.file_count = FILES, .files = files}, longer = {.file_count = FILES, .files = files, .registers = 9};
	struct estimate e, back;
	uint32_t random = 4;
	cache_setup(test_folder(), 1 << 20);
	fill_estimate(&e, &random);
	struct results *r = results_with(1000, &code);
	CU_ASSERT_PTR_NOT_NULL_FATAL(r);
	CU_ASSERT_PTR_EQUAL(results_with(1000, &code), r);
	CU_ASSERT_FALSE(results_find(r, key, &code, &back, NULL));
	results_keep(r, key, &code, &e, NULL);
	CU_ASSERT(results_find(r, key, &code, &back, NULL));
	CU_ASSERT(same(&e, &back));
	CU_ASSERT_FALSE(results_find(r, other, &code, &back, NULL));
	CU_ASSERT_FALSE(results_find(results_with(1001, &code), key, &code, &back, NULL));
	CU_ASSERT_FALSE(results_find(results_with(1000, &longer), key, &code, &back, NULL));
	simulation.model.exact = true;
	CU_ASSERT_FALSE(results_find(results_with(1000, &code), key, &code, &back, NULL));
	simulation.model.exact = false;
	CU_ASSERT_EQUAL(cache_usage().files, 0); /* nothing is written before the end */
	results_write();
	CU_ASSERT_EQUAL(cache_usage().files, 1);
	results_write();
	cache_setup("", 0);
	CU_ASSERT_PTR_NULL(results_with(1000, &code));
}

void add_results_tests(void)
{
	CU_pSuite s = CU_add_suite("results", NULL, NULL);
	CU_add_test(s, "an estimate comes back as it was", an_estimate_comes_back_as_it_was);
	CU_add_test(s, "instructions that are wanted must be there", instructions_that_are_wanted_must_be_there);
	CU_add_test(s, "garbage is refused, or harmless", garbage_is_refused_or_harmless);
	CU_add_test(s, "results are of one kernel, GPU and options", results_are_of_one_kernel_gpu_and_options);
}
