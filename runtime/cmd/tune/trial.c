/*
 * The same launches in the models: recorded once, with the base as the GPU, and then replayed with other values of keys. A replay has a process
 * of its own, as the configurations of a sweep have.
 */
#include "runtime/cmd/tune/search.h"

#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/replay.h"
#include "runtime/config/cache.h"
#include "runtime/model/simulation.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- recording ---- */

/* What the user set for other runs is not for this one, and neither is the library that this process may run under. */
static bool is_dropped(const char *variable)
{
	return !strncmp(variable, "LD_PRELOAD=", 11) || !strncmp(variable, "OPENCL_LAYERS=", 14) ||
	       (!strncmp(variable, "GPUSIM_", 7) && strncmp(variable, "GPUSIM_CACHE_", 13) && strncmp(variable, "GPUSIM_CC=", 10));
}

static char **own_environment(void)
{
	size_t count = 0, kept = 0;
	while (environ[count])
		count++;
	char **list = calloc(count + 1, sizeof *list);
	for (size_t i = 0; list && i < count; i++)
		if (!is_dropped(environ[i]))
			list[kept++] = environ[i];
	return list;
}

static int spawn_and_wait(char *const *words, const char *output)
{
	pid_t pid;
	int status = -1;
	posix_spawn_file_actions_t files;
	char **list = own_environment();
	if (!list || posix_spawn_file_actions_init(&files)) {
		free(list);
		return -1;
	}
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (posix_spawn(&pid, words[0], &files, NULL, words, list) == 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	posix_spawn_file_actions_destroy(&files);
	free(list);
	return status;
}

/* The first line of the file that has text, without its end. */
static void first_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	*line = 0;
	while (file && fgets(line, (int)size, file) && !line[strspn(line, " \n")])
		;
	line[strcspn(line, "\n")] = 0;
	if (file)
		fclose(file);
}

static int record(struct tune_trials *trials, struct gs_error *err)
{
	char self[PATH_MAX], said[PATH_MAX], line[200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 0)
		return gs_fail(err, errno, "this command's own file is not known");
	self[n] = 0;
	snprintf(said, sizeof said, "%s/said", trials->folder);
	char *words[] = {self, "record", "-o", trials->profile, "--gpu", (char *)(uintptr_t)trials->base, "--trace", "all", "--sampling", "off", "--",
	                 self, "tune", "--cuda", "--base", (char *)(uintptr_t)trials->base, "--times", "/dev/null", "--log", "/dev/null",
	                 "--only", (char *)(uintptr_t)trials->part, NULL};
	int status = spawn_and_wait(words, said);
	if (status || access(trials->profile, R_OK)) {
		first_line(said, line, sizeof line);
		return gs_fail(err, EIO, "the microbenchmarks could not be recorded for the models: %s", *line ? line : "gpusim record failed");
	}
	return 0;
}

int trials_begin(struct tune_trials *trials, const char *base, const char *part, struct gs_error *err)
{
	const char *parent = getenv("TMPDIR");
	*trials = (struct tune_trials){.base = base, .part = part};
	if (!parent || !*parent || strlen(parent) > 40)
		parent = "/tmp";
	snprintf(trials->folder, sizeof trials->folder, "%s/gpusim-tune.XXXXXX", parent);
	if (!mkdtemp(trials->folder)) {
		*trials->folder = 0;
		return gs_fail(err, errno, "%s: no temporary folder: %s", parent, strerror(errno));
	}
	snprintf(trials->profile, sizeof trials->profile, "%s/micro.profile", trials->folder);
	return record(trials, err);
}

void trials_end(struct tune_trials *trials)
{
	char said[PATH_MAX];
	if (!*trials->folder)
		return;
	snprintf(said, sizeof said, "%s/said", trials->folder);
	unlink(said);
	unlink(trials->profile);
	rmdir(trials->folder);
}

/* ---- replaying, in the child ---- */

struct trial_time {
	uint64_t launch;
	double ns;
};

static void write_time(void *to, const struct launch_result *r)
{
	struct trial_time t = {r->launch->seq, r->estimated[0] ? r->estimates[0].time_ns : NAN};
	fwrite(&t, sizeof t, 1, to);
}

static void replay_trial(const struct tune_trials *trials, const char *set, int fd)
{
	static struct simulation sim = SIMULATION_INIT;
	const char *const options[][2] = {{"GPU", trials->base}, {"SET", set}, {"REPORT", "none"}, {"RECORD", ""}, {"CHECK", "0"},
	                                  {"SAMPLING", "off"}, {"MEMORY", "hierarchy"}};
	struct gs_error err;
	FILE *to = fdopen(fd, "w");
	cmd_options(&sim.options);
	for (size_t i = 0; i < GS_ARRAY_LEN(options); i++)
		options_set(&sim.options, options_find(options[i][0]), "", options[i][1], &err);
	load_targets(&sim);
	choose_model(&sim);
	cache_setup(sim.options.cache_dir.text, sim.options.cache_size.number);
	struct replay play = {.sim = &sim, .quiet = true, .done = write_time, .done_ctx = to};
	bool failed = replay_profile(&play, trials->profile, false, &err);
	fclose(to);
	_exit(failed);
}

/* ---- the parent ---- */

static int by_launch(const void *a, const void *b)
{
	const struct trial_time *x = a, *y = b;
	return x->launch < y->launch ? -1 : x->launch > y->launch;
}

/* The launches come in the order of the rows, each as often as it was recorded. The last one counts. */
static bool take_times(const struct tune_trials *trials, struct gs_buf *bytes, double *ns)
{
	enum { EACH = 1 + REPEATS_SIMULATED };
	struct trial_time *times = (struct trial_time *)(void *)bytes->data;
	size_t count = bytes->len / sizeof *times, at = 0;
	if (count)
		qsort(times, count, sizeof *times, by_launch);
	for (size_t i = 0; i < tune_row_count; i++) {
		ns[i] = NAN;
		if (strcmp(tune_rows[i].part, trials->part))
			continue;
		at += EACH;
		ns[i] = at <= count ? times[at - 1].ns : NAN;
	}
	return at == count;
}

static void read_all(int from, struct gs_buf *bytes)
{
	char piece[4096];
	ssize_t n;
	while ((n = read(from, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			gs_buf_add(bytes, piece, (size_t)n);
}

int trials_run(const struct tune_trials *trials, const char *set, double ns[ROWS_MOST], struct gs_error *err)
{
	int ends[2], status = -1;
	struct gs_buf bytes = {0};
	if (pipe(ends))
		return gs_fail(err, errno, "no pipe: %s", strerror(errno));
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		replay_trial(trials, set, ends[1]);
	}
	close(ends[1]);
	read_all(ends[0], &bytes);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	int result = status || !take_times(trials, &bytes, ns) ? gs_fail(err, EIO, "the launches could not be modelled (status %d)", status) : 0;
	gs_buf_free(&bytes);
	return result;
}
