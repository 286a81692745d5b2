/* MPI calls as SMPI takes them; see perform.h. */
#include "runtime/cmd/cluster/perform.h"

#include "runtime/cmd/cluster/smpi.h"
#include "runtime/format/mpi_calls.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Nobody reads or writes it; but it must not be where SMPI would say that it is nothing. */
static char buffers[2][64];

bool performer_start(struct performer *p, const struct cluster *c, const struct rank *r)
{
	p->cluster = c;
	p->rank = r;
	p->request_room = 1;
	for (size_t i = 0; i < r->op_count; i++) {
		enum mpi_op_kind kind = r->ops[i].kind;
		p->request_room += kind == MPI_OP_isend || kind == MPI_OP_issend || kind == MPI_OP_irecv || kind == MPI_OP_ibarrier || kind == MPI_OP_ibcast ||
		                   kind == MPI_OP_iallreduce;
	}
	p->comms = calloc(r->comm_count, sizeof *p->comms);
	p->requests = calloc(p->request_room, sizeof *p->requests);
	p->counts = calloc(2 * c->count, sizeof *p->counts);
	p->places = calloc(2 * c->count, sizeof *p->places);
	if (!p->comms || !p->requests || !p->counts || !p->places)
		return false;
	p->comms[MPI_CALLS_WORLD] = smpi.world;
	p->comms[MPI_CALLS_SELF] = smpi.smpi_process_comm_self();
	return true;
}

void performer_free(struct performer *p)
{
	free(p->comms);
	free(p->requests);
	free(p->counts);
	free(p->places);
}

/* SMPI counts in int. What is larger is sent in words. */
struct amount {
	int count;
	void *type;
};

static struct amount amount_of(int64_t bytes)
{
	return bytes <= INT_MAX ? (struct amount){(int)bytes, smpi.byte} : (struct amount){(int)(bytes / 8 > INT_MAX ? INT_MAX : bytes / 8), smpi.word};
}

static int peer(int64_t rank)
{
	return rank == MPI_CALLS_ANY ? SMPI_ANY_SOURCE : (int)rank;
}

static int tag(int64_t number)
{
	return number == MPI_CALLS_ANY ? SMPI_ANY_TAG : (int)number;
}

/* One size for each process, from numbers[first] on. */
static bool take_counts(struct performer *p, const struct mpi_op *op, size_t first, size_t ranks, int *counts)
{
	if (op->count < first + ranks || ranks > p->cluster->count)
		return false;
	for (size_t i = 0; i < ranks; i++)
		counts[i] = (int)(op->numbers[first + i] > INT_MAX ? INT_MAX : op->numbers[first + i]);
	return true;
}

/* NULL: there is no such number. Numbers of requests begin at 1. */
static void **request_at(struct performer *p, int64_t number)
{
	return number > 0 && (size_t)number < p->request_room ? &p->requests[number] : NULL;
}

static bool perform_wait(struct performer *p, const struct mpi_op *op)
{
	void **all = calloc(op->count + 1, sizeof *all);
	int count = 0;
	for (size_t i = 0; i < op->count && all; i++) {
		void **r = request_at(p, op->numbers[i]);
		if (r && *r) {
			all[count++] = *r;
			*r = NULL;
		}
	}
	bool good = all && (!count || !smpi.MPI_Waitall(count, all, NULL));
	free(all);
	return good;
}

static bool perform_message(struct performer *p, const struct mpi_op *op, void *comm)
{
	const int64_t *n = op->numbers;
	struct amount a = amount_of(n[2]), b;
	void **request = op->count == 5 ? request_at(p, n[4]) : NULL;
	if (op->count == 5 && !request)
		return false;
	switch (op->kind) {
	case MPI_OP_send: return !smpi.MPI_Send(buffers[0], a.count, a.type, (int)n[0], (int)n[1], comm);
	case MPI_OP_ssend: return !smpi.MPI_Ssend(buffers[0], a.count, a.type, (int)n[0], (int)n[1], comm);
	case MPI_OP_recv: return !smpi.MPI_Recv(buffers[1], a.count, a.type, peer(n[0]), tag(n[1]), comm, NULL);
	case MPI_OP_isend: return !smpi.MPI_Isend(buffers[0], a.count, a.type, (int)n[0], (int)n[1], comm, request);
	case MPI_OP_issend: return !smpi.MPI_Issend(buffers[0], a.count, a.type, (int)n[0], (int)n[1], comm, request);
	case MPI_OP_irecv: return !smpi.MPI_Irecv(buffers[1], a.count, a.type, peer(n[0]), tag(n[1]), comm, request);
	default: /* sendrecv */
		b = amount_of(n[5]);
		return !smpi.MPI_Sendrecv(buffers[0], a.count, a.type, (int)n[0], (int)n[1], buffers[1], b.count, b.type, peer(n[3]), tag(n[4]), comm, NULL);
	}
}

static bool perform_sizes(struct performer *p, const struct mpi_op *op, void *comm, size_t ranks)
{
	const int64_t *n = op->numbers;
	int *counts = p->counts, *received = p->counts + ranks, *places = p->places;
	struct amount a = amount_of(n[0]);
	bool root = op->count > 3;
	switch (op->kind) {
	case MPI_OP_allgatherv:
		return take_counts(p, op, 2, ranks, counts) && !smpi.MPI_Allgatherv(buffers[0], a.count, smpi.byte, buffers[1], counts, places, smpi.byte, comm);
	case MPI_OP_gatherv:
		return (!root || take_counts(p, op, 3, ranks, counts)) &&
		       !smpi.MPI_Gatherv(buffers[0], a.count, smpi.byte, buffers[1], counts, places, smpi.byte, (int)n[1], comm);
	case MPI_OP_scatterv:
		return (!root || take_counts(p, op, 3, ranks, counts)) &&
		       !smpi.MPI_Scatterv(buffers[0], counts, places, smpi.byte, buffers[1], a.count, smpi.byte, (int)n[1], comm);
	case MPI_OP_alltoallv:
		return take_counts(p, op, 1, ranks, counts) && take_counts(p, op, 1 + ranks, ranks, received) &&
		       !smpi.MPI_Alltoallv(buffers[0], counts, places, smpi.byte, buffers[1], received, places, smpi.byte, comm);
	default: /* reducescatter */
		return take_counts(p, op, 1, ranks, counts) && !smpi.MPI_Reduce_scatter(buffers[0], buffers[1], counts, smpi.byte, smpi.max, comm);
	}
}

static bool perform_collective(struct performer *p, const struct mpi_op *op, void *comm, size_t ranks)
{
	const int64_t *n = op->numbers;
	char *from = buffers[0], *to = buffers[1];
	struct amount a = amount_of(n[0]);
	void **request = request_at(p, n[op->count - 1]);
	switch (op->kind) {
	case MPI_OP_barrier: return !smpi.MPI_Barrier(comm);
	case MPI_OP_ibarrier: return request && !smpi.MPI_Ibarrier(comm, request);
	case MPI_OP_bcast: return !smpi.MPI_Bcast(from, a.count, a.type, (int)n[1], comm);
	case MPI_OP_ibcast: return request && !smpi.MPI_Ibcast(from, a.count, a.type, (int)n[1], comm, request);
	case MPI_OP_allreduce: return !smpi.MPI_Allreduce(from, to, a.count, a.type, smpi.max, comm);
	case MPI_OP_iallreduce: return request && !smpi.MPI_Iallreduce(from, to, a.count, a.type, smpi.max, comm, request);
	case MPI_OP_scan: return !smpi.MPI_Scan(from, to, a.count, a.type, smpi.max, comm);
	case MPI_OP_exscan: return !smpi.MPI_Exscan(from, to, a.count, a.type, smpi.max, comm);
	case MPI_OP_reduce: return !smpi.MPI_Reduce(from, to, a.count, a.type, smpi.max, (int)n[1], comm);
	case MPI_OP_allgather: return !smpi.MPI_Allgather(from, a.count, a.type, to, a.count, a.type, comm);
	case MPI_OP_alltoall: return !smpi.MPI_Alltoall(from, a.count, a.type, to, a.count, a.type, comm);
	case MPI_OP_gather: return !smpi.MPI_Gather(from, a.count, a.type, to, a.count, a.type, (int)n[2], comm);
	case MPI_OP_scatter: return !smpi.MPI_Scatter(from, a.count, a.type, to, a.count, a.type, (int)n[2], comm);
	default: return perform_sizes(p, op, comm, ranks);
	}
}

/* Ranks that a call names are in its communicator. */
static bool is_sound(const struct mpi_op *op, size_t ranks)
{
	const int64_t *n = op->numbers;
	int64_t most = (int64_t)ranks - 1;
	switch (op->kind) {
	case MPI_OP_send:
	case MPI_OP_ssend:
	case MPI_OP_isend:
	case MPI_OP_issend: return n[0] >= 0 && n[0] <= most && n[1] >= 0 && n[2] >= 0;
	case MPI_OP_recv:
	case MPI_OP_irecv: return n[0] <= most && n[2] >= 0;
	case MPI_OP_sendrecv: return n[0] >= 0 && n[0] <= most && n[1] >= 0 && n[2] >= 0 && n[3] <= most && n[5] >= 0;
	case MPI_OP_bcast:
	case MPI_OP_ibcast:
	case MPI_OP_reduce: return n[0] >= 0 && n[1] >= 0 && n[1] <= most;
	case MPI_OP_gatherv:
	case MPI_OP_scatterv: return n[0] >= 0 && n[1] >= 0 && n[1] <= most;
	case MPI_OP_gather:
	case MPI_OP_scatter: return n[0] >= 0 && n[2] >= 0 && n[2] <= most;
	default:
		for (size_t i = 0; i < op->count; i++)
			if (n[i] < 0)
				return false;
		return true;
	}
}

static int cannot(const struct performer *p, const struct mpi_op *op, struct gs_error *err)
{
	return gs_fail(err, EBADMSG, "%s has an MPI call that cannot be replayed: %s", p->rank->path, mpi_op_name(op->kind));
}

int performer_make_comms(struct performer *p, struct gs_error *err)
{
	for (size_t i = 0; i < p->rank->op_count; i++) {
		const struct mpi_op *op = &p->rank->ops[i];
		const int64_t *n = op->numbers;
		void *made = NULL, *parent = op->kind == MPI_OP_comm ? p->comms[n[0]] : NULL;
		if (op->kind != MPI_OP_comm)
			continue;
		if (!parent || smpi.MPI_Comm_split(parent, n[1] < 0 ? SMPI_UNDEFINED : (int)n[1], (int)n[2], &made) || (n[3] >= 0 && !made))
			return cannot(p, op, err);
		if (n[3] >= 0)
			p->comms[n[3]] = made;
	}
	return 0;
}

int perform(struct performer *p, const struct mpi_op *op, struct gs_error *err)
{
	int number = mpi_op_comm(op);
	void *comm = number < 0 ? NULL : p->comms[number];
	size_t ranks = number < 0 ? 0 : cluster_comm_size(p->cluster, p->rank->comms[number]);
	bool good = true;
	if (op->kind == MPI_OP_init || op->kind == MPI_OP_finalize)
		return 0;
	if (op->kind == MPI_OP_wait)
		good = perform_wait(p, op);
	else if (!comm)
		good = false;
	else if (op->kind == MPI_OP_comm || op->kind == MPI_OP_free)
		good = true; /* they take no time, as in SMPI's own replay */
	else if (!is_sound(op, ranks))
		good = false;
	else if (op->kind <= MPI_OP_sendrecv)
		good = perform_message(p, op, comm);
	else
		good = perform_collective(p, op, comm, ranks);
	return good ? 0 : cannot(p, op, err);
}
