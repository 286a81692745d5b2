/*
 * Launches that are alike are modelled once. Launches are alike if they have the same counters of every work-item, shape, accesses and
 * trace, or, without one, arguments; on the same target they get the same estimate. The estimate may still be under way.
 */
#include "runtime/estimates/memo.h"

#include "runtime/estimates/job.h"
#include "runtime/model/profile.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_shapes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the last launch; most programs launch a kernel with the same arguments again and again. */
struct known_accesses {
	char key[33];
	uint32_t unknown;
	uint16_t accesses[]; /* per instruction of the code */
};

static void accesses_key(const struct launch_profile *p, char key[33])
{
	struct gs_buf all = {0};
	gs_buf_add(&all, p->local, sizeof p->local);
	gs_buf_add(&all, p->groups, sizeof p->groups);
	gs_buf_add(&all, p->argument_values, p->argument_count * sizeof *p->argument_values);
	gs_buf_add(&all, p->arguments_known, p->argument_count * sizeof *p->arguments_known);
	if (p->argument_bytes)
		gs_buf_add(&all, p->argument_bytes, p->argument_count * sizeof *p->argument_bytes);
	gs_hash_hex(all.data, all.len, key);
	if (all.failed)
		*key = 0;
	gs_buf_free(&all);
}

static int find_accesses(struct known_accesses **at, const struct gpu *gpu, const struct launch_profile *p, const char key[33])
{
	uint16_t *found = NULL;
	uint32_t unknown;
	int result = launch_accesses(gpu, p, &found, &unknown);
	size_t bytes = (p->code->code_count + 1) * sizeof *found;
	struct known_accesses *kept = result ? NULL : realloc(*at, sizeof *kept + bytes);
	if (kept) {
		*at = kept;
		memcpy(kept->accesses, found, bytes);
		memcpy(kept->key, key, sizeof kept->key);
		kept->unknown = unknown;
	}
	free(found);
	return !result && !kept ? -ENOMEM : result;
}

int memo_accesses(struct memo *m, struct launch_profile *p, const struct gpu *gpu)
{
	char key[33];
	int result = 0;
	accesses_key(p, key);
	if (!m->accesses || !*key || strcmp(m->accesses->key, key))
		result = find_accesses(&m->accesses, gpu, p, key);
	if (!result) {
		p->accesses = m->accesses->accesses;
		p->unknown_accesses = m->accesses->unknown;
	}
	return result;
}

/* Without a trace, addresses follow from the arguments and from what they point to. */
static void addresses_key(const struct launch_result *r, char key[33])
{
	if (r->trace)
		memcpy(key, r->trace->identity, sizeof r->trace->identity);
	else if (r->sim->model.hierarchy)
		accesses_key(&r->profile, key);
}

void memo_counters(const struct launch_record *l, char hash[33])
{
	gs_hash_hex(l->counters, launch_words(l) * sizeof *l->counters, hash);
}

void memo_key(const struct launch_result *r, const char counters[33], char key[33])
{
	struct {
		char counters[33], accesses[33], trace[33];
		uint64_t global[3], local[3], local_bytes, slots, places, code_before, parameters_before;
		struct memory_before memory_before;
	} all;
	memset(&all, 0, sizeof all);
	memcpy(all.counters, counters, sizeof all.counters);
	gs_hash_hex(r->profile.accesses, r->profile.code->code_count * sizeof *r->profile.accesses, all.accesses);
	addresses_key(r, all.trace);
	memcpy(all.global, r->profile.global, sizeof all.global);
	memcpy(all.local, r->profile.local, sizeof all.local);
	all.local_bytes = r->profile.local_bytes;
	all.slots = r->launch->slots;
	all.places = r->launch->places;
	all.code_before = r->profile.code_before;
	all.parameters_before = r->profile.parameters_before;
	memcpy(&all.memory_before, &r->profile.memory_before, sizeof all.memory_before);
	gs_hash_hex(&all, sizeof all, key);
}

static size_t entry_of(const char key[33])
{
	return (size_t)((key[0] - '0') * 31 + key[1]) % MEMO_ENTRIES;
}

struct estimate_job *memo_find(const struct memo *m, const char key[33])
{
	const struct memo_entry *e = &m->entries[entry_of(key)];
	return e->job && !strcmp(e->key, key) ? e->job : NULL;
}

void memo_keep(struct memo *m, const char key[33], struct estimate_job *job)
{
	struct memo_entry *e = &m->entries[entry_of(key)];
	job_unref(e->job);
	memcpy(e->key, key, sizeof e->key);
	e->job = job_ref(job);
}

void memo_clear(struct memo *m)
{
	for (size_t i = 0; i < MEMO_ENTRIES; i++)
		job_unref(m->entries[i].job);
	free(m->accesses);
	*m = (struct memo){0};
}
