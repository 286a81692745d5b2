/*
 * gpusim-cc: see protocol.h.
 *
 * The work is done by a child. This process only watches it, so that a crash of the parser still gives a
 * result, and so that temporary files are removed whatever happens: everything below lives in one folder that
 * is $TMPDIR to the child and to every compiler it starts. Ask it to end with SIGTERM, not with SIGKILL.
 */
#include "runtime/cc/compile.h"
#include "runtime/cc/protocol.h"
#include "runtime/cc/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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
	gs_pack_puts(&result, "version", GPUSIM_VERSION);
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

static void run_worker(char *const *files, const char *folder, const sigset_t *signals)
{
	setpgid(0, 0); /* the compilers it starts end with it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	setenv("TMPDIR", folder, 1);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0 && !getenv("GPUSIM_CC_DEBUG"))
		dup2(null, 2); /* libclang tells of its crashes there */
	exit(work(files[0], files[1]));
}

/* Waits until the worker has ended or somebody wants us to end; returns the worker's status, or -1. */
static int watch(pid_t worker, const sigset_t *signals)
{
	for (;;) {
		int status, got = sigwaitinfo(signals, NULL);
		if (got == SIGCHLD && waitpid(worker, &status, WNOHANG) == worker)
			return status;
		if (got > 0 && got != SIGCHLD) {
			kill(-worker, SIGKILL);
			kill(worker, SIGKILL);
			waitpid(worker, &status, 0);
			return -1;
		}
	}
}

static int supervise(char *const *files)
{
	struct gs_error err;
	sigset_t signals;
	char *folder, text[200];
	int status = -1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (folder_create(&folder, &err)) {
		snprintf(text, sizeof text, "internal: %.180s", err.text);
		return write_failure(files[1], text);
	}
	pid_t worker = fork();
	if (worker == 0)
		run_worker(files, folder, &signals);
	if (worker > 0)
		status = watch(worker, &signals);
	folder_remove(folder);
	free(folder);
	if (worker < 0)
		return write_failure(files[1], "internal: gpusim-cc cannot start a process");
	if (status == -1)
		return 1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	snprintf(text, sizeof text, "internal: gpusim-cc crashed (%s)", strsignal(WTERMSIG(status)));
	return write_failure(files[1], text);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--version"))
		return puts(GPUSIM_VERSION) < 0;
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout) < 0;
	if (argc != 3) {
		fputs(help, stderr);
		return 2;
	}
	return supervise(argv + 1);
}
