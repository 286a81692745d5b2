/*
 * How long each rank's launches take on the GPU. A rank's profile is replayed in a process of its own, as the configurations of a sweep are:
 * what the models keep is global.
 */
#include "runtime/cmd/cluster/cluster.h"

#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/replay.h"
#include "runtime/config/cache.h"
#include "runtime/estimates/launch_demand.h"
#include "runtime/model/simulation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the child ---- */

static void write_time(void *to, const struct launch_result *r)
{
	struct launch_time t = {.seq = r->launch->seq, .time_ns = NAN};
	if (r->estimated[0]) {
		t.time_ns = r->estimates[0].time_ns;
		t.demand = launch_demand(&r->sim->targets[0].gpu, &r->profile, &r->estimates[0]);
	}
	fwrite(&t, sizeof t, 1, to);
}

/* Writes "+" and the times; or "!" and what failed. */
static void model_rank(const struct rank *r, int fd)
{
	static struct simulation sim = SIMULATION_INIT;
	struct gs_error err;
	FILE *to = fdopen(fd, "w");
	cmd_options(&sim.options);
	options_set(&sim.options, options_find("REPORT"), "", "none", &err);
	options_set(&sim.options, options_find("RECORD"), "", "", &err);
	options_set(&sim.options, options_find("CHECK"), "", "0", &err);
	sim.options.jobs.number = 1;
	load_targets(&sim);
	choose_model(&sim);
	cache_setup(sim.options.cache_dir.text, sim.options.cache_size.number);
	struct replay play = {.sim = &sim, .quiet = r->number > 0, .done = write_time, .done_ctx = to};
	fputc('+', to);
	if (replay_profile(&play, r->path, false, &err))
		fprintf(to, "!%s", err.text);
	fclose(to);
	_exit(0);
}

/* ---- the parent ---- */

struct modelling {
	pid_t pid;
	int from;
};

static bool start_modelling(const struct rank *r, struct modelling *m)
{
	int ends[2];
	if (pipe(ends))
		return false;
	fflush(NULL);
	m->pid = fork();
	if (m->pid == 0) {
		close(ends[0]);
		model_rank(r, ends[1]);
	}
	close(ends[1]);
	m->from = ends[0];
	if (m->pid < 0)
		close(ends[0]);
	return m->pid > 0;
}

static int by_seq(const void *a, const void *b)
{
	const struct launch_time *x = a, *y = b;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int take_times(struct rank *r, const struct modelling *m, struct gs_error *err)
{
	struct gs_buf bytes = {0};
	char piece[65536];
	ssize_t n;
	while ((n = read(m->from, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			gs_buf_add(&bytes, piece, (size_t)n);
	int status = 0, result = 0;
	close(m->from);
	waitpid(m->pid, &status, 0);
	size_t whole = bytes.len ? (bytes.len - 1) / sizeof *r->launches * sizeof *r->launches : 0;
	if (bytes.failed || !bytes.len || status)
		result = gs_fail(err, EIO, "the launches of %s could not be modelled (status %d)", r->path, status);
	else if (1 + whole != bytes.len && bytes.data[1 + whole] == '!')
		result = gs_fail(err, EBADMSG, "%.*s", (int)(bytes.len - 2 - whole), bytes.data + 2 + whole);
	else if (!(r->launches = malloc(whole + 1)))
		result = gs_fail(err, ENOMEM, "out of memory");
	else
		memcpy(r->launches, bytes.data + 1, whole);
	gs_buf_free(&bytes);
	if (!result) {
		r->launches_known = whole / sizeof *r->launches;
		qsort(r->launches, r->launches_known, sizeof *r->launches, by_seq);
	}
	return result;
}

void rank_set_times(struct rank *r)
{
	for (struct schedule_command *c = r->schedule.first; c; c = c->next) {
		struct launch_time wanted = {.seq = c->launch - 1};
		if (strcmp(c->what, "launch"))
			continue;
		const struct launch_time *t =
			c->launch && r->launches_known ? bsearch(&wanted, r->launches, r->launches_known, sizeof wanted, by_seq) : NULL;
		c->times[0].duration = t ? t->time_ns : NAN;
		if (t)
			c->times[0].demand = t->demand;
		r->unknown += isnan(c->times[0].duration);
	}
}

int cluster_model(struct cluster *c, struct gs_error *err)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t at_once = cores > 0 && cores < 64 ? (size_t)cores : 1;
	int result = 0;
	for (size_t i = 0; i < c->count && !result; i += at_once) {
		struct modelling batch[64] = {0};
		for (size_t k = 0; k < at_once && i + k < c->count && !result; k++)
			if (c->ranks[i + k].launch_count && !start_modelling(&c->ranks[i + k], &batch[k]))
				result = gs_fail(err, errno, "no process could be started: %s", strerror(errno));
		for (size_t k = 0; k < at_once && i + k < c->count; k++) {
			struct gs_error own;
			if (batch[k].pid > 0 && take_times(&c->ranks[i + k], &batch[k], result ? &own : err))
				result = -EIO;
			rank_set_times(&c->ranks[i + k]);
		}
	}
	return result;
}
