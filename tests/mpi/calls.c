/* A ring of processes that makes one call of each kind, for tests without an MPI library (stub.c). */
#include "tests/mpi/stub.h"

#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, ranks, counts[8] = {16, 32, 48, 64}, places[8] = {0};
	MPI_Request requests[2];
	MPI_Status status;
	MPI_Comm all;
	char data[4096];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	if (argc > 1)
		usleep((useconds_t)atoi(argv[1]));
	MPI_Sendrecv(data, 100, MPI_DOUBLE, next, 5, data, 100, MPI_DOUBLE, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Irecv(data, 1000, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(data, 1000, MPI_BYTE, next, 42, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	if (rank == 0) {
		MPI_Send(data, 7, MPI_BYTE, next, 1, MPI_COMM_WORLD);
		MPI_Recv(data, 7, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
	} else {
		MPI_Recv(data, 7, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(data, 7, MPI_BYTE, next, 1, MPI_COMM_WORLD);
	}
	MPI_Send(data, 9, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	if (argc > 2) /* not to a neighbour */
		MPI_Send(data, 9, MPI_BYTE, (rank + 2) % ranks, 1, MPI_COMM_WORLD);
	MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &all);
	MPI_Allreduce(data, data + 2048, 25, MPI_DOUBLE, MPI_SUM, all);
	MPI_Comm_free(&all);
	MPI_Gatherv(data, counts[rank], MPI_BYTE, data + 2048, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
