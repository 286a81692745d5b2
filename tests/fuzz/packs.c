/* Converts records of packs to bytes and back; see packs.h. */
#include "tests/fuzz/packs.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS = 4, DIGIT_BITS = 6, CLOSING = 4 + 32 + 1 };

void fuzz_record_write(struct gs_buf *out, char kind, const struct gs_pack *pack)
{
	struct gs_buf bytes = {0};
	if (gs_pack_encode(pack, &bytes, NULL))
		abort();
	size_t length = bytes.len - CLOSING;
	gs_buf_add(out, &kind, 1);
	for (int i = DIGITS; i--;) {
		char digit = (char)('0' + (length >> i * DIGIT_BITS & 63));
		gs_buf_add(out, &digit, 1);
	}
	gs_buf_add(out, bytes.data, length);
	gs_buf_free(&bytes);
}

static bool read_pack(struct gs_pack *pack, const char *data, size_t length)
{
	struct gs_buf bytes = {0};
	char hash[33];
	gs_buf_add(&bytes, data, length);
	gs_hash_hex(data, length, hash);
	gs_buf_printf(&bytes, "end %s\n", hash);
	bool good = !gs_pack_decode(pack, bytes.data, bytes.len, NULL);
	gs_buf_free(&bytes);
	return good;
}

void fuzz_input_read(struct fuzz_input *in, const void *data, size_t size)
{
	const char *bytes = data;
	*in = (struct fuzz_input){0};
	for (size_t at = 0; at + 1 + DIGITS <= size;) {
		struct fuzz_record r = {.kind = bytes[at++]};
		size_t length = 0;
		for (int i = 0; i < DIGITS; i++)
			length = length << DIGIT_BITS | ((size_t)(bytes[at++] - '0') & 63);
		length = length < size - at ? length : size - at;
		if (read_pack(&r.pack, bytes + at, length)) {
			in->records = reallocarray(in->records, in->count + 1, sizeof *in->records);
			if (!in->records)
				abort();
			in->records[in->count++] = r;
		}
		at += length;
	}
}

void fuzz_input_free(struct fuzz_input *in)
{
	for (size_t i = 0; i < in->count; i++)
		gs_pack_free(&in->records[i].pack);
	free(in->records);
	*in = (struct fuzz_input){0};
}
