/* Profiles on disk: records, each a compressed pack. */
#include "runtime/format/profile_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const struct record_format profile_format = {"gpusim-profile", "a profile of gpusim"};
const struct record_format cache_format = {"gpusim-cache", "a cache file of gpusim"};

enum { LEVEL = 1, MOST_HEADER = 128 };
static const uint64_t most_bytes = PROFILE_MOST_TRACE / 2 * 3; /* of one unpacked record: a damaged file must not take all memory */

/* ---- writing ---- */

void records_begin(struct gs_buf *out, const struct record_format *format)
{
	gs_buf_printf(out, "%s 1\n", format->name);
}

void profile_begin(struct gs_buf *out)
{
	records_begin(out, &profile_format);
}

static void add_record(struct gs_buf *out, const char *kind, size_t raw, const void *stored, size_t length)
{
	char hash[33];
	gs_hash_hex(stored, length, hash);
	gs_buf_printf(out, "%s %zu %zu %s\n", kind, raw, length, hash);
	gs_buf_add(out, stored, length);
	gs_buf_puts(out, "\n");
}

int profile_add(struct gs_buf *out, const char *kind, const struct gs_pack *pack, struct gs_error *err)
{
	struct gs_buf raw = {0};
	int result = gs_pack_encode(pack, &raw, err);
	if (!result && raw.len > most_bytes)
		result = gs_fail(err, EFBIG, "a record of %zu bytes is too large for the file", raw.len);
	size_t room = ZSTD_compressBound(raw.len);
	char *stored = result ? NULL : malloc(room);
	if (!result && !stored)
		result = gs_fail(err, ENOMEM, "out of memory");
	size_t length = result ? 0 : ZSTD_compress(stored, room, raw.data, raw.len, LEVEL);
	if (!result && ZSTD_isError(length))
		result = gs_fail(err, EIO, "a record cannot be compressed: %s", ZSTD_getErrorName(length));
	if (!result)
		add_record(out, kind, raw.len, stored, length);
	free(stored);
	gs_buf_free(&raw);
	return !result && out->failed ? gs_fail(err, ENOMEM, "out of memory") : result;
}

void profile_end(struct gs_buf *out)
{
	add_record(out, "end", 0, "", 0);
}

/* ---- reading ---- */

struct profile_reader {
	FILE *file;
	char *path;
	uint64_t records;
	bool ended;
};

void profile_reader_free(struct profile_reader *r)
{
	if (!r)
		return;
	if (r->file)
		fclose(r->file);
	free(r->path);
	free(r);
}

int records_open(const char *path, const struct record_format *format, struct profile_reader **out, struct gs_error *err)
{
	char line[MOST_HEADER] = "";
	size_t length = strlen(format->name);
	struct profile_reader *r = calloc(1, sizeof *r);
	int result = 0;
	if (!r || !(r->path = strdup(path)))
		result = gs_fail(err, ENOMEM, "out of memory");
	else if (!(r->file = fopen(path, "rbe")))
		result = gs_fail(err, errno, "cannot read %s: %s", path, strerror(errno));
	else if (!fgets(line, sizeof line, r->file) || strncmp(line, format->name, length) || line[length] != ' ')
		result = gs_fail(err, EINVAL, "%s is not %s", path, format->what);
	else if (strcmp(line + length, " 1\n"))
		result = gs_fail(err, EINVAL, "%s is %s of another version", path, format->what);
	if (result)
		profile_reader_free(r);
	else
		*out = r;
	return result;
}

int profile_open(const char *path, struct profile_reader **out, struct gs_error *err)
{
	return records_open(path, &profile_format, out, err);
}

static int damaged(const struct profile_reader *r, const char *what, struct gs_error *err)
{
	return gs_fail(err, EBADMSG, "%s %s after %" PRIu64 " records", r->path, what, r->records);
}

struct record {
	char kind[PROFILE_KIND_SIZE], hash[33];
	uint64_t raw, length;
};

/* Returns 1 or an error. */
static int read_header(struct profile_reader *r, struct record *out, struct gs_error *err)
{
	char line[MOST_HEADER], newline = 0;
	if (!fgets(line, sizeof line, r->file))
		return damaged(r, "ends early, perhaps because its program was killed,", err);
	if (!strchr(line, '\n') && feof(r->file))
		return damaged(r, "ends early", err);
	if (sscanf(line, "%15[a-z] %" SCNu64 " %" SCNu64 " %32[0-9a-f]%c", out->kind, &out->raw, &out->length, out->hash,
	           &newline) != 5 || newline != '\n')
		return damaged(r, "is damaged", err);
	if (out->raw > most_bytes || out->length > most_bytes)
		return damaged(r, "has a record of more than 1 GiB", err);
	return 1;
}

/* Reads in pieces. If the size in the header is wrong, memory is taken only for what the file really has. */
static int read_bytes(struct profile_reader *r, const struct record *h, struct gs_buf *out, struct gs_error *err)
{
	static const size_t piece = 1 << 20;
	char *room = malloc(piece), hash[33];
	int result = room ? 0 : gs_fail(err, ENOMEM, "out of memory");
	for (uint64_t left = h->length; left && !result;) {
		size_t want = left < piece ? (size_t)left : piece, got = fread(room, 1, want, r->file);
		gs_buf_add(out, room, got);
		left -= got;
		if (got != want)
			result = damaged(r, "ends early", err);
	}
	free(room);
	if (!result && out->failed)
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result) {
		gs_hash_hex(out->data ? out->data : "", out->len, hash);
		if (strcmp(hash, h->hash) || getc(r->file) != '\n')
			result = damaged(r, "is damaged", err);
	}
	return result;
}

static int unpack(struct profile_reader *r, const struct record *h, const struct gs_buf *stored, struct gs_pack *pack,
                  struct gs_error *err)
{
	/* The compressed frame has its size, too. Both sizes must agree before memory is allocated. */
	if (ZSTD_getFrameContentSize(stored->data, stored->len) != h->raw)
		return damaged(r, "is damaged", err);
	char *raw = malloc(h->raw + 1);
	if (!raw)
		return gs_fail(err, ENOMEM, "out of memory");
	struct gs_error inner;
	int result = 0;
	if (ZSTD_decompress(raw, h->raw, stored->data, stored->len) != h->raw || gs_pack_decode(pack, raw, h->raw, &inner))
		result = damaged(r, "is damaged", err);
	free(raw);
	return result;
}

int profile_next(struct profile_reader *r, char kind[PROFILE_KIND_SIZE], struct gs_pack *pack, struct gs_error *err)
{
	struct record h;
	struct gs_buf stored = {0};
	*pack = (struct gs_pack){0};
	if (r->ended)
		return 0;
	int result = read_header(r, &h, err);
	if (result > 0 && !strcmp(h.kind, "end")) {
		r->ended = true;
		if (h.length || getc(r->file) != '\n' || getc(r->file) != EOF)
			return damaged(r, "goes on behind its end", err);
		return 0;
	}
	if (result < 0)
		return result;
	result = read_bytes(r, &h, &stored, err);
	if (!result)
		result = unpack(r, &h, &stored, pack, err);
	gs_buf_free(&stored);
	if (result)
		return result;
	memcpy(kind, h.kind, sizeof h.kind);
	r->records++;
	return 1;
}

/* ---- facts ---- */

const char *record_fact(const char *facts, const char *key, size_t n)
{
	size_t length = strlen(key);
	for (const char *line = facts; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, key, length) && line[length] == '=' && !n--)
			return line + length + 1;
	return NULL;
}

uint64_t record_number(const char *facts, const char *key)
{
	const char *value = record_fact(facts, key, 0);
	return value ? strtoull(value, NULL, 10) : 0;
}

char *record_text(const char *facts, const char *key)
{
	const char *value = record_fact(facts, key, 0);
	return value ? strndup(value, strcspn(value, "\n")) : strdup("");
}
