/* rank: which process this is of those that mpirun or srun started together, as their environment says. No MPI is needed to know it. */
#ifndef GPUSIM_RUNTIME_PROCESS_RANK_H
#define GPUSIM_RUNTIME_PROCESS_RANK_H

int process_rank(int otherwise);  /* `otherwise` where nothing says it */
int process_ranks(int otherwise); /* how many there are */

#endif
