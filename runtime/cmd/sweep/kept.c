/*
 * Results of a sweep are kept as they come, in PREFIX.part. The first line says of which profile, with which options; then there are,
 * for each result, "configuration GPU OVERRIDES", the lines that run.c's child wrote, and "end". A sweep that was interrupted, by
 * whatever, reads them and goes on; one that is complete removes the file.
 */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/sweep.h"
#include "runtime/format/protocol.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void name_configuration(const struct sweep *s, size_t i, struct gs_buf *out)
{
	struct gs_buf set = {0};
	sweep_overrides(s, i, &set);
	gs_buf_printf(out, "configuration %s %s\n", sweep_gpu(s, i), set.data ? set.data : "");
	gs_buf_free(&set);
}

bool sweep_take_result(struct sweep *s, size_t configuration, const char *text)
{
	struct sweep_result *r = &s->results[configuration];
	const char *lines = text ? strchr(text, '\n') : NULL;
	if (!lines || sscanf(text, "%lf %31s %63[^\n]", &r->time_ns, r->limiter, r->kernel) != 3)
		return false;
	r->by_kernel = strdup(lines + 1);
	r->done = true;
	s->done++;
	return true;
}

/* A profile is the same if its size and time are; so are estimates if version and options are. */
static void first_line(const struct sweep *s, const char *options, struct gs_buf *out)
{
	struct stat file = {0};
	stat(s->profile, &file);
	gs_buf_printf(out, "gpusim-sweep 2 %s %lld %lld.%09ld %s\n", GPUSIM_VERSION, (long long)file.st_size, (long long)file.st_mtim.tv_sec,
	              file.st_mtim.tv_nsec, options);
}

static void take_kept(struct sweep *s, const char *text)
{
	for (size_t i = 0; i < s->configurations; i++) {
		struct gs_buf name = {0};
		name_configuration(s, i, &name);
		const char *at = name.data ? strstr(text, name.data) : NULL, *end = at ? strstr(at, "\nend\n") : NULL;
		char *result = end ? strndup(at + name.len, (size_t)(end + 1 - at) - name.len) : NULL;
		if (result && at > text && at[-1] == '\n' && !strstr(result, "\nconfiguration ") && !s->results[i].done)
			sweep_take_result(s, i, result);
		free(result);
		gs_buf_free(&name);
	}
}

void sweep_keep_open(struct sweep *s, const char *prefix, const char *options)
{
	char path[4200];
	struct gs_buf first = {0}, text = {0};
	struct gs_error err;
	s->kept = -1;
	snprintf(path, sizeof path, "%s.part", prefix);
	first_line(s, options, &first);
	bool ours = !gs_read_file(path, &text, &err) && !first.failed && text.len >= first.len && !memcmp(text.data, first.data, first.len);
	if (ours)
		take_kept(s, text.data);
	if (s->done && !s->shared)
		fprintf(stderr, "gpusim: sweep: %zu of %zu configurations are in %s already\n", s->done, s->configurations, path);
	if (*prefix)
		s->kept = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (ours ? 0 : O_TRUNC), 0644);
	if (s->kept >= 0 && !ours && !first.failed && write(s->kept, first.data, first.len) != (ssize_t)first.len) {
		close(s->kept);
		s->kept = -1;
	}
	gs_buf_free(&first);
	gs_buf_free(&text);
}

/* With one call, so that a file that was cut ends in at most one part of a result. */
void sweep_keep(struct sweep *s, size_t configuration, const char *result)
{
	struct gs_buf text = {0};
	if (s->kept < 0)
		return;
	name_configuration(s, configuration, &text);
	gs_buf_printf(&text, "%send\n", result);
	if (text.failed || write(s->kept, text.data, text.len) != (ssize_t)text.len) {
		close(s->kept);
		s->kept = -1;
	}
	gs_buf_free(&text);
}

void sweep_keep_read(struct sweep *s, const char *prefix)
{
	char path[4200];
	struct gs_buf text = {0};
	snprintf(path, sizeof path, "%s.part", prefix);
	if (!gs_read_file(path, &text, NULL))
		take_kept(s, text.data);
	gs_buf_free(&text);
}

void sweep_keep_close(struct sweep *s, const char *prefix)
{
	char path[4200];
	snprintf(path, sizeof path, "%s.part", prefix);
	if (s->kept >= 0)
		close(s->kept);
	if (s->kept >= 0 && s->done == s->configurations)
		unlink(path);
	s->kept = -1;
}
