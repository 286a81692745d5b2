/* The profile that is made of streams: programs, launches in order, and copies. */
#include "runtime/cmd/streams/job.h"

#include "runtime/config/log.h"
#include "runtime/format/profile_file.h"
#include "runtime/format/protocol.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_DOMAIN "import"

int import_add_launch(struct import_job *job, struct import_list *list, const struct sass_kind *kind, const void *of, char *path)
{
	if (!path || !gs_reserve(&job->launches, job->launch_count, &job->launch_room, sizeof *job->launches) ||
	    !gs_reserve(&list->entries, list->count, &list->room, sizeof *list->entries)) {
		free(path);
		return -ENOMEM;
	}
	list->entries[list->count++] = (struct import_entry){.launch = job->launch_count};
	job->launches[job->launch_count++] = (struct imported_launch){.kind = kind, .of = of, .path = path};
	return 0;
}

/* ---- progress ---- */

static bool shown;

void import_progress(struct import_job *job, uint64_t bytes)
{
	uint64_t now = clock_ns();
	if (!job->shown_ns)
		job->shown_ns = now;
	if (!log_on_terminal() || now - job->shown_ns < UINT64_C(1000000000))
		return;
	job->shown_ns = now;
	shown = true;
	fprintf(stderr, "\rgpusim: reading traces, %s time: %zu of %zu, %" PRIu64 " MB, %" PRIu64 " million instructions \b",
	        job->pass == 1 ? "first" : "second", job->at_launch + 1, job->launch_count, (job->read_bytes + bytes) >> 20, job->lines / 1000000);
}

void import_progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}

/* ---- the profile ---- */

struct profile_output {
	int fd;
	char *part; /* what it is called until it is complete */
};

static int write_bytes(struct profile_output *o, const struct gs_buf *bytes, struct gs_error *err)
{
	if (bytes->failed)
		return gs_fail(err, ENOMEM, "out of memory");
	for (size_t done = 0; done < bytes->len;) {
		ssize_t n = write(o->fd, bytes->data + done, bytes->len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return gs_fail(err, errno, "%s cannot be written: %s", o->part, strerror(errno));
		done += (size_t)n;
	}
	return 0;
}

static int write_record(struct profile_output *o, const char *kind, struct gs_pack *pack, struct gs_error *err)
{
	struct gs_buf bytes = {0};
	int result = profile_add(&bytes, kind, pack, err);
	if (!result)
		result = write_bytes(o, &bytes, err);
	gs_buf_free(&bytes);
	gs_pack_free(pack);
	return result;
}

static int write_begin(struct profile_output *o, const struct import_about *about, struct gs_error *err)
{
	struct gs_buf bytes = {0};
	struct gs_pack run = {0};
	profile_begin(&bytes);
	int result = write_bytes(o, &bytes, err);
	gs_buf_free(&bytes);
	gs_pack_puts(&run, "version", GPUSIM_CC_VERSION);
	gs_pack_add(&run, "command", about->command.data, about->command.len);
	if (!result)
		result = write_record(o, "run", &run, err);
	else
		gs_pack_free(&run);
	return result;
}

static int write_programs(struct import_job *job, struct profile_output *o, struct gs_error *err)
{
	int result = 0;
	for (size_t i = 0; i < job->launch_count; i++) {
		size_t numbers[IMPORT_MOST_PIECES], used = import_pieces(job, &job->launches[i], numbers);
		struct imported_kernel *k = &job->kernels[job->launches[i].kernel];
		k->arguments = used > k->arguments ? used : k->arguments;
	}
	for (size_t i = 0; i < job->kernel_count && !result; i++) {
		struct gs_pack pack = {0};
		import_program(&job->kernels[i], i + 1, &pack);
		result = write_record(o, "program", &pack, err);
	}
	return result;
}

/* One that did what another did before has its counters and its trace: it is not read again. */
static int write_repeated(struct import_job *job, struct imported_launch *l, struct profile_output *o, struct gs_error *err)
{
	struct gs_pack pack = {0};
	l->slots = job->launches[l->repeats - 1].slots;
	l->places = job->launches[l->repeats - 1].places;
	import_launch(job, l, NULL, &pack);
	return write_record(o, "launch", &pack, err);
}

static int write_launch(struct import_job *job, struct imported_launch *l, uint64_t seq, struct profile_output *o, struct gs_error *err)
{
	struct launch_counts counts;
	struct gs_pack pack = {0};
	l->seq = seq;
	if (l->repeats && job->launches[l->repeats - 1].shared)
		return write_repeated(job, l, o, err);
	int result = import_count(job, l, &counts, err);
	if (result)
		return result;
	l->slots = counts.slots;
	l->places = counts.places;
	/* Models keep so many bytes of traces for launches that come without: half of it, so that none is gone when it is needed. */
	l->shared = l->repeated && job->shared_bytes + counts.trace.len <= TRACE_KEPT_SHARE(job->trace_bytes) / 2;
	job->shared_bytes += l->shared ? counts.trace.len : 0;
	import_launch(job, l, &counts, &pack);
	launch_counts_free(&counts);
	job->read_bytes += l->file_bytes;
	return write_record(o, "launch", &pack, err);
}

static void write_transfers(const struct import_list *list, struct gs_buf *text)
{
	struct transfer_stats sums[TRANSFER_KINDS] = {{0}};
	for (size_t i = 0; i < list->count; i++)
		if (list->entries[i].copies) {
			sums[list->entries[i].how].commands++;
			sums[list->entries[i].how].size_bytes += list->entries[i].bytes;
		}
	for (int k = 0; k < TRANSFER_KINDS; k++)
		if (sums[k].commands || k == TRANSFER_WRITE)
			gs_buf_printf(text, "%d %" PRIu64 " %" PRIu64 "\n", k, sums[k].commands, sums[k].size_bytes);
}

static int write_end(const struct import_job *job, const struct import_list *list, const struct import_about *about, struct profile_output *o, struct gs_error *err)
{
	struct gs_pack transfers = {0}, host = {0}, calls = {0};
	struct gs_buf text = {0};
	write_transfers(list, &text);
	gs_pack_add(&transfers, "transfers", text.data, text.len);
	gs_pack_puts(&host, "device", about->device);
	text.len = 0;
	int result = write_record(o, "transfers", &transfers, err);
	if (!result)
		result = write_record(o, "host", &host, err);
	else
		gs_pack_free(&host);
	if (!result && about->calls) {
		import_calls(job, list, &calls);
		result = write_record(o, "calls", &calls, err);
	}
	profile_end(&text);
	if (!result)
		result = write_bytes(o, &text, err);
	gs_buf_free(&text);
	return result;
}

/* What the host copied to a piece counts for the next launch that uses it. */
static void note_copy(struct import_job *job, const struct import_entry *e)
{
	long piece = e->how == TRANSFER_WRITE ? pieces_find(&job->memory, e->address) : PIECES_NONE;
	if (piece >= 0) {
		struct touched_piece *p = &job->memory.list[piece];
		p->copied += e->bytes;
		p->largest = e->bytes > p->largest ? e->bytes : p->largest;
	}
}

static int write_profile(struct import_job *job, const struct import_list *list, const struct import_about *about, struct profile_output *o,
                         struct gs_error *err)
{
	uint64_t seq = 0;
	int result = write_begin(o, about, err);
	if (!result)
		result = write_programs(job, o, err);
	job->read_bytes = job->lines = 0;
	job->pass = 2;
	for (size_t i = 0; i < list->count && !result; i++) {
		const struct import_entry *e = &list->entries[i];
		if (e->copies)
			note_copy(job, e);
		if (e->copies || e->host)
			continue;
		job->at_launch = e->launch;
		result = write_launch(job, &job->launches[e->launch], seq++, o, err);
	}
	return result ? result : write_end(job, list, about, o, err);
}

/* ---- all of it ---- */

/* Opcodes that are not in the table, each once. */
struct unknown_opcodes {
	struct unknown_opcode {
		const char *name;
		uint64_t times;
	} *list;
	size_t count, room;
};

static void take_unknown(void *ctx, const char *opcode, uint64_t times)
{
	struct unknown_opcodes *u = ctx;
	size_t i = 0;
	while (i < u->count && strcmp(u->list[i].name, opcode))
		i++;
	if (i == u->count && !gs_reserve(&u->list, u->count, &u->room, sizeof *u->list))
		return;
	if (i == u->count)
		u->list[u->count++] = (struct unknown_opcode){opcode, 0};
	u->list[i].times += times;
}

static void tell_unknown(const struct import_job *job)
{
	struct unknown_opcodes u = {0};
	for (size_t i = 0; i < job->kernel_count; i++)
		observed_unknown(job->kernels[i].observed, take_unknown, &u);
	for (size_t i = 0; i < u.count; i++)
		log_warning("the opcode %s is not known, %" PRIu64 " time%s: costed as usual for its pipe", u.list[i].name, u.list[i].times,
		            u.list[i].times == 1 ? "" : "s");
	free(u.list);
}

static void repeat_survey(struct imported_launch *l, const struct imported_launch *first)
{
	l->header = first->header;
	l->kernel = first->kernel;
	memcpy(l->first_touch, first->first_touch, sizeof l->first_touch);
	l->touch_count = first->touch_count;
}

static int survey_all(struct import_job *job, struct gs_error *err)
{
	int result = 0;
	job->pass = 1;
	for (size_t i = 0; i < job->launch_count && !result; i++) {
		job->at_launch = i;
		if (job->launches[i].repeats)
			repeat_survey(&job->launches[i], &job->launches[job->launches[i].repeats - 1]);
		else
			result = import_survey(job, &job->launches[i], err);
	}
	import_progress_end();
	if (!result)
		tell_unknown(job);
	if (!result && pieces_settle(&job->memory))
		result = gs_fail(err, ENOMEM, "out of memory");
	return result ? result : import_finish_code(job, err);
}

void import_free(struct import_job *job, struct import_list *list)
{
	for (size_t i = 0; i < job->kernel_count; i++) {
		free(job->kernels[i].name);
		free(job->kernels[i].title);
		observed_free(job->kernels[i].observed);
		code_free(job->kernels[i].code);
	}
	for (size_t i = 0; i < job->launch_count; i++)
		free(job->launches[i].path);
	free(job->kernels);
	free(job->launches);
	pieces_free(&job->memory);
	free(list->entries);
}

int import_write(struct import_job *job, const struct import_list *list, const struct import_about *about, const char *output, struct gs_error *err)
{
	struct profile_output o = {.fd = -1};
	const bool special = gs_is_special(output);
	int result = survey_all(job, err);
	if (!result && asprintf(&o.part, "%s%s", output, special ? "" : ".part") < 0)
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result && (o.fd = open(o.part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		result = gs_fail(err, errno, "%s cannot be written: %s", o.part, strerror(errno));
	if (!result)
		result = write_profile(job, list, about, &o, err);
	import_progress_end();
	if (o.fd >= 0) {
		if (close(o.fd) && !result)
			result = gs_fail(err, errno, "%s cannot be written: %s", o.part, strerror(errno));
		if (!result && !special && rename(o.part, output))
			result = gs_fail(err, errno, "%s cannot be written: %s", output, strerror(errno));
		if (result && !special)
			unlink(o.part);
	}
	free(o.part);
	return result;
}
