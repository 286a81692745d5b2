/* perform: one MPI call of a rank, made to SMPI. */
#ifndef GPUSIM_RUNTIME_CMD_CLUSTER_PERFORM_H
#define GPUSIM_RUNTIME_CMD_CLUSTER_PERFORM_H

#include "runtime/cmd/cluster/cluster.h"

/* What a rank has of SMPI's. */
struct performer {
	const struct cluster *cluster;
	const struct rank *rank;
	void **comms;    /* by number */
	void **requests; /* by number */
	size_t request_room;
	int *counts, *places; /* for collectives of several sizes: twice the ranks; places are 0 */
};

bool performer_start(struct performer *p, const struct cluster *c, const struct rank *r);
/* Makes all communicators, before anything is replayed: while SMPI replays, nothing is sent, not even who belongs to whom. */
int performer_make_comms(struct performer *p, struct gs_error *err);
void performer_free(struct performer *p);
int perform(struct performer *p, const struct mpi_op *op, struct gs_error *err);

#endif
