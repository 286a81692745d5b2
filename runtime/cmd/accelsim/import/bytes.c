/* See bytes.h. */
#include "runtime/cmd/accelsim/import/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);
	return length >= tail && !strcmp(text + length - tail, end);
}

/* The file is xz's standard input: its name may be anything. */
static int start_xz(struct byte_source *b, int file, struct gs_error *err)
{
	extern char **environ;
	char *argv[] = {"xz", "-dcqq", NULL};
	int ends[2];
	posix_spawn_file_actions_t actions;
	if (pipe2(ends, O_CLOEXEC))
		return gs_fail(err, errno, "%s: %s", b->path, strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, file, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	int failed = posix_spawnp(&b->child, "xz", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (failed) {
		close(ends[0]);
		b->child = 0;
		return gs_fail(err, failed, "%s: the program xz, which unpacks it, cannot be started: %s", b->path, strerror(failed));
	}
	b->fd = ends[0];
	return 0;
}

int bytes_open(struct byte_source *b, const char *path, struct gs_error *err)
{
	*b = (struct byte_source){.fd = -1, .path = path, .buffer = malloc(BYTES_ROOM + 1)};
	if (!b->buffer)
		return gs_fail(err, ENOMEM, "out of memory");
	int file = gs_open_regular(AT_FDCWD, path, 0, err), result = file < 0 ? file : 0;
	if (!result && ends_with(path, ".xz")) {
		result = start_xz(b, file, err);
		close(file);
	} else if (!result) {
		b->fd = file;
	}
	if (result)
		bytes_close(b);
	return result;
}

/* What unpacks has to say that all was well: a packed file that is cut off ends, too. */
static int check_child(struct byte_source *b, struct gs_error *err)
{
	int status = 0;
	if (!b->child)
		return 0;
	while (waitpid(b->child, &status, 0) < 0 && errno == EINTR)
		;
	b->child = 0;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : gs_fail(err, EBADMSG, "%s cannot be unpacked: it is damaged or cut off", b->path);
}

static int fill(struct byte_source *b, struct gs_error *err)
{
	memmove(b->buffer, b->buffer + b->at, b->end - b->at);
	b->end -= b->at;
	b->at = 0;
	ssize_t n;
	do
		n = read(b->fd, b->buffer + b->end, BYTES_ROOM - b->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return gs_fail(err, errno, "%s cannot be read: %s", b->path, strerror(errno));
	b->end += (size_t)n;
	b->taken += (uint64_t)n;
	b->ended = !n;
	return n ? 0 : check_child(b, err);
}

int bytes_line(struct byte_source *b, size_t most, const char **line, size_t *length, struct gs_error *err)
{
	for (;;) {
		char *end = memchr(b->buffer + b->at, '\n', b->end - b->at);
		size_t left = b->end - b->at;
		if (end || (b->ended && left)) {
			*line = b->buffer + b->at;
			*length = end ? (size_t)(end - *line) : left;
			b->at += *length + (end != NULL);
			return *length < most ? 1 : gs_fail(err, EBADMSG, "%s has a line that is too long", b->path);
		}
		if (b->ended)
			return 0;
		if (left >= most)
			return gs_fail(err, EBADMSG, "%s has a line that is too long", b->path);
		int result = fill(b, err);
		if (result)
			return result;
	}
}

void bytes_close(struct byte_source *b)
{
	if (b->fd >= 0)
		close(b->fd);
	if (b->child > 0) { /* it ends when nobody reads */
		kill(b->child, SIGTERM);
		waitpid(b->child, NULL, 0);
	}
	free(b->buffer);
	*b = (struct byte_source){.fd = -1};
}
