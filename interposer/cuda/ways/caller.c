#include "interposer/cuda/ways/caller.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NEWEST = 13, MOST_STATIC = 64 };

static struct static_version {
	uint64_t load_address;
	int version;
} static_versions[MOST_STATIC];
static size_t static_count;

void caller_set_static_version(uint64_t load_address, int version)
{
	if (static_count < MOST_STATIC)
		static_versions[static_count++] = (struct static_version){load_address, version};
}

static int static_version_of(uint64_t load_address)
{
	for (size_t i = 0; i < static_count; i++)
		if (static_versions[i].load_address == load_address)
			return static_versions[i].version;
	return 0;
}

/* The number in "libcudart.so.NUMBER", or 0. */
static int version_in(const char *name)
{
	static const char prefix[] = "libcudart.so.";
	const char *found = name ? strstr(name, prefix) : NULL;
	return found ? atoi(found + strlen(prefix)) : 0;
}

static int needed_version(const struct dl_phdr_info *object)
{
	const ElfW(Dyn) *dynamic = NULL;
	const char *strings = NULL;
	int version = 0;
	for (size_t i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	for (const ElfW(Dyn) *e = dynamic; e && e->d_tag != DT_NULL; e++)
		if (e->d_tag == DT_STRTAB)
			strings = (const char *)e->d_un.d_ptr;
	for (const ElfW(Dyn) *e = dynamic; e && strings && e->d_tag != DT_NULL && !version; e++)
		if (e->d_tag == DT_NEEDED)
			version = version_in(strings + e->d_un.d_val);
	return version;
}

static bool contains(const struct dl_phdr_info *object, uintptr_t address)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && address >= begin && address < begin + p->p_memsz)
			return true;
	}
	return false;
}

struct caller_search {
	uintptr_t address;
	int version, loaded; /* of the caller, and of a runtime that is loaded; 0: not found */
};

static int look_at_object(struct dl_phdr_info *object, size_t size, void *data)
{
	struct caller_search *s = data;
	(void)size;
	int loaded = version_in(object->dlpi_name);
	if (loaded)
		s->loaded = loaded;
	if (!contains(object, s->address))
		return 0;
	s->version = needed_version(object);
	if (!s->version)
		s->version = static_version_of(object->dlpi_addr);
	return 0;
}

int caller_version(const void *address)
{
	struct caller_search s = {.address = (uintptr_t)address};
	dl_iterate_phdr(look_at_object, &s);
	if (s.version)
		return s.version;
	return s.loaded ? s.loaded : NEWEST;
}
