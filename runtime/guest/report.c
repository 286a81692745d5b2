/* The reports: which are wanted, where their files are, when they are written. */
#include "state.h"

#include "runtime/log.h"
#include "timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_DOMAIN "report"

static bool wanted(uint64_t format)
{
	uint64_t formats = runtime.options.report.number;
	return (formats & format) && !(formats & REPORT_NONE);
}

bool report_wanted(void)
{
	return !(runtime.options.report.number & REPORT_NONE);
}

static void output_path(struct gs_buf *path, const struct report_file *f)
{
	for (const char *p = f->prefix ? f->prefix : runtime.options.output.text; *p; p++) {
		if (p[0] == '%' && p[1] == 'p') {
			gs_buf_printf(path, "%ld", (long)getpid());
			p++;
		} else {
			gs_buf_add(path, p, 1);
		}
	}
	gs_buf_puts(path, f->ending);
}

/* Opened and locked, or -1; a file that another running process writes is not ours to empty. */
static int open_and_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		errno = EBUSY;
		return -1;
	}
	if (fd >= 0 && ftruncate(fd, 0) < 0)
		log_debug("%s keeps its old end: %s", path, strerror(errno));
	return fd;
}

static void remember_identity(struct report_file *f)
{
	struct stat s;
	if (f->fd >= 0 && !fstat(f->fd, &s)) {
		f->device = s.st_dev;
		f->inode = s.st_ino;
	}
}

/* The first time: PREFIX + ending, or a name of our own if another process has that. */
static void open_first(struct report_file *f)
{
	struct gs_buf path = {0};
	output_path(&path, f);
	f->opened = true;
	f->fd = path.failed ? -1 : open_and_lock(path.data);
	if (f->fd < 0 && errno == EBUSY) {
		path.len -= strlen(f->ending);
		gs_buf_printf(&path, ".%ld%s", (long)getpid(), f->ending);
		f->fd = path.failed ? -1 : open_and_lock(path.data);
		if (f->fd >= 0)
			log_warning("another process writes that report; this one is in %s", path.data);
	}
	f->path = path.data;
	remember_identity(f);
}

static bool is_ours(const struct report_file *f)
{
	struct stat s;
	return f->fd >= 0 && !fstat(f->fd, &s) && s.st_dev == f->device && s.st_ino == f->inode;
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
	return ftruncate(fd, offset);
}

int report_write(struct report_file *f, const char *data, size_t length, uint64_t offset)
{
	if (!f->opened) {
		open_first(f);
	} else if (f->path && !is_ours(f)) {
		f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		remember_identity(f);
	}
	if (f->fd >= 0 && !write_all_at(f->fd, data, length, (off_t)offset))
		return 0;
	if (!f->failed)
		log_warning("cannot write %s: %s", f->path ? f->path : "a report", strerror(errno));
	f->failed = true;
	return -1;
}

void report_launch(const struct launch_result *r)
{
	if (wanted(REPORT_JSON | REPORT_HTML))
		report_json_launch(r);
	if (wanted(REPORT_CSV))
		report_csv_launch(r);
}

static void flush(bool whole)
{
	if (wanted(REPORT_JSON | REPORT_HTML))
		report_json_flush(whole);
	if (wanted(REPORT_CSV))
		report_csv_flush();
}

void report_flush(void)
{
	flush(false);
}

void report_finish(void)
{
	timeline_finish();
	flush(true);
	record_finish();
	if (wanted(REPORT_HTML)) {
		const char *ending, *path = report_json_path(&ending);
		report_html(path, ending, runtime.options.report.number & REPORT_JSON);
	}
	if (wanted(REPORT_TRACE))
		report_trace();
	if (wanted(REPORT_TEXT))
		report_text();
}
