/* The options of options.def as flags of commands. */
#include "runtime/cmd/cmd.h"

#include "runtime/config/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int unknown_flag(const char *command, const char *flag, size_t length)
{
	char name[64];
	snprintf(name, sizeof name, "GPUSIM_%.*s", (int)length, flag);
	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
	const char *nearest = options_nearest(name);
	char suggestion[64] = "";
	if (nearest)
		options_flag_name(options_find(nearest + 7), suggestion, sizeof suggestion);
	return cmd_fail("%s: there is no option --%.*s%s%s%s", command, (int)length, flag,
	                nearest ? "; did you mean " : " (gpusim --help lists them)", suggestion, nearest ? "?" : "");
}

int cmd_take_flag(struct gs_options *options, const char *command, int argc, char **argv)
{
	const char *flag = argv[0] + 2, *equals = strchr(flag, '='), *value;
	char name[64], variable[80];
	size_t length = equals ? (size_t)(equals - flag) : strlen(flag);
	int words = 1;
	struct gs_error err;
	snprintf(name, sizeof name, "%.*s", (int)length, flag);
	const struct option_row *row = length < sizeof name ? options_find(name) : NULL;
	if (!row) {
		unknown_flag(command, flag, length);
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
		cmd_fail("%s: --%s needs a value: %s", command, name, row->allowed);
		return -1;
	}
	snprintf(variable, sizeof variable, "--%s", name);
	if (options_set(options, row, variable, value, &err)) {
		cmd_fail("%s: %s", command, err.text);
		return -1;
	}
	snprintf(variable, sizeof variable, "GPUSIM_%s", row->name);
	setenv(variable, value, 1);
	return words;
}

int cmd_check_gpus(const struct gs_options *options, const char *command)
{
	char *names = strdup(options->gpu.text);
	struct gpu *gpu = malloc(sizeof *gpu);
	struct gs_error err;
	int failed = !names || !gpu;
	for (char *save, *n = failed ? NULL : strtok_r(names, ",", &save); n && !failed; n = strtok_r(NULL, ",", &save))
		if (gpu_load(gpu, n, gpus_read, NULL, options->set.text, NULL, &err))
			failed = cmd_fail("%s: %s", command, err.text);
	free(gpu);
	free(names);
	return failed;
}

static void complain(const char *line)
{
	cmd_fail("%s", line);
}

void cmd_options(struct gs_options *options)
{
	extern char **environ;
	options_defaults(options);
	options_from_environment(options, environ, complain);
}
