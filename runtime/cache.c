/* The cache of cache.h. */
#include "cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[PATH_MAX - 128]; /* set once by cache_setup */
static uint64_t bound;

static const char *const kind_names[CACHE_KINDS] = {"results", "binaries", "wanted"};

void cache_setup(const char *directory, uint64_t bound_bytes)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	bound = bound_bytes;
	root[0] = 0;
	if (!bound_bytes)
		return;
	if (directory && *directory)
		snprintf(root, sizeof root, "%s", directory);
	else if (base && *base == '/')
		snprintf(root, sizeof root, "%s/gpusim", base);
	else if (home && *home == '/')
		snprintf(root, sizeof root, "%s/.cache/gpusim", home);
}

const char *cache_directory(void)
{
	return root;
}

static int entry_path(enum cache_kind kind, const char *key, char *path, struct gs_error *err)
{
	if (!root[0])
		return gs_fail(err, ENOENT, "there is no cache");
	snprintf(path, PATH_MAX, "%s/%s/%s", root, kind_names[kind], key);
	return 0;
}

struct entry {
	char name[96]; /* "results/KEY" */
	struct timespec used;
	uint64_t size_bytes;
};

struct entries {
	struct entry *list;
	size_t count, room;
	uint64_t size_bytes;
};

static void entries_add(struct entries *e, const char *name)
{
	char path[PATH_MAX];
	struct stat s;
	snprintf(path, sizeof path, "%s/%s", root, name);
	if (lstat(path, &s) || !S_ISREG(s.st_mode))
		return;
	if (e->count == e->room) {
		size_t room = e->room ? e->room * 2 : 64;
		struct entry *grown = realloc(e->list, room * sizeof *grown);
		if (!grown)
			return;
		e->list = grown;
		e->room = room;
	}
	struct entry *n = &e->list[e->count++];
	snprintf(n->name, sizeof n->name, "%s", name);
	n->used = s.st_mtim;
	n->size_bytes = (uint64_t)s.st_size;
	e->size_bytes += n->size_bytes;
}

static void entries_scan(struct entries *e)
{
	for (int kind = 0; kind < CACHE_KINDS && root[0]; kind++) {
		char folder[PATH_MAX];
		snprintf(folder, sizeof folder, "%s/%s", root, kind_names[kind]);
		DIR *d = opendir(folder);
		for (struct dirent *f; d && (f = readdir(d));) {
			char name[sizeof e->list->name];
			if (snprintf(name, sizeof name, "%s/%s", kind_names[kind], f->d_name) < (int)sizeof name)
				entries_add(e, name);
		}
		if (d)
			closedir(d);
	}
}

static int longest_unused_first(const void *a, const void *b)
{
	const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

struct cache_usage cache_usage(void)
{
	struct entries e = {0};
	entries_scan(&e);
	free(e.list);
	return (struct cache_usage){e.count, e.size_bytes};
}

void cache_trim(uint64_t bound_bytes)
{
	struct entries e = {0};
	entries_scan(&e);
	if (e.size_bytes > bound_bytes)
		qsort(e.list, e.count, sizeof *e.list, longest_unused_first);
	for (size_t i = 0; i < e.count && e.size_bytes > bound_bytes; i++) {
		char path[PATH_MAX];
		snprintf(path, sizeof path, "%s/%s", root, e.list[i].name);
		if (!unlink(path))
			e.size_bytes -= e.list[i].size_bytes;
	}
	free(e.list);
}

int cache_put_pack(enum cache_kind kind, const char *key, const struct gs_pack *pack, struct gs_error *err)
{
	char path[PATH_MAX];
	struct gs_buf bytes = {0};
	int result = entry_path(kind, key, path, err);
	if (result)
		return result;
	char *slash = strrchr(path, '/');
	*slash = 0;
	result = gs_make_dirs(path, 0777, err);
	*slash = '/';
	if (!result)
		result = gs_pack_encode(pack, &bytes, err);
	if (!result)
		result = gs_write_file(path, bytes.data, bytes.len, err);
	gs_buf_free(&bytes);
	if (!result)
		cache_trim(bound);
	return result;
}

int cache_get_pack(enum cache_kind kind, const char *key, struct gs_pack *pack, struct gs_error *err)
{
	char path[PATH_MAX];
	struct gs_buf bytes = {0};
	int result = entry_path(kind, key, path, err);
	if (result)
		return result;
	result = gs_read_file(path, &bytes, err);
	if (!result && (result = gs_pack_decode(pack, bytes.data, bytes.len, err))) {
		gs_pack_free(pack);
		unlink(path);
	}
	if (!result)
		utimensat(AT_FDCWD, path, NULL, 0);
	gs_buf_free(&bytes);
	return result;
}

void cache_remove(enum cache_kind kind, const char *key)
{
	char path[PATH_MAX];
	if (!entry_path(kind, key, path, NULL))
		unlink(path);
}

int cache_each(enum cache_kind kind, int (*visit)(const char *key, void *data), void *data)
{
	struct entries e = {0};
	size_t length = strlen(kind_names[kind]);
	int result = 0;
	entries_scan(&e);
	for (size_t i = 0; i < e.count && !result; i++)
		if (!strncmp(e.list[i].name, kind_names[kind], length) && e.list[i].name[length] == '/')
			result = visit(e.list[i].name + length + 1, data);
	free(e.list);
	return result;
}

bool cache_worth_keeping(const struct gs_pack *result)
{
	const char *failure = gs_pack_text(result, "failure");
	for (size_t i = 0; i < result->count; i++)
		if (!strcmp(result->sections[i].name, "target") && strstr(result->sections[i].data, "\nfailure "))
			return false;
	return !*failure || !strncmp(failure, "annotate:", 9);
}
