/* calls: the lines of runtime/format/calls.h and runtime/format/mpi_calls.h, read. */
#ifndef GPUSIM_RUNTIME_CMD_CLUSTER_CALLS_H
#define GPUSIM_RUNTIME_CMD_CLUSTER_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MPI_OP(word, numbers that it has at least, whether more may follow, which of them is the communicator or -1) */
#define MPI_OPS(X) \
	X(init, 0, false, -1) X(finalize, 0, false, -1) X(send, 4, false, 3) X(ssend, 4, false, 3) X(recv, 4, false, 3) X(isend, 5, false, 3) \
	X(issend, 5, false, 3) X(irecv, 5, false, 3) X(sendrecv, 7, false, 6) X(wait, 0, true, -1) X(barrier, 1, false, 0) X(ibarrier, 2, false, 0) \
	X(bcast, 3, false, 2) X(ibcast, 4, false, 2) X(allreduce, 2, false, 1) X(iallreduce, 3, false, 1) X(scan, 2, false, 1) X(exscan, 2, false, 1) \
	X(reduce, 3, false, 2) X(allgather, 3, false, 2) X(alltoall, 3, false, 2) X(gather, 4, false, 3) X(scatter, 4, false, 3) \
	X(allgatherv, 2, true, 1) X(gatherv, 3, true, 2) X(scatterv, 3, true, 2) X(alltoallv, 1, true, 0) X(reducescatter, 1, true, 0) \
	X(comm, 4, false, 0) X(free, 1, false, 0)

enum mpi_op_kind {
#define X(word, least, more, comm) MPI_OP_##word,
	MPI_OPS(X)
#undef X
	MPI_OP_COUNT
};

struct mpi_op {
	enum mpi_op_kind kind;
	size_t count;
	int64_t *numbers; /* owned */
};

const char *mpi_op_name(enum mpi_op_kind kind);
int mpi_op_comm(const struct mpi_op *op); /* the number of its communicator; -1: it has none */
bool mpi_op_is_collective(enum mpi_op_kind kind); /* creation of communicators included */
uint64_t mpi_op_sent(const struct mpi_op *op);    /* bytes of its own that it gives away */
/* False: the text is none. */
bool mpi_op_parse(const char *text, struct mpi_op *op);

#endif
