/* Reads MPI calls; see calls.h. */
#include "runtime/cmd/cluster/calls.h"

#include "runtime/base/base.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	size_t least;
	bool more;
	int comm;
} forms[MPI_OP_COUNT] = {
#define X(word, least, more, comm) {#word, least, more, comm},
	MPI_OPS(X)
#undef X
};

const char *mpi_op_name(enum mpi_op_kind kind)
{
	return forms[kind].word;
}

int mpi_op_comm(const struct mpi_op *op)
{
	return forms[op->kind].comm < 0 ? -1 : (int)op->numbers[forms[op->kind].comm];
}

bool mpi_op_is_collective(enum mpi_op_kind kind)
{
	return kind >= MPI_OP_barrier && kind != MPI_OP_free;
}

uint64_t mpi_op_sent(const struct mpi_op *op)
{
	const int64_t *n = op->numbers;
	uint64_t sum = 0;
	switch (op->kind) {
	case MPI_OP_send:
	case MPI_OP_ssend:
	case MPI_OP_isend:
	case MPI_OP_issend:
	case MPI_OP_sendrecv: return (uint64_t)n[2];
	case MPI_OP_bcast:
	case MPI_OP_ibcast:
	case MPI_OP_allreduce:
	case MPI_OP_iallreduce:
	case MPI_OP_scan:
	case MPI_OP_exscan:
	case MPI_OP_reduce:
	case MPI_OP_allgather:
	case MPI_OP_alltoall:
	case MPI_OP_gather:
	case MPI_OP_scatter:
	case MPI_OP_allgatherv:
	case MPI_OP_gatherv: return (uint64_t)n[0];
	case MPI_OP_scatterv:
		for (size_t i = 3; i < op->count; i++)
			sum += (uint64_t)n[i];
		return sum;
	case MPI_OP_alltoallv:
	case MPI_OP_reducescatter:
		for (size_t i = 1; i < (op->kind == MPI_OP_alltoallv ? 1 + op->count / 2 : op->count); i++)
			sum += (uint64_t)n[i];
		return sum;
	default: return 0;
	}
}

static bool take_numbers(const char *text, struct mpi_op *op)
{
	size_t room = 0;
	while (*text) {
		char *end;
		int64_t value = strtoll(text, &end, 10);
		if (end == text || (*end && *end != ' ') || value < -1 || value > INT64_C(1) << 42 ||
		    !gs_reserve(&op->numbers, op->count, &room, sizeof *op->numbers))
			return false;
		op->numbers[op->count++] = value;
		text = end + (*end == ' ');
	}
	return true;
}

bool mpi_op_parse(const char *text, struct mpi_op *op)
{
	size_t length = strcspn(text, " ");
	*op = (struct mpi_op){0};
	for (int k = 0; k < MPI_OP_COUNT; k++)
		if (strlen(forms[k].word) == length && !strncmp(forms[k].word, text, length)) {
			op->kind = (enum mpi_op_kind)k;
			if (take_numbers(text + length + (text[length] == ' '), op) && op->count >= forms[k].least && (forms[k].more || op->count == forms[k].least))
				return true;
			break;
		}
	free(op->numbers);
	op->numbers = NULL;
	return false;
}
