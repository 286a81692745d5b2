#include "annotator/source/state.h"

#include "annotator/source/array.h"

#include <stdlib.h>
#include <string.h>

const char *keep_string(struct annotation *a, const char *s)
{
	/* The same file name comes many times in a row. */
	if (a->string_count && !strcmp(a->strings[a->string_count - 1], s))
		return a->strings[a->string_count - 1];
	char *copy = strdup(s);
	char **slot = copy ? array_grow(&a->strings, &a->string_count, sizeof *slot) : NULL;
	if (!slot) {
		free(copy);
		return NULL;
	}
	return *slot = copy;
}
