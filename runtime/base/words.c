/* Lists of words for command lines; see tool.h. */
#include "runtime/base/tool.h"

#include <stdlib.h>
#include <string.h>

void words_add(struct words *w, const char *word)
{
	char **grown = reallocarray(w->items, w->count + 2, sizeof *grown);
	char *copy = strdup(word);
	if (grown)
		w->items = grown;
	if (!grown || !copy) {
		free(copy);
		w->failed = true;
		return;
	}
	w->items[w->count++] = copy;
	w->items[w->count] = NULL;
}

void words_printf(struct words *w, const char *fmt, ...)
{
	struct gs_buf text = {0};
	va_list ap;
	va_start(ap, fmt);
	gs_buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (text.failed)
		w->failed = true;
	else
		words_add(w, text.data);
	gs_buf_free(&text);
}

void words_free(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
	*w = (struct words){0};
}
