/* Messages; see log.h. The setting is written once at start, before any other thread of ours runs. */
#include "runtime/config/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum log_level wanted_level = LOG_WARNING;
static char wanted_domains[128]; /* ",twin,cache," or "" for all */
static bool have_stderr, is_shared = true;

static const char *const level_names[] = {"error", "warning", "info", "debug"};

/* Runs when the library is loaded, before other constructors, which may log. Later, the application may have opened a file that got the
 * number 2. */
__attribute__((constructor(101))) static void check_stderr(void)
{
	int saved = errno;
	have_stderr = fcntl(STDERR_FILENO, F_GETFD) >= 0;
	errno = saved;
}

int log_setup(const char *setting, struct gs_error *err)
{
	size_t n = strcspn(setting, ":");
	for (size_t i = 0; i < GS_ARRAY_LEN(level_names); i++) {
		if (strlen(level_names[i]) != n || strncmp(setting, level_names[i], n))
			continue;
		wanted_level = (enum log_level)i;
		wanted_domains[0] = 0;
		if (setting[n] && setting[n + 1])
			snprintf(wanted_domains, sizeof wanted_domains, ",%s,", setting + n + 1);
		return 0;
	}
	return gs_fail(err, EINVAL, "GPUSIM_LOG: '%.200s' is not allowed; allowed: error, warning, info or debug, "
	               "with :DOMAIN,... if wanted", setting);
}

bool log_wanted(enum log_level level, const char *domain)
{
	char key[40];
	if (!have_stderr || level > wanted_level)
		return false;
	if (!wanted_domains[0])
		return true;
	snprintf(key, sizeof key, ",%s,", domain);
	return strstr(wanted_domains, key) != NULL;
}

/* The reader of stderr may have gone. Its SIGPIPE must not end the application: it is blocked and then removed. */
static ssize_t write_without_sigpipe(const char *text, size_t length)
{
	sigset_t pipe_only, before, pending;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
	ssize_t n = write(STDERR_FILENO, text, length);
	int failure = errno;
	if (n < 0 && failure == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe_only, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = failure;
	return n;
}

void log_raw(const char *text, size_t length)
{
	while (have_stderr && length) {
		ssize_t n = write_without_sigpipe(text, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		length -= (size_t)n;
	}
}

/* Whether the last line on stderr has ended. If stderr is a file, its last byte shows that. */
static enum { LINE_ENDED, LINE_OPEN, LINE_UNKNOWN } stderr_line(void)
{
	struct stat s;
	char last = '\n';
	if (!is_shared || !have_stderr || fstat(STDERR_FILENO, &s) < 0)
		return LINE_ENDED;
	if (!S_ISREG(s.st_mode))
		return LINE_UNKNOWN;
	int fd = s.st_size ? open("/proc/self/fd/2", O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return LINE_ENDED;
	ssize_t n = pread(fd, &last, 1, s.st_size - 1);
	close(fd);
	return n == 1 && last != '\n' ? LINE_OPEN : LINE_ENDED;
}

void log_stderr_is_ours(void)
{
	is_shared = false;
}

void log_report(const char *text, size_t length)
{
	if (stderr_line() != LINE_ENDED)
		log_raw("\n", 1);
	log_raw(text, length);
}

void log_write(enum log_level level, const char *domain, const char *fmt, ...)
{
	char line[1024];
	int saved = errno, n = snprintf(line, sizeof line, "gpusim: ");
	if (level != LOG_WARNING)
		n += snprintf(line + n, sizeof line - (size_t)n, "%s: ", level == LOG_ERROR ? "error" : domain);
	va_list ap;
	va_start(ap, fmt);
	int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
	va_end(ap);
	size_t length = (size_t)n + (m < 0 ? 0 : (size_t)m);
	if (length > sizeof line - 2)
		length = sizeof line - 2;
	/* One message is one line, even if the text has line ends. */
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t')
			line[i] = ' ';
	line[length] = '\n';
	if (stderr_line() == LINE_OPEN)
		log_raw("\n", 1);
	log_raw(line, length + 1);
	errno = saved;
}

bool log_on_terminal(void)
{
	int saved = errno;
	bool terminal = have_stderr && isatty(STDERR_FILENO);
	errno = saved;
	return terminal;
}
