/* PREFIX.csv while a sweep runs. At the end, the whole file is written again (sweep.c): then it says what is best, and has what an interrupted sweep knows further on. */
#include "runtime/cmd/sweep/sweep.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* A file of an earlier sweep stays until there is something to write. */
static void open_csv(struct sweep *s, struct gs_buf *text)
{
	char path[4200];
	snprintf(path, sizeof path, "%s.csv", s->prefix);
	s->growing = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	sweep_csv_head(s, text);
}

void sweep_grow(struct sweep *s)
{
	struct gs_buf text = {0};
	if (!s->prefix || !*s->prefix || s->grown == s->configurations || !s->results[s->grown].done)
		return;
	if (!s->grown)
		open_csv(s, &text);
	for (; s->grown < s->configurations && s->results[s->grown].done; s->grown++)
		if (s->growing >= 0)
			sweep_csv_rows(s, s->grown, &text);
	if (s->growing >= 0 && (text.failed || write(s->growing, text.data, text.len) != (ssize_t)text.len))
		sweep_grow_ends(s); /* the end complains where it cannot write either */
	gs_buf_free(&text);
}

void sweep_grow_ends(struct sweep *s)
{
	if (s->growing >= 0)
		close(s->growing);
	s->growing = -1;
}
