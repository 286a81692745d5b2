/* One run of clang and the folder for its files; see tool.h. */
#include "runtime/base/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

bool tool_on_path(const char *name)
{
	const char *path = getenv("PATH");
	for (const char *at = path ? path : "", *end; *at; at = *end ? end + 1 : end) {
		char file[4096];
		end = strchrnul(at, ':');
		if (snprintf(file, sizeof file, "%.*s/%s", (int)(end - at), at, name) < (int)sizeof file &&
		    !access(file, X_OK))
			return true;
	}
	return false;
}

const char *clang_path(void)
{
	const char *chosen = getenv("GPUSIM_CLANG");
	if (chosen && *chosen)
		return chosen;
	return tool_on_path("clang-19") ? "clang-19" : "/usr/lib/llvm-19/bin/clang";
}

const char *ptxas_path(void)
{
	static char path[4096];
	const char *home = getenv("CUDA_HOME");
	if (tool_on_path("ptxas"))
		return "ptxas";
	if (home && *home && snprintf(path, sizeof path, "%s/bin/ptxas", home) < (int)sizeof path && !access(path, X_OK))
		return path;
	snprintf(path, sizeof path, "/usr/local/cuda/bin/ptxas");
	return access(path, X_OK) ? NULL : path;
}

int folder_create(char **path, struct gs_error *err)
{
	const char *parent = getenv("TMPDIR");
	if (asprintf(path, "%s/gpusim-cc.XXXXXX", parent && *parent ? parent : "/tmp") < 0) {
		*path = NULL;
		return gs_fail(err, ENOMEM, "out of memory");
	}
	if (mkdtemp(*path))
		return 0;
	int result = gs_fail(err, errno, "cannot make the folder %s: %s", *path, strerror(errno));
	free(*path);
	*path = NULL;
	return result;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	remove(path);
	return 0;
}

void folder_remove(const char *path)
{
	enum { OPEN_FOLDERS = 16 };
	if (path)
		nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* The first line of clang's messages that is an error, as "FILE:LINE:COLUMN: TEXT". */
static void first_error(const char *path, char *text, size_t size)
{
	struct gs_buf messages = {0};
	snprintf(text, size, "clang failed without a message");
	if (!gs_read_file(path, &messages, NULL)) {
		char *mark = strstr(messages.data, "error: ");
		if (mark) {
			char *start = mark;
			while (start > messages.data && start[-1] != '\n')
				start--;
			char *what = mark + strlen("error: ");
			what[strcspn(what, "\r\n")] = 0;
			if (mark - start >= 6 && !memcmp(mark - 6, "fatal ", 6))
				mark -= 6;
			snprintf(text, size, "%.*s%s", (int)(mark - start), start, what);
		}
	}
	gs_buf_free(&messages);
}

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, const struct clang_run *run)
{
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	int failed = posix_spawnattr_setsigmask(attributes, &none) || posix_spawnattr_setsigdefault(attributes, &all) ||
		     posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	failed |= posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0) ||
		  posix_spawn_file_actions_addopen(actions, 1, run->output ? run->output : "/dev/null",
						   O_WRONLY | O_CREAT | O_TRUNC, 0600) ||
		  posix_spawn_file_actions_addopen(actions, 2, run->messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	/* Last, because the paths above may be relative to the present directory. */
	if (run->cwd)
		failed |= posix_spawn_file_actions_addchdir_np(actions, run->cwd);
	return failed ? -ENOMEM : 0;
}

static int start(const char *program, const struct clang_run *run, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	struct words argv = {0};
	int result;
	words_add(&argv, program);
	for (size_t i = 0; run->args[i]; i++)
		words_add(&argv, run->args[i]);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	result = argv.failed ? -ENOMEM : prepare(&actions, &attributes, run);
	if (!result)
		result = -posix_spawnp(pid, argv.items[0], &actions, &attributes, argv.items, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	words_free(&argv);
	return result;
}

int clang_run(const struct clang_run *run, struct gs_error *err)
{
	char text[400];
	pid_t pid;
	int status, result = start(clang_path(), run, &pid);
	if (result)
		return gs_fail(err, -result, "cannot run %s: %s", clang_path(), strerror(-result));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return gs_fail(err, errno, "cannot wait for clang: %s", strerror(errno));
	if (WIFSIGNALED(status))
		return gs_fail(err, EIO, "clang was killed by signal %d (%s)", WTERMSIG(status),
		               strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) == 0)
		return 0;
	if (WEXITSTATUS(status) == 127)
		return gs_fail(err, ENOENT, "cannot run %s", clang_path());
	first_error(run->messages, text, sizeof text);
	return gs_fail(err, EINVAL, "%s", text);
}

/* Waits for the process, for so long at most. */
static int wait_for(pid_t pid, unsigned seconds, int *status)
{
	struct timespec step = {.tv_nsec = 1000000};
	uint64_t waited = 0, most = (uint64_t)seconds * 1000000000u;
	pid_t ended;
	while (!(ended = waitpid(pid, status, WNOHANG)) || (ended < 0 && errno == EINTR)) {
		if (waited > most) {
			kill(pid, SIGKILL);
			while (waitpid(pid, status, 0) < 0 && errno == EINTR)
				;
			return -ETIME;
		}
		nanosleep(&step, NULL);
		waited += (uint64_t)step.tv_nsec;
		step.tv_nsec = step.tv_nsec < 16000000 ? step.tv_nsec * 2 : step.tv_nsec;
	}
	return ended < 0 ? -errno : 0;
}

int tool_run(const char *program, const struct clang_run *run, unsigned seconds, struct gs_error *err)
{
	struct gs_buf said = {0};
	pid_t pid;
	int status, result = start(program, run, &pid);
	if (result)
		return gs_fail(err, -result, "cannot run %s: %s", program, strerror(-result));
	result = wait_for(pid, seconds, &status);
	if (result)
		return gs_fail(err, -result, result == -ETIME ? "%s took longer than %u s" : "cannot wait for %s", program, seconds);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (gs_read_file(run->messages, &said, NULL) || !said.len)
		gs_fail(err, EINVAL, "%s failed without a message", program);
	else
		gs_fail(err, EINVAL, "%.*s", (int)strcspn(said.data, "\r\n"), said.data);
	gs_buf_free(&said);
	return -EINVAL;
}
