/* How long the image of a module is, and whether it has PTX. gpusim-cc reads what is in it. */
#include "runtime/guest/cuda/modules.h"

#include "runtime/format/fatbin.h"

#include <elf.h>
#include <string.h>

/* Up to the end of what is last: the table of sections, or a section, or a segment. */
static size_t elf_bytes(const unsigned char *image)
{
	Elf64_Ehdr h;
	memcpy(&h, image, sizeof h);
	if (h.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	size_t end = h.e_shoff + (size_t)h.e_shnum * h.e_shentsize, segments = h.e_phoff + (size_t)h.e_phnum * h.e_phentsize;
	return end > segments ? end : segments;
}

size_t image_bytes(const void *image)
{
	uint32_t magic;
	unsigned char first[SELFMAG];
	memcpy(first, image, sizeof first);
	if (!memcmp(first, ELFMAG, SELFMAG))
		return elf_bytes(image);
	memcpy(&magic, image, sizeof magic);
	if (magic != FATBIN_MAGIC) /* text has no zero bytes */
		return first[0] == '\t' || first[0] == '\n' || first[0] == '\r' || (first[0] >= ' ' && first[0] < 127) ? strlen(image) : 0;
	return fatbin_bytes(image);
}

/* Of one container, behind its header. */
static bool images_have_ptx(const unsigned char *at, size_t bytes)
{
	struct fatbin_image_header h;
	for (; bytes >= sizeof h; at += h.header_bytes + h.bytes, bytes -= h.header_bytes + (size_t)h.bytes) {
		memcpy(&h, at, sizeof h);
		if (h.kind == FATBIN_PTX || h.header_bytes < sizeof h || h.header_bytes > bytes || h.bytes > bytes - h.header_bytes)
			return true; /* what is not understood is gpusim-cc's */
	}
	return false;
}

bool image_has_ptx(const void *image, size_t bytes)
{
	const unsigned char *at = image;
	struct fatbin_header h = {0};
	if (bytes < sizeof h)
		return true;
	if (!memcmp(at, ELFMAG, SELFMAG))
		return false;
	for (size_t length; bytes >= sizeof h; at += length, bytes -= length) {
		memcpy(&h, at, sizeof h);
		length = h.version == FATBIN_ROW ? h.header_bytes : fatbin_bytes(at);
		if (h.magic != FATBIN_MAGIC || length < sizeof h || length > bytes || images_have_ptx(at + h.header_bytes, length - h.header_bytes))
			return true;
	}
	return false;
}
