/* The cache on disk; see cache.h. */
#include "runtime/config/cache.h"

#include "runtime/config/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_DOMAIN "cache"

enum { FOLDER_MODE = 0700, FILE_MODE = 0600, MOST_KEY = 80 };
static const uint64_t most_entry_bytes = UINT64_C(256) << 20;

static char root[PATH_MAX - 128]; /* set once by cache_setup */
static uint64_t bound;
static atomic_bool told; /* a message has said why there is no cache */

static const char *const kind_names[CACHE_KINDS] = {"results", "binaries", "wanted", "twins", "estimates", "built"};

void cache_setup(const char *directory, uint64_t bound_bytes)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	bound = bound_bytes;
	root[0] = 0;
	told = false;
	if (!bound_bytes)
		return;
	if (directory && *directory)
		snprintf(root, sizeof root, "%s", directory);
	else if (base && *base == '/')
		snprintf(root, sizeof root, "%s/gpusim", base);
	else if (home && *home == '/')
		snprintf(root, sizeof root, "%s/.cache/gpusim", home);
}

/* ---- private folders ---- */

/* Whether no other user can change what is in it. Only files of the effective user count: files of root may be wrong, too. */
static bool is_private(const struct stat *s)
{
	return s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH));
}

/* Where other users can write, each user has a folder of this name. */
static void private_name(char name[32])
{
	snprintf(name, 32, "user-%lu", (unsigned long)geteuid());
}

/* Opens a private folder in `parent`, and creates it if `make` says so. A link is an error. */
static int open_private(int parent, const char *name, bool make, struct gs_error *err)
{
	struct stat s;
	if (make && mkdirat(parent, name, FOLDER_MODE) < 0 && errno != EEXIST)
		return gs_fail(err, errno, "cannot make %s in %s: %s", name, root, strerror(errno));
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return gs_fail(err, errno, "cannot open %s in %s: %s", name, root, strerror(errno));
	if (!fstat(fd, &s) && is_private(&s))
		return fd;
	close(fd);
	return gs_fail(err, EPERM, "%s in %s is not this user's own, or others can write into it", name, root);
}

/* Opens the cache's folder: `root`, or the user's own folder in it where others can write. `root` may be a link; the folder
 * that it leads to is checked. */
static int open_root(bool make, struct gs_error *err)
{
	struct stat s;
	char name[32];
	if (!root[0])
		return gs_fail(err, ENOENT, "there is no cache");
	int result = make ? gs_make_dirs(root, FOLDER_MODE, err) : 0;
	if (result)
		return result;
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return gs_fail(err, errno, "cannot open %s: %s", root, strerror(errno));
	if (!fstat(fd, &s) && is_private(&s))
		return fd;
	private_name(name);
	result = open_private(fd, name, make, err);
	close(fd);
	return make && result < 0 ? -EPERM : result; /* the user named a directory that cannot be used: open_kind reports that */
}

static int open_kind(enum cache_kind kind, bool make, struct gs_error *err)
{
	struct gs_error own;
	int fd = -1, parent = open_root(make, &own);
	if (parent >= 0) {
		fd = open_private(parent, kind_names[kind], make, &own);
		close(parent);
	}
	int failure = parent < 0 ? parent : fd;
	if (failure == -EPERM || failure == -ELOOP || failure == -ENOTDIR)
		if (!atomic_exchange(&told, true))
			log_warning("nothing is cached: %s", own.text);
	return failure < 0 ? gs_fail(err, -failure, "%s", own.text) : fd;
}

bool cache_is_on(void)
{
	return root[0];
}

const char *cache_directory(void)
{
	static char path[PATH_MAX];
	char name[32];
	struct stat s;
	bool shared = root[0] && !stat(root, &s) && !is_private(&s);
	private_name(name);
	snprintf(path, sizeof path, "%s%s%s", root, shared ? "/" : "", shared ? name : "");
	return path;
}

/* ---- entries ---- */

static bool is_name(const char *key)
{
	return *key && *key != '.' && strlen(key) <= MOST_KEY && !strchr(key, '/');
}

static void remove_own(int folder, const char *name)
{
	struct stat s;
	if (!fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) && S_ISREG(s.st_mode) && s.st_uid == geteuid())
		unlinkat(folder, name, 0);
}

struct entry {
	char name[MOST_KEY + 16]; /* a key, perhaps with the ending of a file that is being written */
	enum cache_kind kind;
	struct timespec used;
	uint64_t size_bytes;
};

struct entries {
	struct entry *list;
	size_t count, room;
	uint64_t size_bytes;
};

static void entries_add(struct entries *e, int folder, enum cache_kind kind, const char *name)
{
	struct stat s;
	if (strlen(name) >= sizeof e->list->name || fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) || !S_ISREG(s.st_mode) ||
	    s.st_uid != geteuid())
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
	n->kind = kind;
	n->used = s.st_mtim;
	n->size_bytes = (uint64_t)s.st_size;
	e->size_bytes += n->size_bytes;
}

static void scan_kind(struct entries *e, enum cache_kind kind)
{
	int fd = open_kind(kind, false, NULL);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	for (struct dirent *f; d && (f = readdir(d));)
		entries_add(e, fd, kind, f->d_name);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

static void entries_scan(struct entries *e)
{
	for (int kind = 0; kind < CACHE_KINDS; kind++)
		scan_kind(e, (enum cache_kind)kind);
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
	int folders[CACHE_KINDS];
	entries_scan(&e);
	if (e.size_bytes > bound_bytes) {
		qsort(e.list, e.count, sizeof *e.list, longest_unused_first);
		for (int kind = 0; kind < CACHE_KINDS; kind++)
			folders[kind] = open_kind((enum cache_kind)kind, false, NULL);
		for (size_t i = 0; i < e.count && e.size_bytes > bound_bytes; i++)
			if (!unlinkat(folders[e.list[i].kind], e.list[i].name, 0))
				e.size_bytes -= e.list[i].size_bytes;
		for (int kind = 0; kind < CACHE_KINDS; kind++)
			if (folders[kind] >= 0)
				close(folders[kind]);
	}
	free(e.list);
}

/* ---- packs ---- */

/* The first section of an entry has its kind and key, so that one entry cannot stand in another's place. */
static const char label_name[] = "entry";

static void make_label(enum cache_kind kind, const char *key, char label[MOST_KEY + 16])
{
	snprintf(label, MOST_KEY + 16, "%s %s", kind_names[kind], key);
}

static int encode_entry(enum cache_kind kind, const char *key, const struct gs_pack *pack, struct gs_buf *out, struct gs_error *err)
{
	char label[MOST_KEY + 16];
	make_label(kind, key, label);
	struct gs_pack all = {.sections = calloc(pack->count + 1, sizeof *all.sections), .count = pack->count + 1, .failed = pack->failed};
	if (!all.sections)
		return gs_fail(err, ENOMEM, "out of memory");
	all.sections[0] = (struct gs_section){.name = (char *)label_name, .data = label, .len = strlen(label)};
	if (pack->count)
		memcpy(all.sections + 1, pack->sections, pack->count * sizeof *all.sections);
	int result = gs_pack_encode(&all, out, err);
	free(all.sections); /* the names and data belong to the caller */
	if (!result && out->len > most_entry_bytes)
		result = gs_fail(err, EFBIG, "%zu bytes are too many for an entry of the cache", out->len);
	return result;
}

static int decode_entry(enum cache_kind kind, const char *key, const struct gs_buf *bytes, struct gs_pack *pack, struct gs_error *err)
{
	char label[MOST_KEY + 16];
	make_label(kind, key, label);
	int result = gs_pack_decode(pack, bytes->data, bytes->len, err);
	if (result)
		return result;
	if (!pack->count || strcmp(pack->sections[0].name, label_name) || strcmp(pack->sections[0].data, label)) {
		gs_pack_free(pack);
		return gs_fail(err, EBADMSG, "an entry of the cache is another one's");
	}
	gs_pack_drop_first(pack);
	return 0;
}

int cache_put_pack(enum cache_kind kind, const char *key, const struct gs_pack *pack, struct gs_error *err)
{
	struct gs_buf bytes = {0};
	if (!is_name(key))
		return gs_fail(err, EINVAL, "not a key of the cache");
	int folder = open_kind(kind, true, err);
	if (folder < 0)
		return folder;
	int result = encode_entry(kind, key, pack, &bytes, err);
	if (!result)
		result = gs_write_file_at(folder, key, FILE_MODE, bytes.data, bytes.len, err);
	gs_buf_free(&bytes);
	close(folder);
	if (!result)
		cache_trim(bound);
	return result;
}

/* A file counts as missing unless it is a regular file of this user that no other user can write. Opening it never waits. The
 * file stays where it is. */
static int open_entry(int folder, const char *key, struct gs_error *err)
{
	struct stat s;
	int fd = gs_open_regular(folder, key, O_NOFOLLOW, err);
	if (fd >= 0 && (fstat(fd, &s) || !is_private(&s))) {
		close(fd);
		return gs_fail(err, EPERM, "an entry of the cache is not this user's own, or others can write into it");
	}
	return fd;
}

int cache_get_pack(enum cache_kind kind, const char *key, struct gs_pack *pack, struct gs_error *err)
{
	struct gs_buf bytes = {0};
	if (!is_name(key))
		return gs_fail(err, EINVAL, "not a key of the cache");
	int folder = open_kind(kind, false, err);
	if (folder < 0)
		return folder;
	int fd = open_entry(folder, key, err);
	int result = fd < 0 ? fd : gs_read_fd(fd, key, most_entry_bytes, &bytes, err);
	if (!result && (result = decode_entry(kind, key, &bytes, pack, err)) == -EBADMSG)
		remove_own(folder, key);
	if (!result)
		futimens(fd, NULL);
	if (fd >= 0)
		close(fd);
	close(folder);
	gs_buf_free(&bytes);
	return result;
}

void cache_remove(enum cache_kind kind, const char *key)
{
	int folder = is_name(key) ? open_kind(kind, false, NULL) : -1;
	if (folder < 0)
		return;
	remove_own(folder, key);
	close(folder);
}

int cache_each(enum cache_kind kind, int (*visit)(const char *key, void *data), void *data)
{
	struct entries e = {0};
	int result = 0;
	scan_kind(&e, kind);
	for (size_t i = 0; i < e.count && !result; i++)
		result = visit(e.list[i].name, data);
	free(e.list);
	return result;
}

bool cache_worth_keeping(const struct gs_pack *result)
{
	const char *failure = gs_pack_text(result, "failure");
	for (size_t i = 0; i < result->count; i++)
		if (!strcmp(result->sections[i].name, "target") && strstr(result->sections[i].data, "\nfailure "))
			return false;
	return !*failure || !strncmp(failure, "annotate:", 9) || !strncmp(failure, "no-ptx:", 7) || !strncmp(failure, "too-large:", 10);
}
