/* Estimates in the cache on disk; see results.h. */
#include "runtime/estimates/kept/results.h"

#include "model_id.h" /* GPUSIM_MODEL_ID: a hash of the models' sources, made by the Makefile */
#include "runtime/config/cache.h"
#include "runtime/estimates/kept/estimate_bytes.h"
#include "runtime/format/protocol.h"
#include "runtime/model/simulation.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Of one file: what a program with many kernels keeps in memory, too. */
enum { MOST_ENTRIES = 512, MOST_BYTES = 4 << 20, KEY_LENGTH = 32 };

struct kept_result {
	char key[KEY_LENGTH + 1];
	char *bytes;
	size_t length;
};

struct results {
	struct results *next;
	char key[KEY_LENGTH + 1]; /* of the file */
	struct kept_result *entries;
	size_t count, room, size_bytes;
	bool read, is_new; /* from disk; something that is not there */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct results *all;

static void file_key(const struct simulation *sim, const struct launch_record *l, size_t target, char key[KEY_LENGTH + 1])
{
	static const char version[] = GPUSIM_CC_VERSION " " GPUSIM_MODEL_ID " " __VERSION__;
	const struct target *t = &sim->targets[target];
	const struct model_options *o = &sim->model;
	uint64_t options[] = {o->kind, o->exact, o->hierarchy, o->iterations, sizeof(struct estimate), l->cuda};
	struct gs_buf text = {0};
	gs_buf_add(&text, version, sizeof version);
	gs_buf_add(&text, &t->gpu, sizeof t->gpu); /* equal GPUs are equal bytes */
	gs_buf_add(&text, options, sizeof options);
	code_write(l->facts->code[t->arch], &text);
	gs_hash_hex(text.data, text.len, key);
	if (text.failed)
		*key = 0;
	gs_buf_free(&text);
}

struct results *results_of(const struct simulation *sim, const struct launch_record *l, size_t target)
{
	char key[KEY_LENGTH + 1];
	if (!cache_is_on())
		return NULL;
	file_key(sim, l, target, key);
	pthread_mutex_lock(&lock);
	struct results *r = *key ? all : NULL;
	while (r && strcmp(r->key, key))
		r = r->next;
	if (!r && *key && (r = calloc(1, sizeof *r))) {
		memcpy(r->key, key, sizeof r->key);
		r->next = all;
		all = r;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

/* ---- with the lock held ---- */

static struct kept_result *find_entry(const struct results *r, const char *key)
{
	for (size_t i = r->count; i--;)
		if (!strncmp(r->entries[i].key, key, KEY_LENGTH))
			return &r->entries[i];
	return NULL;
}

/* The oldest go while there are too many. */
static void drop_oldest(struct results *r)
{
	size_t drop = 0, bytes = r->size_bytes;
	while (r->count - drop > MOST_ENTRIES || (bytes > MOST_BYTES && drop < r->count))
		bytes -= r->entries[drop++].length;
	for (size_t i = 0; i < drop; i++)
		free(r->entries[i].bytes);
	memmove(r->entries, r->entries + drop, (r->count - drop) * sizeof *r->entries);
	r->count -= drop;
	r->size_bytes = bytes;
}

static bool add_entry(struct results *r, const char *key, const void *bytes, size_t length)
{
	struct kept_result e = {.length = length};
	if (!gs_reserve(&r->entries, r->count, &r->room, sizeof *r->entries) || !(e.bytes = malloc(length + 1)))
		return false;
	memcpy(e.key, key, KEY_LENGTH);
	memcpy(e.bytes, bytes, length);
	r->entries[r->count++] = e;
	r->size_bytes += length;
	return true;
}

/* Adds what is on disk and not here. */
static void read_file(struct results *r)
{
	struct gs_pack pack = {0};
	if (cache_get_pack(CACHE_ESTIMATES, r->key, &pack, NULL))
		return;
	for (size_t i = 0; i < pack.count; i++) {
		const struct gs_section *s = &pack.sections[i];
		if (s->len > KEY_LENGTH && !find_entry(r, s->data))
			add_entry(r, s->data, s->data + KEY_LENGTH, s->len - KEY_LENGTH);
	}
	gs_pack_free(&pack);
	drop_oldest(r);
}

static void read_once(struct results *r)
{
	if (!r->read)
		read_file(r);
	r->read = true;
}

/* Another process may have written meanwhile. What it has and we have not is taken for older than ours. */
static void write_file(struct results *r)
{
	struct results merged = {0};
	struct gs_pack pack = {0};
	memcpy(merged.key, r->key, sizeof merged.key);
	read_file(&merged);
	for (size_t i = 0; i < merged.count; i++)
		if (find_entry(r, merged.entries[i].key))
			merged.entries[i].length = 0;
	for (size_t i = 0; i < r->count; i++)
		add_entry(&merged, r->entries[i].key, r->entries[i].bytes, r->entries[i].length);
	merged.size_bytes = 0;
	for (size_t i = 0; i < merged.count; i++)
		merged.size_bytes += merged.entries[i].length;
	drop_oldest(&merged);
	for (size_t i = 0; i < merged.count; i++) {
		struct gs_buf text = {0};
		gs_buf_add(&text, merged.entries[i].key, KEY_LENGTH);
		gs_buf_add(&text, merged.entries[i].bytes, merged.entries[i].length);
		if (merged.entries[i].length && !text.failed)
			gs_pack_add(&pack, "estimate", text.data, text.len);
		gs_buf_free(&text);
		free(merged.entries[i].bytes);
	}
	free(merged.entries);
	if (!pack.failed)
		cache_put_pack(CACHE_ESTIMATES, r->key, &pack, NULL);
	gs_pack_free(&pack);
	r->is_new = false;
}

/* ---- */

bool results_find(struct results *r, const char key[33], const struct kernel_code *code, struct estimate *out,
                  struct instruction_count *instructions)
{
	pthread_mutex_lock(&lock);
	read_once(r);
	const struct kept_result *e = find_entry(r, key);
	bool found = e && estimate_read(e->bytes, e->length, code->file_count, out, instructions, code->code_count);
	pthread_mutex_unlock(&lock);
	return found;
}

void results_keep(struct results *r, const char key[33], const struct kernel_code *code, const struct estimate *e,
                  const struct instruction_count *instructions)
{
	struct gs_buf bytes = {0};
	if (!estimate_write(e, instructions, code->code_count, &bytes)) {
		gs_buf_free(&bytes);
		return;
	}
	pthread_mutex_lock(&lock);
	struct kept_result *before = find_entry(r, key);
	if (before) { /* without the instructions, or of no use */
		r->size_bytes -= before->length;
		free(before->bytes);
		memmove(before, before + 1, (size_t)(r->entries + r->count - before - 1) * sizeof *before);
		r->count--;
	}
	r->is_new |= add_entry(r, key, bytes.data, bytes.len);
	drop_oldest(r);
	pthread_mutex_unlock(&lock);
	gs_buf_free(&bytes);
}

void results_write(void)
{
	pthread_mutex_lock(&lock);
	for (struct results *r = all; r; r = r->next)
		if (r->is_new)
			write_file(r);
	pthread_mutex_unlock(&lock);
}
