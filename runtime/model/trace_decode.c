/* Packs, decodes and identifies the traces of launches. Only the thread that models calls this, except for trace_pack. */
#include "runtime/model/trace_decode.h"

#include "models/trace/read.h"
#include "runtime/config/log.h"
#include "runtime/format/traces.h"
#include "runtime/model/simulation.h"

#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "trace"


enum {
	WORD = sizeof(uint64_t),
	CHUNK_WORDS = TRACE_CHUNK_BYTES / WORD,
	CHUNK_HEADER = TRACE_CHUNK_HEADER_WORDS * WORD,
	CHUNK_ROOM = TRACE_CHUNK_BYTES - CHUNK_HEADER,
};

/* ---- short and long ---- */

static size_t bytes_used(const uint64_t *chunk)
{
	uint32_t used = (uint32_t)chunk[2];
	return used < CHUNK_ROOM ? used : CHUNK_ROOM;
}

struct kept_trace *trace_pack(const uint64_t *words, size_t chunks)
{
	struct kept_trace *t = calloc(1, sizeof *t);
	const uint64_t *chunk = words + TRACE_HEADER_WORDS;
	size_t length = 0;
	for (size_t i = 0; i < chunks; i++)
		length += bytes_used(chunk + i * CHUNK_WORDS) ? CHUNK_HEADER + bytes_used(chunk + i * CHUNK_WORDS) : 0;
	if (!t || !(t->bytes = malloc(length + 1))) {
		free(t);
		return NULL;
	}
	for (size_t i = 0; i < chunks; i++, chunk += CHUNK_WORDS) {
		size_t used = bytes_used(chunk);
		if (!used) { /* counted, but past what its box was given (traced.c) */
			t->cut = true;
			continue;
		}
		memcpy(t->bytes + t->length, chunk, CHUNK_HEADER + used);
		t->length += CHUNK_HEADER + used;
		t->chunks++;
		t->cut |= chunk[2] >> 32 & 1;
	}
	return t;
}

struct kept_trace *trace_from_bytes(const void *bytes, size_t length, const void *sizes, size_t argument_count)
{
	struct kept_trace *t = calloc(1, sizeof *t);
	uint64_t header[TRACE_CHUNK_HEADER_WORDS];
	if (!t)
		return NULL;
	t->bytes = malloc(length + 1);
	t->argument_bytes = calloc(argument_count + 1, WORD);
	if (t->bytes && t->argument_bytes) {
		memcpy(t->bytes, bytes, length);
		memcpy(t->argument_bytes, sizes, argument_count * WORD);
		t->argument_count = argument_count;
		for (; length - t->length >= CHUNK_HEADER; t->chunks++) {
			memcpy(header, t->bytes + t->length, CHUNK_HEADER);
			if ((uint32_t)header[2] > CHUNK_ROOM || length - t->length - CHUNK_HEADER < bytes_used(header))
				break;
			t->length += CHUNK_HEADER + bytes_used(header);
		}
		if (t->length == length)
			return t;
	}
	kept_trace_free(t);
	return NULL;
}

/* As the device wrote it, less the chunks that nobody used. */
static uint64_t *unpack(const struct kept_trace *t, size_t *word_count)
{
	*word_count = TRACE_HEADER_WORDS + t->chunks * CHUNK_WORDS;
	uint64_t *words = calloc(*word_count, WORD), *chunk = words + TRACE_HEADER_WORDS;
	if (!words)
		return NULL;
	words[0] = t->chunks;
	for (size_t at = 0; at < t->length; chunk += CHUNK_WORDS) {
		memcpy(chunk, t->bytes + at, CHUNK_HEADER);
		memcpy(chunk + TRACE_CHUNK_HEADER_WORDS, t->bytes + at + CHUNK_HEADER, bytes_used(chunk));
		at += CHUNK_HEADER + bytes_used(chunk);
	}
	return words;
}

/* ---- decoding ---- */

static struct {
	char identity[33]; /* "": of none */
	struct artifact *artifact; /* whose sites it has */
	struct launch_trace *trace;
	struct launch_trace part; /* of it: see trace_decoded */
} latest;

static void forget_latest(void)
{
	trace_free(latest.trace);
	artifact_release(latest.artifact);
	memset(&latest, 0, sizeof latest);
}

static struct launch_trace *decode_trace(const struct simulation *sim, const struct artifact *a, const struct kept_trace *t)
{
	struct trace_layout layout = {
		.sites = a->sites,
		.site_count = (uint32_t)a->site_count,
		.block_count = (uint32_t)a->block_count,
		.argument_bytes = t->argument_bytes,
		.argument_count = t->argument_count,
		.most_bytes = TRACE_DECODED_SHARE(sim->options.trace_memory.number),
	};
	struct launch_trace *out = NULL;
	struct gs_error err = {"out of memory"};
	size_t word_count;
	memcpy(layout.groups, t->groups, sizeof layout.groups);
	memcpy(layout.local, t->local, sizeof layout.local);
	uint64_t *words = unpack(t, &word_count);
	if (!words || trace_read(words, word_count, &layout, &out, &err))
		log_info("a trace cannot be read: %s", err.text);
	free(words);
	return out;
}

/* Of what was done by whom; in which order the device took its chunks does not matter. */
static void identify_trace(const struct launch_trace *trace, char identity[33])
{
	struct gs_buf all = {0};
	char hex[33];
	for (size_t g = 0; g < trace->group_count; g++) {
		const struct traced_group *group = &trace->groups[g];
		gs_buf_add(&all, &group->group, sizeof group->group);
		for (uint32_t i = 0; i < group->lane_count; i++) {
			gs_hash_hex(group->lanes[i].events, group->lanes[i].count * sizeof *group->lanes[i].events, hex);
			gs_buf_add(&all, hex, sizeof hex);
			if (!group->lanes[i].gap_count)
				continue;
			gs_hash_hex(group->lanes[i].gaps, group->lanes[i].gap_count * sizeof *group->lanes[i].gaps, hex);
			gs_buf_add(&all, hex, sizeof hex);
		}
	}
	gs_hash_hex(all.data, all.len, identity);
	gs_buf_free(&all);
}

static void keep_as_latest(struct artifact *a, const struct kept_trace *t, struct launch_trace *trace)
{
	a->refs++; /* before the one that goes, which may be the same */
	forget_latest();
	latest.artifact = a;
	latest.trace = trace;
	memcpy(latest.identity, t->identity, sizeof latest.identity);
}

/* The trace of a launch with other sizes may have groups that this one has not; they are the last. */
static const struct launch_trace *those_of(const struct launch_result *r, const struct launch_trace *t)
{
	uint64_t groups = r->profile.groups[0] * r->profile.groups[1] * r->profile.groups[2];
	latest.part = *t;
	while (latest.part.group_count && latest.part.groups[latest.part.group_count - 1].group >= groups)
		latest.part.group_count--;
	return latest.part.group_count ? &latest.part : NULL;
}

const struct launch_trace *trace_decoded(const struct launch_result *r)
{
	struct artifact *a = r->launch->artifact;
	if (!latest.trace || latest.artifact != a || strcmp(latest.identity, r->trace->identity)) {
		forget_latest();
		struct launch_trace *trace = decode_trace(r->sim, a, r->trace);
		if (!trace)
			return NULL;
		keep_as_latest(a, r->trace, trace);
	}
	return those_of(r, latest.trace);
}

/* ---- a launch ---- */

/* Fills in what is known besides; false when there is nothing in it. */
static bool complete_trace(const struct launch_result *r, struct kept_trace *t)
{
	struct artifact *a = r->launch->artifact;
	for (int d = 0; d < 3; d++) {
		t->groups[d] = r->profile.groups[d];
		t->local[d] = (uint32_t)r->profile.local[d];
	}
	forget_latest(); /* not both at once */
	struct launch_trace *trace = decode_trace(r->sim, a, t);
	if (!trace)
		return false;
	identify_trace(trace, t->identity);
	t->traced_groups = trace->group_count;
	keep_as_latest(a, t, trace);
	log_debug("%s: %zu groups traced in %zu chunks, %llu bytes, %llu accesses", r->launch->kernel_name, trace->group_count,
	          t->chunks, (unsigned long long)trace->size_bytes, (unsigned long long)trace->accesses);
	return trace->group_count;
}

static bool same_local(const struct kept_trace *t, const struct launch_profile *p)
{
	return t->local[0] == p->local[0] && t->local[1] == p->local[1] && t->local[2] == p->local[2];
}

void trace_of(struct launch_result *r)
{
	const struct launch_record *l = r->launch;
	struct kept_trace *t = r->brought;
	r->brought = NULL;
	if (t && complete_trace(r, t))
		trace_keep(r->sim, l->facts, l->global, l->local, t);
	else
		kept_trace_free(t);
	if (!l->local[0])
		trace_learn(l->facts, l->global, l->local, r->profile.local);
	r->trace = trace_find(l->facts, l->global, l->local);
	if (r->trace && !same_local(r->trace, &r->profile))
		r->trace = NULL; /* the driver chose otherwise */
	double groups = (double)(r->profile.groups[0] * r->profile.groups[1] * r->profile.groups[2]);
	if (r->trace)
		r->traced_fraction = (double)r->trace->traced_groups / groups;
	r->traced_fraction = r->traced_fraction < 1 ? r->traced_fraction : 1;
}
