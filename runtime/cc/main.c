/*
 * gpusim-cc: makes results from requests; see protocol.h.
 *
 * A child process does the work, so that a crash of the parser still gives a result. All temporary files are in one folder,
 * which is $TMPDIR for that child and for every compiler that it starts. A second child, the cleaner, outlives this process if
 * this process is killed. It then ends the others and removes the folder.
 */
#include "runtime/cc/compile.h"
#include "runtime/format/protocol.h"
#include "runtime/base/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
	"usage: gpusim-cc REQUEST RESULT\n"
	"Rewrites and compiles the OpenCL program in the file REQUEST for gpusim and writes the file RESULT.\n"
	"The library starts it; there is no need to do so by hand.\n"
	"\n"
	"  --help     this text\n"
	"  --version  the version, which is part of the key of cached results\n"
	"\n"
	"GPUSIM_CLANG   the clang 19 to use instead of clang-19\n"
	"GPUSIM_LIBCLC  the library of builtins to use instead of libclc's nvptx64--nvidiacl.bc\n";

static int write_result(const char *path, const struct gs_pack *result)
{
	struct gs_buf bytes = {0};
	struct gs_error err;
	int failed = gs_pack_encode(result, &bytes, &err) || gs_write_file(path, bytes.data, bytes.len, &err);
	if (failed)
		fprintf(stderr, "gpusim-cc: %s\n", err.text);
	gs_buf_free(&bytes);
	return failed ? 1 : 0;
}

static int write_failure(const char *path, const char *text)
{
	struct gs_pack result = {0};
	gs_pack_puts(&result, "version", GPUSIM_CC_VERSION);
	gs_pack_puts(&result, "failure", text);
	int status = write_result(path, &result);
	gs_pack_free(&result);
	return status;
}

static int work(const char *request_path, const char *result_path)
{
	struct gs_buf bytes = {0};
	struct gs_pack request = {0}, result = {0};
	struct gs_error err;
	int status;
	if (gs_read_file(request_path, &bytes, &err) || gs_pack_decode(&request, bytes.data, bytes.len, &err)) {
		char text[600];
		snprintf(text, sizeof text, "internal: %s", err.text);
		status = write_failure(result_path, text);
	} else {
		compile_request(&request, &result);
		status = write_result(result_path, &result);
	}
	gs_pack_free(&request);
	gs_pack_free(&result);
	gs_buf_free(&bytes);
	return status;
}

/* Parsers recurse deeply, and the usual soft limit is too small for that. If the hard limit is lower, it is used. */
static void raise_stack_limit(void)
{
	enum { STACK_BYTES = 64 << 20 }; /* Linux keeps 128 MB free below a stack */
	struct rlimit limit;
	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_BYTES)
		return;
	limit.rlim_cur = limit.rlim_max < STACK_BYTES ? limit.rlim_max : STACK_BYTES;
	setrlimit(RLIMIT_STACK, &limit);
}

static void run_worker(char *const *files, const char *folder)
{
	setpgid(0, 0); /* a group of its own, so that the compilers that it starts can be ended with it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("TMPDIR", folder, 1);
	raise_stack_limit();
	setenv("LIBCLANG_NOTHREADS", "1", 1); /* otherwise it parses on threads, whose stacks have a size of its own choice */
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, 2); /* libclang reports its crashes there */
	exit(work(files[0], files[1]));
}

/* The guest reads our stderr. If the guest has ended, it cannot remove the files and their folder, so we do. */
static void remove_if_alone(char *const *files, int wait_ms)
{
	struct pollfd p = {.fd = 2};
	if (poll(&p, 1, wait_ms) <= 0 || !(p.revents & POLLERR))
		return;
	unlink(files[0]);
	unlink(files[1]);
	char *slash = strrchr(files[0], '/');
	if (!slash)
		return;
	*slash = 0;
	rmdir(files[0]); /* fails if the folder has other files; that is right */
}

/* Waits for a byte (all went well) or for the end of the pipe (gpusim-cc was killed, perhaps with the guest). */
static void run_cleaner(int fd, pid_t worker, const char *folder, char *const *files)
{
	enum { MOMENT_MS = 2000 };
	char byte;
	ssize_t n;
	setsid(); /* a signal to our process group must not end the cleaner */
	prctl(PR_SET_PDEATHSIG, SIGCONT); /* if all of us were stopped, the process that would continue us may have ended */
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (int i = 0; i < 2; i++)
		close(i);
	while ((n = read(fd, &byte, 1)) < 0 && errno == EINTR)
		;
	if (n == 0) {
		kill(-worker, SIGKILL);
		folder_remove(folder);
		remove_if_alone(files, MOMENT_MS); /* threads of a killed guest end one by one */
	}
	_exit(0);
}

/* Returns the end of the cleaner's pipe that must stay open while we live, or -1. */
static int start_cleaner(pid_t worker, const char *folder, char *const *files)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid_t cleaner = fork();
	if (cleaner == 0) {
		close(ends[1]);
		run_cleaner(ends[0], worker, folder, files);
	}
	close(ends[0]);
	return ends[1];
}

static int supervise(char *const *files)
{
	struct gs_error err;
	char *folder, text[200];
	int status;
	if (folder_create(&folder, &err)) {
		snprintf(text, sizeof text, "internal: %.180s", err.text);
		return write_failure(files[1], text);
	}
	pid_t worker = fork();
	if (worker == 0)
		run_worker(files, folder);
	int cleaner = worker > 0 ? start_cleaner(worker, folder, files) : -1;
	while (worker > 0 && waitpid(worker, &status, 0) < 0 && errno == EINTR)
		;
	folder_remove(folder);
	free(folder);
	if (cleaner >= 0 && write(cleaner, "", 1) != 1)
		close(cleaner);
	if (worker < 0)
		return write_failure(files[1], "internal: gpusim-cc cannot start a process");
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	snprintf(text, sizeof text, "internal: gpusim-cc crashed (%s)", strsignal(WTERMSIG(status)));
	return write_failure(files[1], text);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--version"))
		return puts(GPUSIM_CC_VERSION) < 0;
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout) < 0;
	if (argc != 3) {
		fputs(help, stderr);
		return 2;
	}
	int status = supervise(argv + 1);
	remove_if_alone(argv + 1, 0);
	return status;
}
