/* Whole files and folders of base.h. */
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int gs_read_file(const char *path, struct gs_buf *out, struct gs_error *err)
{
	char chunk[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gs_fail(err, errno, "cannot open %s: %s", path, strerror(errno));
	ssize_t n;
	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		gs_buf_add(out, chunk, (size_t)n);
	}
	int failure = n < 0 ? errno : out->failed ? ENOMEM : 0;
	close(fd);
	if (failure)
		return gs_fail(err, failure, "cannot read %s: %s", path, strerror(failure));
	gs_buf_add(out, "", 0); /* an empty file still gives a string */
	return out->failed ? gs_fail(err, ENOMEM, "cannot read %s: out of memory", path) : 0;
}

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

int gs_write_file(const char *path, const void *data, size_t len, struct gs_error *err)
{
	struct gs_buf temporary = {0};
	int result, fd = -1;
	gs_buf_printf(&temporary, "%s.XXXXXX", path);
	if (temporary.failed) {
		result = gs_fail(err, ENOMEM, "cannot write %s: out of memory", path);
		goto out;
	}
	fd = mkostemp(temporary.data, O_CLOEXEC);
	if (fd < 0) {
		result = gs_fail(err, errno, "cannot write %s: %s", path, strerror(errno));
		goto out;
	}
	result = write_all(fd, data, len);
	fchmod(fd, 0644);
	close(fd);
	if (!result && rename(temporary.data, path) < 0)
		result = -errno;
	if (result) {
		unlink(temporary.data);
		gs_fail(err, -result, "cannot write %s: %s", path, strerror(-result));
	}
out:
	gs_buf_free(&temporary);
	return result;
}

int gs_make_dirs(const char *path, struct gs_error *err)
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
		if (mkdir(copy.data, 0755) < 0 && errno != EEXIST)
			result = gs_fail(err, errno, "cannot make %s: %s", path, strerror(errno));
		*p = end;
		if (!end)
			break;
	}
	gs_buf_free(&copy);
	return result;
}
