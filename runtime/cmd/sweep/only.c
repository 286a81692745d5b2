/* --only: which launches of a profile are modelled. */
#include "runtime/cmd/sweep/only.h"

#include "runtime/cmd/cmd.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* N or FIRST-LAST; what begins with a digit is no kernel. False: neither. */
static bool read_range(const char *item, uint64_t *first, uint64_t *last)
{
	char *end;
	errno = 0;
	*first = *last = strtoull(item, &end, 10);
	if (*end == '-' && is_digit(end[1]))
		*last = strtoull(end + 1, &end, 10);
	return !*end && !errno && *first <= *last;
}

static bool item_takes(const char *item, uint64_t launch, const char *kernel)
{
	uint64_t first, last;
	if (!is_digit(*item))
		return !fnmatch(item, kernel, 0);
	return read_range(item, &first, &last) && launch >= first && launch <= last;
}

/* Calls take for each item, in turn. */
static bool any_item(const char *only, bool (*take)(const char *item, uint64_t launch, const char *kernel), uint64_t launch, const char *kernel)
{
	char item[256];
	for (size_t length; *only; only += length + (only[length] == ',')) {
		length = strcspn(only, ",");
		snprintf(item, sizeof item, "%.*s", (int)length, only);
		if (take(item, launch, kernel))
			return true;
	}
	return false;
}

static bool is_bad(const char *item, uint64_t launch, const char *kernel)
{
	uint64_t first, last;
	(void)launch, (void)kernel;
	return !*item || strlen(item) >= 255 || (is_digit(*item) && !read_range(item, &first, &last));
}

int only_argument(const char *command, int argc, char **argv, const char **only)
{
	static const char flag[] = "--only";
	size_t name = strlen(flag);
	bool apart = !strcmp(argv[0], flag) && argc > 1;
	if (!apart && (strncmp(argv[0], flag, name) || argv[0][name] != '='))
		return 0;
	*only = apart ? argv[1] : argv[0] + name + 1;
	size_t length = strlen(*only);
	if (length && (*only)[length - 1] != ',' && !any_item(*only, is_bad, 0, NULL))
		return apart ? 2 : 1;
	return cmd_fail("%s: --only %.100s: expected launches, as in 3,7-9, or names of kernels", command, *only), -1;
}

bool only_takes(const char *only, uint64_t launch, const char *kernel)
{
	return !only || any_item(only, item_takes, launch, kernel);
}
