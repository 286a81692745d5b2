/* Bytes of traces in files; see trace_shapes.h. */
#include "runtime/model/trace_shapes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_uint_fast64_t filed_bytes;

/* Not all file systems have files that never had a name. */
static int nameless_file(const char *folder)
{
	char path[4200];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "%s/gpusim.XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		length -= (size_t)n;
	}
	return true;
}

bool kept_trace_to_file(struct kept_trace *t, const char *folder, uint64_t most_bytes)
{
	if (t->in_file || !t->length)
		return t->in_file;
	if (atomic_fetch_add(&filed_bytes, t->length) + t->length > most_bytes) {
		atomic_fetch_sub(&filed_bytes, t->length);
		return false;
	}
	int fd = nameless_file(folder);
	void *bytes = fd >= 0 && write_all(fd, t->bytes, t->length) ? mmap(NULL, t->length, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED) {
		atomic_fetch_sub(&filed_bytes, t->length);
		return false;
	}
	free(t->bytes);
	t->bytes = bytes;
	return t->in_file = true;
}

uint64_t kept_trace_memory(const struct kept_trace *t)
{
	return t->in_file ? 0 : t->length;
}

void kept_trace_free_bytes(struct kept_trace *t)
{
	if (!t->in_file) {
		free(t->bytes);
		return;
	}
	munmap(t->bytes, t->length);
	atomic_fetch_sub(&filed_bytes, t->length);
}
