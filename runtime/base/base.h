/*
 * base: the small things every folder needs: errors, growing text, files, hashes, packs.
 *
 * The lowest layer. It includes nothing else of ours, keeps no state, prints nothing, ends nothing,
 * and is linked both into the guest's process and into our own commands.
 */
#ifndef GPUSIM_RUNTIME_BASE_BASE_H
#define GPUSIM_RUNTIME_BASE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GS_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define GS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* One clear sentence for the user; functions that take one return 0 or a negative errno value. */
struct gs_error {
	char text[512];
};

/* Fills *err (which may be NULL) and returns -code, so that callers write: return gs_fail(err, EINVAL, ...). */
int gs_fail(struct gs_error *err, int code, const char *fmt, ...) GS_PRINTF(3, 4);

/* Growing bytes, always followed by a NUL that is not counted. A failed allocation sets `failed` and
 * drops what does not fit, so that a long chain of appends is checked once at its end. */
struct gs_buf {
	char *data;
	size_t len, cap;
	bool failed;
};

void gs_buf_free(struct gs_buf *b);
void gs_buf_add(struct gs_buf *b, const void *data, size_t len);
void gs_buf_puts(struct gs_buf *b, const char *s);
void gs_buf_printf(struct gs_buf *b, const char *fmt, ...) GS_PRINTF(2, 3);
void gs_buf_vprintf(struct gs_buf *b, const char *fmt, va_list ap);
/* s as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void gs_buf_json(struct gs_buf *b, const char *s);
/* s as text of an HTML page, or of an attribute in quotes; bytes that are not UTF-8, and control characters, likewise. */
void gs_buf_html(struct gs_buf *b, const char *s);

/* Whole files of up to GS_MOST_FILE_BYTES. The caller frees *out with gs_buf_free. */
#define GS_MOST_FILE_BYTES (UINT64_C(1) << 30)
int gs_read_file(const char *path, struct gs_buf *out, struct gs_error *err);
/* What others choose the path of: a FIFO is not waited for, a device not read. */
int gs_read_regular_file(const char *path, struct gs_buf *out, struct gs_error *err);
/* A descriptor of a regular file for reading, or an error; `flags` are more flags of openat. */
int gs_open_regular(int folder, const char *path, int flags, struct gs_error *err);
/* The rest of an open file, if that is `most` bytes or less; `name` is for messages. */
int gs_read_fd(int fd, const char *name, uint64_t most, struct gs_buf *out, struct gs_error *err);
/* Writes to a temporary name beside `path` and renames it: readers see the old file or the new one. Who may read it, the umask
 * says. */
int gs_write_file(const char *path, const void *data, size_t len, struct gs_error *err);
/* The same in an open folder, with a mode. */
int gs_write_file_at(int folder, const char *path, unsigned mode, const void *data, size_t len, struct gs_error *err);
int gs_make_dirs(const char *path, unsigned mode, struct gs_error *err); /* like mkdir -p -m; the umask counts */

/* 64 bits of XXH3, for tables in memory. */
uint64_t gs_hash(const void *data, size_t len);
/* 128 bits of XXH3 as 32 hexadecimal digits. */
void gs_hash_hex(const void *data, size_t len, char hex[33]);

/* Levenshtein distance, at most `limit` + 1; for "did you mean". */
size_t gs_edit_distance(const char *a, const char *b, size_t limit);
/* The candidate (NULL-terminated list) nearest to `word`, or NULL when none is near. */
const char *gs_nearest(const char *word, const char *const *candidates);

/*
 * A pack is a sequence of named byte sections, what the guest and gpusim-cc say to each other and what
 * the cache keeps. On disk: "gpusim-pack 1\n", then per section "NAME LENGTH\n" + bytes + "\n", then
 * "end HASH\n" with the hash of everything before it. A name has no white space; names may repeat.
 */
struct gs_section {
	char *name;
	char *data; /* NUL-terminated; the NUL is not counted */
	size_t len;
};

struct gs_pack {
	struct gs_section *sections;
	size_t count;
	bool failed; /* an allocation failed while adding */
};

void gs_pack_add(struct gs_pack *p, const char *name, const void *data, size_t len);
void gs_pack_puts(struct gs_pack *p, const char *name, const char *text);
const struct gs_section *gs_pack_find(const struct gs_pack *p, const char *name); /* first, or NULL */
const char *gs_pack_text(const struct gs_pack *p, const char *name);              /* first, or "" */
void gs_pack_drop_first(struct gs_pack *p); /* the first section, if there is any */
void gs_pack_free(struct gs_pack *p);
int gs_pack_encode(const struct gs_pack *p, struct gs_buf *out, struct gs_error *err);
/* Adds to *p, which is empty after a failure. */
int gs_pack_decode(struct gs_pack *p, const void *data, size_t len, struct gs_error *err);

/* Room for one more than `count` elements in the array that *array_pointer points to, which grows by doubling and has room for *room.
 * False: out of memory, and nothing has changed. */
bool gs_reserve(void *array_pointer, size_t count, size_t *room, size_t size);

#endif
