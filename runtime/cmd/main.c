/* gpusim: estimates how long a program's OpenCL kernels would take on another GPU. */
#include "runtime/cmd/cmd.h"

#include "runtime/format/protocol.h"
#include "runtime/config/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct subcommand subcommands[] = {
	{"run", "[OPTIONS] [--] PROGRAM [ARGUMENTS]", "run a program and report its kernels' times on stderr", cmd_run},
	{"record", "[-o FILE] [OPTIONS] [--] PROGRAM [ARGUMENTS]", "run a program and write a profile of it to a file", cmd_record},
	{"replay", "FILE [OPTIONS] [--only LAUNCHES] [--partial]", "model a profile on any GPUs, without the program", cmd_replay},
	{"sweep", "FILE --gpu NAME[,...] --vary KEY=VALUE,FIRST..LAST:STEP,... [--vary ...] [--cost KEY=WEIGHT,...] [-o PREFIX] [-j JOBS] [--slurm]",
	 "model a profile on every combination of values: a table, PREFIX.csv, the plot PREFIX.svg and the page PREFIX.html", cmd_sweep},
	{"what-if", "FILE [--gpu NAME] [--json]", "model a profile with more of each resource of a GPU: which would make it faster, and by how much", cmd_what_if},
	{"compare-models", "FILE [--gpu NAME] [--csv|--json]", "show the times that each model gives for the kernels of a profile, side by side", cmd_compare_models},
	{"explain", "FILE.cl [--gpu NAME] [--kernel NAME] [-D...] [-I...] [--html FILE] ...",
	 "show what each line of a source becomes on a GPU and costs there, without running it", cmd_explain},
	{"report", "FILE.json [-o FILE.html] [--what-if FILE.json]", "make a page for a browser from a report", cmd_report},
	{"annotate", "FILE.json [--kernel NAME] [--gpu NAME] [--all]",
	 "show the source of a report's kernels with what each line cost", cmd_annotate},
	{"diff", "BEFORE.json AFTER.json [--gpu NAME [--against NAME]]",
	 "show which kernels got faster or slower between two reports or two GPUs, and why", cmd_diff},
	{"correlate", "[TRUTH.csv ...] [--cases FILE] [--split] [--mean PERCENT] ... [-o PREFIX] REPORT.json|RESULTS.csv ...",
	 "compare estimates with measured values, case by case and counter by counter", cmd_correlate},
	{"import", "DIR|kernelslist.g [-o FILE]", "make a profile of traces that Accel-Sim's tracer (NVBit) wrote, for replay, sweep and others", cmd_import},
	{"export", "--accel-sim FILE -o DIR [--gpu NAME]", "write what a recorded program executed as traces that Accel-Sim simulates", cmd_export},
	{"task", "FILE.task|DIR|--from PROFILE [OPTIONS] [-o FILE]", "model kernels that nobody has written yet, from lists of what their work-items do; or write a profile of them", cmd_task},
	{"cluster", "PROFILE... --platform FILE.xml --gpu NAME [--ranks N] [--host-scale FACTOR] [-o PREFIX] ...",
	 "replay a recorded MPI program on a cluster that SimGrid simulates: the time of each rank, and where it waits", cmd_cluster},
	{"platform", "--nodes N [--gpus N] [--topology fat-tree|dragonfly|torus|dgx] ...",
	 "write a platform for gpusim cluster: nodes with GPUs, and a network between them", cmd_platform},
	{"gpus", "[--json]", "list the GPUs that can be modelled", cmd_gpus},
	{"show", "NAME|FILE.gpu [--set KEY=VALUE,...]", "print a GPU's description, each value with its source", cmd_show},
	{"gpu-from", "gpgpusim.config|FOLDER [trace.config] [--base NAME|FILE.gpu] [--name NAME] [-o FILE]",
	 "make a GPU's description from a configuration of GPGPU-Sim or Accel-Sim", cmd_gpu_from},
	{"scale", "NAME|FILE.gpu [--sm N] [--clock-mhz F] [--dram-gbps F] [--l2-mb F] [--fp32-lanes N] [--fp64-lanes N] [--node 5nm] ... [-o FILE]",
	 "make the description of a GPU that does not exist from one that does", cmd_scale},
	{"tune", "--base NAME|FILE.gpu [--device N | --cuda] [-o FILE] ...", "measure the GPU of this machine and write its description",
	 cmd_tune},
	{"cache", "[clear | export FILE | import FILE | wanted FILE | fill [FILE]]",
	 "show where the cache is and how large it is, empty it, or carry it between machines with and without clang", cmd_cache},
	{"cite", "", "print how to name this version in a paper, with what was measured of its accuracy", cmd_cite},
};

const struct subcommand *cmd_table(size_t *count)
{
	*count = GS_ARRAY_LEN(subcommands);
	return subcommands;
}

int cmd_fail(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputs("gpusim: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputs("\n", stderr);
	va_end(ap);
	return EXIT_USAGE;
}

int cmd_write_file(const char *command, const char *prefix, const char *ending, struct gs_buf *text)
{
	char path[4200];
	struct gs_error err;
	snprintf(path, sizeof path, "%s%s", prefix, ending);
	int failed = text->failed ? gs_fail(&err, ENOMEM, "out of memory") : gs_write_file(path, text->data, text->len, &err);
	text->len = 0;
	return failed ? cmd_fail("%s: %s", command, err.text) : 0;
}

bool cmd_value(const char *name, int argc, char **argv, int *i, const char **value)
{
	size_t length = strlen(name);
	if (strncmp(argv[*i], name, length))
		return false;
	if (argv[*i][length] == '=')
		*value = argv[*i] + length + 1;
	else if (!argv[*i][length] && *i + 1 < argc)
		*value = argv[++*i];
	else
		return false;
	return true;
}

static int unknown_command(const char *name)
{
	const char *names[GS_ARRAY_LEN(subcommands) + 1] = {NULL};
	for (size_t i = 0; i < GS_ARRAY_LEN(subcommands); i++)
		names[i] = subcommands[i].name;
	const char *nearest = gs_nearest(name, names);
	return cmd_fail("there is no command '%s'%s%s%s", name, nearest ? "; did you mean '" : " (gpusim --help lists them)",
	                nearest ? nearest : "", nearest ? "'?" : "");
}

static int run_subcommand(const struct subcommand *s, int argc, char **argv)
{
	bool own_help = s->run == cmd_explain || s->run == cmd_tune;
	if (own_help || argc < 2 || (strcmp(argv[1], "--help") && strcmp(argv[1], "-h")))
		return s->run(argc, argv);
	help_command(s);
	return 0;
}

static const struct subcommand *find_command(const char *name)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(subcommands); i++)
		if (!strcmp(name, subcommands[i].name))
			return &subcommands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	log_stderr_is_ours();
	if (argc < 2)
		return cmd_fail("no command given (gpusim --help lists them)");
	const struct subcommand *s = find_command(argv[1]), *about = argc > 2 ? find_command(argv[2]) : NULL;
	if (s)
		return run_subcommand(s, argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version"))
		return puts("gpusim " GPUSIM_VERSION), 0;
	if (argc > 2 && !about && (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help-man")))
		return unknown_command(argv[2]);
	if (about && !strcmp(argv[1], "help"))
		return run_subcommand(about, 2, (char *[]){argv[2], "--help", NULL});
	return help_print(argv[1], about) ? 0 : unknown_command(argv[1]);
}
