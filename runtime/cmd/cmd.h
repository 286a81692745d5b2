/* The `gpusim` command: one file per subcommand, one row per subcommand in main.c. */
#ifndef GPUSIM_CMD_H
#define GPUSIM_CMD_H

#include "runtime/base/base.h"

enum { EXIT_USAGE = 2, EXIT_NOT_RUN = 127 };

/* argv[0] is the subcommand's name. Each returns the command's exit code. */
int cmd_run(int argc, char **argv);
int cmd_gpus(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_cache(int argc, char **argv);
int cmd_explain(int argc, char **argv); /* has a --help of its own */

/* One line on stderr; returns EXIT_USAGE. */
int cmd_fail(const char *fmt, ...) GS_PRINTF(1, 2);

#endif
