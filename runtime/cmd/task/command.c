/* gpusim task: models kernels that nobody has written yet, from lists of what their work-items do. */
#include "runtime/cmd/task/from.h"

#include "runtime/cmd/cmd.h"
#include "runtime/cmd/task/ppt_gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNTER_BYTES = 1 << 25 }; /* of a launch, as for traces */

static int make_profile(const char *input, const struct gs_options *options, const char *output, double *host_seconds, struct gs_error *err)
{
	struct import_job job = {.all_groups = options->trace.number == TRACE_ALL, .trace_items = options->trace_items.number,
	                         .trace_bytes = options->trace_memory.number, .counter_bytes = COUNTER_BYTES};
	struct task_list list = {0};
	struct gs_buf text = {0};
	struct stat st;
	bool folder = !stat(input, &st) && S_ISDIR(st.st_mode); /* of PPT-GPU's tracer */
	int result = folder ? ppt_gpu_list(input, &text, err) : gs_read_regular_file(input, &text, err);
	if (!result)
		result = task_parse(input, text.data ? text.data : "", text.len, &list, err);
	if (!result)
		result = task_write(&list, &job, input, output, err);
	for (size_t i = 0; i < list.step_count; i++)
		*host_seconds += list.steps[i].kind == STEP_HOST ? list.steps[i].seconds : 0;
	task_free(&list);
	gs_buf_free(&text);
	return result;
}

/* The profile is a file without a name, so that nothing is left of it however the command ends. */
static int make_unnamed(const char *input, const struct gs_options *options, char name[64], double *host_seconds, struct gs_error *err)
{
	const char *where = getenv("TMPDIR");
	char folder[512], path[600];
	if ((size_t)snprintf(folder, sizeof folder, "%s/gpusim-task-XXXXXX", where && *where ? where : "/tmp") >= sizeof folder || !mkdtemp(folder))
		return gs_fail(err, errno, "no temporary folder can be made: %s", strerror(errno));
	snprintf(path, sizeof path, "%s/profile", folder);
	int result = make_profile(input, options, path, host_seconds, err);
	int fd = result ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (!result && fd < 0)
		result = gs_fail(err, errno, "%s: %s", path, strerror(errno));
	snprintf(name, 64, "/proc/self/fd/%d", fd);
	unlink(path);
	rmdir(folder);
	return result;
}

static int model(char *profile, int argc, char **argv)
{
	char **words = calloc((size_t)argc + 3, sizeof *words);
	if (!words)
		return cmd_fail("task: out of memory");
	words[0] = "replay";
	words[1] = profile;
	memcpy(words + 2, argv, (size_t)argc * sizeof *argv);
	int code = cmd_replay(argc + 2, words);
	free(words);
	return code;
}

/* Where nothing of memory is modelled, nothing is traced, unless it is asked for. */
static bool without_patterns(const struct gs_options *o)
{
	return o->memory.number == MEMORY_PERFECT && o->trace.number != TRACE_ALL;
}

int cmd_task(int argc, char **argv)
{
	static struct gs_options options;
	const char *input = NULL, *output = NULL, *from = NULL;
	char profile[64], **rest = calloc((size_t)argc + 1, sizeof *rest);
	int rest_count = 0, code = 0;
	double host_seconds = 0;
	struct gs_error err;
	if (!rest)
		return cmd_fail("task: out of memory");
	cmd_options(&options);
	for (int i = 1; i < argc && !code; i++) {
		int words = 1;
		if (cmd_value("-o", argc, argv, &i, &output) || cmd_value("--from", argc, argv, &i, &from))
			continue;
		if (!strncmp(argv[i], "--", 2)) {
			words = cmd_take_flag(&options, "task", argc - i, argv + i);
			for (int w = 0; w < words; w++)
				rest[rest_count++] = argv[i + w];
		} else if (*argv[i] == '-')
			code = cmd_fail("task: there is no option %s", argv[i]);
		else if (input)
			code = cmd_fail("task: one list at a time, not '%s' too", argv[i]);
		else
			input = argv[i];
		code = words < 0 ? EXIT_USAGE : code;
		i += words - 1;
	}
	if (!code && from && input)
		code = cmd_fail("task: --from writes a list, and takes no other");
	if (!code && from) {
		code = task_from(from, rest_count, rest, output);
		free(rest);
		return code;
	}
	if (!code && !input)
		code = cmd_fail("task: no list given: gpusim task FILE.task [--gpu NAME,...] [-o FILE]");
	if (!code && cmd_check_gpus(&options, "task"))
		code = EXIT_USAGE;
	if (!code && (output ? make_profile(input, &options, output, &host_seconds, &err) : make_unnamed(input, &options, profile, &host_seconds, &err)))
		code = cmd_fail("task: %s", err.text);
	if (!code && !output)
		code = model(profile, rest_count, rest);
	if (!code && host_seconds > 0)
		fprintf(stderr, "gpusim: steps of the host take %g s; times of kernels do not include them, the timeline of JSON and trace does\n", host_seconds);
	if (!code && !output && without_patterns(&options))
		fprintf(stderr, "gpusim: assumed: with --memory perfect, each access takes as many turns as its instruction usually does, whatever its pattern; --trace all takes the list's\n");
	free(rest);
	return code;
}
