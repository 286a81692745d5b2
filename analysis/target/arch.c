/* Names of NVIDIA architectures and the PTX version that each needs, as in LLVM 19's NVPTX back end. */
#include "analysis/builtins/target_name.h"
#include "analysis/target/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	unsigned number;
	const char *cpu, *feature;
} archs[] = {
	{20, "sm_20", "+ptx32"}, {21, "sm_21", "+ptx32"}, {30, "sm_30", "+ptx32"}, {32, "sm_32", "+ptx40"},
	{35, "sm_35", "+ptx32"}, {37, "sm_37", "+ptx41"}, {50, "sm_50", "+ptx40"}, {52, "sm_52", "+ptx41"},
	{53, "sm_53", "+ptx42"}, {60, "sm_60", "+ptx50"}, {61, "sm_61", "+ptx50"}, {62, "sm_62", "+ptx50"},
	{70, "sm_70", "+ptx60"}, {72, "sm_72", "+ptx61"}, {75, "sm_75", "+ptx63"}, {80, "sm_80", "+ptx70"},
	{86, "sm_86", "+ptx71"}, {87, "sm_87", "+ptx74"}, {89, "sm_89", "+ptx78"}, {90, "sm_90", "+ptx78"},
};

/* Reads the library in a target's name. Returns the length of the text before it. 0: the word is not a library. */
static size_t read_library(const char *name, bool *vendor)
{
	size_t length = strcspn(name, ":");
	const char *library = name[length] ? name + length + 1 : "libclc";
	size_t word = strcspn(library, ":");
	*vendor = word == 6 && !strncmp(library, "vendor", word);
	return *vendor || (word == 6 && !strncmp(library, "libclc", word)) ? length : 0;
}

int target_arch_find(const char *name, struct target_arch *out, struct gs_error *err)
{
	char *end = NULL;
	size_t length = read_library(name, &out->vendor);
	out->machine = target_is_machine(name);
	unsigned long number =
	    !length || strncmp(name, "sm_", 3) || !isdigit((unsigned char)name[3]) ? 0 : strtoul(name + 3, &end, 10);
	/* A letter at the end (sm_90a) stands for instructions that no OpenCL program uses. */
	if (end && isalpha((unsigned char)*end))
		end++;
	if (!end || end != name + length || number < archs[0].number)
		return gs_fail(err, EINVAL, "unknown architecture '%s'; known are sm_20 to sm_90 and newer", name);
	for (size_t i = 0; i < GS_ARRAY_LEN(archs) && archs[i].number <= number; i++) {
		out->number = archs[i].number;
		out->cpu = archs[i].cpu;
		out->feature = archs[i].feature;
	}
	return 0;
}
