/* gpusim task --from: the task list of a recorded program, or of traces of Accel-Sim. */
#include "runtime/cmd/task/from.h"

#include "runtime/cmd/accelsim/import/trace.h"
#include "runtime/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Kernels that were written, so that launches that do the same share one. */
struct recorded_job {
	const char *folder;
	struct touched_pieces memory;
	struct gs_buf kernels, program;
	struct recorded_kernel {
		char *text, *name;
	} *list;
	size_t count, room;
};

/* ---- memory ---- */

static int touch_trace(struct recorded_job *job, const char *path, struct gs_error *err)
{
	const struct sass_header *header;
	struct sass_part part;
	void *stream = NULL;
	int item = sass_trace_kind.open(path, &stream, &header, err);
	while (!item && (item = sass_trace_kind.next(stream, &part, err)) > SASS_ITEM_END) {
		uint32_t left = item == SASS_ITEM_LINE && part.line->in.addresses ? part.line->in.mask : 0;
		for (; left; left &= left - 1) {
			uint64_t address = part.line->address[__builtin_ctz(left)];
			if (import_space(header, address) == SPACE_global && pieces_find(&job->memory, address) < 0)
				pieces_touch(&job->memory, address, part.line->width ? part.line->width : 4);
		}
		item = 0;
	}
	sass_trace_kind.close(stream);
	return item;
}

/* ---- launches ---- */

/* A word that is a name: letters, digits and _. */
static void name_of(const struct recorded_job *job, const char *title, char out[64])
{
	size_t length = 0;
	for (; title[length] && length < 40; length++)
		out[length] = isalnum((unsigned char)title[length]) ? title[length] : '_';
	snprintf(out + length, 64 - length, "_%zu", job->count + 1);
}

static int take_launch(struct recorded_job *job, const char *path, struct gs_error *err)
{
	struct recorded_launch l;
	struct gs_buf text = {0};
	char name[64];
	if (!gs_reserve(&job->list, job->count, &job->room, sizeof *job->list))
		return gs_fail(err, ENOMEM, "out of memory");
	int result = recorded_read(path, &l, err);
	name_of(job, l.header.name, name);
	if (!result)
		result = recorded_write(&l, &job->memory, "@", &text, err); /* names are put in once it is known to be new */
	size_t i = 0;
	while (!result && i < job->count && strcmp(job->list[i].text, text.data))
		i++;
	if (!result && i == job->count) {
		job->list[i] = (struct recorded_kernel){strdup(text.data), strdup(name)};
		job->count++;
		for (const char *at = text.data, *next; *at; at = next) {
			next = strchr(at, '@');
			next = next ? next : at + strlen(at);
			gs_buf_add(&job->kernels, at, (size_t)(next - at));
			if (*next == '@') {
				gs_buf_puts(&job->kernels, name);
				next++;
			}
		}
		if (!job->list[i].text || !job->list[i].name)
			result = gs_fail(err, ENOMEM, "out of memory");
	}
	if (!result)
		gs_buf_printf(&job->program, "launch %s\n", job->list[i].name);
	recorded_free(&l);
	gs_buf_free(&text);
	return result;
}

static int take_line(struct recorded_job *job, const char *line, int pass, struct gs_error *err)
{
	uint64_t address, bytes;
	char *path = NULL;
	int result = 0;
	if (sscanf(line, "MemcpyHtoD,%" SCNx64 ",%" SCNu64, &address, &bytes) == 2) {
		if (pass == 0)
			return pieces_copy(&job->memory, address, bytes) ? gs_fail(err, ENOMEM, "out of memory") : 0;
		long piece = pieces_find(&job->memory, address);
		if (pass == 2 && piece >= 0)
			gs_buf_printf(&job->program, "copy to b%ld %" PRIu64 "\n", piece, bytes);
		return 0;
	}
	if (pass == 0 || strncmp(line, "kernel", 6))
		return 0;
	if (asprintf(&path, "%s/%.*s", job->folder, (int)strcspn(line, "\r\n"), line) < 0)
		return gs_fail(err, ENOMEM, "out of memory");
	result = pass == 1 ? touch_trace(job, path, err) : take_launch(job, path, err);
	free(path);
	return result;
}

/* Three times: buffers that copies tell, those that kernels touch, and what is done. */
static int read_list(struct recorded_job *job, struct gs_error *err)
{
	struct gs_buf text = {0};
	char *path = NULL;
	if (asprintf(&path, "%s/kernelslist.g", job->folder) < 0)
		return gs_fail(err, ENOMEM, "out of memory");
	int result = gs_read_regular_file(path, &text, err);
	for (int pass = 0; pass < 3 && !result; pass++) {
		for (const char *line = text.data; !result && line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
			result = take_line(job, line, pass, err);
		if (pass == 1 && !result && pieces_settle(&job->memory))
			result = gs_fail(err, ENOMEM, "out of memory");
	}
	free(path);
	gs_buf_free(&text);
	return result;
}

static int write_list(struct recorded_job *job, const char *input, const char *output, struct gs_error *err)
{
	struct gs_buf text = {0};
	gs_buf_printf(&text, "# What %s executes, written by gpusim task --from. docs/task-lists.md has the format.\n", input);
	for (size_t i = 0; i < job->memory.count; i++) {
		const struct touched_piece *p = &job->memory.list[i];
		gs_buf_printf(&text, "buffer b%zu %" PRIu64 "\n", i, p->begin + p->bytes - (p->begin & ~UINT64_C(4095)));
	}
	gs_buf_add(&text, job->kernels.data, job->kernels.len);
	gs_buf_add(&text, job->program.data, job->program.len);
	int result = text.failed || job->kernels.failed || job->program.failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
	if (!result && output)
		result = gs_write_file(output, text.data, text.len, err);
	else if (!result && (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout)))
		result = gs_fail(err, EIO, "standard output cannot be written");
	gs_buf_free(&text);
	return result;
}

static int list_of_traces(const char *folder, const char *input, const char *output)
{
	struct recorded_job job = {.folder = folder};
	struct gs_error err;
	int result = read_list(&job, &err);
	if (!result && !job.count)
		result = gs_fail(&err, EINVAL, "%s has no launches", input);
	if (!result)
		result = write_list(&job, input, output, &err);
	for (size_t i = 0; i < job.count; i++) {
		free(job.list[i].text);
		free(job.list[i].name);
	}
	free(job.list);
	pieces_free(&job.memory);
	gs_buf_free(&job.kernels);
	gs_buf_free(&job.program);
	return result ? cmd_fail("task: %s", err.text) : 0;
}

static void remove_folder(const char *folder)
{
	DIR *d = opendir(folder);
	for (const struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(folder);
}

int task_from(const char *input, int argc, char **argv, const char *output)
{
	const char *where = getenv("TMPDIR");
	char folder[512];
	struct stat st;
	if (stat(input, &st))
		return cmd_fail("task: %s: %s", input, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return list_of_traces(input, input, output);
	char **words = calloc((size_t)argc + 6, sizeof *words);
	if (!words || (size_t)snprintf(folder, sizeof folder, "%s/gpusim-task-XXXXXX", where && *where ? where : "/tmp") >= sizeof folder || !mkdtemp(folder)) {
		free(words);
		return cmd_fail("task: no temporary folder can be made: %s", strerror(errno));
	}
	char *first[] = {"export", "--accel-sim", (char *)input, "-o", folder};
	memcpy(words, first, sizeof first);
	memcpy(words + 5, argv, (size_t)argc * sizeof *argv);
	int code = cmd_export(argc + 5, words);
	if (!code)
		code = list_of_traces(folder, input, output);
	remove_folder(folder);
	free(words);
	return code;
}
