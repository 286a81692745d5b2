/* gpusim run: sets the environment that brings the library into a program, and becomes that program. */
#include "cmd.h"

#include "runtime/gpus.h"
#include "runtime/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int find_library(char *path)
{
	static const char *const places[] = {"%s/libgpusim.so", "%s/../lib/libgpusim.so"};
	char self[PATH_MAX], candidate[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 0)
		return -1;
	self[n] = 0;
	char *slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	for (size_t i = 0; i < GS_ARRAY_LEN(places); i++) {
		snprintf(candidate, sizeof candidate, places[i], self);
		if (realpath(candidate, path))
			return 0;
	}
	return -1;
}

/* Puts the library before what the list has already. */
static void prepend(const char *variable, const char *path)
{
	const char *before = getenv(variable);
	struct gs_buf list = {0};
	if (before && strstr(before, path))
		return;
	gs_buf_puts(&list, path);
	if (before && *before)
		gs_buf_printf(&list, ":%s", before);
	if (!list.failed)
		setenv(variable, list.data, 1);
	gs_buf_free(&list);
}

static int unknown_flag(const char *flag, size_t length)
{
	char name[64];
	snprintf(name, sizeof name, "GPUSIM_%.*s", (int)length, flag);
	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
	const char *nearest = options_nearest(name);
	char suggestion[64] = "";
	if (nearest)
		options_flag_name(options_find(nearest + 7), suggestion, sizeof suggestion);
	return cmd_fail("run: there is no option --%.*s%s%s%s", (int)length, flag,
	                nearest ? "; did you mean " : " (gpusim --help lists them)", suggestion, nearest ? "?" : "");
}

/* One "--name=value", "--name value" or, for switches, "--name"; returns how many words it took, or -1. */
static int take_flag(struct gs_options *options, int argc, char **argv)
{
	const char *flag = argv[0] + 2, *equals = strchr(flag, '='), *value;
	char name[64], variable[80];
	size_t length = equals ? (size_t)(equals - flag) : strlen(flag);
	int words = 1;
	struct gs_error err;
	snprintf(name, sizeof name, "%.*s", (int)length, flag);
	const struct option_row *row = length < sizeof name ? options_find(name) : NULL;
	if (!row) {
		unknown_flag(flag, length);
		return -1;
	}
	if (equals)
		value = equals + 1;
	else if (row->type == OPTION_FLAG && (argc < 2 || (strcmp(argv[1], "0") && strcmp(argv[1], "1"))))
		value = "1";
	else if (argc > 1) {
		value = argv[1];
		words = 2;
	} else {
		cmd_fail("run: --%s needs a value: %s", name, row->allowed);
		return -1;
	}
	snprintf(variable, sizeof variable, "--%s", name);
	if (options_set(options, row, variable, value, &err)) {
		cmd_fail("run: %s", err.text);
		return -1;
	}
	snprintf(variable, sizeof variable, "GPUSIM_%s", row->name);
	setenv(variable, value, 1);
	return words;
}

static int check_gpus(const struct gs_options *options)
{
	char *names = strdup(options->gpu.text);
	struct gpu *gpu = malloc(sizeof *gpu);
	struct gs_error err;
	int failed = !names || !gpu;
	for (char *save, *n = failed ? NULL : strtok_r(names, ",", &save); n && !failed; n = strtok_r(NULL, ",", &save))
		if (gpu_load(gpu, n, gpus_read, NULL, options->set.text, NULL, &err))
			failed = cmd_fail("run: %s", err.text);
	free(gpu);
	free(names);
	return failed;
}

static void complain(const char *line)
{
	cmd_fail("%s", line);
}

int cmd_run(int argc, char **argv)
{
	extern char **environ;
	char library[PATH_MAX];
	struct gs_options options;
	int i = 1;
	options_defaults(&options);
	options_from_environment(&options, environ, complain);
	while (i < argc && !strncmp(argv[i], "--", 2)) {
		if (!argv[i][2]) {
			i++;
			break;
		}
		int words = take_flag(&options, argc - i, argv + i);
		if (words < 0)
			return EXIT_USAGE;
		i += words;
	}
	if (i >= argc)
		return cmd_fail("run: no program given: gpusim run [OPTIONS] [--] PROGRAM [ARGUMENTS]");
	if (check_gpus(&options))
		return EXIT_USAGE;
	if (find_library(library)) {
		cmd_fail("run: libgpusim.so was not found beside this command");
		return EXIT_NOT_RUN;
	}
	options_free(&options);
	/* Both ways in; the library sees to it that nothing is counted twice. */
	if (!strpbrk(library, " :")) /* the dynamic loader would take it for two */
		prepend("LD_PRELOAD", library);
	prepend("OPENCL_LAYERS", library);
	execvp(argv[i], argv + i);
	cmd_fail("run: cannot run '%s': %s", argv[i], strerror(errno));
	return EXIT_NOT_RUN;
}
