/* smpi: what we call of libsimgrid, found when it is needed. The types are those of simgrid/engine.h and smpi/smpi.h of SimGrid 3.32; handles are pointers. */
#ifndef GPUSIM_RUNTIME_CMD_CLUSTER_SMPI_H
#define GPUSIM_RUNTIME_CMD_CLUSTER_SMPI_H

#include "runtime/base/base.h"

#define SMPI_FUNCTIONS(X) \
	X(void, simgrid_init, (int *, char **)) \
	X(void, simgrid_load_platform, (const char *)) \
	X(void, simgrid_load_deployment, (const char *)) \
	X(void, simgrid_run, (void)) \
	X(double, simgrid_get_clock, (void)) \
	X(size_t, sg_host_count, (void)) \
	X(void **, sg_host_list, (void)) \
	X(const char *, sg_host_get_name, (const void *)) \
	X(const char *, sg_host_get_property_value, (const void *, const char *)) \
	X(void, sg_actor_sleep_for, (double)) \
	X(void, SMPI_app_instance_register, (const char *, int (*)(int, char **), int)) \
	X(void, SMPI_init, (void)) \
	X(void, smpi_replay_init, (const char *, int, double)) \
	X(int, MPI_Init, (int *, char ***)) \
	X(int, MPI_Finalize, (void)) \
	X(int, MPI_Comm_split, (void *, int, int, void **)) \
	X(void *, smpi_process_comm_self, (void)) \
	X(int, MPI_Send, (const void *, int, void *, int, int, void *)) \
	X(int, MPI_Ssend, (const void *, int, void *, int, int, void *)) \
	X(int, MPI_Recv, (void *, int, void *, int, int, void *, void *)) \
	X(int, MPI_Isend, (const void *, int, void *, int, int, void *, void **)) \
	X(int, MPI_Issend, (const void *, int, void *, int, int, void *, void **)) \
	X(int, MPI_Irecv, (void *, int, void *, int, int, void *, void **)) \
	X(int, MPI_Sendrecv, (const void *, int, void *, int, int, void *, int, void *, int, int, void *, void *)) \
	X(int, MPI_Waitall, (int, void **, void *)) \
	X(int, MPI_Barrier, (void *)) \
	X(int, MPI_Ibarrier, (void *, void **)) \
	X(int, MPI_Bcast, (void *, int, void *, int, void *)) \
	X(int, MPI_Ibcast, (void *, int, void *, int, void *, void **)) \
	X(int, MPI_Allreduce, (const void *, void *, int, void *, void *, void *)) \
	X(int, MPI_Iallreduce, (const void *, void *, int, void *, void *, void *, void **)) \
	X(int, MPI_Scan, (const void *, void *, int, void *, void *, void *)) \
	X(int, MPI_Exscan, (const void *, void *, int, void *, void *, void *)) \
	X(int, MPI_Reduce, (const void *, void *, int, void *, void *, int, void *)) \
	X(int, MPI_Allgather, (const void *, int, void *, void *, int, void *, void *)) \
	X(int, MPI_Alltoall, (const void *, int, void *, void *, int, void *, void *)) \
	X(int, MPI_Gather, (const void *, int, void *, void *, int, void *, int, void *)) \
	X(int, MPI_Scatter, (const void *, int, void *, void *, int, void *, int, void *)) \
	X(int, MPI_Allgatherv, (const void *, int, void *, void *, const int *, const int *, void *, void *)) \
	X(int, MPI_Gatherv, (const void *, int, void *, void *, const int *, const int *, void *, int, void *)) \
	X(int, MPI_Scatterv, (const void *, const int *, const int *, void *, void *, int, void *, int, void *)) \
	X(int, MPI_Alltoallv, (const void *, const int *, const int *, void *, void *, const int *, const int *, void *, void *)) \
	X(int, MPI_Reduce_scatter, (const void *, void *, const int *, void *, void *, void *))

struct smpi {
#define X(type, name, parameters) type(*name) parameters;
	SMPI_FUNCTIONS(X)
#undef X
	void *world, *byte, *word, *max; /* a communicator, two types and an operation */
};

/* Constants of smpi.h. */
enum { SMPI_ANY_SOURCE = -555, SMPI_ANY_TAG = -444, SMPI_UNDEFINED = -333 };

extern struct smpi smpi;
int smpi_open(struct gs_error *err);

#endif
