/* The reports: which are wanted, where their files are, when they are written. */
#include "state.h"

#include "runtime/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LOG_DOMAIN "report"

static bool wanted(uint64_t format)
{
	uint64_t formats = runtime.options.report.number;
	return (formats & format) && !(formats & REPORT_NONE);
}

static void output_path(struct gs_buf *path, const char *ending)
{
	for (const char *p = runtime.options.output.text; *p; p++) {
		if (p[0] == '%' && p[1] == 'p') {
			gs_buf_printf(path, "%ld", (long)getpid());
			p++;
		} else {
			gs_buf_add(path, p, 1);
		}
	}
	gs_buf_puts(path, ending);
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

int report_open(const char *ending)
{
	struct gs_buf path = {0};
	output_path(&path, ending);
	int fd = path.failed ? -1 : open_and_lock(path.data);
	if (fd < 0 && errno == EBUSY) {
		path.len -= strlen(ending);
		gs_buf_printf(&path, ".%ld%s", (long)getpid(), ending);
		fd = path.failed ? -1 : open_and_lock(path.data);
		if (fd >= 0)
			log_warning("another process writes that report; this one is in %s", path.data);
	}
	if (fd < 0)
		log_warning("GPUSIM_OUTPUT: cannot write %s: %s", path.data ? path.data : "a report", strerror(errno));
	gs_buf_free(&path);
	return fd;
}

void report_launch(const struct launch_result *r)
{
	if (wanted(REPORT_JSON))
		report_json_launch(r);
	if (wanted(REPORT_CSV))
		report_csv_launch(r);
}

void report_flush(void)
{
	if (wanted(REPORT_JSON))
		report_json_flush();
	if (wanted(REPORT_CSV))
		report_csv_flush();
}

void report_finish(void)
{
	report_flush();
	if (wanted(REPORT_TEXT))
		report_text();
}
