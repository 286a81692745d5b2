/*
 * run_kernel: lifts a kernel of PTX and runs it on the CPU device. It writes one word for each thread to the buffer that is its parameter.
 * Each file that includes it has its own words.
 */
#ifndef GPUSIM_TESTS_ANNOTATOR_LIFT_RUN_KERNEL_H
#define GPUSIM_TESTS_ANNOTATOR_LIFT_RUN_KERNEL_H

#include "tests/lift/runner.h"
#include "tests/tests.h"

#include <stdio.h>
#include <string.h>

/* A kernel `k` with one parameter, whose address is in %rd0; %r0 is the thread, and %rd1 the address of its word. */
#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"
#define KERNEL(body) \
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<20>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n.reg .f32 %f<8>;\n" body "}\n"
#define BEGIN \
	"ld.param.u64 %rd0, [p];\nmov.u32 %r30, %ctaid.x;\nmov.u32 %r31, %ntid.x;\nmov.u32 %r0, %tid.x;\nmad.lo.s32 %r32, %r30, %r31, %r0;\n" \
	"mul.wide.u32 %rd2, %r32, 4;\nadd.s64 %rd1, %rd0, %rd2;\n"

enum { MOST_THREADS = 1024 };
static uint32_t words[MOST_THREADS];
static struct lifted_fault fault; /* of the last run */
static uint32_t most_held;        /* groups that share a host thread (lift_run.held) */

/* Runs the kernel, and gives what it printed and counted to `look`, which may be NULL. */
static void run_and(const char *ptx, uint32_t groups, uint32_t threads, void (*look)(const struct lift_runner *, const struct lift_run *))
{
	struct lift_runner *r = NULL;
	struct gs_error err = {""};
	uint64_t address = (uint64_t)words;
	const void *arguments[] = {&address};
	struct lift_run run = {.kernel = "k", .grid = {groups}, .block = {threads}, .arguments = arguments, .argument_count = 1, .held = most_held};
	memset(words, 0xff, sizeof words);
	int result = runner_create(ptx, strlen(ptx), LIFT_COUNTING, &r, &err);
	if (!result)
		result = runner_run(r, &run, &err);
	if (result)
		fprintf(stderr, "\n%s\n", err.text);
	CU_ASSERT_EQUAL_FATAL(result, 0);
	fault = run.fault;
	if (look)
		look(r, &run);
	runner_run_free(&run);
	runner_free(r);
}

static void __attribute__((unused)) run(const char *ptx, uint32_t groups, uint32_t threads)
{
	run_and(ptx, groups, threads, NULL);
	CU_ASSERT_EQUAL(fault.kind, LIFTED_NO_FAULT);
}

/* Whether word i is what the expression says, for all threads. */
#define CHECK_WORDS(count, expression) \
	do { \
		uint32_t wrong = 0; \
		for (uint32_t i = 0; i < (count); i++) \
			if (words[i] != (uint32_t)(expression) && !wrong++) \
				fprintf(stderr, "\nthread %u: %u, expected %u\n", i, words[i], (uint32_t)(expression)); \
		CU_ASSERT_EQUAL(wrong, 0); \
	} while (0)

#endif
