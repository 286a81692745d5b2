/*
 * The cache on disk: packs by key, in folders by kind, under $GPUSIM_CACHE_DIR or $XDG_CACHE_HOME/gpusim.
 *
 * Files are written by rename, so that concurrent processes see whole ones; a damaged file counts as
 * missing. A hit renews the file's time, and when a store brings the sum over the bound, the files that were
 * not used for longest go first.
 *
 * What is in the cache is compiled and run in the application's process, so nobody else may have written it. Only folders and
 * regular files count that the effective user owns and that nobody else can write into; links are not followed. Where the
 * directory itself is somebody else's, or others can write into it, its folder user-UID takes its place. Without that there is
 * no cache, and one warning says why. An entry begins with a section "entry", its kind and key, and is good for no other.
 */
#ifndef GPUSIM_RUNTIME_CONFIG_CACHE_H
#define GPUSIM_RUNTIME_CONFIG_CACHE_H

#include "runtime/base/base.h"

enum cache_kind {
	CACHE_RESULTS,  /* what gpusim-cc made of a request */
	CACHE_BINARIES, /* the units behind a program's binary */
	CACHE_WANTED,   /* requests that no gpusim-cc answered, for `gpusim cache fill` on another machine */
	CACHE_TWINS,    /* twins that wrote other values than their kernels */
	CACHE_KINDS
};

/* Before any other call; `directory` may be empty for the default, `bound_bytes` 0 for no cache at all. */
void cache_setup(const char *directory, uint64_t bound_bytes);
const char *cache_directory(void); /* "" when there is none. Not for several threads at once. */
int cache_put_pack(enum cache_kind kind, const char *key, const struct gs_pack *pack, struct gs_error *err);
int cache_get_pack(enum cache_kind kind, const char *key, struct gs_pack *pack, struct gs_error *err);
void cache_remove(enum cache_kind kind, const char *key);
/* Calls `visit` with the key of each entry until it returns other than 0, and returns that. */
int cache_each(enum cache_kind kind, int (*visit)(const char *key, void *data), void *data);

/* Whether a result of gpusim-cc is true of its source: a clang that was missing or killed may be there next time, and so
 * may a header. Others are asked for again. */
bool cache_worth_keeping(const struct gs_pack *result);

struct cache_usage {
	uint64_t files, size_bytes;
};
struct cache_usage cache_usage(void);
/* Removes the oldest files until at most `bound_bytes` are left. */
void cache_trim(uint64_t bound_bytes);

#endif
