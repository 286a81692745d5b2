/* gpusim import: makes a profile of traces that Accel-Sim's tracer wrote, for replay, sweep, report and what-if. */
#include "runtime/cmd/accelsim/import/trace.h"
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/streams/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { COUNTER_BYTES = 1 << 25 }; /* of a launch: replay keeps the counters of all launches */

/* ---- the list ---- */

static int add_launch(struct import_job *job, struct import_list *list, const char *folder, const char *name, size_t length)
{
	char *path = NULL;
	return asprintf(&path, "%s/%.*s", folder, (int)length, name) < 0 ? -ENOMEM : import_add_launch(job, list, &sass_trace_kind, NULL, path);
}

static bool read_copy(const char *line, struct import_entry *e)
{
	*e = (struct import_entry){.copies = true, .how = TRANSFER_WRITE};
	return sscanf(line, "MemcpyHtoD,%" SCNx64 ",%" SCNu64, &e->address, &e->bytes) == 2;
}

static int take_line(struct import_job *job, struct import_list *list, const char *folder, const char *line, struct gs_error *err)
{
	size_t length = strcspn(line, "\r\n");
	if (!gs_reserve(&list->entries, list->count, &list->room, sizeof *list->entries))
		return gs_fail(err, ENOMEM, "out of memory");
	if (!strncmp(line, "MemcpyHtoD", 10)) {
		struct import_entry *e = &list->entries[list->count];
		if (!read_copy(line, e))
			return gs_fail(err, EBADMSG, "%s/kernelslist.g: '%.60s' is no copy", folder, line);
		list->count++;
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
	bool fits = folder && !add_launch(job, list, base == path ? "." : folder, base, strlen(base));
	free(folder);
	return fits ? 0 : gs_fail(err, ENOMEM, "out of memory");
}

/* ---- the command ---- */

static int import_all(struct import_job *job, const char *input, const char *output, struct gs_error *err)
{
	struct import_list list = {0};
	struct import_about about = {.device = "traces of Accel-Sim's tracer"};
	int result = find_traces(job, &list, input, err);
	for (size_t i = 0; i < job->launch_count; i++)
		job->launches[i].of = job->launches[i].path;
	gs_buf_add(&about.command, "gpusim\0import", 14);
	gs_buf_add(&about.command, input, strlen(input) + 1);
	if (!result)
		result = import_write(job, &list, &about, output, err);
	gs_buf_free(&about.command);
	import_free(job, &list);
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
	if (import_all(&job, input, output, &err))
		return cmd_fail("import: %s", err.text);
	return 0;
}
