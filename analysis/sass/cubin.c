/* Reads the ELF file of a cubin; see cubin.h. */
#include "analysis/sass/cubin.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	CUDA_MACHINE = 190, OLDEST_ARCH = 70,
	NEW_ABI = 8,    /* from CUDA 13 on the architecture is in the second byte of the flags, before in the first */
	MOST_CODES = 1 << 16,
	RESERVED_SHARED = 1024,
};
/* Attributes of .nv.info: a byte of the form, a byte of the attribute, then 2 bytes; where these are a size, so many bytes follow. */
enum { INFO_SIZED = 4, INFO_FRAME = 0x11, INFO_REGISTERS = 0x2f };
enum { KERNEL_SYMBOL = 0x10 }; /* in st_other */

struct elf {
	const uint8_t *data;
	size_t bytes;
	const Elf64_Shdr *sections;
	uint32_t count;
	const char *names;
	size_t name_bytes;
	/* by section: 1 + its place in cubin.codes; 0: no machine code */
	uint32_t *code_of;
};

static bool inside(const struct elf *e, uint64_t offset, uint64_t bytes)
{
	return offset <= e->bytes && bytes <= e->bytes - offset;
}

static Elf64_Shdr section_at(const struct elf *e, uint32_t i)
{
	Elf64_Shdr s;
	memcpy(&s, (const uint8_t *)e->sections + (size_t)i * sizeof s, sizeof s);
	return s;
}

static const char *section_name(const struct elf *e, const Elf64_Shdr *s)
{
	return s->sh_name < e->name_bytes ? e->names + s->sh_name : "";
}

static const uint8_t *section_data(const struct elf *e, const Elf64_Shdr *s, size_t *bytes)
{
	bool there = s->sh_type != SHT_NOBITS && inside(e, s->sh_offset, s->sh_size);
	*bytes = there ? (size_t)s->sh_size : 0;
	return there ? e->data + s->sh_offset : NULL;
}

/* What follows the prefix, or NULL. */
static const char *after(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);
	return !strncmp(name, prefix, length) ? name + length : NULL;
}

static bool find_section(const struct elf *e, const char *name, uint32_t type, Elf64_Shdr *out, uint32_t *index)
{
	for (uint32_t i = 1; i < e->count; i++) {
		*out = section_at(e, i);
		if ((!type || out->sh_type == type) && !strcmp(section_name(e, out), name)) {
			*index = i;
			return true;
		}
	}
	return false;
}

/* ---- headers ---- */

static int open_elf(struct elf *e, struct cubin *out, struct gs_error *err)
{
	Elf64_Ehdr h;
	if (e->bytes < sizeof h || memcmp(e->data, ELFMAG, SELFMAG))
		return gs_fail(err, EINVAL, "this is no ELF file");
	memcpy(&h, e->data, sizeof h);
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != CUDA_MACHINE)
		return gs_fail(err, EINVAL, "this ELF file has no code of an NVIDIA GPU");
	out->arch = h.e_ident[EI_ABIVERSION] >= NEW_ABI ? h.e_flags >> 8 & 0xff : h.e_flags & 0xff;
	if (out->arch < OLDEST_ARCH)
		return gs_fail(err, EINVAL, "the machine code is for sm_%u; sm_%d and later are read", out->arch, OLDEST_ARCH);
	if (h.e_shentsize != sizeof(Elf64_Shdr) || !h.e_shnum || !inside(e, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr)) ||
	    h.e_shstrndx >= h.e_shnum)
		return gs_fail(err, EBADMSG, "the machine code is damaged: its sections are not in the file");
	e->sections = (const void *)(e->data + h.e_shoff);
	e->count = h.e_shnum;
	Elf64_Shdr names = section_at(e, h.e_shstrndx);
	e->names = (const char *)section_data(e, &names, &e->name_bytes);
	if (!e->name_bytes || e->names[e->name_bytes - 1])
		return gs_fail(err, EBADMSG, "the machine code is damaged: its sections have no names");
	return 0;
}

static int find_codes(struct elf *e, struct cubin *out, struct gs_error *err)
{
	out->codes = calloc(e->count + 1u, sizeof *out->codes);
	e->code_of = calloc(e->count + 1u, sizeof *e->code_of);
	if (!out->codes || !e->code_of)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 1; i < e->count && out->count < MOST_CODES; i++) {
		Elf64_Shdr s = section_at(e, i);
		const char *name = after(section_name(e, &s), ".text.");
		size_t bytes;
		if (!name || s.sh_type != SHT_PROGBITS)
			continue;
		const uint8_t *data = section_data(e, &s, &bytes);
		if (!data || bytes % CUBIN_WORD || bytes / CUBIN_WORD > UINT32_MAX)
			return gs_fail(err, EBADMSG, "the machine code is damaged: that of '%s' is not whole", name);
		/* Before CUDA 13 the registers are also in the upper byte of the section's info. */
		out->codes[out->count] = (struct cubin_code){.name = name, .bytes = data, .instructions = (uint32_t)(bytes / CUBIN_WORD),
		                                             .registers = s.sh_info >> 24};
		e->code_of[i] = (uint32_t)++out->count;
	}
	return 0;
}

/* ---- symbols ---- */

static const uint8_t *symbols(const struct elf *e, size_t *count)
{
	Elf64_Shdr s;
	uint32_t index;
	size_t bytes = 0;
	const uint8_t *data = find_section(e, ".symtab", SHT_SYMTAB, &s, &index) ? section_data(e, &s, &bytes) : NULL;
	*count = bytes / sizeof(Elf64_Sym);
	return data;
}

static Elf64_Sym symbol_at(const uint8_t *table, size_t i)
{
	Elf64_Sym s;
	memcpy(&s, table + i * sizeof s, sizeof s);
	return s;
}

/* The code that a symbol is in, or NULL. */
static struct cubin_code *code_of_symbol(const struct elf *e, const struct cubin *out, uint64_t number, uint64_t *value)
{
	size_t count;
	const uint8_t *table = symbols(e, &count);
	if (number >= count)
		return NULL;
	Elf64_Sym s = symbol_at(table, number);
	*value = s.st_value;
	return s.st_shndx < e->count && e->code_of[s.st_shndx] ? &out->codes[e->code_of[s.st_shndx] - 1] : NULL;
}

/* Names of symbols. They end with the last NUL. */
static const char *symbol_names(const struct elf *e, size_t *bytes)
{
	Elf64_Shdr table, names;
	uint32_t index;
	*bytes = 0;
	if (!find_section(e, ".symtab", SHT_SYMTAB, &table, &index) || table.sh_link >= e->count)
		return NULL;
	names = section_at(e, table.sh_link);
	const char *data = (const char *)section_data(e, &names, bytes);
	while (*bytes && data[*bytes - 1])
		--*bytes;
	return data;
}

static bool add_function(struct cubin_code *code, const char *name, uint64_t at)
{
	struct cubin_function *more = realloc(code->functions, (code->function_count + 1u) * sizeof *more);
	if (!more)
		return false;
	code->functions = more;
	more[code->function_count++] = (struct cubin_function){name, at};
	return true;
}

static int read_functions(const struct elf *e, struct cubin *out, struct gs_error *err)
{
	size_t count, name_bytes;
	const uint8_t *table = symbols(e, &count);
	const char *names = symbol_names(e, &name_bytes);
	for (size_t i = 0; i < count; i++) {
		Elf64_Sym s = symbol_at(table, i);
		if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx >= e->count || !e->code_of[s.st_shndx])
			continue;
		struct cubin_code *code = &out->codes[e->code_of[s.st_shndx] - 1];
		if (s.st_other & KERNEL_SYMBOL)
			code->kernel = true;
		else if (s.st_name < name_bytes && !add_function(code, names + s.st_name, s.st_value))
			return gs_fail(err, ENOMEM, "out of memory");
	}
	return 0;
}

/* ---- what kernels take ---- */

static uint32_t word_at(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void take_attribute(const struct elf *e, const struct cubin *out, uint8_t attribute, const uint8_t *value)
{
	uint64_t offset;
	struct cubin_code *code = code_of_symbol(e, out, word_at(value), &offset);
	/* A function in a kernel's section has rows of its own: those of the kernel itself, which is at 0, count. */
	if (!code || offset)
		return;
	if (attribute == INFO_REGISTERS)
		code->registers = word_at(value + 4);
	else if (attribute == INFO_FRAME)
		code->stack_bytes = word_at(value + 4);
}

static void read_attributes(const struct elf *e, const struct cubin *out)
{
	Elf64_Shdr s;
	uint32_t index;
	size_t bytes = 0, size;
	const uint8_t *data = find_section(e, ".nv.info", 0, &s, &index) ? section_data(e, &s, &bytes) : NULL;
	for (size_t at = 0; at + 4 <= bytes; at += 4 + size) {
		bool sized = data[at] == INFO_SIZED;
		size = sized ? (size_t)data[at + 2] | (size_t)data[at + 3] << 8 : 0;
		if (size > bytes - at - 4)
			return;
		if (sized && size >= 8)
			take_attribute(e, out, data[at + 1], data + at + 4);
	}
}

/* From sm_90 on, the section begins with what the system keeps for itself. */
static uint32_t declared_shared(uint64_t bytes, uint32_t arch)
{
	uint64_t reserved = arch >= 90 && bytes >= RESERVED_SHARED ? RESERVED_SHARED : 0;
	return bytes - reserved < UINT32_MAX ? (uint32_t)(bytes - reserved) : UINT32_MAX;
}

static void read_shared(const struct elf *e, struct cubin *out)
{
	for (uint32_t i = 1; i < e->count; i++) {
		Elf64_Shdr s = section_at(e, i);
		const char *name = after(section_name(e, &s), ".nv.shared.");
		for (size_t k = 0; name && k < out->count; k++)
			if (!strcmp(out->codes[k].name, name))
				out->codes[k].shared_bytes = declared_shared(s.sh_size, out->arch);
	}
}

/* ---- lines ---- */

struct line_writer {
	const struct elf *e;
	struct cubin *out;
	const uint8_t *relocations;
	size_t relocation_count, relocation_bytes; /* bytes: of one, Elf64_Rela or Elf64_Rel */
	/* the sequence that is being read: */
	size_t address_at;
	struct cubin_code *code;
	uint64_t base, next; /* next: the first instruction that has no line yet */
	uint32_t line;
	bool started, failed;
};

/* Whose code the address at that place of the table is. Without a relocation it cannot be known. */
static void start_sequence(struct line_writer *w, size_t address_at)
{
	w->code = NULL;
	w->address_at = address_at;
	w->started = true;
	w->line = 0;
	for (size_t i = 0; i < w->relocation_count && !w->code; i++) {
		Elf64_Rela r = {0};
		memcpy(&r, w->relocations + i * w->relocation_bytes, w->relocation_bytes);
		if (r.r_offset == address_at) {
			w->code = code_of_symbol(w->e, w->out, ELF64_R_SYM(r.r_info), &w->base);
			w->base += (uint64_t)r.r_addend;
		}
	}
	if (w->code && !w->code->lines) {
		w->code->lines = calloc(w->code->instructions + 1u, sizeof *w->code->lines);
		w->failed |= !w->code->lines;
	}
	w->next = w->base / CUBIN_WORD;
}

static void write_row(void *context, size_t address_at, uint64_t offset, uint32_t line)
{
	struct line_writer *w = context;
	if (!w->started || address_at != w->address_at)
		start_sequence(w, address_at);
	if (!w->code || !w->code->lines)
		return;
	uint64_t until = (w->base + offset) / CUBIN_WORD;
	for (; w->next < until && w->next < w->code->instructions; w->next++)
		w->code->lines[w->next] = w->line;
	w->line = line;
	w->started = line != 0;
}

static int read_lines(const struct elf *e, struct cubin *out, struct gs_error *err)
{
	struct line_writer w = {.e = e, .out = out};
	Elf64_Shdr s, moves;
	uint32_t index, ignored;
	size_t bytes = 0, move_bytes = 0;
	const uint8_t *data = find_section(e, ".nv_debug_line_sass", 0, &s, &index) ? section_data(e, &s, &bytes) : NULL;
	if (!data)
		return 0;
	w.relocation_bytes = sizeof(Elf64_Rela);
	if (find_section(e, ".rela.nv_debug_line_sass", SHT_RELA, &moves, &ignored)) {
		w.relocations = section_data(e, &moves, &move_bytes);
	} else if (find_section(e, ".rel.nv_debug_line_sass", SHT_REL, &moves, &ignored)) {
		w.relocations = section_data(e, &moves, &move_bytes);
		w.relocation_bytes = sizeof(Elf64_Rel);
	}
	w.relocation_count = w.relocations ? move_bytes / w.relocation_bytes : 0;
	if (cubin_walk_lines(data, bytes, write_row, &w))
		return gs_fail(err, EBADMSG, "the machine code is damaged: its table of lines cannot be read");
	return w.failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

/* ---- all of it ---- */

int cubin_read(const void *data, size_t bytes, struct cubin *out, struct gs_error *err)
{
	struct elf e = {.data = data, .bytes = bytes};
	*out = (struct cubin){0};
	int result = open_elf(&e, out, err);
	if (!result)
		result = find_codes(&e, out, err);
	if (!result)
		result = read_functions(&e, out, err);
	if (!result) {
		read_attributes(&e, out);
		read_shared(&e, out);
		result = read_lines(&e, out, err);
	}
	free(e.code_of);
	if (result)
		cubin_free(out);
	return result;
}

void cubin_free(struct cubin *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->codes[i].lines);
		free(c->codes[i].functions);
	}
	free(c->codes);
	*c = (struct cubin){0};
}

const struct cubin_code *cubin_find(const struct cubin *c, const char *kernel)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->codes[i].kernel && !strcmp(c->codes[i].name, kernel))
			return &c->codes[i];
	return NULL;
}
