/* stub: so much of MPI as tests need where none is installed. Handles are integers, with the values of MPICH. */
#ifndef GPUSIM_TESTS_MPI_STUB_H
#define GPUSIM_TESTS_MPI_STUB_H

typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Group;
typedef struct {
	int count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;

#define MPI_COMM_WORLD 0x44000000
#define MPI_COMM_NULL 0x04000000
#define MPI_DOUBLE 0x4c00080b
#define MPI_BYTE 0x4c00010d
#define MPI_SUM 0x58000003
#define MPI_REQUEST_NULL 0x2c000000
#define MPI_ANY_SOURCE (-2)
#define MPI_ANY_TAG (-1)
#define MPI_PROC_NULL (-1)
#define MPI_STATUS_IGNORE ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE ((MPI_Status *)1)

#define STUB_FUNCTIONS(X) \
	X(Init, (int *argc, char ***argv)) \
	X(Finalize, (void)) \
	X(Comm_rank, (MPI_Comm comm, int *rank)) \
	X(Comm_size, (MPI_Comm comm, int *size)) \
	X(Type_size, (MPI_Datatype type, int *size)) \
	X(Send, (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)) \
	X(Recv, (void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)) \
	X(Isend, (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)) \
	X(Irecv, (void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)) \
	X(Waitall, (int count, MPI_Request *requests, MPI_Status *statuses)) \
	X(Sendrecv, (const void *data, int count, MPI_Datatype type, int to, int tag, void *other, int other_count, MPI_Datatype other_type, int from, \
	             int other_tag, MPI_Comm comm, MPI_Status *status)) \
	X(Barrier, (MPI_Comm comm)) \
	X(Allreduce, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)) \
	X(Gatherv, (const void *from, int count, MPI_Datatype type, void *to, const int *counts, const int *places, MPI_Datatype other, int root, MPI_Comm comm)) \
	X(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made)) \
	X(Comm_free, (MPI_Comm *comm)) \
	X(Comm_group, (MPI_Comm comm, MPI_Group *group)) \
	X(Group_free, (MPI_Group *group)) \
	X(Group_translate_ranks, (MPI_Group from, int count, const int *ranks, MPI_Group to, int *answers))

#define X(name, parameters) int MPI_##name parameters;
STUB_FUNCTIONS(X)
#undef X

#endif
