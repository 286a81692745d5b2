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
#include <unistd.h>

extern char **environ;

static bool on_path(const char *name)
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
	return on_path("clang-19") ? "clang-19" : "/usr/lib/llvm-19/bin/clang";
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

static int start(const struct clang_run *run, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	struct words argv = {0};
	int result;
	words_add(&argv, clang_path());
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
	int status, result = start(run, &pid);
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
