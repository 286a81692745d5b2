/* Help, for the terminal and as manual pages, from the tables of commands, of their flags and of options. */
#include "runtime/cmd/cmd.h"

#include "models/flags.h"
#include "runtime/config/options.h"
#include "runtime/config/show.h"
#include "runtime/format/protocol.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Prints text in lines of the width of the terminal. All lines but the first begin with `indent` blanks. */
static void print_wrapped(const char *text, int length, int indent)
{
	int column = indent, width = (int)show_width(STDOUT_FILENO);
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

static void print_options(void)
{
	const struct option_row *rows;
	size_t count = options_rows(&rows);
	for (size_t i = 0; i < count; i++) {
		char flag[64];
		options_flag_name(&rows[i], flag, sizeof flag);
		printf("  %s %s   [GPUSIM_%s]\n        ", flag, rows[i].allowed, rows[i].name);
		print_wrapped(rows[i].help, options_help_length(&rows[i]), 8);
		printf("        Default: %s\n", options_default(&rows[i]));
	}
}

void help_command(const struct subcommand *s)
{
	size_t count;
	const struct command_flag *rows = cmd_flags(&count);
	fputs("Usage: ", stdout);
	struct gs_buf usage = {0};
	gs_buf_printf(&usage, "gpusim %s %s", s->name, s->usage);
	print_wrapped(usage.data ? usage.data : "", (int)usage.len, 7);
	gs_buf_free(&usage);
	putchar('\n');
	print_wrapped(s->help, (int)strlen(s->help), 0);
	putchar('\n');
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].command, s->name)) {
			printf("  %s %s\n        ", rows[i].flag, rows[i].value);
			print_wrapped(rows[i].text, (int)strlen(rows[i].text), 8);
		}
	if (cmd_takes_options(s->name)) {
		puts("\nOptions; the environment variable in brackets does the same:");
		print_options();
	}
}

static void print_help(void)
{
	size_t command_count;
	const struct subcommand *commands = cmd_table(&command_count);
	puts("Usage: gpusim COMMAND ...\n\nRuns an unmodified OpenCL or CUDA program and reports how long each kernel launch would take "
	     "on\na GPU that you do not have.\n\nCommands:");
	for (size_t i = 0; i < command_count; i++) {
		printf("  gpusim %s %s\n        ", commands[i].name, commands[i].usage);
		print_wrapped(commands[i].help, (int)strlen(commands[i].help), 8);
	}
	puts("\n`gpusim COMMAND --help` tells more of one.");
	puts("\nThe library also works without this command: LD_PRELOAD=libgpusim.so PROGRAM, or\nOPENCL_LAYERS=libgpusim.so PROGRAM for programs "
	     "that open the OpenCL library themselves.\n\nOptions of run, record, replay, sweep and cluster; the environment variable in brackets does the same:");
	print_options();
	puts("\n  --help, --version, --help-man [COMMAND] (the manual page), --help-markdown (the table of options),\n  --help-flags (the flags of estimates), --help-bash, --help-zsh (completion for shells)");
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

static void print_man_entry(const char *flag, const char *value, const char *variable, const char *text, int length, const char *fallback)
{
	fputs(".TP\n.B ", stdout);
	print_roff(flag, (int)strlen(flag));
	putchar(' ');
	print_roff(value, (int)strlen(value));
	if (variable)
		printf(" (GPUSIM_%s)", variable);
	putchar('\n');
	print_roff(text, length);
	puts(".");
	if (fallback) {
		fputs("Default: ", stdout);
		print_roff(fallback, (int)strlen(fallback));
		puts(".");
	}
}

static void print_man_options(void)
{
	const struct option_row *rows;
	size_t count = options_rows(&rows);
	for (size_t i = 0; i < count; i++) {
		char flag[64];
		options_flag_name(&rows[i], flag, sizeof flag);
		print_man_entry(flag, rows[i].allowed, rows[i].name, rows[i].help, options_help_length(&rows[i]), options_default(&rows[i]));
	}
}

/* gpusim-COMMAND.1 */
static void print_man_of(const struct subcommand *s)
{
	size_t count, of_its_own = 0;
	const struct command_flag *rows = cmd_flags(&count);
	printf(".TH GPUSIM-%s 1 \"\" \"gpusim " GPUSIM_VERSION "\" \"User Commands\"\n.SH NAME\ngpusim\\-%s \\- ", s->name, s->name);
	print_roff(s->help, (int)strlen(s->help));
	printf("\n.SH SYNOPSIS\n.B gpusim %s\n", s->name);
	print_roff(s->usage, (int)strlen(s->usage));
	puts("\n.SH OPTIONS");
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].command, s->name)) {
			print_man_entry(rows[i].flag, rows[i].value, NULL, rows[i].text, (int)strlen(rows[i].text), NULL);
			of_its_own++;
		}
	if (cmd_takes_options(s->name))
		print_man_options();
	else if (!of_its_own)
		puts("None.");
	puts(".SH SEE ALSO\n.BR gpusim (1)");
}

static void print_man(void)
{
	size_t command_count;
	const struct subcommand *commands = cmd_table(&command_count);
	puts(".TH GPUSIM 1 \"\" \"gpusim " GPUSIM_VERSION "\" \"User Commands\"\n.SH NAME\n"
	     "gpusim \\- estimate how long OpenCL kernels would take on another GPU\n.SH SYNOPSIS");
	for (size_t i = 0; i < command_count; i++) {
		printf(".B gpusim %s\n", commands[i].name);
		print_roff(commands[i].usage, (int)strlen(commands[i].usage));
		puts("\n.br");
	}
	puts(".B LD_PRELOAD=libgpusim.so\n.I PROGRAM\n.SH DESCRIPTION\nRuns an unmodified OpenCL or CUDA program, with the results it "
	     "always had, and reports on standard error how long\neach kernel launch would take on the GPUs named, and "
	     "why.\n.SH OPTIONS\nEach option of\n.B gpusim run\nis also an environment variable.");
	print_man_options();
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

const struct command_flag *cmd_flags(size_t *count)
{
	static const struct command_flag rows[] = {
#define COMMAND_FLAG(command, flag, value, text) {command, flag, value, text},
#include "runtime/cmd/flags.def"
#undef COMMAND_FLAG
	};
	*count = GS_ARRAY_LEN(rows);
	return rows;
}

bool cmd_takes_options(const char *command)
{
	return !strcmp(command, "run") || !strcmp(command, "record") || !strcmp(command, "replay") || !strcmp(command, "sweep") ||
	       !strcmp(command, "task") || !strcmp(command, "cluster");
}

static void print_commands(void)
{
	size_t count;
	const struct subcommand *commands = cmd_table(&count);
	for (size_t i = 0; i < count; i++)
		puts(commands[i].name);
}

bool help_print(const char *word, const struct subcommand *s)
{
	static const struct {
		const char *word;
		void (*print)(void);
	} prints[] = {{"--help", print_help}, {"-h", print_help}, {"help", print_help}, {"--help-man", print_man}, {"--help-markdown", print_markdown},
	              {"--help-flags", print_flags}, {"--help-commands", print_commands}, {"--help-bash", completion_bash}, {"--help-zsh", completion_zsh}};
	if (s && !strcmp(word, "--help-man"))
		return print_man_of(s), true;
	for (size_t i = 0; i < GS_ARRAY_LEN(prints); i++)
		if (!strcmp(word, prints[i].word))
			return prints[i].print(), true;
	return false;
}
