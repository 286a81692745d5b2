/*
 * The target compile: clang makes unoptimised bitcode of every unit with libclc's builtins linked in, then
 * target_module.c makes PTX of it. All of that happens in a child process, because LLVM ends the process
 * when it meets code that it cannot select, and because several targets then compile at the same time.
 */
#include "analysis/internal.h"
#include "runtime/cc/tool.h"

#include <ctype.h>
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
	int fd;       /* what the child says: one byte for the outcome, then the PTX or the error */
	char *folder; /* the child's files */
};

static int result_fd; /* of the child; LLVM's fatal error handler has no argument of its own */

static void say(char outcome, const char *data, size_t length)
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
	say('e', text, strcspn(text, "\n") < length ? strcspn(text, "\n") : strlen(text));
	_exit(0);
}

static const char *builtins_path(void)
{
	static const char *const places[] = {
		"/usr/lib/clc/nvptx64--nvidiacl.bc",
		"/usr/share/clc/nvptx64--nvidiacl.bc",
		"/usr/local/lib/clc/nvptx64--nvidiacl.bc",
	};
	const char *chosen = getenv("GPUSIM_LIBCLC");
	if (chosen && *chosen)
		return chosen;
	for (size_t i = 0; i < GS_ARRAY_LEN(places); i++)
		if (!access(places[i], R_OK))
			return places[i];
	return NULL;
}

/* clang marks functions as free of strict arithmetic only when contraction is free too. */
static bool relaxes_arithmetic(const char *word)
{
	return !strcmp(word, "-cl-fast-relaxed-math") || !strcmp(word, "-cl-unsafe-math-optimizations") ||
	       !strcmp(word, "-cl-mad-enable");
}

/* Options that change code, one word each; -cl-ext is only known to clang's own front end. */
static void add_options(struct words *args, const char *options)
{
	char *copy = strdup(options ? options : ""), *rest = copy, *word;
	if (!copy)
		args->failed = true;
	while (copy && (word = strsep(&rest, " \t\n\r"))) {
		if (!strncmp(word, "-cl-ext=", 8)) {
			words_add(args, "-Xclang");
			words_add(args, word);
		} else if (!strncmp(word, "-cl-", 4) && strcmp(word, "-cl-kernel-arg-info")) {
			words_add(args, word);
			if (relaxes_arithmetic(word))
				words_add(args, "-ffp-contract=fast");
		}
	}
	free(copy);
}

static bool has_word(const char *options, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = options; at && (at = strstr(at, word)); at += length)
		if ((at == options || isspace((unsigned char)at[-1])) && (!at[length] || isspace((unsigned char)at[length])))
			return true;
	return false;
}

/* A program is not optimised when one of its units must not be, and as accurate as the strictest of them. */
static struct target_settings settings_of(const struct target_unit *units, size_t count)
{
	struct target_settings s = {.optimise = true, .relaxed = true};
	for (size_t i = 0; i < count; i++) {
		const char *options = units[i].options ? units[i].options : "";
		s.optimise &= !has_word(options, "-cl-opt-disable");
		s.relaxed &= has_word(options, "-cl-fast-relaxed-math") ||
		             has_word(options, "-cl-unsafe-math-optimizations");
		s.correctly_rounded |= has_word(options, "-cl-fp32-correctly-rounded-divide-sqrt");
	}
	return s;
}

static void add_arguments(struct words *args, const struct target_unit *unit, const struct target_arch *arch,
                          bool optimise)
{
	static const char *const fixed[] = {
		"-x", "cl", "-target", TARGET_TRIPLE, "-c", "-emit-llvm", "-w", "-fno-crash-diagnostics",
		/* An inline function is also a function: OpenCL programs call it without an external definition. */
		"-fgnu89-inline",
		/* The host's driver accepted the program; newer complaints are not worth losing it. */
		"-Wno-int-conversion", "-Wno-incompatible-pointer-types", "-Wno-implicit-int",
		"-Xclang", "-disable-llvm-passes", "-include", "prelude.cl", "-nogpulib",
		/* .loc lines, which tell the source of an instruction; PTX with whole line tables is another: marked debug,
		 * and not to be had of every program. The folder is another one each time. */
		"-gline-directives-only", "-fdebug-compilation-dir=.",
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(fixed); i++)
		words_add(args, fixed[i]);
	words_add(args, optimise ? "-O3" : "-O0");
	words_add(args, "-Xclang");
	words_add(args, "-target-cpu");
	words_add(args, "-Xclang");
	words_add(args, arch->cpu);
	words_add(args, "-Xclang");
	words_add(args, "-target-feature");
	words_add(args, "-Xclang");
	words_add(args, arch->feature);
	words_add(args, "-Xclang");
	words_add(args, "-mlink-builtin-bitcode");
	words_add(args, "-Xclang");
	words_add(args, builtins_path());
	add_options(args, unit->options);
}

/* Bitcode of unit `index` in the folder; its file name is added to `files`. */
static int compile_unit(const struct target_unit *unit, size_t index, const struct target_arch *arch, bool optimise,
                        const char *folder, struct words *files, struct gs_error *err)
{
	struct words args = {0}, names = {0};
	words_printf(&names, "%s/unit%zu.cl", folder, index);
	words_printf(&names, "%s/messages", folder);
	words_printf(files, "%s/unit%zu.bc", folder, index);
	add_arguments(&args, unit, arch, optimise);
	if (names.failed || files->failed || args.failed) {
		words_free(&names);
		words_free(&args);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	words_add(&args, "-o");
	words_add(&args, files->items[files->count - 1]);
	words_add(&args, names.items[0]);
	int result = gs_write_file(names.items[0], unit->text, unit->length, err);
	if (!result)
		result = clang_run(&(struct clang_run){.args = (const char *const *)args.items, .cwd = folder,
		                                       .messages = names.items[1]}, err);
	words_free(&names);
	words_free(&args);
	return result;
}

static int compile_all(const struct target_unit *units, size_t count, const struct target_arch *arch,
                       const char *folder, struct gs_buf *ptx, struct gs_error *err)
{
	struct words files = {0}, prelude = {0};
	struct target_settings settings = settings_of(units, count);
	words_printf(&prelude, "%s/prelude.cl", folder);
	int result = prelude.failed ? gs_fail(err, ENOMEM, "out of memory")
				    : gs_write_file(prelude.items[0], target_prelude, strlen(target_prelude), err);
	for (size_t i = 0; i < count && !result; i++)
		result = compile_unit(&units[i], i, arch, settings.optimise, folder, &files, err);
	if (!result)
		result = target_module_ptx(files.items, count, arch, &settings, ptx, err);
	words_free(&files);
	words_free(&prelude);
	return result;
}

static void run_child(const struct target_unit *units, size_t count, const struct target_arch *arch, const char *folder)
{
	struct gs_buf ptx = {0};
	struct gs_error err = {""};
	int null = open("/dev/null", O_WRONLY);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null >= 0)
		dup2(null, 2); /* LLVM writes a stack trace when it crashes; the guest's user need not see it */
	LLVMInstallFatalErrorHandler(on_fatal_error);
	if (compile_all(units, count, arch, folder, &ptx, &err))
		say('e', err.text, strlen(err.text));
	else
		say('p', ptx.data, ptx.len);
	_exit(0);
}

int target_compile_start(const struct target_unit *units, size_t count, const char *arch, struct target_job **out,
                         struct gs_error *err)
{
	struct target_arch known;
	int ends[2], result = target_arch_find(arch, &known, err);
	if (result)
		return result;
	if (!count)
		return gs_fail(err, EINVAL, "nothing to compile");
	if (!builtins_path())
		return gs_fail(err, ENOENT, "libclc for nvptx64 is not installed (GPUSIM_LIBCLC may name it)");
	struct target_job *job = calloc(1, sizeof *job);
	if (!job)
		return gs_fail(err, ENOMEM, "out of memory");
	result = folder_create(&job->folder, err);
	if (!result && pipe2(ends, O_CLOEXEC) < 0)
		result = gs_fail(err, errno, "cannot make a pipe: %s", strerror(errno));
	if (result)
		goto failed;
	job->pid = fork();
	if (job->pid == 0) {
		close(ends[0]);
		result_fd = ends[1];
		run_child(units, count, &known, job->folder);
	}
	close(ends[1]);
	job->fd = ends[0];
	if (job->pid > 0) {
		*out = job;
		return 0;
	}
	result = gs_fail(err, errno, "cannot start a process: %s", strerror(errno));
	close(ends[0]);
failed:
	folder_remove(job->folder);
	free(job->folder);
	free(job);
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
	folder_remove(job->folder);
	free(job->folder);
	free(job);
	return result ? result : ptx->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

int target_compile(const struct target_unit *units, size_t count, const char *arch, struct gs_buf *ptx,
                   struct gs_error *err)
{
	struct target_job *job;
	int result = target_compile_start(units, count, arch, &job, err);
	return result ? result : target_compile_finish(job, ptx, err);
}
