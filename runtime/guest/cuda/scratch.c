#include "runtime/guest/cuda/scratch.h"

#include "runtime/cuda.h"
#include "runtime/format/lifted.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_IDLE = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct scratch *idle; /* under the lock, the latest first */

static void scratch_free(struct scratch *s)
{
	if (s->memory != MAP_FAILED)
		munmap(s->memory, s->bytes);
	free(s->flags);
	free(s);
}

static struct scratch *scratch_new(uint64_t slots, uint64_t slot_bytes)
{
	struct scratch *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	*s = (struct scratch){.slots = slots, .slot_bytes = slot_bytes, .bytes = slots * slot_bytes, .flags = calloc(slots, sizeof *s->flags)};
	/* Pages come with their first use: many threads use little of their stack. */
	s->memory = s->flags && slot_bytes <= UINT64_MAX / 2 / slots
	                ? mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
	                : MAP_FAILED;
	if (s->memory != MAP_FAILED)
		return s;
	scratch_free(s);
	return NULL;
}

struct scratch *scratch_take(uint64_t slots, uint64_t slot_bytes)
{
	slot_bytes = slot_bytes ? (slot_bytes + 255) / 256 * 256 : 256;
	pthread_mutex_lock(&lock);
	struct scratch **link = &idle;
	while (*link && ((*link)->slots < slots || (*link)->slot_bytes < slot_bytes))
		link = &(*link)->next;
	struct scratch *s = *link;
	if (s)
		*link = s->next;
	pthread_mutex_unlock(&lock);
	if (!s)
		return scratch_new(slots, slot_bytes);
	memset(s->flags, 0, s->slots * sizeof *s->flags); /* a fault may have left some taken */
	return s;
}

void scratch_give_back(struct scratch *s)
{
	struct scratch *last = NULL;
	size_t count = 0;
	pthread_mutex_lock(&lock);
	s->next = idle;
	idle = s;
	for (struct scratch **link = &idle; *link && !last; link = &(*link)->next)
		if (++count > MOST_IDLE) {
			last = *link;
			*link = NULL;
			break;
		}
	pthread_mutex_unlock(&lock);
	if (last)
		scratch_free(last);
}

/* ---- the heap of kernels ---- */

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lifted_heap *heap;    /* under the lock */
static size_t heap_bytes = 8 << 20; /* likewise; what CUDA begins with */

static struct lifted_heap *heap_new(size_t bytes)
{
	struct lifted_heap *h = bytes <= SIZE_MAX / 2 ? mmap(NULL, bytes + sizeof *h, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
	                                              : MAP_FAILED;
	if (h == MAP_FAILED)
		return NULL;
	h->bytes = bytes + sizeof *h;
	h->used = sizeof *h;
	return h;
}

uint64_t heap_address(void)
{
	pthread_mutex_lock(&heap_lock);
	if (!heap)
		heap = heap_new(heap_bytes);
	uint64_t address = (uint64_t)(uintptr_t)heap;
	pthread_mutex_unlock(&heap_lock);
	return address;
}

/* A kernel that runs may still use the old heap, which stays. */
int cuda_set_heap_size(size_t bytes)
{
	pthread_mutex_lock(&heap_lock);
	int result = heap && heap->live ? -EBUSY : 0;
	if (!result && bytes != heap_bytes) {
		heap_bytes = bytes;
		heap = NULL;
	}
	pthread_mutex_unlock(&heap_lock);
	return result;
}
