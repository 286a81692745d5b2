/* Packs, decodes and identifies the traces of launches. Decoded traces are kept for the launches that come next, which often need the same. */
#include "runtime/model/trace_decode.h"

#include "models/accesses/image.h"
#include "models/family.h"
#include "models/trace/read.h"
#include "runtime/config/log.h"
#include "runtime/format/traces.h"
#include "runtime/model/profile.h"
#include "runtime/model/simulation.h"

#include <pthread.h>
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

bool trace_keep_sizes(struct kept_trace *t, const void *sizes, size_t argument_count)
{
	t->argument_bytes = calloc(argument_count + 1, WORD);
	if (!t->argument_bytes)
		return false;
	memcpy(t->argument_bytes, sizes, argument_count * WORD);
	t->argument_count = argument_count;
	return true;
}

struct kept_trace *trace_from_bytes(const void *bytes, size_t length, const void *sizes, size_t argument_count)
{
	struct kept_trace *t = calloc(1, sizeof *t);
	uint64_t header[TRACE_CHUNK_HEADER_WORDS];
	if (!t)
		return NULL;
	t->bytes = malloc(length + 1);
	if (t->bytes && trace_keep_sizes(t, sizes, argument_count)) {
		memcpy(t->bytes, bytes, length);
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

/* ---- decoding ---- */

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
	memcpy(layout.groups, t->groups, sizeof layout.groups);
	memcpy(layout.local, t->local, sizeof layout.local);
	if (trace_read_packed(t->bytes, t->length, &layout, &out, &err))
		log_info("a trace cannot be read: %s", err.text);
	return out;
}

/* Of what was done by whom, to images of which shape; in which order the device took its chunks does not matter. */
static void identify_trace(const struct launch_trace *trace, char identity[33])
{
	struct gs_buf all = {0};
	struct image_shape shape;
	char hex[33];
	for (size_t i = 0; i < trace->argument_count; i++)
		if (image_shape_of(trace->argument_bytes[i], &shape))
			gs_buf_add(&all, &trace->argument_bytes[i], sizeof trace->argument_bytes[i]);
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

/* ---- decoded traces ---- */

struct decoded_trace {
	struct decoded_trace *next; /* in the order of their use, the latest first */
	unsigned users;
	char identity[33];
	struct artifact *artifact; /* whose sites it has */
	struct launch_trace *trace;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct decoded_trace *decoded;

static uint64_t room_for(const struct simulation *sim)
{
	return TRACE_DECODED_SHARE(sim->options.trace_memory.number) / 2; /* the other half is for the one that comes next */
}

/* With the lock held: the bytes of all, or of those in use. */
static uint64_t decoded_bytes(bool in_use)
{
	uint64_t sum = 0;
	for (const struct decoded_trace *d = decoded; d; d = d->next)
		sum += !in_use || d->users ? d->trace->size_bytes : 0;
	return sum;
}

/* With the lock held. Each keeps its program, too. */
static bool are_too_many(const struct simulation *sim)
{
	enum { MOST_DECODED = 16 };
	size_t count = 0;
	for (const struct decoded_trace *d = decoded; d; d = d->next)
		count++;
	return count >= MOST_DECODED || decoded_bytes(false) > room_for(sim);
}

/* With the lock held: takes the one of the longest unused out of the list. NULL: all are in use. */
static struct decoded_trace *take_unused(void)
{
	struct decoded_trace **unused = NULL, *d = NULL;
	for (struct decoded_trace **at = &decoded; *at; at = &(*at)->next)
		if (!(*at)->users)
			unused = at;
	if (unused) {
		d = *unused;
		*unused = d->next;
	}
	return d;
}

static void forget_trace(struct decoded_trace *d)
{
	trace_free(d->trace);
	artifact_release(d->artifact);
	free(d);
}

/* Before another one is decoded. */
static void make_room(const struct simulation *sim)
{
	for (struct decoded_trace *d;;) {
		pthread_mutex_lock(&lock);
		d = are_too_many(sim) ? take_unused() : NULL;
		pthread_mutex_unlock(&lock);
		if (!d)
			return;
		forget_trace(d); /* not with the lock held, because the artifact may go, too */
	}
}

bool trace_decode_has_room(const struct simulation *sim)
{
	pthread_mutex_lock(&lock);
	bool room = decoded_bytes(true) <= room_for(sim);
	pthread_mutex_unlock(&lock);
	return room;
}

/* Takes the trace over. The result is in use. */
static struct decoded_trace *keep_decoded(struct artifact *a, const char identity[33], struct launch_trace *trace)
{
	struct decoded_trace *d = trace ? calloc(1, sizeof *d) : NULL;
	if (!d) {
		trace_free(trace);
		return NULL;
	}
	d->users = 1;
	d->artifact = a;
	a->refs++;
	d->trace = trace;
	memcpy(d->identity, identity, sizeof d->identity);
	pthread_mutex_lock(&lock);
	d->next = decoded;
	decoded = d;
	pthread_mutex_unlock(&lock);
	return d;
}

static struct decoded_trace *find_decoded(const struct artifact *a, const char identity[33])
{
	pthread_mutex_lock(&lock);
	struct decoded_trace **at = &decoded, *d;
	while (*at && ((*at)->artifact != a || strcmp((*at)->identity, identity)))
		at = &(*at)->next;
	if ((d = *at)) {
		d->users++;
		*at = d->next;
		d->next = decoded;
		decoded = d;
	}
	pthread_mutex_unlock(&lock);
	return d;
}

struct decoded_trace *trace_decode(const struct simulation *sim, struct artifact *a, const struct kept_trace *t)
{
	struct decoded_trace *d = find_decoded(a, t->identity);
	if (d)
		return d;
	make_room(sim);
	return keep_decoded(a, t->identity, decode_trace(sim, a, t));
}

void decoded_trace_release(struct decoded_trace *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&lock);
	d->users--;
	pthread_mutex_unlock(&lock);
}

bool decoded_trace_part(const struct decoded_trace *d, uint64_t groups, struct launch_trace *out)
{
	*out = *d->trace;
	while (out->group_count && out->groups[out->group_count - 1].group >= groups) /* they are the last */
		out->group_count--;
	return out->group_count;
}

/* ---- a launch ---- */

/* Fills in what is known besides; false when there is nothing in it. */
static bool complete_trace(struct launch_result *r, struct kept_trace *t)
{
	struct artifact *a = r->launch->artifact;
	for (int d = 0; d < 3; d++) {
		t->groups[d] = r->profile.groups[d];
		t->local[d] = (uint32_t)r->profile.local[d];
	}
	make_room(r->sim);
	struct launch_trace *trace = decode_trace(r->sim, a, t);
	if (!trace)
		return false;
	identify_trace(trace, t->identity);
	t->traced_groups = trace->group_count;
	t->glance = trace_glance(trace);
	t->work.longest = profile_longest(r, trace);
	log_debug("%s: %zu groups traced in %zu chunks, %llu bytes, %llu accesses", r->launch->kernel_name, trace->group_count,
	          t->chunks, (unsigned long long)trace->size_bytes, (unsigned long long)trace->accesses);
	decoded_trace_release(keep_decoded(a, t->identity, trace));
	return t->traced_groups;
}

static bool same_local(const struct kept_trace *t, const struct launch_profile *p)
{
	return t->local[0] == p->local[0] && t->local[1] == p->local[1] && t->local[2] == p->local[2];
}

static bool same_groups(const struct kept_trace *t, const struct launch_profile *p)
{
	return t->groups[0] == p->groups[0] && t->groups[1] == p->groups[1] && t->groups[2] == p->groups[2];
}

/* Whether groups of the same linear id are at the same place of both grids, as far as both go. */
static bool same_rows(const struct kept_trace *t, const struct launch_profile *p)
{
	bool rows = p->groups[1] * p->groups[2] > 1 || t->groups[1] * t->groups[2] > 1, planes = p->groups[2] > 1 || t->groups[2] > 1;
	return (!rows || t->groups[0] == p->groups[0]) && (!planes || t->groups[1] == p->groups[1]);
}

void trace_of(struct launch_result *r)
{
	const struct launch_record *l = r->launch;
	struct kept_trace *t = r->brought;
	r->brought = NULL;
	const struct launch_work work = {r->profile.together, r->profile.longest, trace_arguments(l->argument_values, l->argument_count)};
	if (hangs_on_few(&r->profile))
		l->facts->even_launches = 0;
	bool own = t && complete_trace(r, t);
	if (own) { /* the groups that were traced need not be those that did most */
		double chunks = (double)t->chunks / (double)(t->traced_groups * t->local[0] * t->local[1] * t->local[2]);
		t->work.together = work.together;
		t->work.arguments = work.arguments;
		trace_took(l->facts, l->global, l->local, chunks);
		if (trace_misses(t, &work))
			trace_missed(l->facts, l->global, l->local, chunks);
	}
	if (own)
		trace_keep(r->sim, l->facts, l->global, l->local, t);
	else
		kept_trace_free(t);
	if (!l->local[0])
		trace_learn(l->facts, l->global, l->local, r->profile.local);
	r->trace = trace_find(l->facts, l->global, l->local, &work, own ? t : NULL);
	/* The driver chose otherwise, or the trace's groups are elsewhere. */
	if (r->trace && (!same_local(r->trace, &r->profile) || !same_rows(r->trace, &r->profile))) {
		trace_let_go(r->trace);
		r->trace = NULL;
	}
	r->profile.other_trace = r->trace && (!own || r->trace != t);
	r->profile.longest_missed = r->trace && trace_misses(r->trace, &work);
	r->profile.trace_apart = r->profile.other_trace ? trace_unlike(r->trace, &work) : 0;
	r->profile.other_work = r->profile.other_trace &&
	                        (r->profile.trace_apart > 0 || r->trace->work.arguments != work.arguments || !same_groups(r->trace, &r->profile));
	double groups = (double)(r->profile.groups[0] * r->profile.groups[1] * r->profile.groups[2]);
	if (r->trace)
		r->traced_fraction = (double)r->trace->traced_groups / groups;
	r->traced_fraction = r->traced_fraction < 1 ? r->traced_fraction : 1;
}
