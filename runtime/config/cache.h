/*
 * The cache on disk. It keeps packs by key, in one folder for each kind, under $GPUSIM_CACHE_DIR or $XDG_CACHE_HOME/gpusim.
 *
 * A file is written under another name and renamed, so that other processes see whole files only. A damaged file counts as
 * missing. Each use of a file renews its time. When a new file makes the cache larger than its bound, the files that were not
 * used for longest are removed first.
 *
 * The contents are compiled and run in the application's process, so no other user may have written them. Folders and regular
 * files count only if the effective user owns them and no other user can write to them. Links are not followed. If the
 * directory itself belongs to another user, or others can write into it, its folder user-UID is used instead. Where that is not
 * possible either, there is no cache, and one warning says why. An entry begins with a section "entry" that has its kind and
 * key. It is valid for these only.
 */
#ifndef GPUSIM_RUNTIME_CONFIG_CACHE_H
#define GPUSIM_RUNTIME_CONFIG_CACHE_H

#include "runtime/base/base.h"

enum cache_kind {
	CACHE_RESULTS,  /* what gpusim-cc made of a request */
	CACHE_BINARIES, /* the units that a program's binary was built from */
	CACHE_WANTED,   /* requests that no gpusim-cc answered, for `gpusim cache fill` on another machine */
	CACHE_TWINS,    /* twins that wrote other values than their kernels did, or are long; what it took to build lifted kernels */
	CACHE_ESTIMATES, /* of launches that were simulated */
	CACHE_BUILT, /* what the driver made of texts of ours */
	CACHE_KINDS
};

/* Must be called before any other function here. `directory` may be empty for the default. `bound_bytes` 0 means no cache at
 * all. */
void cache_setup(const char *directory, uint64_t bound_bytes);
bool cache_is_on(void);
const char *cache_directory(void); /* "" when there is none. Only one thread at a time may call it. */
int cache_put_pack(enum cache_kind kind, const char *key, const struct gs_pack *pack, struct gs_error *err);
int cache_get_pack(enum cache_kind kind, const char *key, struct gs_pack *pack, struct gs_error *err);
void cache_remove(enum cache_kind kind, const char *key);
/* Calls `visit` with the key of each entry until it returns something other than 0, and returns that. */
int cache_each(enum cache_kind kind, int (*visit)(const char *key, void *data), void *data);

/* Whether a result of gpusim-cc would be the same next time. A failure may not be: a clang or a header that was missing may be
 * there, and a clang that was killed may succeed. Such requests are made again. */
bool cache_worth_keeping(const struct gs_pack *result);

struct cache_usage {
	uint64_t files, size_bytes;
};
struct cache_usage cache_usage(void);
/* Removes the oldest files until at most `bound_bytes` are left. */
void cache_trim(uint64_t bound_bytes);

#endif
