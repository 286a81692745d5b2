/* The runtime's beginning and end in the guest's process: options, targets, threads, fork, exit. */
#include "runtime/config/cache.h"
#include "runtime/config/log.h"
#include "runtime/guest/cuda/start.h"
#include "runtime/guest/driver/ending.h"
#include "runtime/guest/driver/several.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/shadow.h"
#include "runtime/guest/launches/verify.h"
#include "runtime/guest/launches/worker.h"
#include "runtime/guest/nvidia/launches.h"
#include "runtime/guest/programs/compile.h"
#include "runtime/guest/programs/programs.h"
#include "runtime/guest/programs/twin.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/process/signals.h"
#include "runtime/process/thread.h"
#include "runtime/report/record.h"
#include "runtime/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LOG_DOMAIN "start"

static atomic_bool active;
static pid_t owner; /* the process that started us; not its forks */

bool runtime_active(void)
{
	return atomic_load_explicit(&active, memory_order_relaxed);
}

const struct gs_options *runtime_options(void)
{
	return &simulation.options;
}

size_t runtime_work_group_limit(void)
{
	size_t limit = 0;
	for (size_t i = 0; i < simulation.target_count; i++)
		if (!limit || simulation.targets[i].gpu.max_threads_per_block < limit)
			limit = simulation.targets[i].gpu.max_threads_per_block;
	return limit;
}

/* ---- options and targets ---- */

static void complain(const char *line)
{
	log_warning("%s", line);
}

/* A relative path is relative to the directory where the program started, even if the program changes its directory. */
static void make_absolute(const char *option, const struct option_value *value)
{
	char *cwd = *value->text && *value->text != '/' ? getcwd(NULL, 0) : NULL, *path;
	if (cwd && asprintf(&path, "%s/%s", cwd, value->text) >= 0) {
		options_set(&simulation.options, options_find(option), option, path, NULL);
		free(path);
	}
	free(cwd);
}

static void read_options(void)
{
	extern char **environ;
	struct gs_error err;
	options_defaults(&simulation.options);
	/* The setting of the log comes first, because it decides whether complaints are shown. */
	const char *log = getenv("GPUSIM_LOG");
	if (log && *log && log_setup(log, &err))
		complain(err.text);
	options_from_environment(&simulation.options, environ, complain);
	make_absolute("OUTPUT", &simulation.options.output);
	make_absolute("RECORD", &simulation.options.record);
	make_absolute("TOPOLOGY", &simulation.options.topology);
	make_absolute("CACHE_DIR", &simulation.options.cache_dir);
	make_absolute("CC", &simulation.options.cc);
	make_absolute("CLANG", &simulation.options.clang);
	make_absolute("LIBCLC", &simulation.options.libclc);
	const char *temporary = getenv("TMPDIR");
	snprintf(simulation.temporary, sizeof simulation.temporary, "%s", temporary && *temporary == '/' ? temporary : "/tmp");
	simulation.cc_environment = make_cc_environment();
}

/* ---- fork and exit ---- */

/* A child has none of our threads and none of the driver's. It passes calls on and reports nothing. */
static void after_fork_in_child(void)
{
	active = false;
}

/* It is registered more than once, so it may run more than once. */
static void at_exit(void)
{
	int saved = errno;
	if (getpid() == owner) {
		cuda_finish();
		nvidia_finish();
		if (!simulation.cost.exit_begin_ns)
			simulation.cost.exit_begin_ns = clock_ns();
		builder_finish();
		worker_finish();
	}
	errno = saved;
}

void runtime_start(void)
{
	static atomic_flag begun = ATOMIC_FLAG_INIT;
	const char *off = getenv("GPUSIM_OFF");
	if ((off && !strcmp(off, "1")) || atomic_flag_test_and_set(&begun))
		return;
	locale_t before = use_c_locale();
	read_options();
	traces_settle(&simulation);
	load_targets(&simulation);
	choose_model(&simulation);
	record_all_targets(&simulation);
	several_start(complain);
	cache_setup(simulation.options.cache_dir.text, simulation.options.cache_size.number);
	if (before)
		uselocale(before);
	simulation.start_ns = clock_ns();
	owner = getpid();
	if (!simulation.target_count || !simulation.cc_environment)
		return;
	save_address_space();
	ending_start(at_exit);
	program_listeners = (struct program_listeners){.program_changes = verifications_abandon, .kernel_gone = shadow_forget};
	signals_start(worker_interrupted);
	pthread_atfork(NULL, NULL, after_fork_in_child);
	active = true;
}

/* ---- children that do not load the library ---- */

/* Takes the paths that have this in them out of a list in the environment, so that programs started from here do not load us. */
static void leave_list(const char *variable, const char *separators, const char *part)
{
	const char *list = getenv(variable);
	char *copy = list ? strdup(list) : NULL, *kept = copy ? calloc(1, strlen(copy) + 2) : NULL;
	for (char *save, *p = kept ? strtok_r(copy, separators, &save) : NULL; p; p = strtok_r(NULL, separators, &save)) {
		if (strstr(p, part))
			continue;
		if (*kept)
			strncat(kept, separators, 1);
		strcat(kept, p);
	}
	if (kept && *kept)
		setenv(variable, kept, 1);
	else if (kept)
		unsetenv(variable);
	free(copy);
	free(kept);
}

/* The libraries that stand for a CUDA runtime lie beside this one (gpusim run). */
static void leave_cuda_folder(void)
{
	char *folder = strdup(simulation.library), *slash = folder ? strrchr(folder, '/') : NULL;
	if (slash) {
		slash[1] = 0;
		leave_list("LD_LIBRARY_PATH", ":", folder);
	}
	free(folder);
}

__attribute__((constructor)) static void when_loaded(void)
{
	int saved = errno;
	Dl_info info;
	/* Now, while a relative path still means the same as for the loader. */
	if (dladdr(&simulation, &info) && info.dli_fname && !realpath(info.dli_fname, simulation.library))
		snprintf(simulation.library, sizeof simulation.library, "%s", info.dli_fname);
	const char *follow = getenv("GPUSIM_FOLLOW");
	if (follow && !strcmp(follow, "0")) {
		leave_list("LD_PRELOAD", ": ", "libgpusim.so");
		leave_list("OPENCL_LAYERS", ":", "libgpusim.so");
		leave_cuda_folder();
	}
	errno = saved;
}
