/*
 * GPUSIM_RECORD: writes what the models need of a run into a profile (runtime/format/profile_file.h), for gpusim replay. Counters that are
 * equal to those of an earlier launch are not written again.
 */
#include "runtime/report/record.h"

#include "runtime/config/gpus.h"
#include "runtime/config/log.h"
#include "runtime/format/profile_file.h"
#include "runtime/format/protocol.h"
#include "runtime/model/profile.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/process/signals.h"
#include "runtime/report/file.h"
#include "runtime/timeline/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "record"

enum { KNOWN = 4096 };

static struct {
	pthread_mutex_t lock;
	struct report_file file;
	uint64_t size_bytes; /* of the file */
	uint64_t programs;
	struct {
		char hash[33];
		uint64_t seq;
	} *known; /* counters that are in the file, by their hash; a later one takes the place of an earlier */
	bool began, failed;
} rec = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = {.ending = "", .grows = true, .fd = -1}};

bool record_wanted(const struct simulation *sim)
{
	return *sim->options.record.text;
}

/* With the lock held. */
static void append_bytes(const struct gs_buf *bytes)
{
	if (bytes->failed || report_write(&rec.file, bytes->data, bytes->len, rec.size_bytes))
		rec.failed = true;
	else
		rec.size_bytes += bytes->len;
}

static void add_record(const char *kind, struct gs_pack *pack, struct gs_buf *bytes)
{
	struct gs_error err;
	if (profile_add(bytes, kind, pack, &err) && !rec.failed) {
		log_warning("the profile is not complete: %s", err.text);
		rec.failed = true;
	}
	gs_pack_free(pack);
}

static void begin_profile(const struct simulation *sim, struct gs_buf *bytes)
{
	struct gs_pack run = {0};
	struct gs_buf words = {0};
	rec.began = true;
	rec.file.prefix = sim->options.record.text;
	rec.known = calloc(KNOWN, sizeof *rec.known);
	profile_begin(bytes);
	gs_pack_puts(&run, "version", GPUSIM_CC_VERSION);
	if (!gs_read_file("/proc/self/cmdline", &words, NULL))
		gs_pack_add(&run, "command", words.data, words.len);
	gs_buf_free(&words);
	add_record("run", &run, bytes);
}

/* One record, after what every file begins with. */
static void write_record(const struct simulation *sim, const char *kind, struct gs_pack *pack)
{
	struct gs_buf bytes = {0};
	lock_for_report(&rec.lock);
	if (!rec.began)
		begin_profile(sim, &bytes);
	add_record(kind, pack, &bytes);
	if (!rec.failed)
		append_bytes(&bytes);
	unlock_for_report(&rec.lock);
	gs_buf_free(&bytes);
}

void record_program(const struct simulation *sim, struct artifact *a, const struct gs_pack *result)
{
	struct gs_pack pack = {0};
	char number[24];
	if (!record_wanted(sim) || !a)
		return;
	lock_for_report(&rec.lock);
	a->record_number = ++rec.programs;
	unlock_for_report(&rec.lock);
	snprintf(number, sizeof number, "%" PRIu64, a->record_number);
	gs_pack_puts(&pack, "number", number);
	for (size_t i = 0; i < result->count; i++)
		gs_pack_add(&pack, result->sections[i].name, result->sections[i].data, result->sections[i].len);
	write_record(sim, "program", &pack);
}

/* Whether an earlier launch had the same counters; else this one is what later ones are compared with. */
static bool is_known(const char hash[33], uint64_t seq, uint64_t *same)
{
	bool known = false;
	lock_for_report(&rec.lock);
	if (rec.known) {
		size_t at = strtoul((char[]){hash[0], hash[1], hash[2], 0}, NULL, 16) % KNOWN;
		known = !strcmp(rec.known[at].hash, hash);
		*same = rec.known[at].seq;
		if (!known) {
			memcpy(rec.known[at].hash, hash, sizeof rec.known[at].hash);
			rec.known[at].seq = seq;
		}
	}
	unlock_for_report(&rec.lock);
	return known;
}

static void add_facts(const struct launch_record *l, struct gs_buf *out)
{
	gs_buf_printf(out, "seq=%" PRIu64 "\nprogram=%" PRIu64 "\nkernel=%s\n", l->seq, l->artifact->record_number,
	              l->facts->name);
	if (strcmp(l->kernel_name, l->facts->name))
		gs_buf_printf(out, "title=%s\n", l->kernel_name);
	gs_buf_printf(out, "global=%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\nlocal=%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", l->global[0],
	              l->global[1], l->global[2], l->local[0], l->local[1], l->local[2]);
	gs_buf_printf(out, "local_bytes=%" PRIu64 "\nslots=%zu\nplaces=%zu\nmeasured_ns=%" PRIu64 "\n", l->local_bytes, l->slots,
	              l->places, l->measured_ns);
	if (l->cuda)
		gs_buf_puts(out, "cuda=1\n");
	if (l->managed)
		gs_buf_puts(out, "managed=1\n");
	if (l->spread)
		gs_buf_puts(out, "spread=1\n");
	if (l->unsized)
		gs_buf_puts(out, "unsized=1\n");
	for (size_t i = 0; i < l->argument_count; i++)
		gs_buf_printf(out, "argument=%d,%" PRIu64 "\n", l->arguments_known[i], l->argument_values[i]);
}

void record_launch(const struct simulation *sim, const struct launch_record *l, const struct kept_trace *trace)
{
	struct gs_pack pack = {0};
	struct gs_buf facts = {0};
	char hash[33];
	uint64_t same;
	size_t bytes = launch_words(l) * sizeof *l->counters;
	if (!record_wanted(sim) || !l->artifact->record_number)
		return;
	add_facts(l, &facts);
	gs_hash_hex(l->counters, bytes, hash);
	if (is_known(hash, l->seq, &same))
		gs_buf_printf(&facts, "counters_of=%" PRIu64 "\n", same);
	else
		gs_pack_add(&pack, "counters", l->counters, bytes);
	gs_pack_add(&pack, "facts", facts.data, facts.len);
	gs_buf_free(&facts);
	if (trace)
		gs_pack_add(&pack, "trace", trace->bytes, trace->length);
	gs_pack_add(&pack, "memory", l->argument_bytes, l->argument_count * sizeof *l->argument_bytes);
	if (l->argument_memory)
		gs_pack_add(&pack, "buffers", l->argument_memory, l->argument_count * sizeof *l->argument_memory);
	if (l->managed && l->argument_pages)
		gs_pack_add(&pack, "pages", l->argument_pages, l->argument_count * sizeof *l->argument_pages);
	write_record(sim, "launch", &pack);
}

static void record_notes(struct simulation *sim)
{
	pthread_mutex_lock(&sim->stats.lock);
	for (const struct not_modelled *n = sim->stats.not_modelled; n; n = n->next) {
		struct gs_pack pack = {0};
		char launches[24];
		snprintf(launches, sizeof launches, "%" PRIu64, n->launches);
		gs_pack_puts(&pack, "kernel", n->kernel);
		gs_pack_puts(&pack, "reason", n->reason);
		gs_pack_puts(&pack, "launches", launches);
		write_record(sim, "note", &pack);
	}
	pthread_mutex_unlock(&sim->stats.lock);
}

static void record_transfers(struct simulation *sim)
{
	struct gs_pack pack = {0};
	struct gs_buf lines = {0};
	pthread_mutex_lock(&sim->stats.lock);
	for (int k = 0; k < TRANSFER_KINDS; k++)
		gs_buf_printf(&lines, "%d %" PRIu64 " %" PRIu64 "\n", k, sim->stats.transfers[k].commands, sim->stats.transfers[k].size_bytes);
	pthread_mutex_unlock(&sim->stats.lock);
	gs_pack_add(&pack, "transfers", lines.data, lines.len);
	gs_buf_free(&lines);
	write_record(sim, "transfers", &pack);
}

static void record_host(struct simulation *sim)
{
	struct gs_pack pack = {0};
	pthread_mutex_lock(&sim->stats.lock);
	gs_pack_puts(&pack, "device", sim->host.name);
	gs_pack_puts(&pack, "driver", sim->host.driver);
	gs_pack_puts(&pack, "platform", sim->host.platform);
	gs_pack_puts(&pack, "version", sim->host.version);
	pthread_mutex_unlock(&sim->stats.lock);
	write_record(sim, "host", &pack);
}

static void record_calls(struct simulation *sim)
{
	struct gs_pack pack = {0};
	if ((sim->mpi.recorded || sim->timeline.started) && pack_calls(&sim->timeline, &sim->mpi, &pack))
		write_record(sim, "calls", &pack);
	else
		gs_pack_free(&pack);
}

void record_finish(struct simulation *sim)
{
	struct gs_buf bytes = {0};
	if (!record_wanted(sim))
		return;
	record_notes(sim);
	record_transfers(sim);
	record_host(sim);
	record_calls(sim);
	lock_for_report(&rec.lock);
	profile_end(&bytes);
	if (!rec.failed)
		append_bytes(&bytes);
	if (rec.failed)
		log_warning("%s is not complete", sim->options.record.text);
	rec.failed = true; /* nothing comes after the end */
	unlock_for_report(&rec.lock);
	gs_buf_free(&bytes);
}

/* So that a profile can be modelled on any GPU that we know, its programs are compiled for all of them. */
void record_all_targets(struct simulation *sim)
{
	char **names = record_wanted(sim) ? gpus_names() : NULL;
	for (char **n = names; n && *n; n++) {
		struct gpu gpu;
		struct gs_error err;
		if (sim->arch_count < MAX_TARGETS && !gpu_load(&gpu, *n, gpus_read, NULL, NULL, NULL, &err))
			target_arch(sim, &gpu);
		free(*n);
	}
	free(names);
}
