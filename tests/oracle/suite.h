/* suite: the cases of kernels/cases.txt, run by the oracle, and GPGPU-Sim's results for them. */
#ifndef GPUSIM_TESTS_ORACLE_SUITE_H
#define GPUSIM_TESTS_ORACLE_SUITE_H

#include "tests/oracle/oracle.h"

struct suite_case {
	const char *name, *kernel;
	struct oracle *oracle;
	struct oracle_launch launch;
};

/* Calls `run` for every case that matches one of the shell patterns. Without patterns, every case matches. The kernel comes from
 * FILE.ptx in the folder. Prints why a case could not be prepared. Returns the number of such cases. */
typedef void (*suite_function)(void *user, const struct suite_case *c);
int suite_run(const char *cases, const char *ptx_folder, int pattern_count, char **patterns, suite_function run,
	      void *user);

/* A row of gpgpusim.csv. False: the case was not run in this configuration. */
struct reference {
	double cycles, thread_instructions, warp_instructions, register_bank_conflicts, cpu_seconds;
	uint32_t registers, shared_bytes, blocks_per_sm;
};
bool reference_find(const char *csv, const char *name, const char *config, struct reference *out);

/* Ends the program if the file cannot be read. */
char *suite_read_file(const char *path);

#endif
