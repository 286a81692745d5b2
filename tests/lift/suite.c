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

#include <errno.h>
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

/* One case: what the oracle gets, and what the lifted kernel gets. */
struct compared_case {
	struct oracle_launch launch;
	struct oracle_argument arguments[MOST_ARGUMENTS];
	uint64_t values[MOST_ARGUMENTS], blocks[2][4096];
	const void *pointers[MOST_ARGUMENTS];
	struct lift_run run;
	struct lift_runner *runner;
	char *ptx;
};

/* Buffers are the lifted kernel's; the oracle has copies. */
static void prepare(struct compared_case *p, const struct suite_case *c)
{
	uint64_t shared = 0;
	p->launch = c->launch;
	p->launch.arguments = p->arguments;
	for (uint32_t i = 0; i < c->launch.argument_count; i++) {
		struct oracle_argument *a = &p->arguments[i];
		*a = c->launch.arguments[i];
		p->pointers[i] = &p->values[i];
		if (a->kind == ORACLE_BUFFER) {
			p->values[i] = (uint64_t)a->data;
			a->data = copy_of(a->data, a->bytes);
		} else if (a->kind == ORACLE_LOCAL) {
			p->values[i] = shared;
			shared += (a->bytes + 15) / 16 * 16;
		} else {
			memcpy(&p->values[i], a->data, a->bytes);
		}
	}
	p->run = (struct lift_run){.kernel = c->kernel, .arguments = p->pointers, .argument_count = c->launch.argument_count, .dynamic_shared = shared};
	for (int d = 0; d < 3; d++) {
		p->run.grid[d] = c->launch.global[d] / c->launch.local[d];
		p->run.block[d] = c->launch.local[d];
	}
}

/* Runs the kernel from the file that has it. */
static int run_lifted(struct compared_case *p, const char *folder, struct gs_error *err)
{
	static const char *const files[] = {"compute", "control", "local", "memory"};
	for (size_t f = 0; f < GS_ARRAY_LEN(files); f++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s.ptx", folder, files[f]);
		p->ptx = suite_read_file(path);
		if (!runner_create(p->ptx, strlen(p->ptx), LIFT_COUNTING, &p->runner, err) && runner_kernel(p->runner, p->run.kernel))
			return runner_run(p->runner, &p->run, err);
		runner_free(p->runner);
		free(p->ptx);
		p->runner = NULL;
		p->ptx = NULL;
	}
	return gs_fail(err, ENOENT, "no file has the kernel");
}

static double compare_buffers(const struct compared_case *p, const struct suite_case *c)
{
	double most = 0;
	for (uint32_t i = 0; i < c->launch.argument_count; i++)
		if (p->arguments[i].kind == ORACLE_BUFFER) {
			double d = difference(c->launch.arguments[i].data, p->arguments[i].data, p->arguments[i].bytes);
			most = d > most ? d : most;
			free(p->arguments[i].data);
		}
	return most;
}

/* What its threads do depends on which of them is first, and groups run on several threads here, one after the other in the oracle. */
static bool is_racy(const struct suite_case *c)
{
	return !strcmp(c->kernel, "frontier");
}

static void run_case(void *user, const struct suite_case *c)
{
	struct comparison *all = user;
	struct compared_case *p = calloc(1, sizeof *p);
	struct gs_error err = {""};
	if (!p)
		abort();
	struct oracle_counts counts = {.block_warps = p->blocks[0], .block_threads = p->blocks[1]};
	all->cases++;
	prepare(p, c);
	int result = run_lifted(p, all->folder, &err);
	if (!result)
		result = oracle_run(c->oracle, &p->launch, &counts, &err);
	if (result) {
		printf("%-20s FAILED: %s\n", c->name, err.text);
		all->failures++;
		free(p);
		return;
	}
	double most = compare_buffers(p, c);
	int wrong = is_racy(c) ? 0 : compare_counts(c, p->runner, &p->run, &counts);
	uint64_t traces = check_traces(p->ptx, &p->run, true) + check_traces(p->ptx, &p->run, false);
	bool failed = wrong || traces || most > 1e-3 || p->run.fault.kind;
	all->failures += failed;
	printf("%-20s %s results %s (%.1e) counts %s, traces %s, %.2f ms, build %.2f s\n", c->name, failed ? "FAILED" : "ok",
	       most ? "close" : "same", most, wrong ? "differ" : "same", traces ? "differ" : "same", 1e3 * p->run.seconds,
	       runner_build_seconds(p->runner));
	runner_run_free(&p->run);
	runner_free(p->runner);
	free(p->ptx);
	free(p);
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
