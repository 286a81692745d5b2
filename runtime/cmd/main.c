/* gpusim: estimates how long a program's OpenCL kernels would take on another GPU. */
#include "runtime/cmd/cmd.h"

#include "models/flags.h"
#include "runtime/format/protocol.h"
#include "runtime/config/log.h"
#include "runtime/config/options.h"

#include <stdio.h>
#include <string.h>

static const struct subcommand {
	const char *name, *usage, *help;
	int (*run)(int argc, char **argv);
} subcommands[] = {
	{"run", "[OPTIONS] [--] PROGRAM [ARGUMENTS]", "run a program and report its kernels' times on stderr", cmd_run},
	{"record", "[-o FILE] [OPTIONS] [--] PROGRAM [ARGUMENTS]", "run a program and write a profile of it to a file", cmd_record},
	{"replay", "FILE [OPTIONS] [--partial]", "model a profile on any GPUs, without the program", cmd_replay},
	{"sweep", "FILE --gpu NAME[,...] --vary KEY=VALUE,FIRST..LAST:STEP,... [--vary ...] [--cost KEY=WEIGHT,...] [-o PREFIX] [-j JOBS]",
	 "model a profile on every combination of values: a table, PREFIX.csv, the plot PREFIX.svg and the page PREFIX.html", cmd_sweep},
	{"explain", "FILE.cl [--gpu NAME] [--kernel NAME] [-D...] [-I...] [--html FILE] ...",
	 "show what each line of a source becomes on a GPU and costs there, without running it", cmd_explain},
	{"report", "FILE.json [-o FILE.html]", "make a page for a browser from a report", cmd_report},
	{"annotate", "FILE.json [--kernel NAME] [--gpu NAME] [--all]",
	 "show the source of a report's kernels with what each line cost", cmd_annotate},
	{"diff", "BEFORE.json AFTER.json [--gpu NAME [--against NAME]]",
	 "show which kernels got faster or slower between two reports or two GPUs, and why", cmd_diff},
	{"correlate", "[TRUTH.csv ...] [--cases FILE] [--split] [--mean PERCENT] ... [-o PREFIX] REPORT.json|RESULTS.csv ...",
	 "compare estimates with measured values, case by case and counter by counter", cmd_correlate},
	{"gpus", "", "list the GPUs that can be modelled", cmd_gpus},
	{"show", "NAME|FILE.gpu [--set KEY=VALUE,...]", "print a GPU's description, each value with its source", cmd_show},
	{"tune", "--base NAME|FILE.gpu [--device N] [-o FILE] ...", "measure the GPU of this machine and write its description",
	 cmd_tune},
	{"cache", "[clear | export FILE | import FILE | wanted FILE | fill [FILE]]",
	 "show where the cache is and how large it is, empty it, or carry it between machines with and without clang", cmd_cache},
};

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

/* Prints text in lines of at most `width` columns. All lines but the first begin with `indent` blanks. */
static void print_wrapped(const char *text, int length, int indent, int width)
{
	int column = indent;
	const char *end = text + length;
	while (text < end) {
		int n = (int)strcspn(text, " ");
		n = n < end - text ? n : (int)(end - text);
		if (column > indent && column + 1 + n > width) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", n, text);
		column += n;
		text += n + (text + n < end);
	}
	putchar('\n');
}

static void print_help(void)
{
	const struct option_row *rows;
	size_t count = options_rows(&rows);
	puts("Usage: gpusim COMMAND ...\n\nRuns an unmodified OpenCL or CUDA program and reports how long each kernel launch would take "
	     "on\na GPU that you do not have.\n\nCommands:");
	for (size_t i = 0; i < GS_ARRAY_LEN(subcommands); i++)
		printf("  gpusim %s %s\n        %s\n", subcommands[i].name, subcommands[i].usage, subcommands[i].help);
	puts("\nThe library also works without this command: LD_PRELOAD=libgpusim.so PROGRAM, or\nOPENCL_LAYERS=libgpusim.so PROGRAM for programs "
	     "that open the OpenCL library themselves.\n\nOptions of run, record, replay and sweep; the environment variable in brackets does the same:");
	for (size_t i = 0; i < count; i++) {
		char flag[64];
		options_flag_name(&rows[i], flag, sizeof flag);
		printf("  %s %s   [GPUSIM_%s]\n        ", flag, rows[i].allowed, rows[i].name);
		print_wrapped(rows[i].help, options_help_length(&rows[i]), 8, 96);
		printf("        Default: %s\n", options_default(&rows[i]));
	}
	puts("\n  --help, --version, --help-man (the manual page), --help-markdown (the table of options),\n  --help-flags (the flags of estimates)");
}

/* roff takes a line that begins with '.' or ''' for a request, and '-' for a hyphen. */
static void print_roff(const char *text, int length)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (const char *end = text + length; text < end; text++)
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
}

static void print_man(void)
{
	const struct option_row *rows;
	size_t count = options_rows(&rows);
	puts(".TH GPUSIM 1 \"\" \"gpusim " GPUSIM_VERSION "\" \"User Commands\"\n.SH NAME\n"
	     "gpusim \\- estimate how long OpenCL kernels would take on another GPU\n.SH SYNOPSIS");
	for (size_t i = 0; i < GS_ARRAY_LEN(subcommands); i++) {
		printf(".B gpusim %s\n", subcommands[i].name);
		print_roff(subcommands[i].usage, (int)strlen(subcommands[i].usage));
		puts("\n.br");
	}
	puts(".B LD_PRELOAD=libgpusim.so\n.I PROGRAM\n.SH DESCRIPTION\nRuns an unmodified OpenCL or CUDA program, with the results it "
	     "always had, and reports on standard error how long\neach kernel launch would take on the GPUs named, and "
	     "why.\n.SH OPTIONS\nEach option of\n.B gpusim run\nis also an environment variable.");
	for (size_t i = 0; i < count; i++) {
		char flag[64];
		options_flag_name(&rows[i], flag, sizeof flag);
		fputs(".TP\n.B ", stdout);
		print_roff(flag, (int)strlen(flag));
		putchar(' ');
		print_roff(rows[i].allowed, (int)strlen(rows[i].allowed));
		printf(" (GPUSIM_%s)\n", rows[i].name);
		print_roff(rows[i].help, options_help_length(&rows[i]));
		fputs(".\nDefault: ", stdout);
		print_roff(options_default(&rows[i]), (int)strlen(options_default(&rows[i])));
		puts(".");
	}
	puts(".SH EXIT STATUS\nThat of the program; 2 for wrong usage, 127 when the program cannot be run.");
}

static void print_markdown(void)
{
	const struct option_row *rows;
	size_t count = options_rows(&rows);
	puts("| variable | flag of `gpusim run` | values | default | what it does |\n|---|---|---|---|---|");
	for (size_t i = 0; i < count; i++) {
		char flag[64];
		options_flag_name(&rows[i], flag, sizeof flag);
		printf("| `GPUSIM_%s` | `%s` | ", rows[i].name, flag);
		for (const char *p = rows[i].allowed; *p; p++)
			printf(*p == '|' ? "\\|" : "%c", *p);
		printf(" | %s | %.*s |\n", options_default(&rows[i]), options_help_length(&rows[i]), rows[i].help);
	}
}

static void print_flags(void)
{
	puts("| flag | what it means | what to do |\n|---|---|---|");
	for (size_t i = 0; i < FLAG_COUNT; i++)
		printf("| `%s` | %s | %s |\n", flag_texts[i].name, flag_texts[i].meaning, flag_texts[i].remedy);
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
	print_help();
	return 0;
}

int main(int argc, char **argv)
{
	log_stderr_is_ours();
	if (argc < 2)
		return cmd_fail("no command given (gpusim --help lists them)");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		print_help();
	else if (!strcmp(argv[1], "--version"))
		puts("gpusim " GPUSIM_VERSION);
	else if (!strcmp(argv[1], "--help-man"))
		print_man();
	else if (!strcmp(argv[1], "--help-markdown"))
		print_markdown();
	else if (!strcmp(argv[1], "--help-flags"))
		print_flags();
	else {
		for (size_t i = 0; i < GS_ARRAY_LEN(subcommands); i++)
			if (!strcmp(argv[1], subcommands[i].name))
				return run_subcommand(&subcommands[i], argc - 1, argv + 1);
		return unknown_command(argv[1]);
	}
	return 0;
}
