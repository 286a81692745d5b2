/*
 * The page of gpusim cluster: what --json says, and a timeline. A span of it is [class, name, begin, end, number, spans], in ns; the number is of
 * bytes, or of the rank that is waited for. Where there would be too many, those that follow each other closely become one. The page stays below 2 MB.
 */
#include "runtime/cmd/cluster/cluster.h"
#include "runtime/cmd/page/page.h"
#include "runtime/format/protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RANKS = 64, MOST_SPANS = 24000, MOST_NAMES = 256 };
enum span_class { SPAN_MPI, SPAN_OTHERS, SPAN_GPU, SPAN_LAUNCH, SPAN_TO_GPU, SPAN_FROM_GPU, SPAN_CLASSES };

struct page_span {
	size_t name;
	double begin, end;
	uint64_t number, spans; /* spans: that were made one; 0: none */
};

struct drawing {
	struct gs_buf *out;
	const char *names[MOST_NAMES];
	size_t name_count;
	double closest;                        /* ns: spans that begin closer to each other are one; 0: none are */
	struct page_span pending[SPAN_CLASSES]; /* of the rank that is drawn */
};

/* Beyond those that there is room for, names are the first, which is empty. */
static size_t name_number(struct drawing *d, const char *name)
{
	for (size_t i = 0; i < d->name_count; i++)
		if (!strcmp(d->names[i], name))
			return i;
	if (d->name_count == MOST_NAMES)
		return 0;
	d->names[d->name_count] = name;
	return d->name_count++;
}

static void flush_span(struct drawing *d, enum span_class class)
{
	struct page_span *s = &d->pending[class];
	if (s->spans)
		gs_buf_printf(d->out, "[%d,%zu,%.0f,%.0f,%" PRIu64 ",%" PRIu64 "],", (int)class, s->name, s->begin, s->end, s->number, s->spans);
	s->spans = 0;
}

static void add_span(struct drawing *d, enum span_class class, const char *name, double begin, double end, uint64_t number)
{
	struct page_span *s = &d->pending[class];
	if (!(end > begin))
		return;
	if (s->spans && begin - s->begin < d->closest) {
		s->end = fmax(s->end, end);
		s->spans++;
		return;
	}
	flush_span(d, class);
	*s = (struct page_span){name_number(d, name), begin, end, number, 1};
}

static void add_command(struct drawing *d, const struct schedule_command *c)
{
	const struct command_times *t = &c->times[0];
	if (c->waits && c->replayed)
		add_span(d, SPAN_GPU, "", t->host_begin, t->host_end, 0);
	if (c->engine && t->state == COMMAND_DONE && !isnan(t->duration))
		add_span(d, SPAN_LAUNCH + (enum span_class)(c->engine - ENGINE_COMPUTE), c->engine == ENGINE_COMPUTE && c->name ? c->name : c->what, t->start, t->end, c->size_bytes);
}

static void add_rank(struct drawing *d, const struct rank *r)
{
	gs_buf_puts(d->out, "[");
	for (size_t i = 0; i < r->op_count; i++) {
		const struct mpi_span *s = &r->spans[i];
		if (s->op->kind == MPI_OP_init || s->op->kind == MPI_OP_finalize)
			continue;
		add_span(d, SPAN_OTHERS, mpi_op_name(s->op->kind), s->begin, s->begin + s->others, (uint64_t)s->partner);
		add_span(d, SPAN_MPI, mpi_op_name(s->op->kind), s->begin + s->others, s->end, mpi_op_sent(s->op));
	}
	for (const struct schedule_command *c = r->schedule.first; c; c = c->next)
		add_command(d, c);
	for (enum span_class k = 0; k < SPAN_CLASSES; k++)
		flush_span(d, k);
	if (d->out->len && d->out->data[d->out->len - 1] == ',')
		d->out->len--;
	gs_buf_puts(d->out, "],\n");
}

/* How many spans there are, or a few more. */
static size_t count_spans(const struct cluster *c, size_t ranks)
{
	size_t count = 0;
	for (size_t i = 0; i < ranks; i++)
		count += 2 * c->ranks[i].op_count + c->ranks[i].schedule.count;
	return count;
}

static void add_timeline(const struct cluster *c, struct gs_buf *out)
{
	size_t ranks = c->count < MOST_RANKS ? c->count : MOST_RANKS;
	struct drawing d = {.out = out, .names = {""}, .name_count = 1};
	if (count_spans(c, ranks) > MOST_SPANS)
		d.closest = cluster_end(c) * (double)ranks * SPAN_CLASSES / MOST_SPANS;
	gs_buf_puts(out, ",\n\"timeline\":{\"ranks\":[");
	for (size_t i = 0; i < ranks; i++)
		add_rank(&d, &c->ranks[i]);
	if (!out->failed)
		out->len -= 2;
	gs_buf_printf(out, "],\"closest_ns\":%.0f,\"names\":[", d.closest);
	for (size_t i = 0; i < d.name_count; i++) {
		gs_buf_puts(out, i ? "," : "");
		gs_buf_json(out, d.names[i]);
	}
	gs_buf_puts(out, "]}");
}

int cluster_page(const struct cluster *c, struct gs_buf *out, struct gs_error *err)
{
	struct gs_buf data = {0}, notes = {0};
	cluster_json_members(c, &data);
	add_timeline(c, &data);
	cluster_warnings(c, &notes);
	gs_buf_puts(&data, ",\"notes\":");
	gs_buf_json(&data, notes.data ? notes.data : "");
	gs_buf_printf(&data, ",\"version\":\"%s\"}", GPUSIM_VERSION);
	int failed = data.failed || notes.failed || page_make(out, cluster_js, data.data) ? gs_fail(err, ENOMEM, "out of memory") : 0;
	gs_buf_free(&data);
	gs_buf_free(&notes);
	return failed;
}
