/*
 * oracle - executes the kernels of a folder with the oracle, which interprets PTX.
 *
 *   oracle FOLDER [NAME...]
 */
#include "tests/lift/conformance/folder.h"
#include "tests/oracle/oracle.h"

#include <stdio.h>

static int execute(void *user, struct folder_kernel *k)
{
	struct oracle_argument arguments[3];
	struct oracle_launch launch = {.arguments = arguments, .argument_count = 3, .global = {(uint64_t)k->blocks * k->block, 1, 1}, .local = {k->block, 1, 1}};
	struct oracle_counts counts = {0};
	struct oracle *o = NULL;
	struct gs_error err = {0};
	(void)user;
	for (int i = 0; i < 3; i++)
		arguments[i] = (struct oracle_argument){.kind = ORACLE_BUFFER, .data = k->memory[i], .bytes = k->bytes[i]};
	int result = oracle_create(k->ptx, k->ptx_length, "test", &o, &err);
	if (!result)
		result = oracle_run(o, &launch, &counts, &err);
	if (result)
		fprintf(stderr, "%s: %s\n", k->name, err.text);
	oracle_free(o);
	return result;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: oracle FOLDER [NAME...]\n");
		return 2;
	}
	return folder_execute(argv[1], "oracle", argc - 2, argv + 2, execute, NULL) > 0;
}
