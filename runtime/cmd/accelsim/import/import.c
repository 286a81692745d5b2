/* gpusim import: makes a profile of traces that Accel-Sim's tracer wrote, for replay, sweep, report and what-if. */
#include "runtime/cmd/accelsim/import/import.h"

#include "runtime/cmd/cmd.h"
#include "runtime/config/log.h"
#include "runtime/format/profile_file.h"
#include "runtime/format/protocol.h"
#include "runtime/process/thread.h"
#include "runtime/timeline/transfers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_DOMAIN "import"

enum { COUNTER_BYTES = 1 << 25 }; /* of a launch: replay keeps the counters of all launches */

/* A line of the list: a copy, or a launch. */
struct list_entry {
	bool copies;
	uint64_t address, bytes;
	size_t launch;
};

struct import_list {
	struct list_entry *entries;
	size_t count, room;
	uint64_t copies, copied_bytes;
};

/* ---- progress ---- */

static bool shown;

void import_progress(struct import_job *job, const struct sass_trace *t)
{
	uint64_t now = clock_ns();
	if (!job->shown_ns)
		job->shown_ns = now;
	if (!log_on_terminal() || now - job->shown_ns < UINT64_C(1000000000))
		return;
	job->shown_ns = now;
	shown = true;
	fprintf(stderr, "\rgpusim: reading traces, %s time: %zu of %zu, %" PRIu64 " MB, %" PRIu64 " million instructions \b",
	        job->pass == 1 ? "first" : "second", job->at_launch + 1, job->launch_count,
	        (job->read_bytes + sass_trace_bytes(t)) >> 20, job->lines / 1000000);
}

void import_progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}

/* ---- the list ---- */

static int add_launch(struct import_job *job, struct import_list *list, const char *folder, const char *name, size_t length)
{
	struct imported_launch l = {0};
	if (!gs_reserve(&job->launches, job->launch_count, &job->launch_room, sizeof *job->launches))
		return -ENOMEM;
	if (asprintf(&l.path, "%s/%.*s", folder, (int)length, name) < 0)
		return -ENOMEM;
	list->entries[list->count++] = (struct list_entry){.launch = job->launch_count};
	job->launches[job->launch_count++] = l;
	return 0;
}

static bool read_copy(const char *line, struct list_entry *e)
{
	*e = (struct list_entry){.copies = true};
	return sscanf(line, "MemcpyHtoD,%" SCNx64 ",%" SCNu64, &e->address, &e->bytes) == 2;
}

static int take_line(struct import_job *job, struct import_list *list, const char *folder, const char *line, struct gs_error *err)
{
	size_t length = strcspn(line, "\r\n");
	if (!gs_reserve(&list->entries, list->count, &list->room, sizeof *list->entries))
		return gs_fail(err, ENOMEM, "out of memory");
	if (!strncmp(line, "MemcpyHtoD", 10)) {
		struct list_entry *e = &list->entries[list->count];
		if (!read_copy(line, e))
			return gs_fail(err, EBADMSG, "%s/kernelslist.g: '%.60s' is no copy", folder, line);
		list->count++;
		list->copies++;
		list->copied_bytes += e->bytes;
		return pieces_copy(&job->memory, e->address, e->bytes) ? gs_fail(err, ENOMEM, "out of memory") : 0;
	}
	if (strncmp(line, "kernel", 6)) /* other copies are not simulated there, either */
		return 0;
	return add_launch(job, list, folder, line, length) ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

static int read_list(struct import_job *job, struct import_list *list, const char *path, struct gs_error *err)
{
	struct gs_buf text = {0};
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
	int result = folder ? gs_read_regular_file(path, &text, err) : gs_fail(err, ENOMEM, "out of memory");
	if (slash)
		*slash = 0;
	for (const char *line = text.data; !result && line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		result = take_line(job, list, slash ? folder : ".", line, err);
	if (!result && !job->launch_count)
		result = gs_fail(err, EINVAL, "%s names no traces of kernels", path);
	free(folder);
	gs_buf_free(&text);
	return result;
}

/* A folder has kernelslist.g; a trace may be named by itself. */
static int find_traces(struct import_job *job, struct import_list *list, const char *path, struct gs_error *err)
{
	struct stat st;
	char *name = NULL;
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (stat(path, &st))
		return gs_fail(err, errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode)) {
		if (asprintf(&name, "%s/kernelslist.g", path) < 0)
			return gs_fail(err, ENOMEM, "out of memory");
		int result = read_list(job, list, name, err);
		free(name);
		return result;
	}
	if (!strstr(base, ".trace"))
		return read_list(job, list, path, err);
	char *folder = strndup(path, base > path ? (size_t)(base - path - 1) : 0);
	bool fits = folder && gs_reserve(&list->entries, 0, &list->room, sizeof *list->entries) &&
	            !add_launch(job, list, base == path ? "." : folder, base, strlen(base));
	free(folder);
	return fits ? 0 : gs_fail(err, ENOMEM, "out of memory");
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

static int write_begin(struct profile_output *o, const char *input, struct gs_error *err)
{
	struct gs_buf bytes = {0}, command = {0};
	struct gs_pack run = {0};
	profile_begin(&bytes);
	int result = write_bytes(o, &bytes, err);
	gs_buf_free(&bytes);
	gs_pack_puts(&run, "version", GPUSIM_CC_VERSION);
	gs_buf_puts(&command, "gpusim");
	gs_buf_add(&command, "\0import", 8);
	gs_buf_add(&command, input, strlen(input) + 1);
	gs_pack_add(&run, "command", command.data, command.len);
	gs_buf_free(&command);
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

static int write_launch(struct import_job *job, const struct imported_launch *l, uint64_t seq, struct profile_output *o, struct gs_error *err)
{
	struct launch_counts counts;
	struct gs_pack pack = {0};
	int result = import_count(job, l, &counts, err);
	if (result)
		return result;
	import_launch(job, l, seq, &counts, &pack);
	launch_counts_free(&counts);
	job->read_bytes += l->file_bytes;
	return write_record(o, "launch", &pack, err);
}

static int write_end(const struct import_list *list, struct profile_output *o, struct gs_error *err)
{
	struct gs_pack transfers = {0}, host = {0};
	struct gs_buf text = {0};
	gs_buf_printf(&text, "%d %" PRIu64 " %" PRIu64 "\n", TRANSFER_WRITE, list->copies, list->copied_bytes);
	gs_pack_add(&transfers, "transfers", text.data, text.len);
	gs_pack_puts(&host, "device", "traces of Accel-Sim's tracer");
	text.len = 0;
	int result = write_record(o, "transfers", &transfers, err);
	if (!result)
		result = write_record(o, "host", &host, err);
	else
		gs_pack_free(&host);
	profile_end(&text);
	if (!result)
		result = write_bytes(o, &text, err);
	gs_buf_free(&text);
	return result;
}

static int write_profile(struct import_job *job, const struct import_list *list, const char *input, struct profile_output *o, struct gs_error *err)
{
	uint64_t seq = 0;
	int result = write_begin(o, input, err);
	if (!result)
		result = write_programs(job, o, err);
	job->read_bytes = job->lines = 0;
	job->pass = 2;
	for (size_t i = 0; i < list->count && !result; i++) {
		const struct list_entry *e = &list->entries[i];
		long piece = e->copies ? pieces_find(&job->memory, e->address) : PIECES_NONE;
		if (piece >= 0) {
			struct touched_piece *p = &job->memory.list[piece];
			p->copied += e->bytes;
			p->largest = e->bytes > p->largest ? e->bytes : p->largest;
		}
		if (e->copies)
			continue;
		job->at_launch = e->launch;
		result = write_launch(job, &job->launches[e->launch], seq++, o, err);
	}
	return result ? result : write_end(list, o, err);
}

/* ---- the command ---- */

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

static int survey_all(struct import_job *job, struct gs_error *err)
{
	int result = 0;
	job->pass = 1;
	for (size_t i = 0; i < job->launch_count && !result; i++) {
		job->at_launch = i;
		result = import_survey(job, &job->launches[i], err);
	}
	import_progress_end();
	if (!result)
		tell_unknown(job);
	if (!result && pieces_settle(&job->memory))
		result = gs_fail(err, ENOMEM, "out of memory");
	return result ? result : import_finish_code(job, err);
}

static void free_job(struct import_job *job, struct import_list *list)
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

static int import_traces(struct import_job *job, const char *input, const char *output, struct gs_error *err)
{
	struct import_list list = {0};
	struct profile_output o = {.fd = -1};
	int result = find_traces(job, &list, input, err);
	if (!result)
		result = survey_all(job, err);
	if (!result && asprintf(&o.part, "%s.part", output) < 0)
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result && (o.fd = open(o.part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		result = gs_fail(err, errno, "%s cannot be written: %s", o.part, strerror(errno));
	if (!result)
		result = write_profile(job, &list, input, &o, err);
	import_progress_end();
	if (o.fd >= 0) {
		if (close(o.fd) && !result)
			result = gs_fail(err, errno, "%s cannot be written: %s", o.part, strerror(errno));
		if (!result && rename(o.part, output))
			result = gs_fail(err, errno, "%s cannot be written: %s", output, strerror(errno));
		if (result)
			unlink(o.part);
	}
	free(o.part);
	free_job(job, &list);
	return result;
}

int cmd_import(int argc, char **argv)
{
	static struct gs_options options;
	const char *input = NULL, *output = "gpusim.profile";
	struct gs_error err;
	cmd_options(&options);
	for (int i = 1; i < argc; i++) {
		int words = 1;
		if (cmd_value("-o", argc, argv, &i, &output))
			continue;
		if (!strncmp(argv[i], "--", 2))
			words = cmd_take_flag(&options, "import", argc - i, argv + i);
		else if (*argv[i] == '-')
			return cmd_fail("import: there is no option %s", argv[i]);
		else if (input)
			return cmd_fail("import: one folder or list at a time, not '%s' too", argv[i]);
		else
			input = argv[i];
		if (words < 0)
			return EXIT_USAGE;
		i += words - 1;
	}
	if (!input)
		return cmd_fail("import: no traces given: gpusim import DIR|kernelslist.g [-o FILE]");
	struct import_job job = {.all_groups = options.trace.number == TRACE_ALL, .trace_items = options.trace_items.number,
	                         .trace_bytes = options.trace_memory.number, .counter_bytes = COUNTER_BYTES};
	if (import_traces(&job, input, output, &err))
		return cmd_fail("import: %s", err.text);
	return 0;
}
