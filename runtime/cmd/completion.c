/* Completion for shells, from the tables of commands, of their flags and of options. */
#include "runtime/cmd/cmd.h"

#include <stdio.h>
#include <string.h>

/* The flags of a command, each after a blank. */
static void print_flags_of(const char *command)
{
	const struct option_row *options;
	size_t count, option_count = options_rows(&options);
	const struct command_flag *rows = cmd_flags(&count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].command, command))
			printf(" %s", rows[i].flag);
	for (size_t i = 0; i < option_count && cmd_takes_options(command); i++) {
		char flag[64];
		options_flag_name(&options[i], flag, sizeof flag);
		printf(" %s", flag);
	}
	fputs(" --help", stdout);
}

static void print_names(void)
{
	size_t count;
	const struct subcommand *commands = cmd_table(&count);
	for (size_t i = 0; i < count; i++)
		printf("%s%s", i ? " " : "", commands[i].name);
}

/* "	run) flags='--gpu --set';;" for each command, and "	--model) words='full optimistic';;" for each option that has a choice. */
static void print_cases(const char *variable, bool values)
{
	const struct option_row *options;
	size_t count, option_count = options_rows(&options);
	const struct subcommand *commands = cmd_table(&count);
	for (size_t i = 0; i < count && !values; i++) {
		printf("\t%s) %s='", commands[i].name, variable);
		print_flags_of(commands[i].name);
		puts("';;");
	}
	for (size_t i = 0; i < option_count && values; i++) {
		char flag[64];
		if (options[i].type != OPTION_CHOICE && options[i].type != OPTION_LIST && options[i].type != OPTION_FLAG)
			continue;
		options_flag_name(&options[i], flag, sizeof flag);
		printf("\t%s) %s='", flag, variable);
		for (const char *p = options[i].allowed; *p; p++)
			putchar(*p == '|' ? ' ' : *p);
		puts("';;");
	}
}

static const char gpu_names[] = "$(gpusim gpus 2>/dev/null | awk 'NR > 1 { print $1 }')";

void completion_bash(void)
{
	printf("# bash completion for gpusim; made by gpusim --help-bash\n_gpusim() {\n\tlocal now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
	       "\tCOMPREPLY=()\n\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '");
	print_names();
	printf(" --help --version' -- \"$now\"))\n\t\treturn\n\tfi\n\tcase $before in\n\t--gpu|--against|--base|show) words=\"%s\";;\n", gpu_names);
	print_cases("words", true);
	puts("\tesac\n\tif [ -z \"$words\" ]; then\n\t\tcase $now in -*) ;; *) return;; esac\n\t\tcase ${COMP_WORDS[1]} in");
	print_cases("words", false);
	puts("\t\tesac\n\tfi\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n}\ncomplete -o default -F _gpusim gpusim");
}

void completion_zsh(void)
{
	printf("#compdef gpusim\n# zsh completion for gpusim; made by gpusim --help-zsh\nif (( CURRENT == 2 )); then\n\tcompadd -- ");
	print_names();
	printf(" --help --version\n\treturn\nfi\nlocal typed=(${(z)BUFFER}) choices=\ncase ${typed[CURRENT-1]} in\n\t--gpu|--against|--base|show) choices=\"%s\";;\n", gpu_names);
	print_cases("choices", true);
	puts("esac\nif [[ -z $choices && ${PREFIX} == -* ]]; then\n\tcase ${typed[2]} in");
	print_cases("choices", false);
	puts("\tesac\nfi\nif [[ -n $choices ]]; then\n\tcompadd -- ${=choices}\nelse\n\t_files\nfi");
}
