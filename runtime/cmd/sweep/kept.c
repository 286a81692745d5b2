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

/* ---- results by the names of configurations ---- */

static size_t slot_of(const struct sweep *s, const char *name, size_t length)
{
	return (size_t)gs_hash(name, length) & (s->name_slots - 1);
}

/* At most half of the table is taken. Two configurations have one name where a value is given twice. */
static bool make_names(struct sweep *s)
{
	struct gs_buf name = {0};
	for (s->name_slots = 16; s->name_slots < 2 * s->configurations;)
		s->name_slots *= 2;
	s->by_name = calloc(s->name_slots, sizeof *s->by_name);
	for (size_t i = 0; i < s->configurations && s->by_name; i++) {
		name.len = 0;
		name_configuration(s, i, &name);
		size_t slot = name.data ? slot_of(s, name.data, name.len) : 0;
		while (s->by_name[slot])
			slot = (slot + 1) & (s->name_slots - 1);
		s->by_name[slot] = i + 1;
	}
	gs_buf_free(&name);
	return s->by_name;
}

static void take_named(struct sweep *s, const char *line, size_t length, const char *result)
{
	struct gs_buf name = {0};
	for (size_t slot = slot_of(s, line, length); s->by_name[slot]; slot = (slot + 1) & (s->name_slots - 1)) {
		size_t i = s->by_name[slot] - 1;
		name.len = 0;
		name_configuration(s, i, &name);
		if (!s->results[i].done && name.len == length && !memcmp(name.data, line, length))
			sweep_take_result(s, i, result);
	}
	gs_buf_free(&name);
}

/* Takes the results that are whole. Returns how many bytes they and what is before them have. A result that was cut is followed by another's first line. */
static size_t take_kept(struct sweep *s, const char *text)
{
	static const char first[] = "configuration ";
	const char *begin = NULL, *next;
	size_t whole = 0;
	if (!s->by_name && !make_names(s))
		return 0;
	for (const char *line = text; (next = strchr(line, '\n')); line = next + 1) {
		if (!strncmp(line, first, sizeof first - 1)) {
			begin = line;
		} else if (!strncmp(line, "end\n", 4)) {
			const char *after = begin ? strchr(begin, '\n') + 1 : NULL;
			char *result = after ? strndup(after, (size_t)(line - after)) : NULL;
			if (result)
				take_named(s, begin, (size_t)(after - begin), result);
			free(result);
			begin = NULL;
			whole = (size_t)(next + 1 - text);
		}
	}
	return whole;
}

void sweep_keep_open(struct sweep *s, const char *prefix, const char *options, bool clear)
{
	char path[4200];
	struct gs_buf first = {0}, text = {0};
	struct gs_error err;
	s->kept = -1;
	snprintf(path, sizeof path, "%s.part", prefix);
	first_line(s, options, &first);
	bool ours = !gs_read_file(path, &text, &err) && !first.failed && text.len >= first.len && !memcmp(text.data, first.data, first.len);
	if (ours)
		s->kept_read = (off_t)take_kept(s, text.data);
	if (s->done && !s->shared)
		fprintf(stderr, "gpusim: sweep: %zu of %zu configurations are in %s already\n", s->done, s->configurations, path);
	if (*prefix && (ours || clear))
		s->kept = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (ours ? 0 : O_TRUNC), 0644);
	if (s->kept >= 0 && !ours && !first.failed && write(s->kept, first.data, first.len) != (ssize_t)first.len) {
		close(s->kept);
		s->kept = -1;
	}
	if (s->kept >= 0 && ours && clear && text.data[text.len - 1] != '\n' && write(s->kept, "\n", 1) != 1) /* a line that was cut */
		s->kept_read = 0;
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

void sweep_keep_read(struct sweep *s)
{
	struct gs_buf text = {0};
	if (s->kept >= 0 && lseek(s->kept, s->kept_read, SEEK_SET) == s->kept_read && !gs_read_fd(s->kept, "results", GS_MOST_FILE_BYTES, &text, NULL) && text.len)
		s->kept_read += (off_t)take_kept(s, text.data);
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
	free(s->by_name);
	s->by_name = NULL;
}
