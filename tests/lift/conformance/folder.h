/*
 * folder: the kernels that generate and random wrote into a folder, for programs that execute them in one way or another. Each writes what a
 * kernel computed to NAME.WAY: RESULTS words of 64 bits per thread, all threads of the first result first. compare compares two ways.
 */
#ifndef GPUSIM_TESTS_LIFT_CONFORMANCE_FOLDER_H
#define GPUSIM_TESTS_LIFT_CONFORMANCE_FOLDER_H

#include <stddef.h>
#include <stdint.h>

struct folder_kernel {
	const char *name; /* of its file, without .ptx */
	char *ptx;
	size_t ptx_length;
	uint32_t blocks, block, results;
	/* What its three parameters point to. The input is the same in every run, the others begin with zeros. */
	void *memory[3];
	size_t bytes[3];
};

/* Executes the kernel `test`: memory[1] has the results then. 0: it did; else it says why to stderr. */
typedef int (*folder_function)(void *user, struct folder_kernel *k);
/* Executes every kernel of the folder whose name matches one of the shell patterns; without patterns, every one. Prints the names of those that
 * could not be executed. Returns how many there were. */
int folder_execute(const char *folder, const char *way, int pattern_count, char **patterns, folder_function execute, void *user);

/* Calls `visit` with the name of every kernel, in order. */
void folder_visit(const char *folder, int pattern_count, char **patterns, void (*visit)(void *user, const char *name), void *user);
/* A whole file, with a 0 after it. NULL: it cannot be read. The caller frees it. */
char *folder_read(const char *folder, const char *name, const char *suffix, size_t *length);

#endif
