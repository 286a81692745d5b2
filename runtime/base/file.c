/* Whole files and folders; see base.h. */
#include "runtime/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- reading ---- */

int gs_read_fd(int fd, const char *name, uint64_t most, struct gs_buf *out, struct gs_error *err)
{
	char chunk[65536];
	size_t start = out->len;
	ssize_t n;
	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		if (out->len - start + (size_t)n > most)
			return gs_fail(err, EFBIG, "cannot read %s: it has more than %llu bytes", name, (unsigned long long)most);
		gs_buf_add(out, chunk, (size_t)n);
		if (out->failed)
			break;
	}
	int failure = n < 0 ? errno : 0;
	if (failure)
		return gs_fail(err, failure, "cannot read %s: %s", name, strerror(failure));
	gs_buf_add(out, "", 0); /* so that an empty file gives an empty string, not NULL */
	return out->failed ? gs_fail(err, ENOMEM, "cannot read %s: out of memory", name) : 0;
}

int gs_read_file(const char *path, struct gs_buf *out, struct gs_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gs_fail(err, errno, "cannot open %s: %s", path, strerror(errno));
	int result = gs_read_fd(fd, path, GS_MOST_FILE_BYTES, out, err);
	close(fd);
	return result;
}

/* Without O_NONBLOCK, opening a FIFO would wait for a writer. */
int gs_open_regular(int folder, const char *path, int flags, struct gs_error *err)
{
	struct stat s;
	int fd = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
	if (fd < 0)
		return gs_fail(err, errno, "cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &s) < 0 || !S_ISREG(s.st_mode)) {
		close(fd);
		return gs_fail(err, EINVAL, "%s is not a regular file", path);
	}
	return fd;
}

int gs_read_regular_file(const char *path, struct gs_buf *out, struct gs_error *err)
{
	int fd = gs_open_regular(AT_FDCWD, path, 0, err);
	if (fd < 0)
		return fd;
	int result = gs_read_fd(fd, path, GS_MOST_FILE_BYTES, out, err);
	close(fd);
	return result;
}

/* ---- writing ---- */

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Creates a file with a new name: `path` and an ending. mkostemp would give it to its owner alone, whatever the umask says. */
static int open_temporary(int folder, const char *path, unsigned mode, struct gs_buf *name)
{
	enum { TRIES = 100 };
	static atomic_uint serial;
	int fd = -1;
	for (int i = 0; i < TRIES && fd < 0; i++) {
		uint64_t random = 0;
		struct timespec now;
		if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			random = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() << 12 ^ ++serial;
		}
		name->len = 0;
		gs_buf_printf(name, "%s.%012llx", path, (unsigned long long)random & 0xffffffffffff);
		if (name->failed)
			return -ENOMEM;
		fd = openat(folder, name->data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

bool gs_is_special(const char *path)
{
	struct stat about;
	return !stat(path, &about) && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

static int write_and_close(int fd, const void *data, size_t len)
{
	int result = write_all(fd, data, len);
	return close(fd) < 0 && !result ? -errno : result;
}

static int write_special(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : write_and_close(fd, data, len);
}

static int write_beside(int folder, const char *path, unsigned mode, const void *data, size_t len)
{
	struct gs_buf temporary = {0};
	int fd = open_temporary(folder, path, mode, &temporary), result = fd < 0 ? fd : write_and_close(fd, data, len);
	if (!result && renameat(folder, temporary.data, folder, path) < 0)
		result = -errno;
	if (result && fd >= 0)
		unlinkat(folder, temporary.data, 0);
	gs_buf_free(&temporary);
	return result;
}

int gs_write_file_at(int folder, const char *path, unsigned mode, const void *data, size_t len, struct gs_error *err)
{
	int result = write_beside(folder, path, mode, data, len);
	if (result)
		gs_fail(err, -result, "cannot write %s: %s", path, strerror(-result));
	return result;
}

int gs_write_file(const char *path, const void *data, size_t len, struct gs_error *err)
{
	if (!gs_is_special(path))
		return gs_write_file_at(AT_FDCWD, path, 0666, data, len, err);
	int result = write_special(path, data, len);
	return result ? gs_fail(err, -result, "cannot write %s: %s", path, strerror(-result)) : 0;
}

int gs_make_dirs(const char *path, unsigned mode, struct gs_error *err)
{
	struct gs_buf copy = {0};
	int result = 0;
	gs_buf_puts(&copy, path);
	if (copy.failed)
		return gs_fail(err, ENOMEM, "cannot make %s: out of memory", path);
	for (char *p = copy.data + 1; copy.len && !result; p++) {
		if (*p != '/' && *p)
			continue;
		char end = *p;
		*p = 0;
		if (mkdir(copy.data, mode) < 0 && errno != EEXIST)
			result = gs_fail(err, errno, "cannot make %s: %s", path, strerror(errno));
		*p = end;
		if (!end)
			break;
	}
	gs_buf_free(&copy);
	return result;
}
