/* The contents of images: stored plainly, as a block of LZ4, or as a frame of zstd. */
#include "analysis/fatbin/fatbin.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

/* More than any image has. What a damaged one claims must not fill the memory. */
#define MOST_PLAIN_BYTES (UINT64_C(1) << 28)

struct lz4 {
	const uint8_t *in, *in_end;
	uint8_t *out;
	size_t used, room;
};

/* A length of 15 goes on in bytes, up to one that is not 255. */
static bool read_length(struct lz4 *l, size_t *length)
{
	uint8_t byte = 255;
	if (*length != 15)
		return true;
	while (byte == 255) {
		if (l->in == l->in_end)
			return false;
		byte = *l->in++;
		*length += byte;
	}
	return true;
}

static bool copy_literals(struct lz4 *l, size_t length)
{
	if (!read_length(l, &length) || length > (size_t)(l->in_end - l->in) || length > l->room - l->used)
		return false;
	memcpy(l->out + l->used, l->in, length);
	l->in += length;
	l->used += length;
	return true;
}

/* Repeats what was `distance` bytes before. The two may overlap. */
static bool copy_match(struct lz4 *l, size_t length)
{
	enum { LEAST_MATCH = 4 };
	if (l->in_end - l->in < 2)
		return false;
	size_t distance = (size_t)(l->in[0] | l->in[1] << 8);
	l->in += 2;
	if (!read_length(l, &length))
		return false;
	length += LEAST_MATCH;
	if (!distance || distance > l->used || length > l->room - l->used)
		return false;
	for (size_t i = 0; i < length; i++, l->used++)
		l->out[l->used] = l->out[l->used - distance];
	return true;
}

/* A block is sequences of literals and a match. The last one has no match. */
static bool unpack_lz4(struct lz4 *l)
{
	while (l->in < l->in_end) {
		uint8_t token = *l->in++;
		if (!copy_literals(l, token >> 4))
			return false;
		if (l->in == l->in_end)
			break;
		if (!copy_match(l, token & 15))
			return false;
	}
	return l->used == l->room;
}

static int unpack(const struct fatbin_image *i, uint8_t *out, struct gs_error *err)
{
	bool good;
	if (i->flags & FATBIN_ZSTD) {
		good = ZSTD_decompress(out, i->plain_bytes, i->data, i->bytes) == i->plain_bytes;
	} else {
		struct lz4 l = {.in = i->data, .in_end = i->data + i->bytes, .out = out, .room = i->plain_bytes};
		good = unpack_lz4(&l);
	}
	return good ? 0 : gs_fail(err, EBADMSG, "the fat binary is damaged: an image cannot be unpacked");
}

int fatbin_unpack(const struct fatbin_image *i, struct gs_buf *out, struct gs_error *err)
{
	bool packed = i->flags & (FATBIN_LZ4 | FATBIN_ZSTD);
	if (i->plain_bytes > MOST_PLAIN_BYTES)
		return gs_fail(err, EBADMSG, "the fat binary is damaged: an image claims to have %zu bytes", i->plain_bytes);
	uint8_t *plain = packed ? malloc(i->plain_bytes + 1) : NULL;
	if (packed && !plain)
		return gs_fail(err, ENOMEM, "out of memory");
	int result = packed ? unpack(i, plain, err) : 0;
	const uint8_t *from = packed ? plain : i->data;
	size_t bytes = i->plain_bytes;
	while (i->kind == FATBIN_PTX && bytes && !from[bytes - 1])
		bytes--;
	if (!result)
		gs_buf_add(out, from, bytes);
	free(plain);
	return !result && out->failed ? gs_fail(err, ENOMEM, "out of memory") : result;
}
