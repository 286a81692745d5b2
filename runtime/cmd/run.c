/* gpusim run: sets the environment that loads the library into a program, and becomes that program. */
#include "runtime/cmd/cmd.h"

#include "runtime/config/options.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int find_library(char *path)
{
	static const char *const places[] = {"%s/libgpusim.so", "%s/../lib/libgpusim.so"};
	char self[PATH_MAX], candidate[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 0)
		return -1;
	self[n] = 0;
	char *slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	for (size_t i = 0; i < GS_ARRAY_LEN(places); i++) {
		snprintf(candidate, sizeof candidate, places[i], self);
		if (realpath(candidate, path))
			return 0;
	}
	return -1;
}

/* Puts the library before the entries of the list. */
static void prepend(const char *variable, const char *path)
{
	const char *before = getenv(variable);
	struct gs_buf list = {0};
	if (before && strstr(before, path))
		return;
	gs_buf_puts(&list, path);
	if (before && *before)
		gs_buf_printf(&list, ":%s", before);
	if (!list.failed)
		setenv(variable, list.data, 1);
	gs_buf_free(&list);
}

/* An application may open the driver to see whether there is one, and so may NVIDIA's OpenCL. So ours stands only where none is installed. */
static void add_driver_folder(const char *cuda)
{
	char folder[PATH_MAX + 64];
	void *installed = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (installed) {
		dlclose(installed);
		return;
	}
	snprintf(folder, sizeof folder, "%s/driver", cuda);
	prepend("LD_LIBRARY_PATH", folder);
}

/* The libraries that stand for a CUDA runtime (interposer/cuda/ways/alias.c) come before one that is installed, so that programs run in
 * the same way wherever they are. */
static void add_cuda_folder(const char *library)
{
	static const char *const places[] = {"%.*s/cuda", "%.*s/gpusim/cuda"};
	const char *slash = strrchr(library, '/'), *off = getenv("GPUSIM_OFF"), *host = getenv("GPUSIM_CUDA_HOST");
	char folder[PATH_MAX + 32], file[PATH_MAX + 64];
	if ((off && !strcmp(off, "1")) || (host && !strcmp(host, "gpu"))) /* NVIDIA's own are needed */
		return;
	for (size_t i = 0; i < GS_ARRAY_LEN(places) && slash; i++) {
		snprintf(folder, sizeof folder, places[i], (int)(slash - library), library);
		snprintf(file, sizeof file, "%s/libcudart.so.13", folder);
		if (access(file, R_OK))
			continue;
		prepend("LD_LIBRARY_PATH", folder);
		add_driver_folder(folder);
		return;
	}
}

/* Runs argv[0] with the library loaded. Returns only if that fails. */
static int become_program(char **argv)
{
	char library[PATH_MAX];
	if (find_library(library)) {
		cmd_fail("run: libgpusim.so was not found beside this command");
		return EXIT_NOT_RUN;
	}
	/* Both ways in (interposer/opencl/interposer.h). The library makes sure that nothing is counted twice. */
	if (!strpbrk(library, " :")) { /* the dynamic loader would read two paths */
		prepend("LD_PRELOAD", library);
		add_cuda_folder(library);
	}
	prepend("OPENCL_LAYERS", library);
	execvp(argv[0], argv);
	cmd_fail("run: cannot run '%s': %s", argv[0], strerror(errno));
	return EXIT_NOT_RUN;
}

/* One option from argv on. Returns how many words it has; 0 or less after a complaint. */
static int take_option(struct gs_options *options, const char *command, bool record, int left, char **argv)
{
	if (!record || strcmp(argv[0], "-o"))
		return cmd_take_flag(options, command, left, argv);
	if (left < 2)
		return -cmd_fail("record: -o needs a file");
	setenv("GPUSIM_RECORD", argv[1], 1);
	return 2;
}

/* Takes the options before the program, and returns the words of the program. NULL after a complaint. record: -o FILE is one, short for --record FILE. */
static char **take_options(const char *command, bool record, int argc, char **argv)
{
	struct gs_options options;
	int i = 1, words;
	bool good = true;
	cmd_options(&options);
	for (; i < argc && ((!strncmp(argv[i], "--", 2) && argv[i][2]) || (record && !strcmp(argv[i], "-o"))) && good; i += words)
		good = (words = take_option(&options, command, record, argc - i, argv + i)) > 0;
	i += good && i < argc && !strcmp(argv[i], "--");
	if (good && i >= argc) {
		cmd_fail("%s: no program given: gpusim %s [OPTIONS] [--] PROGRAM [ARGUMENTS]", command, command);
		good = false;
	}
	good = good && !cmd_check_gpus(&options, command);
	options_free(&options);
	return good ? argv + i : NULL;
}

int cmd_run(int argc, char **argv)
{
	char **program = take_options("run", false, argc, argv);
	return program ? become_program(program) : EXIT_USAGE;
}

/* Without a report option, the report is left to `gpusim replay`. */
int cmd_record(int argc, char **argv)
{
	if (!getenv("GPUSIM_REPORT"))
		setenv("GPUSIM_REPORT", "none", 1);
	setenv("GPUSIM_RECORD", "gpusim.profile", 0);
	char **program = take_options("record", true, argc, argv);
	return program ? become_program(program) : EXIT_USAGE;
}
