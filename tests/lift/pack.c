#include "tests/lift/pack.h"

#include <stdlib.h>
#include <zstd.h>

/* One sequence of LZ4: all bytes are literals. */
static void pack_lz4(const void *data, size_t bytes, struct gs_buf *out)
{
	uint8_t byte = (uint8_t)((bytes < 15 ? bytes : 15) << 4);
	gs_buf_add(out, &byte, 1);
	for (size_t rest = bytes - 15; bytes >= 15; rest -= 255) {
		byte = (uint8_t)(rest < 255 ? rest : 255);
		gs_buf_add(out, &byte, 1);
		if (rest < 255)
			break;
	}
	gs_buf_add(out, data, bytes);
}

static void pack_zstd(const void *data, size_t bytes, struct gs_buf *out)
{
	size_t room = ZSTD_compressBound(bytes);
	void *packed = malloc(room);
	size_t used = packed ? ZSTD_compress(packed, room, data, bytes, 3) : 0;
	out->failed |= !packed || ZSTD_isError(used);
	if (!out->failed)
		gs_buf_add(out, packed, used);
	free(packed);
}

static void pack_image(const struct pack_image *i, struct gs_buf *out)
{
	static const uint64_t flags[] = {[PACK_LZ4] = FATBIN_LZ4, [PACK_ZSTD] = FATBIN_ZSTD};
	struct gs_buf data = {0};
	if (i->form == PACK_LZ4)
		pack_lz4(i->data, i->bytes, &data);
	else if (i->form == PACK_ZSTD)
		pack_zstd(i->data, i->bytes, &data);
	else
		gs_buf_add(&data, i->data, i->bytes);
	struct fatbin_image_header h = {.kind = i->kind,
	                                .version = 0x101,
	                                .header_bytes = sizeof h,
	                                .bytes = (data.len + 7) / 8 * 8,
	                                .packed_bytes = i->form ? (uint32_t)data.len : 0,
	                                .arch = i->arch,
	                                .flags = 0x11 | i->flags | flags[i->form],
	                                .plain_bytes = i->form ? i->bytes : 0};
	gs_buf_add(out, &h, sizeof h);
	gs_buf_add(out, data.data, data.len);
	gs_buf_add(out, "\0\0\0\0\0\0\0", h.bytes - data.len);
	out->failed |= data.failed;
	gs_buf_free(&data);
}

void pack_fatbin(const struct pack_image *images, size_t count, struct gs_buf *out)
{
	struct gs_buf all = {0};
	for (size_t i = 0; i < count; i++)
		pack_image(&images[i], &all);
	struct fatbin_header h = {.magic = FATBIN_MAGIC, .version = 1, .header_bytes = sizeof h, .bytes = all.len};
	gs_buf_add(out, &h, sizeof h);
	gs_buf_add(out, all.data, all.len);
	out->failed |= all.failed;
	gs_buf_free(&all);
}

void pack_ptx(const char *text, uint32_t arch, enum pack_form form, struct gs_buf *out)
{
	struct pack_image image = {.kind = FATBIN_PTX, .arch = arch, .form = form, .data = text, .bytes = strlen(text) + 1};
	pack_fatbin(&image, 1, out);
}
