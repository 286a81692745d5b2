/* Finds the images of a fat binary, a cubin, PTX text, or an executable file. Nothing is copied. */
#include "analysis/fatbin/fatbin.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

enum { MOST_IMAGES = 1 << 14, CUDA_MACHINE = 190 };

struct bytes {
	const uint8_t *at;
	size_t count;
};

struct image_finder {
	struct fatbin *found;
	size_t room;
	uint32_t container;
};

void fatbin_free(struct fatbin *f)
{
	free(f->images);
	*f = (struct fatbin){0};
}

struct fatbin fatbin_container(const struct fatbin *f, uint32_t number)
{
	struct fatbin part = {.images = f->images};
	if (!f->count)
		return part;
	while (part.images < f->images + f->count && part.images->container < number)
		part.images++;
	while (part.images + part.count < f->images + f->count && part.images[part.count].container == number)
		part.count++;
	return part;
}

static int add_image(struct image_finder *f, struct fatbin_image image, struct gs_error *err)
{
	if (f->found->count == MOST_IMAGES)
		return gs_fail(err, EBADMSG, "a fat binary has more than %d images", MOST_IMAGES);
	if (!gs_reserve(&f->found->images, f->found->count, &f->room, sizeof image))
		return gs_fail(err, ENOMEM, "out of memory");
	image.container = f->container;
	f->found->images[f->found->count++] = image;
	return 0;
}

uint32_t fatbin_arch(const char *name)
{
	const char *digits = strpbrk(name, "0123456789");
	unsigned long value = digits ? strtoul(digits, NULL, 10) : 0;
	return value < 10000 ? (uint32_t)value : 0;
}

/* ---- containers ---- */

static int read_image(struct image_finder *f, struct bytes all, size_t *taken, struct gs_error *err)
{
	struct fatbin_image_header h;
	memcpy(&h, all.at, sizeof h);
	if (h.header_bytes < sizeof h || h.header_bytes > all.count || h.bytes > all.count - h.header_bytes ||
	    h.packed_bytes > h.bytes)
		return gs_fail(err, EBADMSG, "the fat binary is damaged: an image does not fit into it");
	bool packed = h.flags & (FATBIN_LZ4 | FATBIN_ZSTD);
	size_t bytes = packed && h.packed_bytes ? h.packed_bytes : (size_t)h.bytes;
	*taken = h.header_bytes + (size_t)h.bytes;
	return add_image(f,
	                 (struct fatbin_image){.kind = h.kind,
	                                       .arch = h.arch,
	                                       .flags = h.flags,
	                                       .data = all.at + h.header_bytes,
	                                       .bytes = bytes,
	                                       .plain_bytes = packed ? (size_t)h.plain_bytes : bytes},
	                 err);
}

static int read_container(struct image_finder *f, struct bytes all, size_t *taken, struct gs_error *err)
{
	struct fatbin_header h;
	memcpy(&h, all.at, sizeof h);
	*taken = fatbin_bytes(all.at);
	if (!*taken || *taken > all.count)
		return gs_fail(err, EBADMSG, "the fat binary is damaged: it is cut off");
	struct bytes rest = {all.at + h.header_bytes, *taken - h.header_bytes};
	if (h.version == FATBIN_ROW) {
		*taken = h.header_bytes;
		return 0;
	}
	while (rest.count >= sizeof(struct fatbin_image_header)) {
		size_t used = 0;
		int result = read_image(f, rest, &used, err);
		if (result)
			return result;
		rest = (struct bytes){rest.at + used, rest.count - used};
	}
	f->container++;
	return 0;
}

static bool is_container(struct bytes b)
{
	uint32_t magic;
	if (b.count < sizeof(struct fatbin_header))
		return false;
	memcpy(&magic, b.at, sizeof magic);
	return magic == FATBIN_MAGIC;
}

/* Containers in a row. Zeros may be between them. */
static int read_containers(struct image_finder *f, struct bytes all, struct gs_error *err)
{
	int result = 0;
	while (!result && all.count >= sizeof(struct fatbin_header)) {
		size_t used = 4;
		if (is_container(all))
			result = read_container(f, all, &used, err);
		else if (memcmp(all.at, "\0\0\0", 4))
			break;
		all = (struct bytes){all.at + used, all.count - used};
	}
	return result;
}

/* ---- PTX text ---- */

/* Skips blanks and comments. */
static struct bytes skip_blanks(struct bytes b)
{
	while (b.count) {
		const uint8_t *end = NULL;
		if (isspace(*b.at))
			end = b.at + 1;
		else if (b.count > 1 && b.at[0] == '/' && b.at[1] == '/')
			end = memchr(b.at, '\n', b.count);
		else if (b.count > 3 && b.at[0] == '/' && b.at[1] == '*') {
			end = memmem(b.at + 2, b.count - 2, "*/", 2);
			end = end ? end + 2 : NULL;
		}
		if (!end)
			return b;
		b.count -= (size_t)(end - b.at);
		b.at = end;
	}
	return b;
}

static bool is_ptx(struct bytes b)
{
	static const char version[] = ".version";
	b = skip_blanks(b);
	return b.count >= sizeof version && !memcmp(b.at, version, sizeof version - 1);
}

static int read_ptx(struct image_finder *f, struct bytes all, struct gs_error *err)
{
	static const char target[] = ".target";
	char name[32] = "";
	const uint8_t *nul = memchr(all.at, 0, all.count);
	all.count = nul ? (size_t)(nul - all.at) : all.count;
	const uint8_t *at = memmem(all.at, all.count, target, sizeof target - 1), *end = all.at + all.count;
	for (size_t i = 0; at && i + 1 < sizeof name && at + sizeof target + i < end && at[sizeof target + i] != '\n'; i++)
		name[i] = (char)at[sizeof target + i];
	return add_image(
	    f, (struct fatbin_image){.kind = FATBIN_PTX, .arch = fatbin_arch(name), .data = all.at, .bytes = all.count, .plain_bytes = all.count},
	    err);
}

/* ---- ELF ---- */

static bool is_elf(struct bytes b, Elf64_Ehdr *header)
{
	if (b.count < sizeof *header || memcmp(b.at, ELFMAG, SELFMAG) || b.at[EI_CLASS] != ELFCLASS64)
		return false;
	memcpy(header, b.at, sizeof *header);
	return true;
}

/* Flags of a cubin have the architecture in their lowest byte, those of CUDA 13 in the next. */
static uint32_t cubin_arch(const Elf64_Ehdr *h)
{
	return h->e_ident[EI_ABIVERSION] >= 8 ? h->e_flags >> 8 & 0xff : h->e_flags & 0xff;
}

static bool read_section(struct bytes all, const Elf64_Ehdr *h, size_t index, Elf64_Shdr *out)
{
	if (h->e_shentsize != sizeof *out || index >= h->e_shnum || h->e_shoff > all.count ||
	    (index + 1) * sizeof *out > all.count - h->e_shoff)
		return false;
	memcpy(out, all.at + h->e_shoff + index * sizeof *out, sizeof *out);
	return out->sh_type == SHT_NOBITS || (out->sh_offset <= all.count && out->sh_size <= all.count - out->sh_offset);
}

static bool is_named(struct bytes all, const Elf64_Shdr *names, const Elf64_Shdr *section, const char *name)
{
	size_t length = strlen(name) + 1;
	return names->sh_type == SHT_STRTAB && section->sh_name < names->sh_size && names->sh_size - section->sh_name >= length &&
	       !memcmp(all.at + names->sh_offset + section->sh_name, name, length);
}

/* The sections of an executable file that have fat binaries. */
static int read_elf(struct image_finder *f, struct bytes all, const Elf64_Ehdr *h, struct gs_error *err)
{
	Elf64_Shdr names, s;
	int result = 0;
	bool found = false;
	if (!read_section(all, h, h->e_shstrndx, &names))
		return gs_fail(err, EINVAL, "the file has no sections");
	for (size_t i = 0; i < h->e_shnum && !result; i++) {
		if (!read_section(all, h, i, &s) || s.sh_type == SHT_NOBITS ||
		    (!is_named(all, &names, &s, ".nv_fatbin") && !is_named(all, &names, &s, "__nv_relfatbin")))
			continue;
		found = true;
		result = read_containers(f, (struct bytes){all.at + s.sh_offset, s.sh_size}, err);
	}
	return result || found ? result : gs_fail(err, EINVAL, "the file has no CUDA kernels in it (no section .nv_fatbin)");
}

static int read_any(struct image_finder *f, struct bytes all, struct gs_error *err)
{
	Elf64_Ehdr h;
	if (is_container(all))
		return read_containers(f, all, err);
	if (is_ptx(all))
		return read_ptx(f, all, err);
	if (!is_elf(all, &h))
		return gs_fail(err, EINVAL, "it is neither a fat binary nor PTX");
	if (h.e_machine == CUDA_MACHINE)
		return add_image(f,
		                 (struct fatbin_image){.kind = FATBIN_ELF, .arch = cubin_arch(&h), .data = all.at, .bytes = all.count,
		                                       .plain_bytes = all.count},
		                 err);
	return read_elf(f, all, &h, err);
}

int fatbin_read(const void *data, size_t bytes, struct fatbin *out, struct gs_error *err)
{
	struct image_finder f = {.found = out};
	*out = (struct fatbin){0};
	int result = read_any(&f, (struct bytes){data, bytes}, err);
	if (result)
		fatbin_free(out);
	return result;
}
