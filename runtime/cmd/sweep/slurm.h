/* gpusim sweep --slurm: an array job of Slurm divides a sweep. */
#ifndef GPUSIM_RUNTIME_CMD_SWEEP_SLURM_H
#define GPUSIM_RUNTIME_CMD_SWEEP_SLURM_H

#include "runtime/cmd/sweep/sweep.h"

struct slurm {
	bool on;
	size_t tasks;       /* 0: by default */
	const char *sbatch; /* more options for sbatch, as a shell reads them; NULL: none */
	int argc;           /* the words of the command */
	char **argv;
	char id[32];        /* of the job */
};

/* Takes --slurm, --tasks N or --sbatch OPTIONS: returns how many words, 0 if it is something else, -1 after a complaint. */
int slurm_take(struct slurm *j, int argc, char **argv);
/* Whether the options fit and there is a Slurm. Returns an exit code. */
int slurm_check(const struct slurm *j, const char *prefix);
/* Submits the job and waits until all claims of the sweep, which is shared, have ended, the job is gone or a signal comes. Returns an exit code. */
int slurm_run(struct sweep *s, struct slurm *j);

#endif
