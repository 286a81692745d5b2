#include "interposer/cuda/ways/static_runtime.h"

#include "interposer/cuda/ways/caller.h"
#include "interposer/cuda/ways/patch.h"
#include "runtime/config/log.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_DOMAIN "cuda"

#ifdef __x86_64__
#define THIS_MACHINE PATCH_X86_64
#else
#define THIS_MACHINE PATCH_AARCH64
#endif

/* ---- the executable's file ---- */

struct elf_file {
	const char *bytes;
	size_t length;
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;
};

static bool open_elf(struct elf_file *f, const char *path)
{
	struct stat s;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	*f = (struct elf_file){0};
	if (fd < 0)
		return false;
	if (!fstat(fd, &s) && s.st_size > (off_t)sizeof(Elf64_Ehdr)) {
		void *p = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p != MAP_FAILED)
			*f = (struct elf_file){.bytes = p, .length = (size_t)s.st_size, .header = p};
	}
	close(fd);
	if (!f->bytes)
		return false;
	uint64_t end = f->header->e_shoff + (uint64_t)f->header->e_shnum * sizeof(Elf64_Shdr);
	if (!memcmp(f->bytes, ELFMAG, SELFMAG) && f->header->e_ident[EI_CLASS] == ELFCLASS64 && f->header->e_shoff &&
	    f->header->e_shoff < f->length && end <= f->length && f->header->e_shstrndx < f->header->e_shnum)
		f->sections = (const void *)(f->bytes + f->header->e_shoff);
	return true;
}

static void close_elf(struct elf_file *f)
{
	if (f->bytes)
		munmap((void *)f->bytes, f->length);
}

static bool is_inside(const struct elf_file *f, const Elf64_Shdr *s)
{
	return s->sh_type != SHT_NOBITS && s->sh_offset <= f->length && s->sh_size <= f->length - s->sh_offset;
}

/* The section of a table of strings, which ends with a NUL, or NULL. */
static const Elf64_Shdr *strings_of(const struct elf_file *f, unsigned index)
{
	const Elf64_Shdr *s = index < f->header->e_shnum ? &f->sections[index] : NULL;
	return s && is_inside(f, s) && s->sh_size && !f->bytes[s->sh_offset + s->sh_size - 1] ? s : NULL;
}

static bool has_section(const struct elf_file *f, const char *name)
{
	const Elf64_Shdr *strings = f->sections ? strings_of(f, f->header->e_shstrndx) : NULL;
	for (unsigned i = 0; strings && i < f->header->e_shnum; i++)
		if (f->sections[i].sh_name < strings->sh_size && !strcmp(f->bytes + strings->sh_offset + f->sections[i].sh_name, name))
			return true;
	return false;
}

typedef void symbol_fn(void *data, const char *name, const Elf64_Sym *symbol);

/* Calls `each` for the symbols of all tables of that type. */
static void each_symbol(const struct elf_file *f, unsigned type, symbol_fn *each, void *data)
{
	for (unsigned i = 0; f->sections && i < f->header->e_shnum; i++) {
		const Elf64_Shdr *s = &f->sections[i], *strings = s->sh_type == type ? strings_of(f, s->sh_link) : NULL;
		if (!strings || !is_inside(f, s))
			continue;
		const Elf64_Sym *symbols = (const void *)(f->bytes + s->sh_offset);
		for (size_t k = 0; k < s->sh_size / sizeof *symbols; k++)
			if (symbols[k].st_name < strings->sh_size)
				each(data, f->bytes + strings->sh_offset + symbols[k].st_name, &symbols[k]);
	}
}

/* ---- what is redirected ---- */

struct redirections {
	struct redirection {
		uint64_t from, to;
	} *items;
	size_t count, room;
	find_entry_fn *find;
	uint64_t load_address;
	bool has_v2, has_kernels; /* for the version */
	bool failed;
};

static void collect(void *data, const char *name, const Elf64_Sym *symbol)
{
	struct redirections *r = data;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF || !symbol->st_value)
		return;
	if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6))
		return;
	void *ours = r->find(name);
	if (!ours)
		return;
	r->has_v2 = r->has_v2 || !strcmp(name, "cudaGetDeviceProperties_v2");
	r->has_kernels = r->has_kernels || !strcmp(name, "__cudaGetKernel");
	if (gs_reserve(&r->items, r->count, &r->room, sizeof *r->items))
		r->items[r->count++] = (struct redirection){r->load_address + symbol->st_value, (uint64_t)(uintptr_t)ours};
	else
		r->failed = true;
}

/* The executable leaves registration to a library. */
static void look_for_import(void *data, const char *name, const Elf64_Sym *symbol)
{
	if (symbol->st_shndx == SHN_UNDEF && !strcmp(name, "__cudaRegisterFatBinary"))
		*(bool *)data = true;
}

static uint64_t load_address_of_executable(const struct elf_file *f)
{
	return f->header->e_type == ET_DYN ? getauxval(AT_ENTRY) - f->header->e_entry : 0;
}

/* ---- writing ---- */

static uint64_t page_of(uint64_t address)
{
	return address & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

/* Pages for the jumps, so near that a branch from every function reaches them. */
static uint8_t *near_pages(const struct redirections *r, size_t bytes)
{
	enum { STEP = 1 << 16 };
	uint64_t first = UINT64_MAX, last = 0, reach = patch_reach(THIS_MACHINE);
	for (size_t i = 0; i < r->count; i++) {
		first = r->items[i].from < first ? r->items[i].from : first;
		last = r->items[i].from > last ? r->items[i].from : last;
	}
	for (uint64_t distance = STEP; last - first + distance + bytes < reach; distance += STEP)
		for (int above = 0; above < 2; above++) {
			uint64_t at = page_of(above ? last + distance : first > distance + bytes ? first - distance - bytes : STEP);
			void *p = mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE,
			               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (p == (void *)(uintptr_t)at)
				return p;
			if (p != MAP_FAILED)
				munmap(p, bytes);
		}
	return NULL;
}

static bool overwrite(uint64_t at, const uint8_t *code, size_t bytes)
{
	uint64_t page = page_of(at);
	size_t length = (size_t)(page_of(at + bytes - 1) + (uint64_t)sysconf(_SC_PAGESIZE) - page);
	void *pages = (void *)(uintptr_t)page;
	if (mprotect(pages, length, PROT_READ | PROT_WRITE))
		return false;
	memcpy((void *)(uintptr_t)at, code, bytes);
	__builtin___clear_cache((char *)(uintptr_t)at, (char *)(uintptr_t)(at + bytes));
	return !mprotect(pages, length, PROT_READ | PROT_EXEC);
}

static bool redirect_all(const struct redirections *r)
{
	size_t bytes = r->count * PATCH_MOST_BYTES;
	uint8_t *jumps = near_pages(r, bytes), code[PATCH_MOST_BYTES];
	if (!jumps)
		return false;
	for (size_t i = 0; i < r->count; i++)
		patch_jump(THIS_MACHINE, r->items[i].to, jumps + i * PATCH_MOST_BYTES);
	__builtin___clear_cache((char *)jumps, (char *)jumps + bytes);
	bool good = !mprotect(jumps, bytes, PROT_READ | PROT_EXEC);
	for (size_t i = 0; i < r->count && good; i++) {
		uint64_t to = (uint64_t)(uintptr_t)jumps + i * PATCH_MOST_BYTES;
		size_t length = patch_branch(THIS_MACHINE, r->items[i].from, to, code);
		good = length && overwrite(r->items[i].from, code, length);
	}
	return good;
}

static void redirect_executable(const struct elf_file *f, find_entry_fn *find)
{
	struct redirections r = {.find = find, .load_address = load_address_of_executable(f)};
	bool imports = false;
	each_symbol(f, SHT_DYNSYM, look_for_import, &imports);
	if (imports)
		return;
	each_symbol(f, SHT_SYMTAB, collect, &r);
	if (!r.count)
		log_error("this program contains the CUDA runtime, but no symbols: link it with nvcc -cudart shared, or do not strip it");
	else if (r.failed || !redirect_all(&r))
		log_error("the CUDA runtime in this program cannot be redirected: link it with nvcc -cudart shared");
	else
		caller_set_static_version(r.has_v2 ? 12 : r.has_kernels ? 13 : 11);
	free(r.items);
}

void static_runtime_redirect(find_entry_fn *find)
{
	struct elf_file f;
	if (!open_elf(&f, "/proc/self/exe"))
		return;
	if (has_section(&f, ".nv_fatbin") || has_section(&f, ".nvFatBinSegment"))
		redirect_executable(&f, find);
	close_elf(&f);
}
