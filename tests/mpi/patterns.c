/*
 * MPI programs in one: patterns PATTERN [BYTES [ROUNDS]]. Built with mpicc of Open MPI, of MPICH, or smpicc of SimGrid.
 *   pingpong    the first two processes send a message to and fro
 *   ring        each process sends to the next
 *   allreduce   all processes sum a vector
 *   halo        a stencil in two dimensions: each process exchanges edges with its neighbours, and all agree on the largest change
 *   strips      the same in one dimension, without an edge around it
 *   mixed       communicators, wildcards, persistent requests, and collectives of several sizes
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static double begin;

static void pingpong(char *data, int bytes, int rounds)
{
	for (int i = 0; i < rounds && rank < 2; i++)
		if (rank == 0) {
			MPI_Send(data, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
			MPI_Recv(data, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(data, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(data, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
		}
}

static void ring(char *data, char *other, int bytes, int rounds)
{
	int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	for (int i = 0; i < rounds; i++)
		MPI_Sendrecv(data, bytes, MPI_BYTE, next, 1, other, bytes, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void allreduce(char *data, char *other, int bytes, int rounds)
{
	for (int i = 0; i < rounds; i++)
		MPI_Allreduce(data, other, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void halo(char *data, char *other, int bytes, int rounds)
{
	int dims[2] = {0, 0}, around[2] = {1, 1}, peers[4];
	double change = rank, largest;
	MPI_Comm grid;
	MPI_Dims_create(ranks, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 1, &grid);
	begin = MPI_Wtime(); /* making a communicator does not count */
	MPI_Cart_shift(grid, 0, 1, &peers[0], &peers[1]);
	MPI_Cart_shift(grid, 1, 1, &peers[2], &peers[3]);
	for (int i = 0; i < rounds; i++) {
		MPI_Request requests[8];
		for (int p = 0; p < 4; p++) {
			MPI_Irecv(other + (size_t)p * bytes, bytes, MPI_BYTE, peers[p], p, grid, &requests[p]);
			MPI_Isend(data + (size_t)p * bytes, bytes, MPI_BYTE, peers[p], p ^ 1, grid, &requests[4 + p]);
		}
		MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
		if (i % 4 == 3)
			MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, grid);
	}
	MPI_Comm_free(&grid);
}

static void strips(char *data, char *other, int bytes, int rounds)
{
	int peers[2] = {rank ? rank - 1 : MPI_PROC_NULL, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL};
	double change = rank, largest;
	for (int i = 0; i < rounds; i++) {
		MPI_Request requests[4];
		for (int p = 0; p < 2; p++) {
			MPI_Irecv(other + (size_t)p * bytes, bytes, MPI_BYTE, peers[p], p, MPI_COMM_WORLD, &requests[p]);
			MPI_Isend(data + (size_t)p * bytes, bytes, MPI_BYTE, peers[p], p ^ 1, MPI_COMM_WORLD, &requests[2 + p]);
		}
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
		if (i % 4 == 3)
			MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	}
}

static void wildcards(char *data, int bytes)
{
	MPI_Request request;
	MPI_Status status;
	int done = 0;
	if (rank == 0) {
		for (int i = 1; i < ranks; i++) {
			MPI_Irecv(data, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
			while (!done)
				MPI_Test(&request, &done, MPI_STATUS_IGNORE);
			done = 0;
			MPI_Recv(data, bytes, MPI_BYTE, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &status);
		}
	} else {
		MPI_Send(data, bytes, MPI_BYTE, 0, rank, MPI_COMM_WORLD);
		MPI_Send(data, bytes, MPI_BYTE, 0, 99, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void mixed(char *data, char *other, int bytes, int rounds)
{
	int counts[64], places[64];
	MPI_Request requests[2];
	MPI_Comm half, all;
	wildcards(data, bytes);
	MPI_Comm_dup(MPI_COMM_WORLD, &all);
	MPI_Comm_split(all, rank % 2, rank, &half);
	MPI_Bcast(data, bytes, MPI_BYTE, 0, half);
	MPI_Comm_free(&half);
	for (int i = 0, place = 0; i < ranks; place += counts[i++]) {
		counts[i] = bytes / (i + 1);
		places[i] = place;
	}
	MPI_Send_init(data, bytes, MPI_BYTE, (rank + 1) % ranks, 3, all, &requests[0]);
	MPI_Recv_init(other, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 3, all, &requests[1]);
	for (int i = 0; i < rounds; i++) {
		MPI_Startall(2, requests);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
	MPI_Allgatherv(data, counts[rank], MPI_BYTE, other, counts, places, MPI_BYTE, all);
	MPI_Gatherv(data, counts[rank], MPI_BYTE, other, counts, places, MPI_BYTE, 0, all);
	MPI_Scatterv(data, counts, places, MPI_BYTE, other, counts[rank], MPI_BYTE, 0, all);
	MPI_Alltoall(data, bytes / ranks, MPI_BYTE, other, bytes / ranks, MPI_BYTE, all);
	MPI_Reduce(data, other, bytes / 4, MPI_INT, MPI_SUM, ranks - 1, all);
	MPI_Gather(data, bytes / ranks, MPI_BYTE, other, bytes / ranks, MPI_BYTE, 0, all);
	MPI_Scatter(data, bytes / ranks, MPI_BYTE, other, bytes / ranks, MPI_BYTE, 0, all);
	MPI_Allgather(data, bytes / ranks, MPI_BYTE, other, bytes / ranks, MPI_BYTE, all);
	MPI_Comm_free(&all);
}

int main(int argc, char **argv)
{
	const char *pattern = argc > 1 ? argv[1] : "ring";
	int bytes = argc > 2 ? atoi(argv[2]) : 1 << 16, rounds = argc > 3 ? atoi(argv[3]) : 10;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	char *data = calloc(64, (size_t)bytes), *other = calloc(64, (size_t)bytes);
	begin = MPI_Wtime();
	if (!strcmp(pattern, "pingpong"))
		pingpong(data, bytes, rounds);
	else if (!strcmp(pattern, "ring"))
		ring(data, other, bytes, rounds);
	else if (!strcmp(pattern, "allreduce"))
		allreduce(data, other, bytes, rounds);
	else if (!strcmp(pattern, "halo"))
		halo(data, other, bytes, rounds);
	else if (!strcmp(pattern, "strips"))
		strips(data, other, bytes, rounds);
	else
		mixed(data, other, bytes, rounds);
	fprintf(stderr, "took %.9f\n", MPI_Wtime() - begin);
	MPI_Finalize();
	free(data);
	free(other);
	return 0;
}
