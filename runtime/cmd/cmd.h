/* The `gpusim` command. Each subcommand has one file, and one row in main.c. */
#ifndef GPUSIM_RUNTIME_CMD_CMD_H
#define GPUSIM_RUNTIME_CMD_CMD_H

#include "runtime/config/options.h"

enum { EXIT_USAGE = 2, EXIT_NOT_RUN = 127 };

/* A row of the table in main.c. */
struct subcommand {
	const char *name, *usage, *help;
	int (*run)(int argc, char **argv);
};
const struct subcommand *cmd_table(size_t *count);

/* help.c: `gpusim COMMAND --help`; and --help, --help-man and others, of one command where that is not NULL. False: there is no such word. */
void help_command(const struct subcommand *s);
bool help_print(const char *word, const struct subcommand *s);
/* completion.c */
void completion_bash(void);
void completion_zsh(void);
/* A row of flags.def. */
struct command_flag {
	const char *command, *flag, *value, *text;
};
const struct command_flag *cmd_flags(size_t *count);
bool cmd_takes_options(const char *command); /* those of options.def */

/* argv[0] is the subcommand's name. Each returns the command's exit code. */
int cmd_run(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_what_if(int argc, char **argv);
int cmd_compare_models(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_task(int argc, char **argv);
int cmd_cluster(int argc, char **argv);
int cmd_platform(int argc, char **argv);
int cmd_gpus(int argc, char **argv);
int cmd_cite(int argc, char **argv);
int cmd_gpu_from(int argc, char **argv);
int cmd_scale(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_cache(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_correlate(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_explain(int argc, char **argv); /* has a --help of its own */
int cmd_tune(int argc, char **argv);    /* has a --help of its own */

/* flags.c. cmd_options sets options from their defaults and the environment. The next function takes one "--name=value",
 * "--name value" or, for switches, "--name", and also puts it into the environment. It returns how many words it took, or -1
 * after a complaint. */
void cmd_options(struct gs_options *options);
int cmd_take_flag(struct gs_options *options, const char *command, int argc, char **argv);
/* Returns 0 if all GPUs that the options name can be loaded. Otherwise complains first. */
int cmd_check_gpus(const struct gs_options *options, const char *command);

/* Prints one line on stderr and returns EXIT_USAGE. */
int cmd_fail(const char *fmt, ...) GS_PRINTF(1, 2);

/* Writes the text to PREFIX + ending and empties it. Returns 0, or EXIT_USAGE after a complaint. */
struct gs_buf;
int cmd_write_file(const char *command, const char *prefix, const char *ending, struct gs_buf *text);

/* Takes "NAME VALUE" or "NAME=VALUE" at argv[*i] and moves *i to the value. False if argv[*i] is another option. */
bool cmd_value(const char *name, int argc, char **argv, int *i, const char **value);

#endif
