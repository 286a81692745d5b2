/*
 * Launches that are alike are modelled once. Launches are alike if they have the same counters of every work-item, shape, accesses and
 * trace; on the same target they get the same estimate. Only the thread that models calls this.
 */
#include "runtime/model/memo.h"

#include "runtime/model/profile.h"
#include "runtime/model/trace_shapes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MEMO_ENTRIES = 64 };

struct memo_entry {
	char key[33];
	struct estimate estimate;
};

/* One piece of memory, so that whoever has it frees it. */
struct memo {
	struct memo_entry entries[MEMO_ENTRIES];
	size_t instruction_count;
	struct instruction_count instructions[]; /* instruction_count for each entry; none where no report wants them */
};

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

int memo_accesses(struct launch_result *r, const struct gpu *gpu, size_t target)
{
	struct known_accesses **at = &r->launch->facts->accesses[target];
	char key[33];
	int result = 0;
	accesses_key(&r->profile, key);
	if (!*at || !*key || strcmp((*at)->key, key))
		result = find_accesses(at, gpu, &r->profile, key);
	if (!result) {
		r->profile.accesses = (*at)->accesses;
		r->profile.unknown_accesses = (*at)->unknown;
	}
	return result;
}

void memo_key(const struct launch_result *r, char key[33])
{
	const struct launch_record *l = r->launch;
	struct {
		char counters[33], accesses[33], trace[33];
		uint64_t global[3], local[3], local_bytes;
	} all;
	memset(&all, 0, sizeof all);
	gs_hash_hex(l->counters, launch_words(l) * sizeof *l->counters, all.counters);
	gs_hash_hex(r->profile.accesses, r->profile.code->code_count * sizeof *r->profile.accesses, all.accesses);
	if (r->trace)
		memcpy(all.trace, r->trace->identity, sizeof all.trace);
	memcpy(all.global, r->profile.global, sizeof all.global);
	memcpy(all.local, r->profile.local, sizeof all.local);
	all.local_bytes = r->profile.local_bytes;
	gs_hash_hex(&all, sizeof all, key);
}

static size_t entry_of(const char key[33])
{
	return (size_t)((key[0] - '0') * 31 + key[1]) % MEMO_ENTRIES;
}

bool memo_find(struct launch_result *r, size_t target, const char key[33])
{
	const struct memo *m = r->launch->facts->memos[target];
	size_t at = entry_of(key);
	if (!m || strcmp(m->entries[at].key, key))
		return false;
	r->estimates[target] = m->entries[at].estimate;
	r->estimates[target].simulated_fraction = 0;
	if (r->instructions[target])
		memcpy(r->instructions[target], m->instructions + at * m->instruction_count,
		       m->instruction_count * sizeof *m->instructions);
	return true;
}

void memo_keep(const struct launch_result *r, size_t target, const char key[33])
{
	struct memo **memo = &r->launch->facts->memos[target], *m = *memo;
	size_t count = r->instructions[target] ? r->profile.code->code_count : 0, at = entry_of(key);
	if (!m && !(m = *memo = calloc(1, sizeof *m + MEMO_ENTRIES * count * sizeof *m->instructions)))
		return;
	m->instruction_count = count;
	memcpy(m->entries[at].key, key, sizeof m->entries[at].key);
	m->entries[at].estimate = r->estimates[target];
	if (count)
		memcpy(m->instructions + at * count, r->instructions[target], count * sizeof *m->instructions);
}
