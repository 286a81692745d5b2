/*
 * base: what every folder needs: errors, growing text, files, hashes, packs.
 *
 * This is the lowest layer. It includes no other folder of ours, keeps no state, prints nothing and never ends the process. It
 * is linked both into the guest (the application's process) and into our own commands.
 */
#ifndef GPUSIM_RUNTIME_BASE_BASE_H
#define GPUSIM_RUNTIME_BASE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GS_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define GS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* One clear sentence for the user. A function that takes a gs_error returns 0 or a negative errno value. */
struct gs_error {
	char text[512];
};

/* Fills *err (which may be NULL) and returns -code, so that callers write: return gs_fail(err, EINVAL, ...). */
int gs_fail(struct gs_error *err, int code, const char *fmt, ...) GS_PRINTF(3, 4);

/* Growing bytes. A NUL always follows them and is not counted. A failed allocation sets `failed` and drops what does not fit,
 * so that one check after a long chain of appends is enough. */
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
/* Appends s as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void gs_buf_json(struct gs_buf *b, const char *s);
/* Appends s as text of an HTML page, or of an attribute in quotes. Bytes that are not UTF-8, and control characters, become
 * U+FFFD. */
void gs_buf_html(struct gs_buf *b, const char *s);

/* Reads a whole file of up to GS_MOST_FILE_BYTES. The caller frees *out with gs_buf_free. */
#define GS_MOST_FILE_BYTES (UINT64_C(1) << 30)
int gs_read_file(const char *path, struct gs_buf *out, struct gs_error *err);
/* For paths that others choose: it does not wait for a FIFO, and does not read a device. */
int gs_read_regular_file(const char *path, struct gs_buf *out, struct gs_error *err);
/* A descriptor of a regular file for reading, or an error. `flags` are more flags for openat. */
int gs_open_regular(int folder, const char *path, int flags, struct gs_error *err);
/* Reads the rest of an open file, if that is `most` bytes or less. `name` is for messages. */
int gs_read_fd(int fd, const char *name, uint64_t most, struct gs_buf *out, struct gs_error *err);
/* Something that must not be replaced by a file: a device such as /dev/null, a pipe, a socket. */
bool gs_is_special(const char *path);
/* Writes a temporary file beside `path` and renames it, so that readers see the old file or the new one. The umask decides who
 * may read it. What is special is written into. */
int gs_write_file(const char *path, const void *data, size_t len, struct gs_error *err);
/* The same in an open folder, with a mode; whatever is there is replaced. */
int gs_write_file_at(int folder, const char *path, unsigned mode, const void *data, size_t len, struct gs_error *err);
int gs_make_dirs(const char *path, unsigned mode, struct gs_error *err); /* like mkdir -p -m; the umask applies */

/* A hash of 64 bits (XXH3), for tables in memory. */
uint64_t gs_hash(const void *data, size_t len);
/* A hash of 128 bits (XXH3), as 32 hexadecimal digits. */
void gs_hash_hex(const void *data, size_t len, char hex[33]);

/* Levenshtein distance, at most `limit` + 1. For messages that say "did you mean". */
size_t gs_edit_distance(const char *a, const char *b, size_t limit);
/* The candidate (of a NULL-terminated list) nearest to `word`, or NULL when none is near. */
const char *gs_nearest(const char *word, const char *const *candidates);

/*
 * A pack is a sequence of named byte sections. The guest and gpusim-cc exchange packs, and the cache keeps them. On disk:
 * "gpusim-pack 1\n", then for each section "NAME LENGTH\n" + bytes + "\n", then "end HASH\n" with the hash of everything before
 * it. A name has no white space. Several sections may have the same name.
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
const struct gs_section *gs_pack_find(const struct gs_pack *p, const char *name); /* the first of that name, or NULL */
const char *gs_pack_text(const struct gs_pack *p, const char *name);              /* the first of that name, or "" */
void gs_pack_drop_first(struct gs_pack *p); /* does nothing to an empty pack */
void gs_pack_free(struct gs_pack *p);
int gs_pack_encode(const struct gs_pack *p, struct gs_buf *out, struct gs_error *err);
/* Adds to *p. After a failure *p is empty. */
int gs_pack_decode(struct gs_pack *p, const void *data, size_t len, struct gs_error *err);

/* Makes room for one more than `count` elements in the array that *array_pointer points to. The array has room for *room and
 * grows by doubling. Returns false when out of memory; nothing has changed then. */
bool gs_reserve(void *array_pointer, size_t count, size_t *room, size_t size);

#endif
