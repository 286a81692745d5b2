/*
 * Execution traces of Chakra, a file PREFIX.RANK.et for each rank: messages of Protocol Buffers, each after its length. The numbers of fields and kinds are those of
 * et_def.proto (github.com/mlcommons/chakra, schema/protobuf). What a rank does between MPI calls is a node of computation, in whole microseconds; what is left over is
 * added to the next. A node depends on the one before it. One that follows a wait also depends on the messages that were waited for.
 */
#include "runtime/cmd/cluster/cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum chakra_node { NODE_COMP = 4, NODE_SEND = 5, NODE_RECV = 6, NODE_COLLECTIVE = 7 };
enum chakra_collective { ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, BARRIER };
enum { FIELD_ID = 1, FIELD_NAME, FIELD_TYPE, FIELD_DATA_DEPS = 5, FIELD_START = 6, FIELD_DURATION = 7, FIELD_ATTRIBUTE = 10 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INT32 = 7, ATTRIBUTE_INT64 = 9, ATTRIBUTE_BOOL = 27, ATTRIBUTE_STRING = 29 };
enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

/* ---- Protocol Buffers ---- */

static void add_varint(struct gs_buf *out, uint64_t value)
{
	do {
		char byte = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		gs_buf_add(out, &byte, 1);
	} while (value >>= 7);
}

static void add_number(struct gs_buf *out, unsigned field, uint64_t value)
{
	add_varint(out, field << 3 | WIRE_NUMBER);
	add_varint(out, value);
}

static void add_bytes(struct gs_buf *out, unsigned field, const char *bytes, size_t length)
{
	add_varint(out, field << 3 | WIRE_BYTES);
	add_varint(out, length);
	gs_buf_add(out, bytes, length);
}

static void add_attribute(struct gs_buf *node, const char *name, unsigned field, uint64_t value)
{
	struct gs_buf a = {0};
	add_bytes(&a, ATTRIBUTE_NAME, name, strlen(name));
	add_number(&a, field, value);
	add_bytes(node, FIELD_ATTRIBUTE, a.data, a.len);
	gs_buf_free(&a);
}

static void add_text_attribute(struct gs_buf *node, const char *name, const char *text)
{
	struct gs_buf a = {0};
	add_bytes(&a, ATTRIBUTE_NAME, name, strlen(name));
	add_bytes(&a, ATTRIBUTE_STRING, text, strlen(text));
	add_bytes(node, FIELD_ATTRIBUTE, a.data, a.len);
	gs_buf_free(&a);
}

/* ---- nodes ---- */

struct chakra {
	const struct cluster *cluster;
	const struct rank *rank;
	struct gs_buf out;
	uint64_t next;    /* id of the next node; the first is 1 */
	uint64_t before;  /* that the next one depends on; 0: none */
	uint64_t *nodes;  /* of requests, by number */
	size_t request_room;
	uint64_t *waited; /* nodes of requests that were waited for, and that the next node depends on, too */
	size_t waited_count, waited_room;
	double left_us;   /* of computation, less than a microsecond */
};

/* Begins a node in *node; its id. */
static uint64_t begin_node(struct chakra *k, struct gs_buf *node, const char *name, enum chakra_node type, double begin_ns, uint64_t duration_us)
{
	uint64_t id = k->next++;
	add_number(node, FIELD_ID, id);
	add_bytes(node, FIELD_NAME, name, strlen(name));
	add_number(node, FIELD_TYPE, type);
	if (k->before)
		add_number(node, FIELD_DATA_DEPS, k->before);
	for (size_t i = 0; i < k->waited_count; i++)
		add_number(node, FIELD_DATA_DEPS, k->waited[i]);
	k->waited_count = 0;
	add_number(node, FIELD_START, (uint64_t)(begin_ns / 1e3));
	add_number(node, FIELD_DURATION, duration_us);
	add_attribute(node, "is_cpu_op", ATTRIBUTE_BOOL, 0);
	return id;
}

static void end_node(struct chakra *k, struct gs_buf *node)
{
	if (node->failed)
		k->out.failed = true;
	add_varint(&k->out, node->len);
	gs_buf_add(&k->out, node->data, node->len);
	gs_buf_free(node);
}

static void add_computation(struct chakra *k, double begin_ns, double ns)
{
	double us = ns / 1e3 + k->left_us, whole = floor(us);
	struct gs_buf node = {0};
	k->left_us = us - whole;
	if (whole < 1)
		return;
	k->before = begin_node(k, &node, "between calls", NODE_COMP, begin_ns, (uint64_t)whole);
	end_node(k, &node);
}

/* One message; its id. */
static uint64_t add_message(struct chakra *k, const struct mpi_span *s, bool receives, const int64_t *n)
{
	int peer = cluster_world_rank(k->cluster, k->rank->comms[mpi_op_comm(s->op)], (int)n[0]), own = k->rank->number;
	struct gs_buf node = {0};
	uint64_t id = begin_node(k, &node, mpi_op_name(s->op->kind), receives ? NODE_RECV : NODE_SEND, s->begin, (uint64_t)((s->end - s->begin) / 1e3));
	add_attribute(&node, "comm_src", ATTRIBUTE_INT32, (uint64_t)(uint32_t)(receives ? peer : own));
	add_attribute(&node, "comm_dst", ATTRIBUTE_INT32, (uint64_t)(uint32_t)(receives ? own : peer));
	add_attribute(&node, "comm_tag", ATTRIBUTE_INT32, (uint64_t)(uint32_t)(n[1] < 0 ? 0 : n[1]));
	add_attribute(&node, "comm_size", ATTRIBUTE_INT64, (uint64_t)n[2]);
	end_node(k, &node);
	return id;
}

static bool kind_of(enum mpi_op_kind kind, enum chakra_collective *c)
{
	switch (kind) {
	case MPI_OP_barrier:
	case MPI_OP_ibarrier: return *c = BARRIER, true;
	case MPI_OP_bcast:
	case MPI_OP_ibcast: return *c = BROADCAST, true;
	case MPI_OP_allreduce:
	case MPI_OP_iallreduce: return *c = ALL_REDUCE, true;
	case MPI_OP_reduce: return *c = REDUCE, true;
	case MPI_OP_allgather:
	case MPI_OP_allgatherv: return *c = ALL_GATHER, true;
	case MPI_OP_gather:
	case MPI_OP_gatherv: return *c = GATHER, true;
	case MPI_OP_scatter:
	case MPI_OP_scatterv: return *c = SCATTER, true;
	case MPI_OP_alltoall:
	case MPI_OP_alltoallv: return *c = ALL_TO_ALL, true;
	case MPI_OP_reducescatter: return *c = REDUCE_SCATTER, true;
	default: return false; /* scan, exscan */
	}
}

static uint64_t add_collective(struct chakra *k, const struct mpi_span *s, enum chakra_collective kind)
{
	struct gs_buf node = {0};
	char group[24];
	uint64_t id = begin_node(k, &node, mpi_op_name(s->op->kind), NODE_COLLECTIVE, s->begin, (uint64_t)((s->end - s->begin) / 1e3));
	add_attribute(&node, "comm_type", ATTRIBUTE_INT64, kind);
	add_attribute(&node, "comm_size", ATTRIBUTE_INT64, mpi_op_sent(s->op));
	snprintf(group, sizeof group, "%" PRIx64, k->rank->comms[mpi_op_comm(s->op)]);
	add_text_attribute(&node, "pg_name", group);
	end_node(k, &node);
	return id;
}

static void add_request(struct chakra *k, const struct mpi_op *op, uint64_t id)
{
	int64_t number = op->numbers[op->count - 1];
	if (number > 0 && (size_t)number < k->request_room)
		k->nodes[number] = id;
}

static void add_waits(struct chakra *k, const struct mpi_op *op)
{
	for (size_t i = 0; i < op->count; i++) {
		uint64_t id = op->numbers[i] > 0 && (size_t)op->numbers[i] < k->request_room ? k->nodes[op->numbers[i]] : 0;
		if (id && gs_reserve(&k->waited, k->waited_count, &k->waited_room, sizeof *k->waited))
			k->waited[k->waited_count++] = id;
	}
}

static int add_op(struct chakra *k, const struct mpi_span *s, struct gs_error *err)
{
	const struct mpi_op *op = s->op;
	enum chakra_collective kind;
	switch (op->kind) {
	case MPI_OP_init:
	case MPI_OP_finalize:
	case MPI_OP_comm:
	case MPI_OP_free: break;
	case MPI_OP_wait: add_waits(k, op); break;
	case MPI_OP_send:
	case MPI_OP_ssend: k->before = add_message(k, s, false, op->numbers); break;
	case MPI_OP_recv: k->before = add_message(k, s, true, op->numbers); break;
	case MPI_OP_sendrecv: {
		uint64_t sent = add_message(k, s, false, op->numbers), received = add_message(k, s, true, op->numbers + 3);
		k->before = sent;
		if (gs_reserve(&k->waited, k->waited_count, &k->waited_room, sizeof *k->waited))
			k->waited[k->waited_count++] = received;
		break;
	}
	case MPI_OP_isend:
	case MPI_OP_issend:
	case MPI_OP_irecv: add_request(k, op, add_message(k, s, op->kind == MPI_OP_irecv, op->numbers)); break;
	default:
		if (!kind_of(op->kind, &kind))
			return gs_fail(err, ENOTSUP, "%s has a call that Chakra has no kind for: %s", k->rank->path, mpi_op_name(op->kind));
		uint64_t id = add_collective(k, s, kind);
		if (op->kind == MPI_OP_ibarrier || op->kind == MPI_OP_ibcast || op->kind == MPI_OP_iallreduce)
			add_request(k, op, id);
		else
			k->before = id;
	}
	return 0;
}

static int write_rank(struct chakra *k, const char *path, struct gs_error *err)
{
	static const char version[] = "0.0.4";
	struct gs_buf about = {0};
	double reached = 0;
	int result = 0;
	add_bytes(&about, 1, version, sizeof version - 1);
	end_node(k, &about);
	for (size_t i = 0; i < k->rank->op_count && !result; i++) {
		const struct mpi_span *s = &k->rank->spans[i];
		if (s->begin > reached)
			add_computation(k, reached, s->begin - reached);
		result = add_op(k, s, err);
		reached = s->end;
	}
	if (!result && k->rank->end > reached)
		add_computation(k, reached, k->rank->end - reached);
	if (!result)
		result = k->out.failed ? gs_fail(err, ENOMEM, "out of memory") : gs_write_file(path, k->out.data, k->out.len, err);
	return result;
}

int cluster_export_chakra(const struct cluster *c, const char *prefix, struct gs_error *err)
{
	int result = 0;
	for (size_t i = 0; i < c->count && !result; i++) {
		const struct rank *r = &c->ranks[i];
		struct chakra k = {.cluster = c, .rank = r, .next = 1, .request_room = r->op_count + 1, .nodes = calloc(r->op_count + 1, sizeof *k.nodes)};
		char path[4200];
		snprintf(path, sizeof path, "%s.%zu.et", prefix, i);
		result = k.nodes ? write_rank(&k, path, err) : gs_fail(err, ENOMEM, "out of memory");
		gs_buf_free(&k.out);
		free(k.nodes);
		free(k.waited);
	}
	return result;
}
