/* See packed.h. Everything that the file says of sizes and places is checked against the file's own size. */
#include "runtime/cmd/accelsim/import/packed.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { MOST_HEADER = 1 << 16, MOST_DICTIONARY = 1 << 20, MOST_CHUNK = 1 << 26, GROUP_WORDS = 11, MOST_PACKED_WARPS = 1024 };

struct packed_trace {
	int fd;
	const char *path;
	uint64_t size, taken;
	char *header, *dictionary;
	ZSTD_DDict *dict;
	ZSTD_DCtx *context;
	uint64_t index_at; /* in the index: what is read next */
	uint32_t groups_left, warps, warp; /* warp: the next of the group */
	bool in_group;
	uint64_t chunk_at;
	uint32_t chunks_left;
	char *packed, *text;
	size_t packed_room, text_room, text_at, text_length;
};

static int damaged(const struct packed_trace *p, struct gs_error *err)
{
	return gs_fail(err, EBADMSG, "%s is damaged or cut off", p->path);
}

static int read_at(struct packed_trace *p, uint64_t offset, void *out, size_t length, struct gs_error *err)
{
	if (offset > p->size || length > p->size - offset)
		return damaged(p, err);
	for (size_t done = 0; done < length;) {
		ssize_t n = pread(p->fd, (char *)out + done, length - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return damaged(p, err);
		done += (size_t)n;
	}
	p->taken += length;
	return 0;
}

static int read_words(struct packed_trace *p, uint64_t offset, uint32_t *out, size_t count, struct gs_error *err)
{
	int result = read_at(p, offset, out, count * sizeof *out, err);
	for (size_t i = 0; i < count && !result; i++)
		out[i] = le32toh(out[i]);
	return result;
}

static int read_header(struct packed_trace *p, struct gs_error *err)
{
	size_t length = p->size < MOST_HEADER ? (size_t)p->size : MOST_HEADER;
	uint32_t sizes[2];
	p->header = malloc(length + 1);
	if (!p->header)
		return gs_fail(err, ENOMEM, "out of memory");
	int result = read_at(p, 0, p->header, length, err);
	char *end = result ? NULL : memchr(p->header, 0, length);
	if (!result && !end)
		result = damaged(p, err);
	uint64_t at = end ? (uint64_t)(end - p->header) + 1 : 0;
	if (!result)
		result = read_words(p, at, sizes, 2, err);
	if (result || !sizes[0])
		return result;
	if (sizes[0] > MOST_DICTIONARY)
		return damaged(p, err);
	p->dictionary = malloc(sizes[0]);
	if (!p->dictionary)
		return gs_fail(err, ENOMEM, "out of memory");
	result = read_at(p, at + 8, p->dictionary, sizes[0], err);
	if (!result && !(p->dict = ZSTD_createDDict(p->dictionary, sizes[0])))
		result = damaged(p, err);
	return result;
}

static int find_index(struct packed_trace *p, struct gs_error *err)
{
	uint64_t offset;
	int result = p->size < 12 ? damaged(p, err) : read_at(p, p->size - 8, &offset, 8, err);
	if (result)
		return result;
	p->index_at = le64toh(offset) + 4;
	return read_words(p, le64toh(offset), &p->groups_left, 1, err);
}

int packed_open(const char *path, struct packed_trace **out, const char **header, struct gs_error *err)
{
	struct packed_trace *p = calloc(1, sizeof *p);
	struct stat st;
	if (!p)
		return gs_fail(err, ENOMEM, "out of memory");
	p->path = path;
	p->fd = gs_open_regular(AT_FDCWD, path, 0, err);
	int result = p->fd < 0 ? p->fd : fstat(p->fd, &st) ? gs_fail(err, errno, "%s cannot be read", path) : 0;
	if (!result) {
		p->size = (uint64_t)st.st_size;
		p->context = ZSTD_createDCtx();
		result = p->context ? read_header(p, err) : gs_fail(err, ENOMEM, "out of memory");
	}
	if (!result)
		result = find_index(p, err);
	if (result) {
		packed_close(p);
		return result;
	}
	*out = p;
	*header = p->header;
	return 0;
}

void packed_close(struct packed_trace *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		close(p->fd);
	ZSTD_freeDDict(p->dict);
	ZSTD_freeDCtx(p->context);
	free(p->header);
	free(p->dictionary);
	free(p->packed);
	free(p->text);
	free(p);
}

uint64_t packed_taken(const struct packed_trace *p)
{
	return p->taken;
}

static bool make_room(char **bytes, size_t *room, size_t length)
{
	char *grown = length < *room ? *bytes : realloc(*bytes, length + 1);
	if (!grown)
		return false;
	*room = length < *room ? *room : length + 1;
	*bytes = grown;
	return true;
}

static int unpack_chunk(struct packed_trace *p, struct gs_error *err)
{
	uint32_t length;
	int result = read_words(p, p->chunk_at, &length, 1, err);
	if (result)
		return result;
	if (length > p->size)
		return damaged(p, err);
	if (!make_room(&p->packed, &p->packed_room, length))
		return gs_fail(err, ENOMEM, "out of memory");
	result = read_at(p, p->chunk_at + 4, p->packed, length, err);
	if (result)
		return result;
	unsigned long long plain = ZSTD_getFrameContentSize(p->packed, length);
	if (plain == ZSTD_CONTENTSIZE_ERROR || plain == ZSTD_CONTENTSIZE_UNKNOWN || plain > MOST_CHUNK)
		return damaged(p, err);
	if (!make_room(&p->text, &p->text_room, (size_t)plain))
		return gs_fail(err, ENOMEM, "out of memory");
	size_t n = p->dict ? ZSTD_decompress_usingDDict(p->context, p->text, (size_t)plain, p->packed, length, p->dict)
	                   : ZSTD_decompressDCtx(p->context, p->text, (size_t)plain, p->packed, length);
	if (ZSTD_isError(n))
		return damaged(p, err);
	p->text_at = 0;
	p->text_length = n;
	p->chunk_at += 4 + (uint64_t)length;
	p->chunks_left--;
	return 0;
}

static void take_line(struct packed_trace *p, struct packed_part *part)
{
	char *begin = p->text + p->text_at, *end = memchr(begin, '\n', p->text_length - p->text_at);
	part->line = begin;
	part->length = end ? (size_t)(end - begin) : p->text_length - p->text_at;
	p->text_at += part->length + (end != NULL);
}

static int next_warp(struct packed_trace *p, struct packed_part *part, struct gs_error *err)
{
	uint32_t words[4];
	int result = read_words(p, p->index_at, words, 4, err);
	if (result)
		return result;
	p->index_at += sizeof words + (uint64_t)words[1] * 4;
	p->chunks_left = words[1];
	p->chunk_at = ((uint64_t)words[3] << 32 | words[2]) + 8; /* after a copy of the two words */
	part->warp = p->warp++;
	return PACKED_WARP;
}

static int next_group(struct packed_trace *p, struct packed_part *part, struct gs_error *err)
{
	uint32_t words[GROUP_WORDS];
	if (!p->groups_left)
		return PACKED_END;
	int result = read_words(p, p->index_at, words, GROUP_WORDS, err);
	if (result)
		return result;
	if (words[GROUP_WORDS - 1] > MOST_PACKED_WARPS)
		return damaged(p, err);
	p->index_at += sizeof words;
	p->groups_left--;
	p->warps = words[GROUP_WORDS - 1];
	p->warp = 0;
	p->in_group = true;
	memcpy(part->group, words, sizeof part->group);
	return PACKED_GROUP;
}

int packed_next(struct packed_trace *p, struct packed_part *part, struct gs_error *err)
{
	while (p->text_at < p->text_length || p->chunks_left) {
		int result = p->text_at < p->text_length ? 0 : unpack_chunk(p, err);
		if (result)
			return result;
		if (p->text_at < p->text_length) {
			take_line(p, part);
			return PACKED_LINE;
		}
	}
	if (!p->in_group)
		return next_group(p, part, err);
	if (p->warp < p->warps)
		return next_warp(p, part, err);
	p->in_group = false;
	return PACKED_GROUP_END;
}
