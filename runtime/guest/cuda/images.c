/* How long the image of a module is. gpusim-cc reads what is in it. */
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
