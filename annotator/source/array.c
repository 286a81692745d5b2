#include "annotator/source/array.h"

#include <stdlib.h>
#include <string.h>

void *array_grow(void *array_pointer, size_t *count, size_t size)
{
	char **array = array_pointer;
	if (!(*count & (*count - 1))) {
		void *grown = reallocarray(*array, *count ? *count * 2 : 1, size);
		if (!grown)
			return NULL;
		*array = grown;
	}
	return memset(*array + (*count)++ * size, 0, size);
}
