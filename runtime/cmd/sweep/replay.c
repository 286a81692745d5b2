/*
 * gpusim replay: models a recorded run again, without the application, on any GPUs. The library models a launch when its
 * counters are there. This command does the same with the counters of a profile, and the reports are the same.
 */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/only.h"
#include "runtime/cmd/sweep/replay.h"
#include "runtime/cmd/sweep/replay_calls.h"
#include "runtime/config/cache.h"
#include "runtime/config/log.h"
#include "runtime/estimates/estimates.h"
#include "runtime/estimates/kept/results.h"
#include "runtime/format/profile_file.h"
#include "runtime/format/protocol.h"
#include "runtime/model/profile.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_decode.h"
#include "runtime/process/signals.h"
#include "runtime/process/thread.h"
#include "runtime/report/progress.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_DOMAIN "replay"

/* ---- facts of a record ---- */

static bool sizes_of(const char *facts, const char *key, uint64_t out[3])
{
	const char *value = record_fact(facts, key, 0);
	return value && sscanf(value, "%" SCNu64 ",%" SCNu64 ",%" SCNu64, &out[0], &out[1], &out[2]) == 3;
}

/* ---- launches ---- */

static const char *path_of(const struct replay *play)
{
	return play->path ? play->path : "the profile";
}

static int bad_record(const struct replay *play, struct gs_error *err)
{
	return gs_fail(err, EBADMSG, "%s has a record that cannot be read, after %" PRIu64 " launches", path_of(play), play->launches);
}

static int take_program(struct replay *play, const struct gs_pack *pack, struct gs_error *err)
{
	struct gs_error inner;
	uint64_t number = strtoull(gs_pack_text(pack, "number"), NULL, 10);
	struct artifact **grown = reallocarray(play->programs, play->program_count + 1, sizeof *grown);
	if (!grown)
		return gs_fail(err, ENOMEM, "out of memory");
	play->programs = grown;
	if (number != play->program_count + 1 || artifact_read(play->sim, &grown[play->program_count], pack, &inner))
		return bad_record(play, err);
	play->program_count++;
	return 0;
}

/* Later launches may refer to the counters of any earlier one. A file of some kilobytes could unpack to more counters than
 * there is memory. */
static int charge_counters(struct replay *play, uint64_t bytes, struct gs_error *err)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	play->counter_bytes += bytes;
	return play->counter_bytes <= memory / 2 ? 0
	       : gs_fail(err, EFBIG, "%s has counters that take more than half of the memory", path_of(play));
}

static int keep_counters(struct replay *play, uint64_t seq, const struct gs_section *s, struct gs_error *err)
{
	if (!gs_reserve(&play->counters, play->counter_sets, &play->counter_room, sizeof *play->counters))
		return gs_fail(err, ENOMEM, "out of memory");
	if (charge_counters(play, s->len, err))
		return -EFBIG;
	struct recorded_counters c = {.seq = seq, .words = malloc(s->len + 1), .count = s->len / sizeof(uint64_t)};
	if (!c.words)
		return gs_fail(err, ENOMEM, "out of memory");
	memcpy(c.words, s->data, s->len);
	play->counters[play->counter_sets++] = c;
	return 0;
}

static const struct recorded_counters *find_counters(const struct replay *play, uint64_t seq)
{
	for (size_t i = play->counter_sets; i--;)
		if (play->counters[i].seq == seq)
			return &play->counters[i];
	return NULL;
}

static struct launch_record *new_launch(const struct replay *play, const char *facts)
{
	size_t arguments = 0;
	while (record_fact(facts, "argument", arguments))
		arguments++;
	size_t each = 2 * sizeof(uint64_t) + sizeof(struct argument_memory) + sizeof(struct argument_pages) + sizeof(bool);
	struct launch_record *l = calloc(1, sizeof *l + arguments * each);
	const char *name = record_fact(facts, "kernel", 0);
	uint64_t program = record_number(facts, "program");
	if (!l || !name || !program || program > play->program_count || !sizes_of(facts, "global", l->global) ||
	    !sizes_of(facts, "local", l->local) || !(l->kernel_name = strndup(name, strcspn(name, "\n")))) {
		free(l);
		return NULL;
	}
	l->argument_values = (uint64_t *)(l + 1);
	l->argument_bytes = l->argument_values + arguments;
	l->argument_memory = (struct argument_memory *)(l->argument_bytes + arguments);
	l->argument_pages = (struct argument_pages *)(l->argument_memory + arguments);
	l->arguments_known = (bool *)(l->argument_pages + arguments);
	for (; l->argument_count < arguments; l->argument_count++) {
		int known = 0;
		sscanf(record_fact(facts, "argument", l->argument_count), "%d,%" SCNu64, &known, &l->argument_values[l->argument_count]);
		l->arguments_known[l->argument_count] = known != 0;
	}
	l->seq = record_number(facts, "seq");
	l->local_bytes = record_number(facts, "local_bytes");
	l->slots = record_number(facts, "slots");
	l->places = record_number(facts, "places");
	l->spread = record_number(facts, "spread");
	l->measured_ns = record_number(facts, "measured_ns");
	l->cuda = record_number(facts, "cuda");
	l->managed = record_number(facts, "managed");
	l->unsized = record_number(facts, "unsized");
	l->artifact = play->programs[program - 1];
	l->facts = artifact_kernel(l->artifact, l->kernel_name);
	char *title = record_fact(facts, "title", 0) ? strndup(record_fact(facts, "title", 0), strcspn(record_fact(facts, "title", 0), "\n")) : NULL;
	if (title) {
		free(l->kernel_name);
		l->kernel_name = title;
	}
	return l;
}

static void take_sizes(struct launch_record *l, const struct gs_section *memory)
{
	size_t most = l->argument_count * sizeof *l->argument_bytes;
	if (memory)
		memcpy(l->argument_bytes, memory->data, memory->len < most ? memory->len : most);
}

/* Profiles of earlier versions have none: then nothing is known of what was before. */
static void take_buffers(struct launch_record *l, const struct gs_section *buffers)
{
	size_t most = l->argument_count * sizeof *l->argument_memory;
	if (buffers)
		memcpy(l->argument_memory, buffers->data, buffers->len < most ? buffers->len : most);
}

/* Only launches with managed memory have it. */
static void take_pages(struct launch_record *l, const struct gs_section *pages)
{
	size_t most = l->argument_count * sizeof *l->argument_pages;
	if (pages)
		memcpy(l->argument_pages, pages->data, pages->len < most ? pages->len : most);
}

/* A launch may have the trace of one before it. Models find that among those that they keep, unless each launch must have its own. */
static bool copies_traces(const struct replay *play)
{
	return play->take || play->sim->model.exact;
}

static int keep_trace(struct replay *play, struct recorded_counters *c, const struct gs_section *trace, struct gs_error *err)
{
	if (charge_counters(play, trace->len, err))
		return -EFBIG;
	gs_buf_add(&c->trace, trace->data, trace->len);
	return c->trace.failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

static struct kept_trace *trace_in(const struct replay *play, const struct gs_pack *pack)
{
	const char *facts = gs_pack_text(pack, "facts");
	const struct gs_section *trace = gs_pack_find(pack, "trace"), *memory = gs_pack_find(pack, "memory");
	const struct recorded_counters *c = !trace && record_fact(facts, "trace_of", 0) ? find_counters(play, record_number(facts, "trace_of")) : NULL;
	const void *bytes = trace ? trace->data : c ? c->trace.data : NULL;
	size_t length = trace ? trace->len : c ? c->trace.len : 0;
	return bytes && memory ? trace_from_bytes(bytes, length, memory->data, memory->len / sizeof(uint64_t)) : NULL;
}

/* ---- modelling ---- */

static const struct replay *committed; /* whose launches are modelled; estimates tell only the launch */

static void commit_launch(const struct launch_result *r, void *owner)
{
	(void)owner;
	if (committed->calls)
		replay_calls_note(committed->calls, r);
	if (committed->done)
		committed->done(committed->done_ctx, r);
	else
		report_launch(r);
}

static void release_launch(void *owner)
{
	struct launch_record *l = owner;
	free(l->kernel_name);
	free(l);
}

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool moved;
} jobs = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void note_moved(void)
{
	pthread_mutex_lock(&jobs.lock);
	jobs.moved = true;
	pthread_cond_signal(&jobs.changed);
	pthread_mutex_unlock(&jobs.lock);
}

static struct progress_work work_of(void *ctx, uint64_t left)
{
	struct estimates *e = ctx;
	return (struct progress_work){(double)estimates_ran_ns(e), left ? estimates_left_ns(e, 0) : 0};
}

/* Hands over what is done. With `least` launches or more under way, waits until some are. */
static void commit_launches(struct replay *play, size_t least)
{
	struct estimates *e = play->estimates;
	for (;;) {
		pthread_mutex_lock(&jobs.lock);
		jobs.moved = false;
		pthread_mutex_unlock(&jobs.lock);
		estimates_commit(e);
		progress_show(play->sim, play->launches - estimates_under_way(e), estimates_under_way(e), work_of, e);
		if (estimates_under_way(e) < least)
			return;
		if (estimates_all_wait(e)) { /* for launches that do not come, or for which there is no room */
			estimates_flush(e, false);
			continue;
		}
		pthread_mutex_lock(&jobs.lock);
		struct timespec deadline = deadline_in(estimates_budget_ns(e) < 500000000 ? 10 : 500);
		if (!jobs.moved)
			pthread_cond_timedwait(&jobs.changed, &jobs.lock, &deadline);
		pthread_mutex_unlock(&jobs.lock);
	}
}

static bool start_estimates(struct replay *play)
{
	committed = play;
	static const struct estimates_calls calls = {.commit = commit_launch, .release = release_launch, .moved = note_moved};
	if (!play->estimates && (play->estimates = estimates_new(play->sim, &calls, (unsigned)play->sim->options.jobs.number)))
		estimates_hurry(play->estimates); /* there is no program beside it */
	return play->estimates != NULL;
}

/* Takes the record over, of a launch that is left out. */
static int pass_launch_record(struct replay *play, struct launch_record *l, struct kept_trace *trace, struct gs_error *err)
{
	bool passed = false;
	if (start_estimates(play))
		passed = !estimates_pass(play->estimates, l, trace);
	else
		kept_trace_free(trace);
	release_launch(l);
	play->passed++;
	return passed ? 0 : gs_fail(err, ENOMEM, "out of memory");
}

/* Takes the record over. */
static int model_launch_record(struct replay *play, struct launch_record *l, struct kept_trace *trace, struct gs_error *err)
{
	if (!start_estimates(play) || estimates_take(play->estimates, l, trace, l)) {
		release_launch(l);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	play->launches++;
	commit_launches(play, SIZE_MAX);
	while (!estimates_has_room(play->estimates))
		commit_launches(play, estimates_under_way(play->estimates));
	return 0;
}

static int take_launch(struct replay *play, const struct gs_pack *pack, struct gs_error *err)
{
	const char *facts = gs_pack_text(pack, "facts");
	const struct gs_section *counters = gs_pack_find(pack, "counters");
	struct launch_record *l = new_launch(play, facts);
	if (!l)
		return bad_record(play, err);
	take_sizes(l, gs_pack_find(pack, "memory"));
	take_buffers(l, gs_pack_find(pack, "buffers"));
	take_pages(l, gs_pack_find(pack, "pages"));
	const struct gs_section *trace = gs_pack_find(pack, "trace");
	int result = counters ? keep_counters(play, l->seq, counters, err) : 0;
	if (!result && counters && trace && record_fact(facts, "trace_shared", 0) && copies_traces(play))
		result = keep_trace(play, &play->counters[play->counter_sets - 1], trace, err);
	const struct recorded_counters *c =
		result ? NULL : find_counters(play, record_fact(facts, "counters_of", 0) ? record_number(facts, "counters_of") : l->seq);
	if (!result && c) {
		l->counters = c->words;
		l->counter_words = c->count;
	}
	if (!result && (!c || !l->facts || !launch_is_sound(l)))
		result = bad_record(play, err);
	bool wanted = !result && kernel_wanted(play->sim, l->kernel_name);
	if (wanted && !only_takes(play->only, l->seq, l->kernel_name))
		return pass_launch_record(play, l, trace_in(play, pack), err);
	if (wanted && !play->take)
		return model_launch_record(play, l, trace_in(play, pack), err);
	if (wanted)
		result = play->take(play->take_ctx, l, trace_in(play, pack), err);
	release_launch(l);
	return result;
}

static void take_note(struct simulation *sim, const struct gs_pack *pack)
{
	uint64_t launches = strtoull(gs_pack_text(pack, "launches"), NULL, 10);
	for (uint64_t i = 0; i < launches && i < 1000000; i++)
		stats_add_not_modelled(&sim->stats, gs_pack_text(pack, "kernel"), gs_pack_text(pack, "reason"));
}

static void take_transfers(struct simulation *sim, const struct gs_pack *pack)
{
	unsigned kind;
	struct transfer_stats t;
	int skip;
	for (const char *at = gs_pack_text(pack, "transfers");
	     sscanf(at, "%u %" SCNu64 " %" SCNu64 " %n", &kind, &t.commands, &t.size_bytes, &skip) == 3; at += skip)
		if (kind < TRANSFER_KINDS)
			sim->stats.transfers[kind] = t;
}

static void take_host(struct run_host *h, const struct gs_pack *pack)
{
	snprintf(h->name, sizeof h->name, "%s", gs_pack_text(pack, "device"));
	snprintf(h->driver, sizeof h->driver, "%s", gs_pack_text(pack, "driver"));
	snprintf(h->platform, sizeof h->platform, "%s", gs_pack_text(pack, "platform"));
	snprintf(h->version, sizeof h->version, "%s", gs_pack_text(pack, "version"));
}

int replay_record(struct replay *play, const char *kind, const struct gs_pack *pack, struct gs_error *err)
{
	if (!strcmp(kind, "run") && !play->quiet && strcmp(gs_pack_text(pack, "version"), GPUSIM_CC_VERSION))
		log_warning("%s was recorded by another version, gpusim %.40s: if it cannot be read, record it again", path_of(play),
		            gs_pack_text(pack, "version"));
	if (!strcmp(kind, "program"))
		return take_program(play, pack, err);
	if (!strcmp(kind, "launch"))
		return take_launch(play, pack, err);
	if (!strcmp(kind, "note"))
		take_note(play->sim, pack);
	if (!strcmp(kind, "transfers"))
		take_transfers(play->sim, pack);
	if (!strcmp(kind, "calls") && play->calls)
		replay_calls_take(play->calls, pack);
	if (!strcmp(kind, "host"))
		take_host(&play->sim->host, pack);
	return 0;
}

void replay_reset(struct replay *play)
{
	estimates_free(play->estimates);
	for (size_t i = 0; i < play->program_count; i++)
		artifact_release(play->programs[i]);
	for (size_t i = 0; i < play->counter_sets; i++) {
		free(play->counters[i].words);
		gs_buf_free(&play->counters[i].trace);
	}
	free(play->programs);
	free(play->counters);
	*play = (struct replay){.sim = play->sim};
}

int replay_profile(struct replay *play, const char *path, bool partial, struct gs_error *err)
{
	struct profile_reader *reader;
	char kind[PROFILE_KIND_SIZE];
	struct gs_pack pack;
	int result = profile_open(path, &reader, err);
	if (result)
		return result;
	play->path = path;
	while ((result = profile_next(reader, kind, &pack, err)) > 0) {
		result = replay_record(play, kind, &pack, err);
		gs_pack_free(&pack);
		if (result)
			break;
	}
	if (play->estimates) {
		estimates_flush(play->estimates, false);
		commit_launches(play, 1);
		estimates_finish_advice(play->estimates);
		results_write();
	}
	progress_clear();
	profile_reader_free(reader);
	if (!result && play->only && !play->launches)
		return gs_fail(err, ENOENT, "--only %.100s: none of the %" PRIu64 " launches of %s", play->only, play->passed, path);
	if (result == -EBADMSG && partial && play->launches) {
		log_warning("%s; only what comes before it is modelled", err->text);
		result = 0;
	}
	return result;
}

/* ---- the command ---- */

static struct simulation simulation = SIMULATION_INIT;
static struct replay_calls calls;
static struct replay replay = {.sim = &simulation}; /* a variable, because signal handlers have no parameter for it */

/* A signal ends the command. What is modelled by then is reported. */
static void report_what_is_known(void)
{
	enum { PATIENCE_MS = 4000 };
	if (!report_lock_for_good(PATIENCE_MS))
		return;
	if (report_wanted(&simulation))
		log_warning("interrupted: the reports have the first %llu launches only", (unsigned long long)replay.launches);
	report_interrupted(&simulation);
}

/* The page is made by this command itself, which is what report_html looks for beside the library. */
static void name_this_command(struct simulation *sim)
{
	extern char **environ;
	ssize_t n = readlink("/proc/self/exe", sim->library, sizeof sim->library - 1);
	sim->library[n > 0 ? n : 0] = 0;
	sim->cc_environment = environ;
}

/* Reports with a timeline; or copies between GPUs whose links are given. */
static bool timeline_wanted(const struct simulation *sim)
{
	uint64_t formats = sim->options.report.number;
	return ((formats & (REPORT_JSON | REPORT_HTML | REPORT_TRACE)) && !(formats & REPORT_NONE)) || *sim->options.topology.text;
}

int cmd_replay(int argc, char **argv)
{
	const char *path = NULL;
	struct gs_error err;
	bool partial = false;
	cmd_options(&simulation.options);
	for (int i = 1; i < argc;) {
		int words = 1;
		int only = only_argument("replay", argc - i, argv + i, &replay.only);
		if (only)
			words = only;
		else if (!strcmp(argv[i], "--partial"))
			partial = true;
		else if (!strncmp(argv[i], "--", 2))
			words = cmd_take_flag(&simulation.options, "replay", argc - i, argv + i);
		else if (path)
			return cmd_fail("replay: one profile at a time, not '%s' too", argv[i]);
		else
			path = argv[i];
		if (words < 0)
			return EXIT_USAGE;
		i += words;
	}
	if (!path)
		return cmd_fail("replay: no profile given: gpusim replay FILE [OPTIONS]");
	if (cmd_check_gpus(&simulation.options, "replay"))
		return EXIT_USAGE;
	options_set(&simulation.options, options_find("RECORD"), "", "", &err);
	name_this_command(&simulation);
	load_targets(&simulation);
	choose_model(&simulation);
	cache_setup(simulation.options.cache_dir.text, simulation.options.cache_size.number);
	simulation.start_ns = clock_ns();
	signals_start(report_what_is_known);
	replay.calls = !replay.only && timeline_wanted(&simulation) ? &calls : NULL;
	if (replay_profile(&replay, path, partial, &err) || (replay.calls && replay_calls_finish(&calls, &simulation, path, &err)))
		return cmd_fail("replay: %s", err.text);
	report_finish(&simulation);
	return 0;
}
