/*
 * The target compile. clang makes bitcode of a program (analysis/target/bitcode.c). Then analysis/target/module.c makes PTX of
 * it for one target, in a child process. There are two reasons for the child: LLVM ends the process if it cannot compile some
 * code, and several targets can compile at the same time.
 */
#include "analysis/target/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <llvm-c/ErrorHandling.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct target_job {
	pid_t pid;
	int fd; /* the child writes here: one byte for the outcome, then the PTX or the error */
};

static int result_fd; /* the child's end; LLVM's fatal error handler has no argument that could pass it */

static void send_outcome(char outcome, const char *data, size_t length)
{
	if (write(result_fd, &outcome, 1) != 1)
		_exit(1);
	while (length) {
		ssize_t n = write(result_fd, data, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		data += n;
		length -= (size_t)n;
	}
}

static void on_fatal_error(const char *reason)
{
	char text[300];
	size_t length = (size_t)snprintf(text, sizeof text, "LLVM: %s", reason);
	send_outcome('e', text, strcspn(text, "\n") < length ? strcspn(text, "\n") : strlen(text));
	_exit(0);
}

static void run_child(const struct target_bitcode *bitcode, const struct target_arch *arch)
{
	struct gs_buf ptx = {0};
	struct gs_error err = {""};
	int null = open("/dev/null", O_WRONLY);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null >= 0)
		dup2(null, 2); /* LLVM writes a stack trace when it crashes; the user should not see it */
	LLVMInstallFatalErrorHandler(on_fatal_error);
	if (target_module_ptx(bitcode->files.items, bitcode->files.count, arch, &bitcode->settings, &ptx, &err))
		send_outcome('e', err.text, strlen(err.text));
	else
		send_outcome('p', ptx.data, ptx.len);
	_exit(0);
}

static int fork_child(struct target_job *job, const struct target_bitcode *bitcode, const struct target_arch *arch,
                      struct gs_error *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return gs_fail(err, errno, "cannot make a pipe: %s", strerror(errno));
	job->pid = fork();
	if (job->pid == 0) {
		close(ends[0]);
		result_fd = ends[1];
		run_child(bitcode, arch);
	}
	int result = job->pid > 0 ? 0 : gs_fail(err, errno, "cannot start a process: %s", strerror(errno));
	close(ends[1]);
	job->fd = ends[0];
	if (result)
		close(ends[0]);
	return result;
}

int target_compile_start(const struct target_bitcode *bitcode, const char *arch, struct target_job **out,
                         struct gs_error *err)
{
	struct target_arch known;
	int result = target_arch_find(arch, &known, err);
	if (result)
		return result;
	struct target_job *job = calloc(1, sizeof *job);
	if (!job)
		return gs_fail(err, ENOMEM, "out of memory");
	result = fork_child(job, bitcode, &known, err);
	if (result)
		free(job);
	else
		*out = job;
	return result;
}

static int read_all(int fd, struct gs_buf *out)
{
	char chunk[65536];
	ssize_t n;
	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n > 0)
			gs_buf_add(out, chunk, (size_t)n);
		else if (errno != EINTR)
			return -errno;
	}
	return out->failed ? -ENOMEM : 0;
}

int target_compile_finish(struct target_job *job, struct gs_buf *ptx, struct gs_error *err)
{
	struct gs_buf said = {0};
	int status = 0, result = read_all(job->fd, &said);
	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (result)
		result = gs_fail(err, -result, "cannot read the target compiler's answer: %s", strerror(-result));
	else if (WIFSIGNALED(status))
		result = gs_fail(err, EIO, "the target compiler crashed (%s)", strsignal(WTERMSIG(status)));
	else if (said.len < 1 || WEXITSTATUS(status))
		result = gs_fail(err, EIO, "the target compiler ended without an answer");
	else if (said.data[0] != 'p')
		result = gs_fail(err, EIO, "%s", said.data + 1);
	else
		gs_buf_add(ptx, said.data + 1, said.len - 1);
	gs_buf_free(&said);
	close(job->fd);
	free(job);
	return result ? result : ptx->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

int target_compile(const struct target_unit *units, size_t count, const char *arch, struct gs_buf *ptx,
                   struct gs_error *err)
{
	struct target_arch known;
	struct target_bitcode *bitcode;
	struct target_job *job;
	int result = target_arch_find(arch, &known, err); /* checked first, so that clang does not run for nothing */
	if (!result)
		result = target_bitcode_create(units, count, &bitcode, err);
	if (result)
		return result;
	result = target_compile_start(bitcode, arch, &job, err);
	if (!result)
		result = target_compile_finish(job, ptx, err);
	target_bitcode_free(bitcode);
	return result;
}
