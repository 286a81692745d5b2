/* The suites of the unit tests; each test file adds its own. */
#ifndef GPUSIM_TESTS_TESTS_H
#define GPUSIM_TESTS_TESTS_H

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <stdint.h>

/* Every suite, once: tests/main.c runs them in this order. */
#define TEST_SUITES(X) \
	X(crew) X(results) X(notes) X(allot) X(outlook) X(budget) X(uncounted) X(packed_counters) \
	X(boxes) X(trace_choice) X(traces_kept) X(proof) X(trace_native) X(trace_columns) X(matrices) \
	X(sites) X(coalesce) X(images) X(trace_walk) X(trace_warps) X(gaps) X(fit) X(lists) X(common) X(spread) X(plan) X(alike) X(balance) X(others) X(trace_read) X(trace_sectors) X(computed) \
	X(base) X(show) X(options) X(cache) X(guest) X(gpu) X(l1_split) X(energy) X(code) X(synthesise) X(util) X(accesses) X(gathered) X(costs) X(occupancy_vector) \
	X(attribution) X(change) X(schedule) X(sharing) X(topology) X(calls) \
	X(ptx_variables) X(ptx_link) X(fragments) X(fatbin) X(cubin) X(assembled) X(moves) X(loop_ends) X(counted) X(single) X(contract) X(lifted_facts) X(lifted_results) \
	X(names) X(cuda_memory) X(pages) X(cuda_textures) X(cuda_streams) X(cuda_prints) X(cuda_patch) X(cuda_properties) \
	X(bank_conflicts) X(optimistic) X(ptx) X(ptx_modules) X(graph) X(registers) X(mapping) X(expand) X(machine) X(sass_opcodes) X(sass_observed) X(sass_trace) X(import_windows) X(export_names) X(target) X(builtins) X(oracle) X(occupancy_grid) X(rates) X(learn) X(rest) X(read_ports) X(async_copies) X(constants) X(read_marks) X(needs) X(caches) X(crossbar) X(dram) X(memory) X(memory_of_warps) X(footprint) X(kept) X(sampling) X(profile_file) X(cache_carry) X(accuracy) X(annotator) X(copies) X(instruction) X(functions) X(lift) X(ptx_counts) X(meetings) X(queues) X(template) X(hazards) X(analysis) X(cc) X(families) X(family) X(full) X(code_history) X(constant_history) X(memory_history) X(page_history) X(before) X(stored) X(steps)

#define X(name) void add_##name##_tests(void);
TEST_SUITES(X)
#undef X

/* The next pseudo-random number of 24 bits. The same *state gives the same number. */
uint32_t next_random(uint32_t *state);

/* A new folder under $TMPDIR for a test's files, which goes when the tests are done. */
const char *test_folder(void);

#endif
