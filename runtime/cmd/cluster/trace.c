/* A timeline for Perfetto or chrome://tracing: a process for each rank, with a lane for its host and one for its GPU's launches and copies. */
#include "runtime/cmd/cluster/cluster.h"

#include "runtime/report/json.h"

#include <inttypes.h>
#include <math.h>

enum { LANE_HOST = 1, LANE_LAUNCHES, LANE_TO_GPU, LANE_FROM_GPU };

static void add_name(struct gs_buf *out, int rank, int lane, const char *what, const char *name)
{
	gs_buf_printf(out, "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{", rank, lane, what);
	json_add_string(out, "name", name);
	json_end(out, "}},\n");
}

static void add_span(struct gs_buf *out, int rank, int lane, const char *name, double begin, double end)
{
	gs_buf_puts(out, "{");
	json_add_string(out, "name", name);
	gs_buf_printf(out, "\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f},\n", rank, lane, begin / 1e3, (end - begin) / 1e3);
}

static void add_call(struct gs_buf *out, const struct rank *r, const struct mpi_span *s)
{
	const struct mpi_op *op = s->op;
	if (op->kind == MPI_OP_init || op->kind == MPI_OP_finalize)
		return;
	gs_buf_printf(out, "{\"name\":\"%s\",\"cat\":\"mpi\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"sent_bytes\":%" PRIu64
	              ",\"waits_for_others_us\":%.3f}},\n", mpi_op_name(op->kind), r->number, LANE_HOST, s->begin / 1e3, (s->end - s->begin) / 1e3,
	              mpi_op_sent(op), s->others / 1e3);
}

static void add_rank(struct gs_buf *out, const struct rank *r)
{
	struct gs_buf name = {0};
	gs_buf_printf(&name, "rank %d on %s", r->number, r->placed ? r->placed : r->host);
	add_name(out, r->number, 0, "process_name", name.data ? name.data : "rank");
	add_name(out, r->number, LANE_HOST, "thread_name", "host");
	add_name(out, r->number, LANE_LAUNCHES, "thread_name", "GPU: launches");
	gs_buf_free(&name);
	for (size_t i = 0; i < r->op_count; i++)
		add_call(out, r, &r->spans[i]);
	for (const struct schedule_command *c = r->schedule.first; c; c = c->next) {
		const struct command_times *t = &c->times[0];
		if (c->waits && c->replayed && t->host_end > t->host_begin)
			add_span(out, r->number, LANE_HOST, "waits for the GPU", t->host_begin, t->host_end);
		if (c->engine && t->state == COMMAND_DONE && !isnan(t->duration))
			add_span(out, r->number, LANE_LAUNCHES + (int)c->engine - ENGINE_COMPUTE, c->engine == ENGINE_COMPUTE && c->name ? c->name : c->what, t->start, t->end);
	}
}

void cluster_trace(const struct cluster *c, struct gs_buf *out)
{
	gs_buf_puts(out, "{\"traceEvents\":[\n");
	for (size_t i = 0; i < c->count; i++)
		add_rank(out, &c->ranks[i]);
	if (!out->failed)
		out->len -= 2;
	gs_buf_puts(out, "\n]}\n");
}
