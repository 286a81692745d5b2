/*
 * Launches that are alike are modelled once: the same counters of every work-item, shape, accesses and trace on
 * the same target give the same estimate. Only the worker thread comes here.
 */
#include "tracing.h"

#include <stdlib.h>
#include <string.h>

enum { MEMO_ENTRIES = 64 };

struct memo_entry {
	char key[33];
	struct estimate estimate;
};

struct memo {
	struct memo_entry entries[MEMO_ENTRIES];
};

void memo_key(const struct launch_result *r, char key[33])
{
	const struct launch *l = r->launch;
	struct {
		char counters[33], accesses[33], trace[33];
		uint64_t global[3], local[3], local_bytes;
	} all;
	memset(&all, 0, sizeof all);
	gs_hash_hex(l->buffer->words, launch_words(l) * sizeof *l->buffer->words, all.counters);
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

const struct estimate *memo_find(const struct artifact_kernel *k, size_t target, const char key[33])
{
	const struct memo_entry *e = k->memos[target] ? &k->memos[target]->entries[entry_of(key)] : NULL;
	return e && !strcmp(e->key, key) ? &e->estimate : NULL;
}

void memo_keep(struct artifact_kernel *k, size_t target, const char key[33], const struct estimate *estimate)
{
	if (!k->memos[target] && !(k->memos[target] = calloc(1, sizeof *k->memos[target])))
		return;
	struct memo_entry *e = &k->memos[target]->entries[entry_of(key)];
	memcpy(e->key, key, sizeof e->key);
	e->estimate = *estimate;
}
