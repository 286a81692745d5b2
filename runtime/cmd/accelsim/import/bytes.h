/* bytes: the bytes of a trace in pieces: of a file, or of a program that unpacks it. */
#ifndef GPUSIM_RUNTIME_CMD_ACCELSIM_BYTES_H
#define GPUSIM_RUNTIME_CMD_ACCELSIM_BYTES_H

#include "runtime/base/base.h"

#include <sys/types.h>

enum { BYTES_ROOM = 1 << 18 };

struct byte_source {
	int fd;
	pid_t child;       /* that writes them; 0: none */
	const char *path;  /* for messages; the caller's */
	uint64_t taken;    /* bytes that were read */
	char *buffer;      /* BYTES_ROOM + 1 */
	size_t at, end;
	bool ended;
};

/* A name that ends in .xz is unpacked by the program xz. */
int bytes_open(struct byte_source *b, const char *path, struct gs_error *err);
/* The next line, without its end, valid until the next call; 1, 0 at the end, or a negative errno value. Lines are shorter than `most`. */
int bytes_line(struct byte_source *b, size_t most, const char **line, size_t *length, struct gs_error *err);
void bytes_close(struct byte_source *b);

#endif
