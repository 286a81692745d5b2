#include "interposer/cuda/ways/static_runtime.h"

#include "interposer/cuda/ways/caller.h"
#include "interposer/cuda/ways/patch.h"
#include "runtime/config/log.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
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

struct address_list {
	uint64_t *items;
	size_t count, room;
};

struct redirections {
	struct redirection {
		uint64_t from, to;
	} *items;
	size_t count, room;
	find_entry_fn *find;
	uint64_t load_address;
	struct address_list registrars; /* functions that register what the object has */
	bool registered;                /* they have run */
	bool has_v2, has_kernels;       /* for the version */
	bool failed;
};

/* nvcc's names, and clang's. A handle is what the registration of a fat binary returned. */
static bool is_registrar(const char *name)
{
	return !strcmp(name, "_ZL24__sti____cudaRegisterAllv") || !strcmp(name, "__cuda_module_ctor");
}

static bool is_handle(const char *name)
{
	return !strcmp(name, "_ZL20__cudaFatCubinHandle") || !strcmp(name, "__cuda_gpubin_handle");
}

static void note_registrar(struct redirections *r, uint64_t address)
{
	struct address_list *l = &r->registrars;
	if (gs_reserve(&l->items, l->count, &l->room, sizeof *l->items))
		l->items[l->count++] = address;
	else
		r->failed = true;
}

static void note_function(struct redirections *r, const char *name, uint64_t address)
{
	void *ours = strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6) ? NULL : r->find(name);
	if (!ours)
		return;
	r->has_v2 = r->has_v2 || !strcmp(name, "cudaGetDeviceProperties_v2");
	r->has_kernels = r->has_kernels || !strcmp(name, "__cudaGetKernel");
	if (gs_reserve(&r->items, r->count, &r->room, sizeof *r->items))
		r->items[r->count++] = (struct redirection){address, (uint64_t)(uintptr_t)ours};
	else
		r->failed = true;
}

static void collect(void *data, const char *name, const Elf64_Sym *symbol)
{
	struct redirections *r = data;
	uint64_t address = r->load_address + symbol->st_value;
	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value)
		return;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && is_handle(name))
		r->registered = r->registered || *(void **)(uintptr_t)address;
	else if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && is_registrar(name))
		note_registrar(r, address);
	else if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
		note_function(r, name, address);
}

/* The object leaves registration to another one. */
static void look_for_import(void *data, const char *name, const Elf64_Sym *symbol)
{
	if (symbol->st_shndx == SHN_UNDEF && !strcmp(name, "__cudaRegisterFatBinary"))
		*(bool *)data = true;
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

/* ---- the objects of the process ---- */

/* Libraries may have been initialised before us. What they registered then is registered once more, with us. */
static void register_again(const struct redirections *r)
{
	for (size_t i = 0; i < r->registrars.count && r->registered; i++)
		((void (*)(void))(uintptr_t)r->registrars.items[i])();
}

static void redirect_object(const struct elf_file *f, const char *name, uint64_t load_address, find_entry_fn *find)
{
	struct redirections r = {.find = find, .load_address = load_address};
	bool imports = false;
	each_symbol(f, SHT_DYNSYM, look_for_import, &imports);
	if (imports)
		return;
	each_symbol(f, SHT_SYMTAB, collect, &r);
	if (!r.count) {
		log_error("%s contains the CUDA runtime, but no symbols, so its kernels cannot run: link it with nvcc -cudart shared, or do not strip it", name);
	} else if (r.failed || !redirect_all(&r)) {
		log_error("the CUDA runtime in %s cannot be redirected: link it with nvcc -cudart shared", name);
	} else {
		caller_set_static_version(load_address, r.has_v2 ? 12 : r.has_kernels ? 13 : 11);
		register_again(&r);
	}
	free(r.items);
	free(r.registrars.items);
}

struct loaded_objects {
	struct loaded_object {
		char *path;
		uint64_t load_address;
	} *items;
	size_t count, room;
};

/* The first object is the executable. Those without a path are not files. */
static int note_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded_objects *o = data;
	const char *path = !o->count ? "/proc/self/exe" : info->dlpi_name;
	(void)size;
	char *kept = *path == '/' && gs_reserve(&o->items, o->count, &o->room, sizeof *o->items) ? strdup(path) : NULL;
	if (kept)
		o->items[o->count++] = (struct loaded_object){kept, info->dlpi_addr};
	return 0;
}

void static_runtime_redirect(find_entry_fn *find)
{
	struct loaded_objects o = {0};
	dl_iterate_phdr(note_object, &o);
	for (size_t i = 0; i < o.count; i++) {
		struct elf_file f;
		const char *slash = strrchr(o.items[i].path, '/');
		if (open_elf(&f, o.items[i].path) && (has_section(&f, ".nv_fatbin") || has_section(&f, ".nvFatBinSegment")))
			redirect_object(&f, i ? slash + 1 : "this program", o.items[i].load_address, find);
		close_elf(&f);
		free(o.items[i].path);
	}
	free(o.items);
}
