/*
 * The first-level cache of an SM: tags, and entries for lines that have been asked for.
 *
 *   load: all sectors there, a hit; those asked for already are waited for; the rest is asked for with a new entry
 *   store: written through; a line that is there is dropped or updated, as the design has it, or made
 *   write-back (local memory): a line that is there keeps it until it is replaced
 * Source: GATSim, II-E.3; Accel-Sim, IV. Allocation on miss holds the line while it is waited for, on fill does not.
 */
#include "models/memory/l1.h"

#include "models/memory/map.h"
#include "models/memory/tags.h"
#include "models/util/divide.h"
#include "models/util/hash.h"
#include "models/util/pool.h"

#include <stdlib.h>

enum { BUCKETS = 512 }; /* of a table of entries, about as many as L1 has (l1_mshrs). Changes the simulation's speed only */

struct l1_entry {
	uint64_t line;
	uint32_t sectors, tag; /* tag: of the line, or MEMORY_NONE if on fill */
	uint32_t waiters, last_waiter, count, chain;
};
struct l1_waiter {
	uint32_t who, next;
};
struct l1_cache {
	struct l1_config config;
	struct tag_store tags;
	struct l1_entry *entries;
	uint32_t free_entry;
	struct l1_waiter *waiters;
	struct pool waiter_pool;
	uint32_t buckets[BUCKETS];
	bool failed;
};

struct l1_cache *l1_new(const struct l1_config *config)
{
	struct l1_cache *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->config = *config;
	c->waiter_pool = (struct pool)POOL_EMPTY;
	c->entries = calloc(config->mshrs, sizeof *c->entries);
	if (!c->entries || tags_init(&c->tags, config->bytes / config->line_bytes, config->ways)) {
		l1_free(c);
		return NULL;
	}
	for (uint32_t i = 0; i < config->mshrs; i++)
		c->entries[i].chain = i + 1 < config->mshrs ? i + 1 : MEMORY_NONE;
	for (uint32_t i = 0; i < BUCKETS; i++)
		c->buckets[i] = MEMORY_NONE;
	return c;
}

void l1_free(struct l1_cache *c)
{
	if (!c)
		return;
	tags_free(&c->tags);
	free(c->entries);
	free(c->waiters);
	free(c);
}

bool l1_failed(const struct l1_cache *c)
{
	return c->failed;
}

static uint32_t *bucket_of(struct l1_cache *c, uint64_t line)
{
	return &c->buckets[hash_high(line) >> 55];
}

static uint32_t set_of(const struct l1_cache *c, uint64_t line)
{
	return memory_set(quotient(line, c->config.line_bytes), c->tags.sets, c->config.hash);
}

static void wait_for(struct l1_cache *c, struct l1_entry *e, uint32_t who)
{
	uint32_t n = pool_take(&c->waiter_pool, c->waiters, next);
	if (n == POOL_NONE) {
		c->failed = true;
		return;
	}
	c->waiters[n] = (struct l1_waiter){.who = who, .next = MEMORY_NONE};
	if (e->waiters == MEMORY_NONE)
		e->waiters = n;
	else
		c->waiters[e->last_waiter].next = n;
	e->last_waiter = n;
	e->count++;
}

/* Of the sectors, those that entries have asked for; false: one of these entries has no room. */
static bool find_asked(struct l1_cache *c, uint64_t line, uint32_t sectors, uint32_t *asked)
{
	*asked = 0;
	for (uint32_t n = *bucket_of(c, line); n != MEMORY_NONE; n = c->entries[n].chain) {
		struct l1_entry *e = &c->entries[n];
		if (e->line != line || !(e->sectors & sectors))
			continue;
		if (e->count >= c->config.merges)
			return false;
		*asked |= e->sectors & sectors;
	}
	return true;
}

static void join_entries(struct l1_cache *c, uint64_t line, uint32_t sectors, uint32_t who, uint32_t *waits)
{
	for (uint32_t n = *bucket_of(c, line); n != MEMORY_NONE; n = c->entries[n].chain) {
		struct l1_entry *e = &c->entries[n];
		if (e->line != line || !(e->sectors & sectors))
			continue;
		wait_for(c, e, who);
		++*waits;
	}
}

/* A line for `line`, what it held before being written back; MEMORY_NONE: all of its set wait. */
static uint32_t allocate(struct l1_cache *c, uint32_t set, uint64_t line, struct l1_request *ask)
{
	uint32_t tag = tags_victim(&c->tags, set);
	if (tag == MEMORY_NONE)
		return MEMORY_NONE;
	if (tags_line(&c->tags, tag)->dirty) {
		ask->evicted = tags_address(&c->tags, tag);
		ask->dirty = tags_line(&c->tags, tag)->dirty;
	}
	tags_replace(&c->tags, set, tag, line);
	return tag;
}

static bool ask_for(struct l1_cache *c, uint32_t set, uint64_t line, uint32_t tag, uint32_t sectors, uint32_t who,
                    struct l1_request *ask)
{
	if (c->free_entry == MEMORY_NONE)
		return false;
	bool keeps = c->tags.sets && !c->config.on_fill;
	if (keeps && tag == MEMORY_NONE && (tag = allocate(c, set, line, ask)) == MEMORY_NONE)
		return false;
	uint32_t n = c->free_entry, *bucket = bucket_of(c, line);
	c->free_entry = c->entries[n].chain;
	c->entries[n] = (struct l1_entry){.line = line, .sectors = sectors, .tag = keeps ? tag : MEMORY_NONE,
	                               .waiters = MEMORY_NONE, .chain = *bucket};
	*bucket = n;
	if (keeps)
		tags_line(&c->tags, tag)->pending |= sectors;
	wait_for(c, &c->entries[n], who);
	ask->entry = n;
	ask->sectors = sectors;
	return true;
}

enum l1_result l1_load(struct l1_cache *c, uint64_t line, uint32_t sectors, uint32_t who, uint32_t *waits,
                       struct l1_request *ask)
{
	uint32_t set = set_of(c, line), tag = tags_find(&c->tags, set, line), asked;
	uint32_t missing = sectors & ~(tag == MEMORY_NONE ? 0 : tags_line(&c->tags, tag)->valid);
	*ask = (struct l1_request){.entry = MEMORY_NONE};
	*waits = 0;
	if (!missing) {
		tags_touch(&c->tags, set, tag);
		return L1_HIT;
	}
	if (!find_asked(c, line, missing, &asked))
		return L1_FULL;
	if (missing & ~asked) {
		if (!ask_for(c, set, line, tag, missing & ~asked, who, ask))
			return L1_FULL;
		*waits = 1;
	}
	if (asked)
		join_entries(c, line, asked, who, waits);
	if (tag != MEMORY_NONE)
		tags_touch(&c->tags, set, tag);
	return L1_WAITS;
}

bool l1_touch(struct l1_cache *c, uint64_t line, uint32_t sectors)
{
	uint32_t set = set_of(c, line), tag = tags_find(&c->tags, set, line);
	struct l1_request ask = {0};
	bool was = tag != MEMORY_NONE && !(sectors & ~tags_line(&c->tags, tag)->valid);
	if (tag == MEMORY_NONE && c->tags.sets)
		tag = allocate(c, set, line, &ask);
	if (tag == MEMORY_NONE)
		return false;
	tags_line(&c->tags, tag)->valid |= sectors & ~tags_line(&c->tags, tag)->pending;
	tags_touch(&c->tags, set, tag);
	return was;
}

void l1_prefetch(const struct l1_cache *c, uint64_t line)
{
	tags_prefetch_address(&c->tags, line);
}

uint64_t l1_lines(const struct l1_cache *c)
{
	return (uint64_t)c->tags.sets * c->tags.ways;
}

bool l1_has(const struct l1_cache *c, uint64_t line, uint32_t sectors)
{
	uint32_t tag = tags_find(&c->tags, set_of(c, line), line);
	return tag != MEMORY_NONE && !(sectors & ~tags_line(&c->tags, tag)->valid);
}

static bool store_back(struct l1_cache *c, uint32_t set, uint32_t tag, uint32_t sectors, bool whole)
{
	struct tag_line *l = tags_line(&c->tags, tag);
	if (whole)
		l->valid |= sectors;
	l->dirty |= sectors;
	tags_touch(&c->tags, set, tag);
	return false;
}

/* A work-item reads no bytes of its local memory that it has not stored, so that a sector is there whose bytes are not all stored. */
static bool store_through(struct l1_cache *c, uint32_t set, uint32_t tag, uint32_t sectors)
{
	tags_line(&c->tags, tag)->valid |= sectors;
	tags_touch(&c->tags, set, tag);
	return true;
}

bool l1_store(struct l1_cache *c, uint64_t line, uint32_t sectors, bool whole, bool local)
{
	uint32_t set = set_of(c, line), tag = tags_find(&c->tags, set, line);
	bool makes = local ? !c->config.local_write_back : c->config.store_allocates > 1 || (c->config.store_allocates && whole);
	struct l1_request ask = {0};
	if (tag == MEMORY_NONE && makes)
		tag = allocate(c, set, line, &ask);
	if (tag == MEMORY_NONE)
		return true;
	if (local)
		return c->config.local_write_back ? store_back(c, set, tag, sectors, whole) : store_through(c, set, tag, sectors);
	struct tag_line *l = tags_line(&c->tags, tag);
	if (!c->config.store_evicts) {
		if (whole)
			l->valid |= sectors;
		tags_touch(&c->tags, set, tag);
	} else if (l->pending) {
		l->valid &= ~sectors;
	} else {
		tags_drop(&c->tags, set, tag);
	}
	return true;
}

void l1_forget(struct l1_cache *c)
{
	uint64_t lines = (uint64_t)c->tags.sets * c->tags.ways;
	for (uint64_t i = 0; i < lines; i++)
		if (tags_was_used(&c->tags, (uint32_t)i))
			tags_line(&c->tags, (uint32_t)i)->valid &= tags_line(&c->tags, (uint32_t)i)->dirty;
}

void l1_fill(struct l1_cache *c, uint32_t entry, l1_waiter_fn *on_waiter, void *ctx)
{
	struct l1_entry *e = &c->entries[entry];
	uint32_t *at = bucket_of(c, e->line), tag = e->tag, next;
	struct l1_request ask = {0};
	while (*at != entry)
		at = &c->entries[*at].chain;
	*at = e->chain;
	if (c->config.on_fill && c->tags.sets) {
		uint32_t set = set_of(c, e->line);
		tag = tags_find(&c->tags, set, e->line);
		if (tag == MEMORY_NONE)
			tag = allocate(c, set, e->line, &ask);
	}
	if (tag != MEMORY_NONE) {
		tags_line(&c->tags, tag)->valid |= e->sectors;
		tags_line(&c->tags, tag)->pending &= ~e->sectors;
	}
	for (uint32_t w = e->waiters; w != MEMORY_NONE; w = next) {
		next = c->waiters[w].next;
		on_waiter(ctx, c->waiters[w].who);
		pool_give(&c->waiter_pool, c->waiters, next, w);
	}
	e->chain = c->free_entry;
	c->free_entry = entry;
}
