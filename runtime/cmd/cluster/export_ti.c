/*
 * Time-independent traces, as `smpirun -replay` of SimGrid 3.32 takes them: one file for each rank and one that names them. What a rank does
 * between MPI calls, launches and copies included, is computation: FLOPS operations for each second.
 */
#include "runtime/cmd/cluster/cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FLOPS 1e9 /* a host of 1 Gf, as gpusim platform makes them */

struct writing {
	const struct cluster *cluster;
	const struct rank *rank;
	struct gs_buf text;
	size_t pending; /* requests that are under way */
	const struct mpi_op **requests; /* that made them, by number */
	size_t request_room;
};

static int world(const struct writing *w, const struct mpi_op *op, int64_t rank)
{
	return cluster_world_rank(w->cluster, w->rank->comms[mpi_op_comm(op)], (int)rank);
}

static void message(struct writing *w, const char *word, const struct mpi_op *op, size_t first)
{
	const int64_t *n = op->numbers + first;
	gs_buf_printf(&w->text, "%d %s %d %" PRId64 " %" PRId64 "\n", w->rank->number, word, world(w, op, n[0]), n[1] < 0 ? 0 : n[1], n[2]);
}

static void begin_request(struct writing *w, const struct mpi_op *op)
{
	if (op->numbers[4] > 0 && (size_t)op->numbers[4] < w->request_room) {
		w->requests[op->numbers[4]] = op;
		w->pending++;
	}
}

/* SMPI knows a request by whom it is from and to, and its tag. */
static void wait_for(struct writing *w, const struct mpi_op *op)
{
	size_t known = 0;
	for (size_t i = 0; i < op->count; i++)
		known += op->numbers[i] > 0 && (size_t)op->numbers[i] < w->request_room && w->requests[op->numbers[i]];
	if (known && known == w->pending) {
		gs_buf_printf(&w->text, "%d waitall %zu\n", w->rank->number, known);
		for (size_t i = 0; i < op->count; i++)
			if (op->numbers[i] > 0 && (size_t)op->numbers[i] < w->request_room)
				w->requests[op->numbers[i]] = NULL;
		w->pending = 0;
		return;
	}
	for (size_t i = 0; i < op->count; i++) {
		const struct mpi_op *r = op->numbers[i] > 0 && (size_t)op->numbers[i] < w->request_room ? w->requests[op->numbers[i]] : NULL;
		if (!r)
			continue;
		int peer = world(w, r, r->numbers[0]), own = w->rank->number;
		bool receives = r->kind == MPI_OP_irecv;
		gs_buf_printf(&w->text, "%d wait %d %d %" PRId64 "\n", own, receives ? peer : own, receives ? own : peer, r->numbers[1] < 0 ? 0 : r->numbers[1]);
		w->requests[op->numbers[i]] = NULL;
		w->pending--;
	}
}

static void add_sizes(struct writing *w, const struct mpi_op *op, size_t first, size_t count)
{
	for (size_t i = 0; i < count && first + i < op->count; i++)
		gs_buf_printf(&w->text, " %" PRId64, op->numbers[first + i]);
}

static void add_equal(struct writing *w, const struct mpi_op *op, size_t first, int64_t otherwise)
{
	if (op->count > first)
		add_sizes(w, op, first, w->cluster->count);
	else /* SMPI asks everybody for sizes that only the root knows */
		for (size_t i = 0; i < w->cluster->count; i++)
			gs_buf_printf(&w->text, " %" PRId64, otherwise);
}

static int64_t total(const struct mpi_op *op, size_t first, size_t count)
{
	int64_t sum = 0;
	for (size_t i = 0; i < count && first + i < op->count; i++)
		sum += op->numbers[first + i];
	return sum;
}

static void collective(struct writing *w, const struct mpi_op *op)
{
	const int64_t *n = op->numbers;
	size_t ranks = w->cluster->count;
	struct gs_buf *t = &w->text;
	gs_buf_printf(t, "%d %s", w->rank->number, mpi_op_name(op->kind));
	switch (op->kind) {
	case MPI_OP_bcast: gs_buf_printf(t, " %" PRId64 " %d", n[0], world(w, op, n[1])); break;
	case MPI_OP_reduce: gs_buf_printf(t, " %" PRId64 " 0 %d", n[0], world(w, op, n[1])); break;
	case MPI_OP_allreduce:
	case MPI_OP_scan:
	case MPI_OP_exscan: gs_buf_printf(t, " %" PRId64 " 0", n[0]); break;
	case MPI_OP_allgather:
	case MPI_OP_alltoall: gs_buf_printf(t, " %" PRId64 " %" PRId64, n[0], n[1]); break;
	case MPI_OP_gather:
	case MPI_OP_scatter: gs_buf_printf(t, " %" PRId64 " %" PRId64 " %d", n[0], n[1], world(w, op, n[2])); break;
	case MPI_OP_allgatherv:
		gs_buf_printf(t, " %" PRId64, n[0]);
		add_sizes(w, op, 2, ranks);
		break;
	case MPI_OP_gatherv:
		gs_buf_printf(t, " %" PRId64, n[0]);
		add_equal(w, op, 3, n[0]);
		gs_buf_printf(t, " %d", world(w, op, n[1]));
		break;
	case MPI_OP_scatterv:
		add_equal(w, op, 3, n[0]);
		gs_buf_printf(t, " %" PRId64 " %d", n[0], world(w, op, n[1]));
		break;
	case MPI_OP_alltoallv:
		gs_buf_printf(t, " %" PRId64, total(op, 1, ranks));
		add_sizes(w, op, 1, ranks);
		gs_buf_printf(t, " %" PRId64, total(op, 1 + ranks, ranks));
		add_sizes(w, op, 1 + ranks, ranks);
		break;
	case MPI_OP_reducescatter:
		add_sizes(w, op, 1, ranks);
		gs_buf_puts(t, " 0");
		break;
	default: break; /* barrier */
	}
	gs_buf_puts(t, "\n");
}

static int cannot(const struct writing *w, const struct mpi_op *op, struct gs_error *err)
{
	return gs_fail(err, ENOTSUP, "%s has a call that these traces have no form for: %s of %zu of %zu ranks", w->rank->path, mpi_op_name(op->kind),
	               cluster_comm_size(w->cluster, w->rank->comms[mpi_op_comm(op)]), w->cluster->count);
}

static int write_op(struct writing *w, const struct mpi_op *op, struct gs_error *err)
{
	switch (op->kind) {
	case MPI_OP_init:
	case MPI_OP_finalize: gs_buf_printf(&w->text, "%d %s\n", w->rank->number, mpi_op_name(op->kind)); break;
	case MPI_OP_send:
	case MPI_OP_ssend: message(w, "send", op, 0); break;
	case MPI_OP_recv: message(w, "recv", op, 0); break;
	case MPI_OP_isend:
	case MPI_OP_issend:
	case MPI_OP_irecv:
		message(w, op->kind == MPI_OP_irecv ? "irecv" : "isend", op, 0);
		begin_request(w, op);
		break;
	case MPI_OP_sendrecv:
		gs_buf_printf(&w->text, "%d sendRecv %" PRId64 " %d %" PRId64 " %d 6 6\n", w->rank->number, op->numbers[2], world(w, op, op->numbers[0]), op->numbers[5],
		              world(w, op, op->numbers[3]));
		break;
	case MPI_OP_wait: wait_for(w, op); break;
	case MPI_OP_comm:
	case MPI_OP_free: break;
	case MPI_OP_ibarrier:
	case MPI_OP_ibcast:
	case MPI_OP_iallreduce: return cannot(w, op, err);
	default:
		if (cluster_comm_size(w->cluster, w->rank->comms[mpi_op_comm(op)]) != w->cluster->count)
			return cannot(w, op, err);
		collective(w, op);
	}
	return 0;
}

static int write_rank(struct writing *w, struct gs_error *err)
{
	double reached = 0;
	int result = 0;
	for (size_t i = 0; i < w->rank->op_count && !result; i++) {
		const struct mpi_span *s = &w->rank->spans[i];
		double between = s->begin - reached;
		if (between > 0)
			gs_buf_printf(&w->text, "%d compute %.9g\n", w->rank->number, between / 1e9 * FLOPS);
		result = write_op(w, s->op, err);
		reached = s->end;
	}
	return result;
}

static int export_rank(const struct cluster *c, const struct rank *r, const char *path, struct gs_error *err)
{
	struct writing w = {.cluster = c, .rank = r, .request_room = r->op_count + 1, .requests = calloc(r->op_count + 1, sizeof *w.requests)};
	int result = w.requests ? write_rank(&w, err) : gs_fail(err, ENOMEM, "out of memory");
	if (!result)
		result = w.text.failed ? gs_fail(err, ENOMEM, "out of memory") : gs_write_file(path, w.text.data, w.text.len, err);
	gs_buf_free(&w.text);
	free(w.requests);
	return result;
}

int cluster_export_ti(const struct cluster *c, const char *folder, struct gs_error *err)
{
	struct gs_buf list = {0};
	char path[4200];
	int result = 0;
	mkdir(folder, 0777);
	for (size_t i = 0; i < c->count && !result; i++) {
		snprintf(path, sizeof path, "%s/rank-%zu.txt", folder, i);
		result = export_rank(c, &c->ranks[i], path, err);
		gs_buf_printf(&list, "%s\n", path);
	}
	snprintf(path, sizeof path, "%s/traces.txt", folder);
	if (!result)
		result = list.failed ? gs_fail(err, ENOMEM, "out of memory") : gs_write_file(path, list.data, list.len, err);
	gs_buf_free(&list);
	return result;
}
