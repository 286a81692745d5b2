/* The variables that launchers set; see rank.h. */
#include "runtime/process/rank.h"

#include <stddef.h>
#include <stdlib.h>

/* Open MPI; MPICH, Intel MPI and MVAPICH; PMIx; Slurm. The launcher that is nearest to the program comes first. */
static const struct {
	const char *rank, *ranks;
} variables[] = {
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "PMI_SIZE"},
	{"PMIX_RANK", "PMIX_SIZE"},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}, /* not SLURM_NTASKS, which a script of a batch job has as well */
};

static int number_in(const char *text, int otherwise)
{
	char *end;
	long value = text && *text ? strtol(text, &end, 10) : -1;
	return text && *text && !*end && value >= 0 && value < 1 << 30 ? (int)value : otherwise;
}

int process_rank(int otherwise)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (getenv(variables[i].rank))
			return number_in(getenv(variables[i].rank), otherwise);
	return otherwise;
}

int process_ranks(int otherwise)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (getenv(variables[i].rank))
			return number_in(getenv(variables[i].ranks), otherwise);
	return otherwise;
}
