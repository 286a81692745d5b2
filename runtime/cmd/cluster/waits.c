/*
 * Of the time in an MPI call, what is waiting for a call of another rank that was not made yet: a receive for its send, a collective for the
 * last of those that it needs. The n-th message from one rank to another with one tag is the n-th that is received; the n-th collective of a
 * communicator is the same for all of its ranks.
 */
#include "runtime/cmd/cluster/cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* One side of a message, or one call of a collective. */
struct mpi_meeting {
	uint64_t comm;
	int64_t from, to, tag; /* of a collective: -1, -1, and its number */
	uint64_t order;        /* among those with the same key, of one rank */
	int rank;
	bool receives;
	size_t op;             /* in that rank: the call that may wait */
	double begin;
};

struct mpi_meetings {
	struct mpi_meeting *list;
	size_t count, room;
};

static int compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_key(const struct mpi_meeting *x, const struct mpi_meeting *y)
{
	int c = x->comm < y->comm ? -1 : x->comm > y->comm;
	if (!c)
		c = compare(x->from, y->from);
	if (!c)
		c = compare(x->to, y->to);
	return c ? c : compare(x->tag, y->tag);
}

static int by_key_and_order(const void *a, const void *b)
{
	const struct mpi_meeting *x = a, *y = b;
	int c = by_key(x, y);
	if (!c)
		c = compare(x->receives, y->receives);
	if (!c)
		c = compare(x->rank, y->rank);
	return c ? c : compare((int64_t)x->order, (int64_t)y->order);
}

static void add(struct mpi_meetings *e, const struct mpi_meeting *one)
{
	if (gs_reserve(&e->list, e->count, &e->room, sizeof *e->list)) {
		e->list[e->count] = *one;
		e->list[e->count].order = e->count;
		e->count++;
	}
}

/* ---- collecting ---- */

struct collecting {
	const struct cluster *cluster;
	struct rank *rank;
	struct mpi_meetings messages, collectives;
	uint64_t *made;   /* collectives by communicator */
	int *own;         /* its rank in each communicator */
	size_t *wait_of;  /* the call that completes a request, by its number */
	size_t requests;
};

static int own_rank(const struct collecting *k, uint64_t comm)
{
	for (size_t i = 0; i < k->cluster->member_count; i++)
		if (k->cluster->members[i].comm == comm && k->cluster->members[i].world == k->rank->number)
			return k->cluster->members[i].rank;
	return -1;
}

static void add_message(struct collecting *k, size_t op, size_t waits, int64_t from, int64_t to, int64_t tag, bool receives)
{
	uint64_t comm = k->rank->comms[mpi_op_comm(&k->rank->ops[op])];
	add(&k->messages, &(struct mpi_meeting){comm, from, to, tag, 0, k->rank->number, receives, waits, k->rank->spans[op].begin});
}

static void collect_op(struct collecting *k, size_t i)
{
	const struct mpi_op *op = &k->rank->ops[i];
	const int64_t *n = op->numbers;
	int number = mpi_op_comm(op);
	if (number < 0 || op->kind == MPI_OP_free)
		return;
	if (mpi_op_is_collective(op->kind)) {
		add(&k->collectives, &(struct mpi_meeting){k->rank->comms[number], -1, -1, (int64_t)k->made[number]++, 0, k->rank->number, false, i, k->rank->spans[i].begin});
		return;
	}
	int own = k->own[number];
	size_t request = op->count == 5 && n[4] > 0 && (size_t)n[4] < k->requests ? (size_t)n[4] : 0;
	if (op->kind == MPI_OP_recv)
		add_message(k, i, i, n[0], own, n[1], true);
	else if (op->kind == MPI_OP_irecv)
		add_message(k, i, request ? k->wait_of[request] : SIZE_MAX, n[0], own, n[1], true);
	else
		add_message(k, i, i, own, n[0], n[1], false);
	if (op->kind == MPI_OP_sendrecv)
		add_message(k, i, i, n[3], own, n[4], true);
}

static void find_completions(struct collecting *k)
{
	for (size_t i = 0; i < k->requests; i++)
		k->wait_of[i] = SIZE_MAX;
	for (size_t i = 0; i < k->rank->op_count; i++)
		for (size_t j = 0; k->rank->ops[i].kind == MPI_OP_wait && j < k->rank->ops[i].count; j++)
			if (k->rank->ops[i].numbers[j] > 0 && (size_t)k->rank->ops[i].numbers[j] < k->requests)
				k->wait_of[k->rank->ops[i].numbers[j]] = i;
}

static void collect_rank(struct collecting *k, struct rank *r)
{
	k->rank = r;
	k->requests = r->op_count + 1;
	k->made = calloc(r->comm_count, sizeof *k->made);
	k->wait_of = calloc(k->requests, sizeof *k->wait_of);
	k->own = calloc(r->comm_count, sizeof *k->own);
	if (k->made && k->wait_of && k->own) {
		find_completions(k);
		for (size_t i = 0; i < r->comm_count; i++)
			k->own[i] = own_rank(k, r->comms[i]);
		for (size_t i = 0; i < r->op_count; i++)
			collect_op(k, i);
	}
	free(k->made);
	free(k->wait_of);
	free(k->own);
}

/* ---- matching ---- */

static void waited(struct cluster *c, const struct mpi_meeting *e, double until, int partner)
{
	struct mpi_span *s = e->op == SIZE_MAX ? NULL : &c->ranks[e->rank].spans[e->op];
	double time = s ? fmin(until, s->end) - s->begin : 0;
	if (s && time > s->others) {
		s->others = time;
		s->partner = partner;
	}
}

/* All of one key: first sends, then receives, each in their order. */
static void match_messages(struct cluster *c, const struct mpi_meeting *e, size_t count)
{
	size_t sends = 0;
	while (sends < count && !e[sends].receives)
		sends++;
	for (size_t i = 0; i < sends && sends + i < count; i++)
		waited(c, &e[sends + i], e[i].begin, e[i].rank);
}

/* All ranks of one collective. Whom a rank needs: the root of what comes from it; everybody for what is combined. */
static void match_collective(struct cluster *c, const struct mpi_meeting *e, size_t count)
{
	double last = 0, root_begins = 0;
	int last_rank = e->rank;
	const struct mpi_op *op = &c->ranks[e->rank].ops[e->op];
	enum mpi_op_kind kind = op->kind;
	bool from_root = kind == MPI_OP_bcast || kind == MPI_OP_scatter || kind == MPI_OP_scatterv;
	bool to_root = kind == MPI_OP_reduce || kind == MPI_OP_gather || kind == MPI_OP_gatherv;
	int64_t root = from_root || to_root ? op->numbers[kind == MPI_OP_scatter || kind == MPI_OP_gather ? 2 : 1] : -1;
	int world = root < 0 ? -1 : cluster_world_rank(c, e->comm, (int)root);
	for (size_t i = 0; i < count; i++) {
		last_rank = e[i].begin > last ? e[i].rank : last_rank;
		last = fmax(last, e[i].begin);
		root_begins = e[i].rank == world ? e[i].begin : root_begins;
	}
	for (size_t i = 0; i < count; i++)
		if (!to_root || e[i].rank == world)
			waited(c, &e[i], from_root ? root_begins : last, from_root ? world : last_rank);
}

static void match(struct cluster *c, struct mpi_meetings *e, void (*with)(struct cluster *, const struct mpi_meeting *, size_t))
{
	if (e->count)
		qsort(e->list, e->count, sizeof *e->list, by_key_and_order);
	for (size_t i = 0, end; i < e->count; i = end) {
		for (end = i + 1; end < e->count && !by_key(&e->list[i], &e->list[end]);)
			end++;
		with(c, e->list + i, end - i);
	}
	free(e->list);
}

void cluster_find_waits(struct cluster *c)
{
	struct collecting k = {.cluster = c};
	for (size_t i = 0; i < c->count; i++)
		collect_rank(&k, &c->ranks[i]);
	match(c, &k.messages, match_messages);
	match(c, &k.collectives, match_collective);
}
