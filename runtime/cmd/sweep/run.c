/*
 * Replays the configurations of a sweep. Each has a process of its own, and as many run at once as there are cores. Processes
 * are needed because the files of reports and the kept traces are global. Also, a failure of one configuration must not harm
 * the others.
 */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/replay.h"
#include "runtime/cmd/sweep/sweep.h"
#include "runtime/config/cache.h"
#include "runtime/model/simulation.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORKERS = 256 };

struct worker {
	pid_t pid;
	int from;
	size_t configuration;
	struct gs_buf text;
};

/* ---- signals that stop a sweep ---- */

static volatile sig_atomic_t stopped_by;

static void note_signal(int sig)
{
	stopped_by = sig;
}

/* Signals are noticed while we wait for results. Ignored signals stay ignored. */
void sweep_watch(bool on)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < GS_ARRAY_LEN(signals); i++) {
		struct sigaction before, a = {.sa_handler = on ? note_signal : SIG_DFL};
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &a, NULL);
		sigaddset(&set, signals[i]);
	}
	sigprocmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

void sweep_pause(const struct timespec *most)
{
	sigset_t none;
	sigemptyset(&none);
	ppoll(NULL, 0, most, &none);
}

int sweep_signal(void)
{
	return stopped_by;
}

/* ---- the child ---- */

/* Writes "time_ns limiter kernel", then the same for each kernel. After a failure, writes "! why". */
static void write_result(const struct simulation *sim, FILE *to)
{
	size_t count;
	double total = 0;
	const struct kernel_stats **list = stats_sorted(sim, &count);
	for (size_t i = 0; i < count; i++)
		total += list[i]->by_target[0].total_ns;
	fprintf(to, "%.17g %s %s\n", total, count ? main_limiter(&list[0]->by_target[0]) : "-", count ? list[0]->name : "-");
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%.17g %s %s\n", list[i]->by_target[0].total_ns, main_limiter(&list[i]->by_target[0]), list[i]->name);
	free(list);
}

static void run_configuration(const struct sweep *s, size_t configuration, int fd, unsigned jobs)
{
	static struct simulation sim = SIMULATION_INIT;
	sweep_watch(false);
	if (s->shared)
		close(s->claims); /* else the claims would outlive the process that has made them */
	struct gs_buf set = {0};
	struct gs_error err;
	FILE *to = fdopen(fd, "w");
	cmd_options(&sim.options);
	sweep_overrides(s, configuration, &set);
	options_set(&sim.options, options_find("GPU"), "", sweep_gpu(s, configuration), &err);
	options_set(&sim.options, options_find("SET"), "", set.data, &err);
	options_set(&sim.options, options_find("REPORT"), "", "none", &err);
	options_set(&sim.options, options_find("RECORD"), "", "", &err);
	options_set(&sim.options, options_find("CHECK"), "", "0", &err); /* the results of checks would not be shown */
	if (s->choose)
		s->choose(configuration, &sim.options);
	sim.options.jobs.number = jobs;
	load_targets(&sim);
	choose_model(&sim);
	cache_setup(sim.options.cache_dir.text, sim.options.cache_size.number);
	struct replay play = {.sim = &sim, .only = s->only, .quiet = configuration > 0}; /* the first configuration says it for all */
	if (replay_profile(&play, s->profile, false, &err))
		fprintf(to, "! %s\n", err.text);
	else
		write_result(&sim, to);
	fclose(to);
	_exit(0);
}

static bool start_worker(const struct sweep *s, struct worker *w, size_t configuration, unsigned jobs)
{
	int ends[2];
	if (pipe(ends))
		return false;
	fflush(NULL);
	w->pid = fork();
	if (w->pid == 0) {
		close(ends[0]);
		run_configuration(s, configuration, ends[1], jobs);
	}
	close(ends[1]);
	if (w->pid < 0) {
		close(ends[0]);
		return false;
	}
	w->from = ends[0];
	w->configuration = configuration;
	w->text = (struct gs_buf){0};
	return true;
}

/* ---- the parent ---- */

static int take_result(struct sweep *s, struct worker *w)
{
	char *text = w->text.data;
	int status, code = 0;
	waitpid(w->pid, &status, 0);
	close(w->from);
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGHUP)) {
		stopped_by = WTERMSIG(status); /* every process of the group got the signal */
	} else if (text && *text == '!') {
		text[strcspn(text, "\n")] = 0;
		code = cmd_fail("sweep: %s", text + 2);
	} else if (!sweep_take_result(s, w->configuration, text)) {
		code = cmd_fail("sweep: a configuration ended without a result (status %d)", status);
	} else {
		sweep_keep(s, w->configuration, text);
	}
	if (s->shared && !stopped_by) { /* the others go on */
		sweep_claim_ends(s, w->configuration, !code);
		code = 0;
	}
	gs_buf_free(&w->text);
	w->pid = 0;
	return code;
}

/* The first configuration from there on that has no result. */
static size_t next_open(const struct sweep *s, size_t i)
{
	while (i < s->configurations && s->results[i].done)
		i++;
	return i;
}

/* The next configuration to run; s->configurations: there is none, or none now. */
static size_t take_next(struct sweep *s, size_t *next)
{
	if (s->shared)
		return sweep_claim(s);
	size_t taken = *next;
	*next = next_open(s, taken < s->configurations ? taken + 1 : taken);
	return taken;
}

static bool any_runs(const struct worker *workers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (workers[i].pid > 0)
			return true;
	return false;
}

/* Of a sweep that is shared, all processes stay until no claim is open, because it could be that others die. */
static bool work_is_left(struct sweep *s, const struct worker *workers, size_t count)
{
	if (!s->shared)
		return s->done < s->configurations;
	return any_runs(workers, count) || sweep_claims_open(s);
}

/* Where nobody looks, a line for every 16 configurations, or for every hundredth part. */
static void show_progress(struct sweep *s)
{
	size_t every = s->configurations / 100 > 16 ? s->configurations / 100 : 16;
	bool all = s->done == s->configurations, more = s->done / every > s->shown / every || (all && s->shown < s->done);
	if (isatty(STDERR_FILENO) && s->done > s->shown)
		fprintf(stderr, "\r\033[Kgpusim: sweep: %zu of %zu configurations%s", s->done, s->configurations, all ? "\n" : "");
	else if (more)
		fprintf(stderr, "gpusim: sweep: %zu of %zu configurations\n", s->done, s->configurations);
	s->shown = s->done;
}

/* What is known now goes to the CSV. Of a sweep that is shared, the first process sees to it, a few times a second. */
void sweep_show(struct sweep *s)
{
	static double last;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	if (s->shared && (!s->gathers || seconds < last + 0.2))
		return;
	last = seconds;
	if (s->shared)
		sweep_keep_read(s);
	sweep_grow(s);
	show_progress(s);
}

/* Reads what there is. True when the worker has closed its end. */
static bool read_some(struct worker *w)
{
	char piece[4096];
	ssize_t n = read(w->from, piece, sizeof piece);
	if (n > 0)
		gs_buf_add(&w->text, piece, (size_t)n);
	return n == 0 || (n < 0 && errno != EINTR);
}

static void stop_all(struct worker *workers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (workers[i].pid > 0) {
			kill(workers[i].pid, SIGKILL);
			waitpid(workers[i].pid, NULL, 0);
			close(workers[i].from);
			gs_buf_free(&workers[i].text);
		}
}

int sweep_run(struct sweep *s)
{
	struct worker workers[MOST_WORKERS] = {0};
	struct pollfd polls[MOST_WORKERS];
	long cores = s->jobs ? (long)s->jobs : sysconf(_SC_NPROCESSORS_ONLN);
	size_t count = cores < 1 ? 1 : cores > MOST_WORKERS ? MOST_WORKERS : (size_t)cores, next = next_open(s, 0);
	/* A process for each configuration; those that there are share the cores. */
	size_t left = s->configurations - s->done;
	unsigned jobs = (unsigned)(left && left < count ? count / left : 1);
	const struct timespec pause = {.tv_nsec = 100000000}, second = {.tv_sec = 1};
	sigset_t none;
	int code = 0;
	sigemptyset(&none);
	sweep_watch(true);
	if (!s->shared && s->done == s->configurations) {
		sweep_watch(false);
		return 0;
	}
	do {
		for (size_t i = 0; i < count && !code; i++)
			if (!workers[i].pid) {
				size_t taken = take_next(s, &next);
				if (taken == s->configurations)
					break;
				if (!start_worker(s, &workers[i], taken, jobs))
					code = cmd_fail("sweep: no process could be started: %s", strerror(errno));
			}
		for (size_t i = 0; i < count; i++)
			polls[i] = (struct pollfd){.fd = workers[i].pid > 0 ? workers[i].from : -1, .events = POLLIN};
		const struct timespec *most = !s->shared ? NULL : any_runs(workers, count) ? &second : &pause; /* others run, too */
		int ready = code ? 0 : ppoll(polls, count, most, &none);
		if (ready < 0 && errno != EINTR)
			code = cmd_fail("sweep: %s", strerror(errno));
		for (size_t i = 0; i < count && !code && ready > 0; i++)
			if (workers[i].pid > 0 && polls[i].revents && read_some(&workers[i])) {
				code = take_result(s, &workers[i]);
				if (!code && !stopped_by && !s->shared)
					sweep_show(s);
			}
		if (s->shared)
			sweep_show(s);
	} while (!code && !stopped_by && work_is_left(s, workers, count));
	stop_all(workers, count);
	s->stopped_by = stopped_by;
	if (!stopped_by)
		sweep_watch(false);
	return code;
}

void sweep_stop(const struct sweep *s)
{
	sweep_watch(false);
	raise(s->stopped_by);
}
