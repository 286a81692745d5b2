/*
 * lifted - executes the kernels of a folder as lifted text on the CPU device (tests/lift/runner.h).
 *
 *   lifted [--traced] FOLDER [NAME...]
 *
 * --traced: the text that traces as well. Its results are the way "traced".
 */
#include "tests/lift/conformance/folder.h"
#include "tests/lift/runner.h"

#include <stdio.h>
#include <string.h>

enum { CHUNKS = 4096 }; /* of the trace buffer; what has no room is dropped */

static int execute(void *user, struct folder_kernel *k)
{
	const void *arguments[3];
	struct lift_run run = {.kernel = "test", .grid = {k->blocks, 1, 1}, .block = {k->block, 1, 1}, .arguments = arguments, .argument_count = 3};
	struct lift_runner *runner = NULL;
	struct gs_error err = {0};
	enum lift_form form = *(enum lift_form *)user;
	run.chunks = form == LIFT_TRACING ? CHUNKS : 0;
	for (int i = 0; i < 3; i++)
		arguments[i] = &k->memory[i];
	int result = runner_create(k->ptx, k->ptx_length, form, &runner, &err);
	if (!result)
		result = runner_run(runner, &run, &err);
	if (result)
		fprintf(stderr, "%s: %s\n", k->name, err.text);
	else if (run.fault.kind)
		fprintf(stderr, "%s, line %u: fault %u\n", k->name, run.fault.line, run.fault.kind);
	result = result ? result : (int)run.fault.kind;
	runner_run_free(&run);
	runner_free(runner);
	return result;
}

int main(int argc, char **argv)
{
	bool traced = argc > 1 && !strcmp(argv[1], "--traced");
	enum lift_form form = traced ? LIFT_TRACING : LIFT_COUNTING;
	argc -= traced;
	argv += traced;
	if (argc < 2) {
		fprintf(stderr, "usage: lifted [--traced] FOLDER [NAME...]\n");
		return 2;
	}
	return folder_execute(argv[1], traced ? "traced" : "lifted", argc - 2, argv + 2, execute, &form) > 0;
}
