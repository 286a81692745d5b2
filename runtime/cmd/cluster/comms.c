/*
 * Which communicators of different ranks are the same one. Ranks make them together: the n-th that is made of a parent is the same for all
 * ranks with the same color. So it is known by the parent, n and the color.
 */
#include "runtime/cmd/cluster/cluster.h"

#include "runtime/format/mpi_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15u;
	return a ^ a >> 29;
}

static bool add_member(struct cluster *c, uint64_t comm, int rank, int world)
{
	if (!gs_reserve(&c->members, c->member_count, &c->member_room, sizeof *c->members))
		return false;
	c->members[c->member_count++] = (struct comm_member){comm, rank, world};
	return true;
}

static int by_comm(const void *a, const void *b)
{
	const struct comm_member *x = a, *y = b;
	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int bad_call(const struct rank *r, size_t op, struct gs_error *err)
{
	return gs_fail(err, EBADMSG, "%s has an MPI call that cannot be replayed: %s, call %zu", r->path, mpi_op_name(r->ops[op].kind), op);
}

/* Communicators of a rank, by its numbers; and how often each was a parent. */
static int name_comms_of(struct cluster *c, struct rank *r, struct gs_error *err)
{
	size_t most = 2;
	for (size_t i = 0; i < r->op_count; i++)
		most += r->ops[i].kind == MPI_OP_comm;
	uint64_t *made = calloc(most, sizeof *made);
	r->comms = calloc(most, sizeof *r->comms);
	if (!made || !r->comms) {
		free(made);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	r->comm_count = 2;
	r->comms[MPI_CALLS_WORLD] = 1;
	r->comms[MPI_CALLS_SELF] = mix(2, (uint64_t)r->number);
	int result = add_member(c, r->comms[0], r->number, r->number) && add_member(c, r->comms[1], 0, r->number) ? 0 : gs_fail(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < r->op_count && !result; i++) {
		const struct mpi_op *op = &r->ops[i];
		int comm = mpi_op_comm(op);
		if (comm >= (int)r->comm_count || (comm < 0 && op->kind != MPI_OP_init && op->kind != MPI_OP_finalize && op->kind != MPI_OP_wait))
			result = bad_call(r, i, err);
		if (result || op->kind != MPI_OP_comm)
			continue;
		uint64_t n = made[comm]++;
		if (op->numbers[3] < 0)
			continue;
		if (op->numbers[3] != (int64_t)r->comm_count || op->numbers[1] < 0)
			result = bad_call(r, i, err);
		else if (!add_member(c, r->comms[r->comm_count++] = mix(mix(r->comms[comm], n), (uint64_t)op->numbers[1]), (int)op->numbers[2], r->number))
			result = gs_fail(err, ENOMEM, "out of memory");
	}
	free(made);
	return result;
}

int cluster_name_comms(struct cluster *c, struct gs_error *err)
{
	int result = 0;
	for (size_t i = 0; i < c->count && !result; i++)
		result = name_comms_of(c, &c->ranks[i], err);
	if (!result)
		qsort(c->members, c->member_count, sizeof *c->members, by_comm);
	return result;
}

/* The first member that is not before this one. */
static size_t find(const struct cluster *c, uint64_t comm, int rank)
{
	struct comm_member wanted = {comm, rank, 0};
	size_t low = 0, high = c->member_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (by_comm(&c->members[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int cluster_world_rank(const struct cluster *c, uint64_t comm, int rank)
{
	size_t at = find(c, comm, rank);
	return at < c->member_count && c->members[at].comm == comm && c->members[at].rank == rank ? c->members[at].world : -1;
}

size_t cluster_comm_size(const struct cluster *c, uint64_t comm)
{
	return find(c, comm, INT32_MAX) - find(c, comm, INT32_MIN);
}
