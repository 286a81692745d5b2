/*
 * suite - lifts the suite's kernels, as PTX of tests/reference, and compares with the oracle what they compute and how often each block runs.
 *
 *   suite CASES PTX_FOLDER [PATTERN...]
 *
 * Prints a line for each case. Exits 1 if a count differs, or a result by more than approximate functions may.
 */
#include "tests/lift/runner.h"
#include "tests/lift/traced.h"
#include "tests/oracle/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 16 };

struct comparison {
	const char *folder;
	int cases, failures;
};

static void *copy_of(const void *data, size_t bytes)
{
	void *copy = malloc(bytes + 1);
	if (copy)
		memcpy(copy, data, bytes);
	return copy;
}

/* The largest difference between floats, relative to their size; 0: the same bytes. Integers that differ a little are denormal floats. */
static double difference(const void *a, const void *b, size_t bytes)
{
	const float *x = a, *y = b;
	double most = 0;
	if (!memcmp(a, b, bytes))
		return 0;
	for (size_t i = 0; i < bytes / 4; i++)
		if (memcmp(&x[i], &y[i], 4)) {
			double d = fabs((double)x[i] - y[i]) / (fabs((double)y[i]) + 1e-6);
			most = !(d < 1e30) ? 1e30 : d > most ? d : most;
			if (!d)
				most = 1e30;
		}
	return most;
}

static int compare_counts(const struct suite_case *c, const struct lift_runner *r, const struct lift_run *run,
                          const struct oracle_counts *counts)
{
	uint32_t count, found = 0;
	const struct oracle_block *blocks = oracle_blocks(c->oracle, &count);
	const struct lifted *l = runner_lifted(r);
	const struct lift_function *f = &l->functions[runner_kernel(r, c->kernel)->function];
	for (uint32_t b = 0; b < count; b++) {
		int32_t own = graph_block_of(f->graph, blocks[b].first);
		uint64_t ran = own < 0 ? 0 : run->rows[f->block_rows[own]];
		if (ran != counts->block_threads[b]) {
			printf("  block %u: %llu, oracle %llu\n", b, (unsigned long long)ran, (unsigned long long)counts->block_threads[b]);
			found++;
		}
	}
	return (int)found;
}

/* Traces the first groups, with windows or without. */
static uint64_t check_traces(const char *ptx, const struct lift_run *counted, bool whole)
{
	struct lift_run run = *counted;
	struct lift_runner *runner = NULL;
	struct trace_site *sites = NULL;
	struct launch_trace *trace = NULL;
	struct gs_error err = {""};
	uint32_t order[2] = {0, 1};
	uint64_t compared = 0, wrong = 1;
	run.rows = run.trace = NULL;
	run.words = NULL;
	run.printed = NULL;
	run.order = order;
	run.order_count = run.grid[0] * run.grid[1] * run.grid[2] > 1 ? 2 : 1;
	run.whole = whole;
	run.chunks = 1 << 16;
	int result = runner_create(ptx, strlen(ptx), LIFT_TRACING, &runner, &err);
	if (!result)
		result = runner_run(runner, &run, &err);
	if (!result)
		result = traced_read(runner, &run, &sites, &trace, &err);
	if (result)
		printf("  traces: %s\n", err.text);
	else
		wrong = traced_differences(runner, &run, trace, &compared);
	if (!result && (wrong || !compared || trace->group_count != run.order_count))
		printf("  traces%s: %zu groups, %llu lanes differ, %llu numbers compared\n", whole ? ", whole" : "", trace->group_count,
		       (unsigned long long)wrong, (unsigned long long)compared);
	wrong += !compared;
	trace_free(trace);
	free(sites);
	runner_run_free(&run);
	runner_free(runner);
	return wrong;
}

static void run_case(void *user, const struct suite_case *c)
{
	struct comparison *all = user;
	struct oracle_launch launch = c->launch;
	struct oracle_argument arguments[MOST_ARGUMENTS];
	uint64_t values[MOST_ARGUMENTS] = {0}, shared = 0, blocks[2][4096];
	const void *pointers[MOST_ARGUMENTS];
	struct oracle_counts counts = {.block_warps = blocks[0], .block_threads = blocks[1]};
	struct lift_run run = {.kernel = c->kernel, .arguments = pointers, .argument_count = launch.argument_count};
	struct lift_runner *runner = NULL;
	struct gs_error err = {""};
	char path[4096];
	all->cases++;
	memset(blocks, 0, sizeof blocks);
	for (uint32_t i = 0; i < launch.argument_count; i++) {
		arguments[i] = launch.arguments[i];
		pointers[i] = &values[i];
		if (arguments[i].kind == ORACLE_BUFFER) {
			arguments[i].data = copy_of(arguments[i].data, arguments[i].bytes);
			values[i] = (uint64_t)launch.arguments[i].data;
		} else if (arguments[i].kind == ORACLE_LOCAL) {
			values[i] = shared;
			shared += (arguments[i].bytes + 15) / 16 * 16;
		} else {
			memcpy(&values[i], arguments[i].data, arguments[i].bytes);
		}
	}
	launch.arguments = arguments;
	for (int d = 0; d < 3; d++) {
		run.grid[d] = launch.global[d] / launch.local[d];
		run.block[d] = launch.local[d];
	}
	run.dynamic_shared = shared;
	const char *files[] = {"compute", "control", "local", "memory"};
	double most = 0;
	int result = -1, wrong = 0;
	uint64_t traces = 0;
	char *text = NULL;
	for (size_t f = 0; f < GS_ARRAY_LEN(files) && result; f++) {
		snprintf(path, sizeof path, "%s/%s.ptx", all->folder, files[f]);
		char *ptx = suite_read_file(path);
		if (!runner_create(ptx, strlen(ptx), LIFT_COUNTING, &runner, &err) && runner_kernel(runner, c->kernel))
			result = runner_run(runner, &run, &err);
		else
			runner_free(runner);
		if (result)
			free(ptx);
		else
			text = ptx;
	}
	if (!result)
		result = oracle_run(c->oracle, &launch, &counts, &err);
	if (result) {
		printf("%-20s FAILED: %s\n", c->name, err.text);
		all->failures++;
		return;
	}
	for (uint32_t i = 0; i < launch.argument_count; i++)
		if (arguments[i].kind == ORACLE_BUFFER) {
			double d = difference(c->launch.arguments[i].data, arguments[i].data, arguments[i].bytes);
			most = d > most ? d : most;
			free(arguments[i].data);
		}
	wrong = compare_counts(c, runner, &run, &counts);
	traces = check_traces(text, &run, true) + check_traces(text, &run, false);
	free(text);
	bool failed = wrong || traces || most > 1e-3 || run.fault.kind;
	all->failures += failed;
	printf("%-20s %s results %s (%.1e) counts %s, traces %s, %.2f ms, build %.2f s\n", c->name, failed ? "FAILED" : "ok", most ? "close" : "same", most,
	       wrong ? "differ" : "same", traces ? "differ" : "same", 1e3 * run.seconds, runner_build_seconds(runner));
	runner_run_free(&run);
	runner_free(runner);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: suite CASES PTX_FOLDER [PATTERN...]\n");
		return 2;
	}
	struct comparison all = {.folder = argv[2]};
	int unprepared = suite_run(argv[1], argv[2], argc - 3, argv + 3, run_case, &all);
	printf("%d cases, %d failures, %d not prepared\n", all.cases, all.failures, unprepared);
	return all.failures || unprepared;
}
