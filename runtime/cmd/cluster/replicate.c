/*
 * More ranks than were recorded: weak scaling of a regular program. A new rank does what the recorded rank in the same place does:
 *
 *   the first and the last are the recorded first and last; those between are the recorded ones between, in turn
 *   a partner one before or one after, also around the ring, is that of the new rank
 *   a collective of all ranks is one of all new ranks, with as many bytes for each process; its root is rank 0
 *
 * A program that has another pattern is refused.
 */
#include "runtime/cmd/cluster/cluster.h"

#include "runtime/format/mpi_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_RECORDED = 4 }; /* of fewer, a neighbour cannot be told from rank 0 */

/* The recorded rank that is in the place of this one. */
static size_t role(size_t rank, size_t ranks, size_t recorded)
{
	return rank == 0 ? 0 : rank + 1 == ranks ? recorded - 1 : 1 + (rank - 1) % (recorded - 2);
}

struct replica {
	const struct cluster *recorded;
	const struct rank *from;
	size_t number, ranks;
	struct gs_error *err;
};

static int no_rule(const struct replica *p, const struct mpi_op *op, const char *why)
{
	return gs_fail(p->err, EINVAL, "--ranks: the program is not regular: rank %d calls %s %s", p->from->number, mpi_op_name(op->kind), why);
}

/* Whether the call is of all ranks, in their order; or of this one alone. */
static bool is_of_all(const struct replica *p, uint64_t comm)
{
	size_t recorded = p->recorded->count;
	bool all = cluster_comm_size(p->recorded, comm) == recorded;
	for (size_t i = 0; i < recorded && all; i++)
		all = cluster_world_rank(p->recorded, comm, (int)i) == (int)i;
	return all;
}

static int move_partner(const struct replica *p, const struct mpi_op *op, int64_t *partner)
{
	int64_t recorded = (int64_t)p->recorded->count, ranks = (int64_t)p->ranks, distance = *partner - p->from->number;
	if (*partner == MPI_CALLS_ANY)
		return 0;
	if (distance == recorded - 1 || distance == 1 - recorded) /* around the ring */
		distance = distance > 0 ? -1 : 1;
	if (distance < -1 || distance > 1)
		return no_rule(p, op, "with a rank that is neither the one before nor the one after");
	*partner = ((int64_t)p->number + distance + ranks) % ranks;
	return 0;
}

/* One number for each process, from `first` on. */
static int spread_numbers(const struct replica *p, struct mpi_op *op, size_t first)
{
	size_t recorded = p->recorded->count;
	if (op->count == first) /* it is the root only that has them */
		return 0;
	int64_t *numbers = op->count == first + recorded ? calloc(first + p->ranks, sizeof *numbers) : NULL;
	if (!numbers)
		return no_rule(p, op, "with sizes that cannot be read");
	memcpy(numbers, op->numbers, first * sizeof *numbers);
	for (size_t i = 0; i < p->ranks; i++)
		numbers[first + i] = op->numbers[first + role(i, p->ranks, recorded)];
	free(op->numbers);
	op->numbers = numbers;
	op->count = first + p->ranks;
	return 0;
}

/* Which of its numbers is the root; -1: it has none. */
static int root_of(enum mpi_op_kind kind)
{
	switch (kind) {
	case MPI_OP_bcast:
	case MPI_OP_ibcast:
	case MPI_OP_reduce:
	case MPI_OP_gatherv:
	case MPI_OP_scatterv: return 1;
	case MPI_OP_gather:
	case MPI_OP_scatter: return 2;
	default: return -1;
	}
}

static int move_collective(const struct replica *p, struct mpi_op *op)
{
	int root = root_of(op->kind);
	if (root >= 0 && op->numbers[root])
		return no_rule(p, op, "with a root other than rank 0");
	switch (op->kind) {
	case MPI_OP_comm:
		op->numbers[2] = (int64_t)p->number; /* the order stays */
		return 0;
	case MPI_OP_allgatherv: return spread_numbers(p, op, 2);
	case MPI_OP_gatherv:
	case MPI_OP_scatterv: return spread_numbers(p, op, 3);
	case MPI_OP_reducescatter: return spread_numbers(p, op, 1);
	case MPI_OP_alltoallv: return no_rule(p, op, "with sizes for each pair of ranks");
	default: return 0;
	}
}

static int move_call(const struct replica *p, struct mpi_op *op)
{
	int comm = mpi_op_comm(op), failed = 0;
	uint64_t made = op->kind == MPI_OP_comm && op->numbers[3] >= 0 ? p->from->comms[op->numbers[3]] : 0;
	if (comm < 0 || comm == MPI_CALLS_SELF || op->kind == MPI_OP_free)
		return 0;
	if (!is_of_all(p, p->from->comms[comm]) || (op->kind == MPI_OP_comm && !is_of_all(p, made)))
		return no_rule(p, op, "for a part of the ranks, or in another order");
	if (mpi_op_is_collective(op->kind))
		return move_collective(p, op);
	failed = move_partner(p, op, &op->numbers[0]);
	return failed || op->kind != MPI_OP_sendrecv ? failed : move_partner(p, op, &op->numbers[3]);
}

static int replicate_rank(const struct replica *p, struct rank *to)
{
	int failed = rank_copy(p->recorded, p->from, to, p->err);
	to->number = (int)p->number;
	to->ranks = (int)p->ranks;
	for (size_t i = 0; i < to->op_count && !failed; i++)
		failed = move_call(p, &to->ops[i]);
	return failed;
}

int cluster_replicate(struct cluster *c, size_t ranks, struct gs_error *err)
{
	if (c->count < LEAST_RECORDED || ranks < c->count)
		return ranks < c->count ? gs_fail(err, EINVAL, "--ranks: %zu ranks were recorded; they can become more, not %zu", c->count, ranks)
		                        : gs_fail(err, EINVAL, "--ranks needs a run with at least %d ranks, and these profiles are of one with %zu", LEAST_RECORDED, c->count);
	struct cluster more = *c;
	int failed = 0;
	more.recorded = c->count;
	more.members = NULL;
	more.member_count = more.member_room = more.count = 0;
	more.ranks = calloc(ranks, sizeof *more.ranks);
	if (!more.ranks)
		return gs_fail(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < ranks && !failed; i++)
		failed = replicate_rank(&(struct replica){c, &c->ranks[role(i, ranks, c->count)], i, ranks, err}, &more.ranks[more.count++]);
	if (!failed)
		failed = cluster_name_comms(&more, err);
	cluster_free(c);
	*c = more;
	return failed;
}
