/* Each process is alone, whatever its rank: messages are not sent, and what is received has come from the rank before. */
#include "tests/mpi/stub.h"

#include <stdlib.h>

static int number(const char *variable)
{
	return getenv(variable) ? atoi(getenv(variable)) : 0;
}

#define STUB(name, parameters, ...) \
	int PMPI_##name parameters; \
	int PMPI_##name parameters { __VA_ARGS__; return 0; } \
	int MPI_##name parameters __attribute__((alias("PMPI_" #name)));

#define UNUSED(x) (void)(x)

static void fill(MPI_Status *status, int tag)
{
	if (status != MPI_STATUS_IGNORE) {
		status->MPI_SOURCE = (number("PMI_RANK") + number("PMI_SIZE") - 1) % number("PMI_SIZE");
		status->MPI_TAG = tag < 0 ? 42 : tag;
	}
}

static void translate(int count, const int *ranks, int *answers)
{
	for (int i = 0; i < count; i++)
		answers[i] = ranks[i];
}

STUB(Init, (int *argc, char ***argv), UNUSED(argc), UNUSED(argv))
STUB(Finalize, (void), )
STUB(Comm_rank, (MPI_Comm comm, int *rank), UNUSED(comm), *rank = number("PMI_RANK"))
STUB(Comm_size, (MPI_Comm comm, int *size), UNUSED(comm), *size = number("PMI_SIZE"))
STUB(Type_size, (MPI_Datatype type, int *size), *size = type >> 8 & 0xff)
STUB(Send, (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), UNUSED(data), UNUSED(count), UNUSED(type), UNUSED(to), UNUSED(tag),
     UNUSED(comm))
STUB(Recv, (void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status), UNUSED(data), UNUSED(count), UNUSED(type),
     UNUSED(from), UNUSED(comm), fill(status, tag))
STUB(Isend, (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request), UNUSED(data), UNUSED(count), UNUSED(type),
     UNUSED(to), UNUSED(tag), UNUSED(comm), *request = 0x100)
STUB(Irecv, (void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request), UNUSED(data), UNUSED(count), UNUSED(type),
     UNUSED(from), UNUSED(tag), UNUSED(comm), *request = 0x200)
STUB(Waitall, (int count, MPI_Request *requests, MPI_Status *statuses), for (int i = 0; i < count; i++) {
	requests[i] = MPI_REQUEST_NULL;
	if (statuses != MPI_STATUSES_IGNORE)
		fill(&statuses[i], -1);
})
STUB(Sendrecv, (const void *data, int count, MPI_Datatype type, int to, int tag, void *other, int other_count, MPI_Datatype other_type, int from, int other_tag,
                MPI_Comm comm, MPI_Status *status), UNUSED(data), UNUSED(count), UNUSED(type), UNUSED(to), UNUSED(tag), UNUSED(other), UNUSED(other_count),
     UNUSED(other_type), UNUSED(from), UNUSED(comm), fill(status, other_tag))
STUB(Barrier, (MPI_Comm comm), UNUSED(comm))
STUB(Allreduce, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), UNUSED(from), UNUSED(to), UNUSED(count), UNUSED(type),
     UNUSED(op), UNUSED(comm))
STUB(Gatherv, (const void *from, int count, MPI_Datatype type, void *to, const int *counts, const int *places, MPI_Datatype other, int root, MPI_Comm comm),
     UNUSED(from), UNUSED(count), UNUSED(type), UNUSED(to), UNUSED(counts), UNUSED(places), UNUSED(other), UNUSED(root), UNUSED(comm))
STUB(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), UNUSED(comm), UNUSED(color), UNUSED(key), *made = 0x84000002)
STUB(Comm_free, (MPI_Comm *comm), *comm = MPI_COMM_NULL)
STUB(Comm_group, (MPI_Comm comm, MPI_Group *group), *group = comm)
STUB(Group_free, (MPI_Group *group), *group = 0)
STUB(Group_translate_ranks, (MPI_Group from, int count, const int *ranks, MPI_Group to, int *answers), UNUSED(from), UNUSED(to),
     translate(count, ranks, answers))
