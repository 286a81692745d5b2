/* Requests that are under way. One handle may stand for several sends that were done at once: they are taken in their order. */
#include "interposer/mpi/mpi.h"

#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpi_request *buckets[BUCKETS];
static uint64_t last_number;

static struct mpi_request **bucket_of(mpi_word handle)
{
	return &buckets[((uint64_t)handle * 0x9e3779b97f4a7c15u) >> 54];
}

struct mpi_request *mpi_request_add(mpi_word handle, const struct mpi_request *r)
{
	struct mpi_request *made = malloc(sizeof *made), **at = bucket_of(handle);
	if (!made)
		return NULL;
	*made = *r;
	made->handle = handle;
	made->next = NULL;
	pthread_mutex_lock(&lock);
	while (*at)
		at = &(*at)->next;
	*at = made;
	pthread_mutex_unlock(&lock);
	return made;
}

struct mpi_request *mpi_request_find(mpi_word handle)
{
	pthread_mutex_lock(&lock);
	struct mpi_request *r = *bucket_of(handle);
	while (r && r->handle != handle)
		r = r->next;
	pthread_mutex_unlock(&lock);
	return r;
}

void mpi_request_gone(struct mpi_request *r)
{
	pthread_mutex_lock(&lock);
	for (struct mpi_request **at = bucket_of(r->handle); *at; at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	free(r);
}

uint64_t mpi_request_number(void)
{
	pthread_mutex_lock(&lock);
	uint64_t number = ++last_number;
	pthread_mutex_unlock(&lock);
	return number;
}

bool mpi_request_is_open(const struct mpi_request *r)
{
	const struct mpi_library *library = mpi_library();
	return r->receives && (r->peer == library->any_rank || r->tag == library->any_tag);
}
