/* What comes of it, as text and as JSON. */
#include "runtime/cmd/cluster/cluster.h"

#include "runtime/report/json.h"
#include "runtime/timeline/totals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double cluster_end(const struct cluster *c)
{
	double end = 0;
	for (size_t i = 0; i < c->count; i++)
		end = fmax(end, c->ranks[i].end);
	return end;
}

struct rank_sums rank_sums(const struct rank *r)
{
	struct rank_sums sums = {0};
	for (size_t i = 0; i < r->op_count; i++) {
		sums.mpi += r->spans[i].end - r->spans[i].begin;
		sums.others += r->spans[i].others;
		sums.bytes += mpi_op_sent(&r->ops[i]);
	}
	for (const struct schedule_command *c = r->schedule.first; c; c = c->next)
		if (c->waits && c->replayed && c->times[0].host_end > c->times[0].host_begin)
			sums.gpu += c->times[0].host_end - c->times[0].host_begin;
	sums.busy = schedule_totals(&r->schedule, 0).busy;
	return sums;
}

/* ---- by kind of call ---- */

struct kind_sums {
	uint64_t calls, bytes;
	double time, others;
};

static void sum_kinds(const struct cluster *c, struct kind_sums sums[MPI_OP_COUNT])
{
	memset(sums, 0, MPI_OP_COUNT * sizeof *sums);
	for (size_t i = 0; i < c->count; i++)
		for (size_t o = 0; o < c->ranks[i].op_count; o++) {
			const struct mpi_span *s = &c->ranks[i].spans[o];
			struct kind_sums *k = &sums[s->op->kind];
			k->calls++;
			k->bytes += mpi_op_sent(s->op);
			k->time += s->end - s->begin;
			k->others += s->others;
		}
}

/* ---- text ---- */

static const char *time_text(double ns, char text[24])
{
	if (ns >= 1e9)
		snprintf(text, 24, "%.3f s", ns / 1e9);
	else if (ns >= 1e6)
		snprintf(text, 24, "%.3f ms", ns / 1e6);
	else
		snprintf(text, 24, "%.2f us", ns / 1e3);
	return text;
}

static const char *bytes_text(uint64_t bytes, char text[24])
{
	if (bytes >= 10000000)
		snprintf(text, 24, "%.1f MB", (double)bytes / 1e6);
	else if (bytes >= 10000)
		snprintf(text, 24, "%.1f kB", (double)bytes / 1e3);
	else
		snprintf(text, 24, "%" PRIu64 " B", bytes);
	return text;
}

static void rank_rows(const struct cluster *c, struct gs_buf *out)
{
	enum { MOST_ROWS = 64 };
	gs_buf_printf(out, "\n%5s %-16s %12s %12s %12s %12s %12s %10s\n", "rank", "host", "time", "in MPI", "for others", "for the GPU", "GPU busy", "sent");
	for (size_t i = 0; i < c->count && i < MOST_ROWS; i++) {
		const struct rank *r = &c->ranks[i];
		struct rank_sums s = rank_sums(r);
		char t[6][24];
		gs_buf_printf(out, "%5d %-16.16s %12s %12s %12s %12s %12s %10s\n", r->number, r->placed ? r->placed : r->host, time_text(r->end, t[0]),
		              time_text(s.mpi, t[1]), time_text(s.others, t[2]), time_text(s.gpu, t[3]), time_text(s.busy, t[4]), bytes_text(s.bytes, t[5]));
	}
	if (c->count > MOST_ROWS)
		gs_buf_printf(out, "      ... and %zu more\n", c->count - MOST_ROWS);
}

static void kind_rows(const struct cluster *c, struct gs_buf *out)
{
	struct kind_sums sums[MPI_OP_COUNT];
	sum_kinds(c, sums);
	gs_buf_printf(out, "\n%-14s %10s %10s %14s %14s   (sums over ranks)\n", "MPI call", "calls", "sent", "time", "for others");
	for (;;) {
		int most = -1;
		for (int k = 0; k < MPI_OP_COUNT; k++)
			if (sums[k].calls && k != MPI_OP_init && k != MPI_OP_finalize && (most < 0 || sums[k].time > sums[most].time))
				most = k;
		if (most < 0)
			break;
		char t[3][24];
		gs_buf_printf(out, "%-14s %10" PRIu64 " %10s %14s %14s\n", mpi_op_name((enum mpi_op_kind)most), sums[most].calls, bytes_text(sums[most].bytes, t[0]),
		              time_text(sums[most].time, t[1]), time_text(sums[most].others, t[2]));
		sums[most].calls = 0;
	}
}

/* The pairs of ranks that take most of it. */
static void partner_rows(const struct cluster *c, struct gs_buf *out)
{
	enum { MOST_ROWS = 5 };
	struct rank_wait *waits;
	size_t count = cluster_partners(c, &waits);
	for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
		char t[24];
		gs_buf_printf(out, "%srank %d waits for rank %d: %s in %" PRIu64 " call%s\n", i ? "" : "\n", waits[i].rank, waits[i].partner, time_text(waits[i].time, t), waits[i].calls,
		              waits[i].calls == 1 ? "" : "s");
	}
	free(waits);
}

void cluster_warnings(const struct cluster *c, struct gs_buf *out)
{
	uint64_t unknown = 0, omitted = 0;
	const char *left_out = "";
	for (size_t i = 0; i < c->count; i++) {
		unknown += c->ranks[i].unknown;
		omitted += c->ranks[i].omitted;
		left_out = *c->ranks[i].left_out ? c->ranks[i].left_out : left_out;
	}
	if (c->recorded)
		gs_buf_printf(out,
		              "\nassumed: %zu ranks do what the %zu recorded ones do in the same place: the first, the last and, in turn, those between; each has as much work and\n"
		              "sends as much to its neighbours, and collectives have as much for each rank\n",
		              c->count, c->recorded);
	if (unknown)
		gs_buf_printf(out, "\n%" PRIu64 " launches have no time: they count as nothing (gpusim replay says why)\n", unknown);
	if (omitted)
		gs_buf_printf(out, "\n%" PRIu64 " calls were not kept when the program was recorded: what comes after them is missing\n", omitted);
	if (*left_out)
		gs_buf_printf(out, "\nnot recorded, so that it takes no time here: %s\n", left_out);
}

void cluster_text(const struct cluster *c, struct gs_buf *out)
{
	char t[24];
	gs_buf_printf(out, "%s: %zu ranks on ", c->ranks[0].program, c->count);
	if (c->platform)
		gs_buf_printf(out, "%s with %zu hosts", c->platform, c->host_count);
	else
		gs_buf_puts(out, "the machine where they were recorded");
	gs_buf_printf(out, ", a GPU each: %s\ntime: %s from MPI_Init to the end\n", c->gpu_name, time_text(cluster_end(c), t));
	rank_rows(c, out);
	kind_rows(c, out);
	partner_rows(c, out);
	cluster_warnings(c, out);
}

/* ---- JSON ---- */

static void json_rank(const struct rank *r, struct gs_buf *out)
{
	struct rank_sums s = rank_sums(r);
	gs_buf_puts(out, "{");
	json_add_count(out, "rank", (uint64_t)r->number);
	json_add_string(out, "host", r->placed ? r->placed : r->host);
	json_add_number(out, "time_ns", r->end);
	json_add_number(out, "mpi_ns", s.mpi);
	json_add_number(out, "others_ns", s.others);
	json_add_number(out, "gpu_wait_ns", s.gpu);
	json_add_number(out, "gpu_busy_ns", s.busy);
	json_add_count(out, "sent_bytes", s.bytes);
	json_add_count(out, "launches", r->launch_count);
	json_add_count(out, "launches_without_time", r->unknown);
	json_end(out, "},\n");
}

static void json_waits(const struct cluster *c, struct gs_buf *out)
{
	enum { MOST_PAIRS = 4096 };
	struct rank_wait *waits;
	size_t count = cluster_partners(c, &waits);
	gs_buf_puts(out, ",\n\"waits\":[");
	for (size_t i = 0; i < count && i < MOST_PAIRS; i++)
		gs_buf_printf(out, "%s\n{\"rank\":%d,\"for\":%d,\"calls\":%" PRIu64 ",\"time_ns\":%.3f}", i ? "," : "", waits[i].rank, waits[i].partner, waits[i].calls, waits[i].time);
	gs_buf_puts(out, "]");
	free(waits);
}

void cluster_json_members(const struct cluster *c, struct gs_buf *out)
{
	struct kind_sums sums[MPI_OP_COUNT];
	sum_kinds(c, sums);
	gs_buf_puts(out, "{");
	json_add_string(out, "program", c->ranks[0].program);
	json_add_string(out, "platform", c->platform ? c->platform : "");
	json_add_string(out, "gpu", c->gpu_name);
	json_add_count(out, "hosts", c->host_count);
	json_add_number(out, "host_scale", c->host_scale);
	json_add_count(out, "recorded_ranks", c->recorded ? c->recorded : c->count);
	json_add_number(out, "time_ns", cluster_end(c));
	gs_buf_puts(out, "\"ranks\":[\n");
	for (size_t i = 0; i < c->count; i++)
		json_rank(&c->ranks[i], out);
	out->len -= 2;
	gs_buf_puts(out, "],\n\"calls\":[\n");
	for (int k = 0; k < MPI_OP_COUNT; k++)
		if (sums[k].calls) {
			gs_buf_puts(out, "{");
			json_add_string(out, "call", mpi_op_name((enum mpi_op_kind)k));
			json_add_count(out, "count", sums[k].calls);
			json_add_count(out, "sent_bytes", sums[k].bytes);
			json_add_number(out, "time_ns", sums[k].time);
			json_add_number(out, "others_ns", sums[k].others);
			json_end(out, "},\n");
		}
	out->len -= 2;
	gs_buf_puts(out, "]");
	json_waits(c, out);
}

void cluster_json(const struct cluster *c, struct gs_buf *out)
{
	cluster_json_members(c, out);
	gs_buf_puts(out, "}\n");
}
