/*
 * mpi: the MPI calls of a program, as it makes them.
 *
 * With LD_PRELOAD, a program's calls of MPI_X come here and go on to PMPI_X of the MPI library that the program has loaded. There is no
 * header of MPI below this: handles are pointers with Open MPI and integers with MPICH and its relatives, so that every argument is
 * taken and passed on as the machine's word. What is known of each library is in abi.c. A program without MPI never comes here.
 */
#ifndef GPUSIM_INTERPOSER_MPI_MPI_H
#define GPUSIM_INTERPOSER_MPI_MPI_H

#include "runtime/base/base.h"
#include "runtime/mpi.h"

#include <stdbool.h>
#include <stdint.h>

/* An argument as it comes: of an int, the upper half is not defined. */
typedef intptr_t mpi_word;

enum mpi_call {
#define MPI_CALL(name, arguments) MPI_CALL_##name,
#include "interposer/mpi/calls.def"
#undef MPI_CALL
	MPI_CALL_COUNT
};

enum { MPI_MOST_ARGUMENTS = 12, MPI_STATUS_BYTES = 24 }; /* Open MPI's status; MPICH's has 20 bytes */

/* ---- abi.c ---- */

struct mpi_library {
	const char *name;
	bool pointers;          /* handles are pointers, not integers */
	mpi_word world, self, no_comm, no_request, ignored_status;
	int no_rank, any_rank, any_tag;
	int status_source, status_tag; /* where they are, in ints */
	size_t status_size;
};
/* NULL: there is no MPI. */
const struct mpi_library *mpi_library(void);
void *mpi_function(const char *name);
/* The value of a handle; and what the pointer to the n-th of several points to. */
mpi_word mpi_handle(mpi_word value);
mpi_word mpi_handle_at(mpi_word pointer, size_t n);
int mpi_rank_in(mpi_word comm);
int mpi_size_of(mpi_word comm);
uint64_t mpi_bytes(mpi_word count, mpi_word type);
/* The rank in `parent` of the first process of `comm`; -1: not known. */
int mpi_first_of(mpi_word comm, mpi_word parent);

/* ---- comms.c: numbers for communicators, in the order in which this process got them ---- */

int mpi_comm_number(mpi_word comm); /* -1: not known */
int mpi_comm_add(mpi_word comm);
void mpi_comm_gone(mpi_word comm);

/* ---- requests.c ---- */

struct mpi_request {
	struct mpi_request *next;
	mpi_word handle;
	uint64_t number;
	struct schedule_command *call; /* that made it, or started it */
	bool persistent, active, receives;
	int peer, tag, comm;
	uint64_t bytes;
};
struct mpi_request *mpi_request_add(mpi_word handle, const struct mpi_request *r); /* NULL: memory is short */
struct mpi_request *mpi_request_find(mpi_word handle);
void mpi_request_gone(struct mpi_request *r);
uint64_t mpi_request_number(void); /* a new one */
/* Whether the source or the tag is known only when the message has come. */
bool mpi_request_is_open(const struct mpi_request *r);

/* ---- record.c ---- */

/* One call. `arguments` are those that go to the library: they may be changed to get a status that the program does not want. */
struct mpi_event {
	enum mpi_call call;
	uint64_t begin_ns;
	mpi_word arguments[MPI_MOST_ARGUMENTS];
	mpi_word *requests;    /* of the call, as they were before it; owned */
	size_t request_count;
	mpi_word gone;         /* Comm_free: what was freed */
	char status[MPI_STATUS_BYTES];
	void *statuses;        /* owned, or NULL */
};
/* False: nothing is to be recorded. Else mpi_after follows, once. */
bool mpi_before(struct mpi_event *e);
void mpi_after(struct mpi_event *e, int result);

#endif
