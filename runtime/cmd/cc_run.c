/* Running gpusim-cc on a request; see cc_run.h. */
#include "runtime/cmd/cc_run.h"

#include "runtime/config/cc_path.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int spawn_cc(const char *in, const char *out, struct gs_error *err)
{
	extern char **environ;
	char own[PATH_MAX], cc[PATH_MAX];
	const char *chosen = getenv("GPUSIM_CC");
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
	pid_t pid;
	int status = 0;
	own[length > 0 ? length : 0] = 0;
	int result = cc_path(chosen ? chosen : "", own, cc, err);
	if (result)
		return result;
	/* The shell may load this library into every program. It must not be loaded into clang. */
	unsetenv("LD_PRELOAD");
	unsetenv("OPENCL_LAYERS");
	int failure = posix_spawn(&pid, cc, NULL, NULL, (char *const[]){cc, (char *)in, (char *)out, NULL}, environ);
	if (failure)
		return gs_fail(err, failure, "cannot run %s: %s", cc, strerror(failure));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? gs_fail(err, EIO, "gpusim-cc ended without a result") : 0;
}

static int read_result(const char *path, struct gs_pack *result, struct gs_error *err)
{
	struct gs_buf bytes = {0};
	int failed = gs_read_file(path, &bytes, err);
	if (!failed)
		failed = gs_pack_decode(result, bytes.data, bytes.len, err);
	gs_buf_free(&bytes);
	return failed;
}

int cc_run(const struct gs_buf *request, struct gs_pack *result, struct gs_error *err)
{
	const char *temporary = getenv("TMPDIR");
	char folder[PATH_MAX - 16], in[PATH_MAX], out[PATH_MAX];
	snprintf(folder, sizeof folder, "%s/gpusim.XXXXXX", temporary && *temporary ? temporary : "/tmp");
	if (!mkdtemp(folder))
		return gs_fail(err, errno, "cannot make %s: %s", folder, strerror(errno));
	snprintf(in, sizeof in, "%s/request", folder);
	snprintf(out, sizeof out, "%s/result", folder);
	int failed = gs_write_file(in, request->data, request->len, err);
	if (!failed)
		failed = spawn_cc(in, out, err);
	if (!failed)
		failed = read_result(out, result, err);
	unlink(in);
	unlink(out);
	rmdir(folder);
	return failed;
}
