/*
 * Files of reports. A report is replaced as a whole: what stays of it and what is new go into a file beside it, which then takes its
 * name. So there is a whole report whenever and however the program ends. A report is written in place where no file can be made beside
 * it, and where files only grow.
 */
#include "runtime/report/file.h"

#include "runtime/config/log.h"
#include "runtime/process/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_DOMAIN "report"

enum { FIRST_MODE = 0644 }; /* less the umask */

static void output_path(struct gs_buf *path, const struct report_file *f)
{
	for (const char *p = f->prefix; *p; p++) {
		if (p[0] == '%' && p[1] == 'p') {
			gs_buf_printf(path, "%ld", (long)getpid());
			p++;
		} else if (p[0] == '%' && p[1] == 'r') {
			gs_buf_printf(path, "%d", process_rank(0));
			p++;
		} else {
			gs_buf_add(path, p, 1);
		}
	}
	gs_buf_puts(path, f->ending);
}

/* ---- the file that has the name ---- */

static bool has_name(int fd, const char *path)
{
	struct stat open_one, named;
	return !fstat(fd, &open_one) && !stat(path, &named) && open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* Opened and locked, or -1; a file that another running process writes is not ours to replace. Its owner may replace it between our
 * opening and locking it: then what we have locked is nobody's file. */
static int open_and_lock(const char *path, int flags)
{
	enum { TRIES = 100 };
	for (int i = 0; i < TRIES; i++) {
		int fd = open(path, O_RDWR | O_CLOEXEC | flags, FIRST_MODE);
		if (fd < 0)
			return -1;
		bool locked = !flock(fd, LOCK_EX | LOCK_NB);
		if (locked && has_name(fd, path))
			return fd;
		close(fd);
		if (!locked)
			break;
	}
	errno = EBUSY;
	return -1;
}

/* The descriptor that is ours from now on; the one before it, unless the application has closed it. */
static bool is_ours(const struct report_file *f)
{
	struct stat s;
	return f->fd >= 0 && !fstat(f->fd, &s) && s.st_dev == f->device && s.st_ino == f->inode;
}

static void adopt_descriptor(struct report_file *f, int fd)
{
	struct stat s;
	if (is_ours(f))
		close(f->fd);
	f->fd = fd;
	if (fd >= 0 && !fstat(fd, &s)) {
		f->device = s.st_dev;
		f->inode = s.st_ino;
		f->mode = s.st_mode & 07777;
		/* A new file in the place of these would be another one to somebody. */
		f->in_place |= !S_ISREG(s.st_mode) || s.st_nlink > 1 || s.st_uid != geteuid();
	}
}

/* Whether there is nothing of that name, a link that leads nowhere included. */
static bool is_absent(const char *path)
{
	struct stat s;
	return lstat(path, &s) < 0 && errno == ENOENT;
}

/* The file of f->path, which is left as it is: it has an old report until there is a new one. */
static void open_named(struct report_file *f)
{
	f->fresh = !f->in_place && is_absent(f->path);
	if (f->fresh)
		return;
	int fd = open_and_lock(f->path, O_CREAT);
	if (fd >= 0) {
		adopt_descriptor(f, fd);
		f->target = realpath(f->path, NULL);
		f->in_place |= !f->target;
	}
	if (fd >= 0 && f->in_place && ftruncate(fd, 0) < 0)
		log_debug("%s keeps its old end: %s", f->path, strerror(errno));
}

/* The first time: PREFIX + ending, or a name of our own if another process has that. */
static void open_first(struct report_file *f)
{
	struct gs_buf path = {0};
	f->opened = true;
	f->in_place = f->grows;
	output_path(&path, f);
	f->path = path.failed ? NULL : path.data;
	if (path.failed)
		return;
	open_named(f);
	if (f->fd >= 0 || f->fresh || errno != EBUSY)
		return;
	path.len -= strlen(f->ending);
	gs_buf_printf(&path, ".%ld%s", (long)getpid(), f->ending);
	f->path = path.failed ? NULL : path.data;
	if (path.failed)
		return;
	open_named(f);
	if (f->fd >= 0 || f->fresh)
		log_warning("another process writes that report; this one is in %s", path.data);
}

/* The application has closed our descriptor. */
static void open_again(struct report_file *f)
{
	int fd = open(f->path, O_RDWR | O_CLOEXEC);
	struct stat s;
	f->fd = -1; /* its number is somebody else's */
	if (fd >= 0 && !fstat(fd, &s) && s.st_dev == f->device && s.st_ino == f->inode) {
		adopt_descriptor(f, fd);
	} else if (fd >= 0) {
		close(fd);
		errno = ESTALE;
	}
}

/* ---- the file beside it ---- */

struct beside {
	int fd;
	char name[PATH_MAX];
	bool named; /* it has that name already */
};

/* Without a name while it is written, where the file system can: nothing is left behind if we are killed. */
static int make_beside(struct beside *b, const char *target)
{
	char folder[PATH_MAX];
	if (snprintf(b->name, sizeof b->name, "%s.%ld.new", target, (long)getpid()) >= (int)sizeof b->name) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(folder, sizeof folder, "%s", target);
	b->fd = open(dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, FIRST_MODE);
	b->named = b->fd < 0;
	unlink(b->name); /* of a killed process that had our number */
	if (b->named)
		b->fd = open(b->name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, FIRST_MODE);
	return b->fd < 0 || flock(b->fd, LOCK_EX | LOCK_NB) < 0 ? -1 : 0;
}

static int give_name(struct beside *b)
{
	char self[64];
	snprintf(self, sizeof self, "/proc/self/fd/%d", b->fd);
	if (!b->named && linkat(AT_FDCWD, self, AT_FDCWD, b->name, AT_SYMLINK_FOLLOW) < 0)
		return -1;
	b->named = true;
	return 0;
}

/* Where nothing had the name, another process may have taken it by now. */
static int take_place(const struct beside *b, const char *target, bool fresh)
{
	if (!fresh)
		return rename(b->name, target);
	int failed = renameat2(AT_FDCWD, b->name, AT_FDCWD, target, RENAME_NOREPLACE);
	return failed && errno == EINVAL ? rename(b->name, target) : failed;
}

static int write_all_at(int fd, const char *data, size_t length, off_t offset)
{
	while (length) {
		ssize_t n = pwrite(fd, data, length, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		data += n;
		offset += n;
		length -= (size_t)n;
	}
	return 0;
}

/* By the kernel where it can. */
static int copy_beginning(int from, int to, off_t length)
{
	char piece[16384];
	off_t in = 0, out = 0;
	ssize_t n = 1;
	while (out < length && (n = copy_file_range(from, &in, to, &out, (size_t)(length - out), 0)) > 0)
		;
	while (out < length) {
		size_t room = length - out < (off_t)sizeof piece ? (size_t)(length - out) : sizeof piece;
		n = pread(from, piece, room, out);
		if (n <= 0 || write_all_at(to, piece, (size_t)n, out))
			return -1;
		out += n;
	}
	return 0;
}

/* Keeps `offset` bytes and writes `length` after them. On failure the report is what it was. */
static int replace_file(struct report_file *f, const char *data, size_t length, off_t offset)
{
	const char *target = f->fresh ? f->path : f->target;
	struct beside b = {.fd = -1};
	if (!make_beside(&b, target) && !copy_beginning(f->fd, b.fd, offset) && !write_all_at(b.fd, data, length, offset) &&
	    (f->fresh || !fchmod(b.fd, f->mode)) && !give_name(&b) && !take_place(&b, target, f->fresh)) {
		if (f->fresh)
			f->target = realpath(f->path, NULL);
		f->fresh = false;
		adopt_descriptor(f, b.fd);
		return 0;
	}
	int failure = errno;
	if (b.named)
		unlink(b.name);
	if (b.fd >= 0)
		close(b.fd);
	errno = failure;
	return -1;
}

/* ---- writing ---- */

static int write_beside(struct report_file *f, const char *data, size_t length, off_t offset)
{
	int failure = replace_file(f, data, length, offset) ? errno : 0;
	if (failure == EEXIST && f->fresh) { /* another process was faster, and the name is its own */
		free(f->path);
		open_first(f);
		failure = (f->fd < 0 && !f->fresh) || replace_file(f, data, length, offset) ? errno : 0;
	}
	if (!failure)
		return 0;
	f->in_place = true;
	if (f->fresh)
		open_named(f);
	if (f->fd >= 0)
		log_warning("cannot make a temporary file beside %s (%s): if the program is killed, the report may be incomplete", f->path, strerror(failure));
	errno = failure;
	return -1;
}

int report_write(struct report_file *f, const char *data, size_t length, uint64_t offset)
{
	if (!f->opened)
		open_first(f);
	else if (f->path && !is_ours(f))
		open_again(f);
	if (!f->in_place && (f->fd >= 0 || f->fresh) && !write_beside(f, data, length, (off_t)offset))
		return 0;
	if (f->in_place && f->fd >= 0 && !write_all_at(f->fd, data, length, (off_t)offset) &&
	    !ftruncate(f->fd, (off_t)(offset + length)))
		return 0;
	if (!f->failed)
		log_warning("cannot write %s: %s", f->path ? f->path : "a report", strerror(errno));
	f->failed = true;
	return -1;
}
