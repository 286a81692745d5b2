/*
 * The table of allocations: an array in the order of their addresses. Lookups are binary searches. Programs have few allocations, and
 * most are made at the end of the address range, so that little has to move.
 */
#include "runtime/guest/cuda/memory.h"

#include "models/accesses/image.h"
#include "runtime/guest/support/memory_log.h"
#include "runtime/guest/support/pages.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Kernels that access more than an allocation find memory there on a GPU, whose pages have 2 MiB. Here it must not be the program's, nor
 * nobody's: each allocation has pages of its own, and a margin on both sides, which takes room only where it is touched. */
enum { ALIGNMENT = 512, MARGIN = 2 << 20, SPREAD = 1 << 16 };

struct memory_entry {
	struct cuda_allocation allocation;
	void *pages; /* to unmap; NULL: not ours */
};

static struct {
	pthread_mutex_t lock;
	struct memory_entry *entries;
	size_t count, room;
	size_t used, bound; /* bytes of device and managed memory */
	size_t offset;      /* of the next allocation in its pages */
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER, .bound = SIZE_MAX};

void memory_bound(size_t bytes)
{
	pthread_mutex_lock(&memory.lock);
	memory.bound = bytes;
	pthread_mutex_unlock(&memory.lock);
}

/* With the lock held: the number of entries that begin at or below the address. */
static size_t entries_up_to(const void *address)
{
	size_t low = 0, high = memory.count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if ((uintptr_t)memory.entries[middle].allocation.address <= (uintptr_t)address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* With the lock held: the entry that contains the address, or NULL. */
static struct memory_entry *find_entry(const void *address)
{
	size_t before = entries_up_to(address);
	struct memory_entry *e = before ? &memory.entries[before - 1] : NULL;
	return e && (uintptr_t)address - (uintptr_t)e->allocation.address < e->allocation.bytes ? e : NULL;
}

/* With the lock held. */
static bool overlaps(size_t at, const struct cuda_allocation *a)
{
	const struct memory_entry *before = at ? &memory.entries[at - 1] : NULL, *after = at < memory.count ? &memory.entries[at] : NULL;
	uintptr_t begin = (uintptr_t)a->address;
	return (before && begin - (uintptr_t)before->allocation.address < before->allocation.bytes) ||
	       (after && (uintptr_t)after->allocation.address - begin < a->bytes);
}

static bool counts_as_device_memory(enum cuda_memory_kind kind)
{
	return kind == CUDA_DEVICE_MEMORY || kind == CUDA_MANAGED_MEMORY;
}

static int add_entry(const struct cuda_allocation *a, void *pages, struct gs_error *err)
{
	int result = 0;
	pthread_mutex_lock(&memory.lock);
	size_t at = entries_up_to(a->address);
	if (overlaps(at, a)) {
		result = gs_fail(err, EEXIST, "the memory at %p is in use already", a->address);
	} else if (!gs_reserve(&memory.entries, memory.count, &memory.room, sizeof *memory.entries)) {
		result = gs_fail(err, ENOMEM, "out of memory");
	} else {
		memmove(&memory.entries[at + 1], &memory.entries[at], (memory.count - at) * sizeof *memory.entries);
		memory.entries[at] = (struct memory_entry){*a, pages};
		memory.count++;
	}
	pthread_mutex_unlock(&memory.lock);
	if (!result)
		memory_log_made(a->address);
	return result;
}

int memory_add(const struct cuda_allocation *a, struct gs_error *err)
{
	return add_entry(a, NULL, err);
}

static __thread uint32_t current_device; /* of each thread, as CUDA has it */

void cuda_set_device(uint32_t device)
{
	current_device = device;
}

uint32_t cuda_current_device(void)
{
	return current_device;
}

/* Counts bytes as used, if there is room for them. */
static bool take_room(enum cuda_memory_kind kind, size_t bytes)
{
	if (!counts_as_device_memory(kind))
		return true;
	pthread_mutex_lock(&memory.lock);
	bool room = bytes <= memory.bound && memory.used <= memory.bound - bytes;
	memory.used += room ? bytes : 0;
	pthread_mutex_unlock(&memory.lock);
	return room;
}

static void give_room_back(enum cuda_memory_kind kind, size_t bytes)
{
	if (!counts_as_device_memory(kind))
		return;
	pthread_mutex_lock(&memory.lock);
	memory.used -= bytes;
	pthread_mutex_unlock(&memory.lock);
}

static size_t mapped_bytes(size_t bytes)
{
	return bytes + 2 * (size_t)MARGIN + SPREAD;
}

/* Where an allocation begins in its pages. A GPU has one behind the other, and they are not all at the same place of its caches. */
static size_t next_offset(size_t bytes)
{
	pthread_mutex_lock(&memory.lock);
	size_t offset = memory.offset;
	memory.offset = (offset + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT) % SPREAD;
	pthread_mutex_unlock(&memory.lock);
	return offset;
}

/* The system merges mappings that are side by side and alike, and says of each how much is used. So the first and the last page of margins beside managed
 * memory are made mappings of their own. */
static void watch_pages(const struct cuda_allocation *a, char *mapping)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *last = mapping + (mapped_bytes(a->bytes) - 1) / page * page;
	if (a->kind == CUDA_MANAGED_MEMORY && !mprotect(mapping, page, PROT_NONE) && !mprotect(last, page, PROT_NONE))
		pages_made(a->address, a->bytes, mapping + page, last);
}

int cuda_allocate(size_t bytes, enum cuda_memory_kind kind, unsigned flags, void **out, struct gs_error *err)
{
	*out = NULL;
	if (!bytes)
		return 0;
	if (bytes > SIZE_MAX / 2 || !take_room(kind, bytes))
		return gs_fail(err, ENOMEM, "there is no room for %zu bytes in the memory of the GPU", bytes);
	char *pages = mmap(NULL, mapped_bytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED) {
		give_room_back(kind, bytes);
		return gs_fail(err, ENOMEM, "the host has no room for %zu bytes", bytes);
	}
	void *address = pages + MARGIN + (counts_as_device_memory(kind) ? next_offset(bytes) : 0);
	int result = add_entry(&(struct cuda_allocation){address, bytes, kind, flags, cuda_current_device()}, pages, err);
	if (result) {
		give_room_back(kind, bytes);
		munmap(pages, mapped_bytes(bytes));
		return result;
	}
	watch_pages(&(struct cuda_allocation){.address = address, .bytes = bytes, .kind = kind}, pages);
	*out = address;
	return 0;
}

int cuda_register(void *address, size_t bytes, unsigned flags, struct gs_error *err)
{
	if (!address || !bytes || bytes > UINTPTR_MAX - (uintptr_t)address)
		return gs_fail(err, EINVAL, "there is no such memory");
	return add_entry(&(struct cuda_allocation){address, bytes, CUDA_REGISTERED_MEMORY, flags, 0}, NULL, err);
}

int cuda_adopt(void *address, size_t bytes, struct gs_error *err)
{
	return add_entry(&(struct cuda_allocation){address, bytes, CUDA_DEVICE_MEMORY, 0, cuda_current_device()}, NULL, err);
}

/* Takes the entry that begins at the address out of the table. */
static bool take_entry(const void *address, struct memory_entry *out)
{
	pthread_mutex_lock(&memory.lock);
	struct memory_entry *e = find_entry(address);
	bool found = e && e->allocation.address == address;
	if (found) {
		*out = *e;
		memory.count--;
		memmove(e, e + 1, (size_t)(memory.entries + memory.count - e) * sizeof *e);
	}
	pthread_mutex_unlock(&memory.lock);
	return found;
}

int memory_release(void *address, struct gs_error *err)
{
	struct memory_entry e;
	if (!take_entry(address, &e))
		return gs_fail(err, EINVAL, "no allocation begins at %p", address);
	if (e.allocation.kind == CUDA_MANAGED_MEMORY)
		pages_gone(address);
	if (e.pages) {
		give_room_back(e.allocation.kind, e.allocation.bytes);
		munmap(e.pages, mapped_bytes(e.allocation.bytes));
	}
	return 0;
}

void memory_forget(const void *address)
{
	struct memory_entry e;
	take_entry(address, &e);
}

bool cuda_find_allocation(const void *address, struct cuda_allocation *out)
{
	pthread_mutex_lock(&memory.lock);
	const struct memory_entry *e = find_entry(address);
	if (e)
		*out = e->allocation;
	pthread_mutex_unlock(&memory.lock);
	return e;
}

/* Taken to be done at once: what a launch finds is looked at when it begins. */
void cuda_prefetched(const void *address, size_t bytes, bool to_gpu)
{
	struct cuda_allocation a;
	if (!cuda_find_allocation(address, &a) || a.kind != CUDA_MANAGED_MEMORY)
		return;
	pages_before_command();
	pages_brought(a.address, bytes, to_gpu);
	pages_after_command();
}

/* The host may have less room than the GPU. */
/* What the host had free when it was first asked for bounds it as well. Later its pages come and go with their use, and programs expect an
 * allocation to take what it has, at once. */
void cuda_memory_info(size_t *free_bytes, size_t *total_bytes)
{
	static size_t room; /* under the lock */
	long pages = sysconf(_SC_AVPHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	size_t host = pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : SIZE_MAX;
	pthread_mutex_lock(&memory.lock);
	if (!room)
		room = host < SIZE_MAX - memory.used ? host + memory.used : SIZE_MAX;
	size_t all = room < memory.bound ? room : memory.bound;
	*free_bytes = all > memory.used ? all - memory.used : 0;
	*total_bytes = memory.bound;
	pthread_mutex_unlock(&memory.lock);
}

size_t memory_list(struct cuda_allocation *out, size_t room)
{
	pthread_mutex_lock(&memory.lock);
	size_t count = memory.count;
	for (size_t i = 0; i < count && i < room; i++)
		out[i] = memory.entries[i].allocation;
	pthread_mutex_unlock(&memory.lock);
	return count;
}

/* ---- texture and surface objects, in the order of their addresses ---- */

static struct {
	pthread_mutex_t lock;
	struct cuda_texture *list;
	size_t count, room;
} textures = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held: how many are below the object. */
static size_t textures_below(uint64_t object)
{
	size_t low = 0, high = textures.count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (textures.list[middle].object < object)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(size_t at, uint64_t object)
{
	return at < textures.count && textures.list[at].object == object;
}

/* Without memory for it, its fetches are loads. */
void cuda_texture_made(const struct lifted_texture *t, bool written, bool by_rows)
{
	struct cuda_texture new = {(uint64_t)(uintptr_t)t, *t, written, by_rows};
	pthread_mutex_lock(&textures.lock);
	size_t at = textures_below(new.object);
	if (is_at(at, new.object)) {
		textures.list[at] = new;
	} else if (gs_reserve(&textures.list, textures.count, &textures.room, sizeof *textures.list)) {
		memmove(&textures.list[at + 1], &textures.list[at], (textures.count - at) * sizeof *textures.list);
		textures.list[at] = new;
		textures.count++;
	}
	pthread_mutex_unlock(&textures.lock);
}

void cuda_texture_gone(uint64_t object)
{
	pthread_mutex_lock(&textures.lock);
	size_t at = textures_below(object);
	if (is_at(at, object)) {
		textures.count--;
		memmove(&textures.list[at], &textures.list[at + 1], (textures.count - at) * sizeof *textures.list);
	}
	pthread_mutex_unlock(&textures.lock);
}

bool texture_find(uint64_t object, struct cuda_texture *out)
{
	pthread_mutex_lock(&textures.lock);
	size_t at = textures_below(object);
	bool found = is_at(at, object);
	if (found)
		*out = textures.list[at];
	pthread_mutex_unlock(&textures.lock);
	return found;
}

/* Where memory is the program's own, or of one dimension, there are no blocks. Its rows may be apart. */
uint64_t texture_shape(const struct cuda_texture *t, uint64_t *row_texels)
{
	const struct lifted_texture *l = &t->level;
	uint64_t texel = lifted_texel_bytes(l);
	bool by_rows = t->by_rows || l->height <= 1;
	*row_texels = by_rows && texel && l->pitch % texel == 0 ? l->pitch / texel : l->width;
	if (l->linear || !texel)
		return 0;
	struct image_shape s = {.width = *row_texels, .height = l->height, .depth = l->depth, .texel_bytes = (uint32_t)texel, .written = t->written,
	                        .by_rows = by_rows, .sampler = t->written ? IMAGE_SAMPLER_OF_SITE : l->filters ? IMAGE_LINEAR : IMAGE_NEAREST};
	return image_shape_pack(&s);
}
