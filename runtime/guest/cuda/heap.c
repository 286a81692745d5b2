#include "runtime/guest/cuda/heap.h"

#include "runtime/cuda.h"
#include "runtime/format/lifted.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lifted_heap *heap;           /* under the lock */
static size_t heap_bytes = 8 << 20;        /* likewise; what CUDA begins with */

static struct lifted_heap *heap_new(size_t bytes)
{
	/* Pages come with their first use. */
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
	pthread_mutex_lock(&lock);
	if (!heap)
		heap = heap_new(heap_bytes);
	uint64_t address = (uint64_t)(uintptr_t)heap;
	pthread_mutex_unlock(&lock);
	return address;
}

/* A kernel that runs may still use the old heap, which stays. */
int cuda_set_heap_size(size_t bytes)
{
	pthread_mutex_lock(&lock);
	int result = heap && heap->live ? -EBUSY : 0;
	if (!result && bytes != heap_bytes) {
		heap_bytes = bytes;
		heap = NULL;
	}
	pthread_mutex_unlock(&lock);
	return result;
}
