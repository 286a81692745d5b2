/*
 * run - counts instructions of the suite's cases by running their PTX, and compares them with GPGPU-Sim's counts on the same
 * PTX.
 *
 *   run CASES PTX_FOLDER [-r GPGPUSIM_CSV] [PATTERN...]
 *
 * Prints one line per case: thread and warp instructions, those of the reference, accesses of the load/store unit, different
 * paths of warps, and the checksum that kernels/suite prints. Exits 1 if a count differs that should not.
 */
#include "tests/oracle/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct table {
	const char *reference; /* text of gpgpusim.csv, or NULL */
	int exact, other, wrong;
	double seconds, instructions;
};

/* Cases whose counts in GPGPU-Sim depend on its configuration. nbody's vector loads that hit count once for each register.
 * frontier's work-items race. */
static bool is_loose(const char *name)
{
	return !strncmp(name, "nbody", 5) || !strncmp(name, "frontier", 8);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t checksum(const struct oracle_launch *launch)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < launch->argument_count; i++) {
		const struct oracle_argument *a = &launch->arguments[i];
		for (size_t e = 0; a->kind == ORACLE_BUFFER && e < a->bytes / 4; e++)
			sum = sum * 31 + ((const uint32_t *)a->data)[e];
	}
	return sum;
}

static void compare(struct table *t, const struct suite_case *c, const struct oracle_trace *trace)
{
	struct reference r;
	const char *verdict = "";
	double threads = (double)trace->counts.thread_instructions, warps = (double)trace->counts.warp_instructions;
	bool known = t->reference && reference_find(t->reference, c->name, "gtx480_pm_1sm", &r);
	if (known && threads == r.thread_instructions && warps == r.warp_instructions) {
		verdict = "equal";
		t->exact++;
	} else if (known) {
		verdict = is_loose(c->name) ? "differs, as expected" : "DIFFERS";
		*(is_loose(c->name) ? &t->other : &t->wrong) += 1;
	}
	printf("%-20s %12.0f %12.0f %10.0f %10.0f %10llu %8u %08x  %s\n", c->name, threads,
	       known ? r.thread_instructions : 0, warps, known ? r.warp_instructions : 0,
	       (unsigned long long)trace->accesses, trace->warps.path_count, checksum(&c->launch), verdict);
}

static void run_case(void *user, const struct suite_case *c)
{
	struct table *t = user;
	struct oracle_trace trace;
	struct gs_error err;
	double start = now();
	if (oracle_trace(c->oracle, &c->launch, &trace, &err)) {
		printf("%-20s %s\n", c->name, err.text);
		t->wrong++;
		return;
	}
	t->seconds += now() - start;
	t->instructions += (double)trace.counts.thread_instructions;
	compare(t, c, &trace);
	oracle_trace_free(&trace);
}

int main(int argc, char **argv)
{
	struct table t = {0};
	char *csv = NULL;
	int first = 3;
	if (argc > 4 && !strcmp(argv[3], "-r")) {
		t.reference = csv = suite_read_file(argv[4]);
		first = 5;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: run CASES PTX_FOLDER [-r GPGPUSIM_CSV] [PATTERN...]\n");
		return 2;
	}
	printf("%-20s %12s %12s %10s %10s %10s %8s %8s\n", "case", "threads", "reference", "warps", "reference",
	       "accesses", "paths", "checksum");
	int failures = suite_run(argv[1], argv[2], argc - first, argv + first, run_case, &t);
	printf("%.1f s, %.0f million thread instructions/s\n", t.seconds,
	       t.seconds > 0 ? t.instructions / t.seconds / 1e6 : 0);
	printf("%d passed, %d failed, %d skipped\n", t.exact, t.wrong + failures, t.other);
	free(csv);
	return t.wrong || failures;
}
