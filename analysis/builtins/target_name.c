#include "analysis/builtins/target_name.h"

#include <string.h>

const char *target_assembler(const char *name)
{
	const char *library = strchr(name, ':'), *assembler = library ? strchr(library + 1, ':') : NULL;
	return assembler && !strncmp(assembler, ":sm_", 4) ? assembler + 1 : name;
}

bool target_is_machine(const char *name)
{
	static const char word[] = ":sass";
	size_t length = strlen(name);
	return length >= sizeof word - 1 && !strcmp(name + length - (sizeof word - 1), word);
}

bool target_wants_assembled(const char *name, bool of_program)
{
	return target_is_machine(name) && (strstr(name, ":machine:") || (of_program && !strstr(name, ":selected:")));
}
