/* What a program says of its streams beside their commands: it can be read again; the models do not know of it. */
#include "interposer/cuda/streams.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Those of launches that a stream can have; see cudaLaunchAttributeID. */
enum { WINDOW_OF_L2 = 1, HOW_TO_WAIT = 3, PRIORITY = 8, DOMAIN_MAP = 9, DOMAIN = 10 };
static const int ids[] = {WINDOW_OF_L2, HOW_TO_WAIT, PRIORITY, DOMAIN_MAP, DOMAIN};
enum { COUNT = sizeof ids / sizeof *ids };

struct attributes {
	union api_attribute_value of[COUNT];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the attributes of all streams */

static int index_of(int id)
{
	for (int i = 0; i < COUNT; i++)
		if (ids[i] == id)
			return i;
	return -1;
}

/* What a stream has before anything is set. */
static int defaults(void *stream, struct attributes *out)
{
	*out = (struct attributes){0};
	out->of[index_of(HOW_TO_WAIT)].number = 1;  /* as the device does */
	out->of[index_of(DOMAIN_MAP)].bytes[1] = 1; /* the second domain is another one than the first, 0 */
	return hook_cudaStreamGetPriority(stream, &out->of[index_of(PRIORITY)].number);
}

static int read_all(void *stream, struct attributes *out)
{
	void **set = stream_attributes(stream);
	int error = set ? defaults(stream, out) : cudaErrorInvalidResourceHandle;
	if (error)
		return error;
	pthread_mutex_lock(&lock);
	if (*set)
		memcpy(out, *set, sizeof *out);
	pthread_mutex_unlock(&lock);
	return cudaSuccess;
}

static int write_all(void *stream, const struct attributes *a)
{
	void **set = stream_attributes(stream);
	if (!set)
		return cudaErrorInvalidResourceHandle;
	pthread_mutex_lock(&lock);
	if (!*set)
		*set = malloc(sizeof *a);
	bool kept = *set;
	if (kept)
		memcpy(*set, a, sizeof *a);
	pthread_mutex_unlock(&lock);
	return kept ? cudaSuccess : cudaErrorMemoryAllocation;
}

int hook_cudaStreamSetAttribute(void *stream, int id, const union api_attribute_value *value)
{
	struct attributes a;
	int i = index_of(id), error = value && i >= 0 ? read_all(stream, &a) : cudaErrorInvalidValue;
	if (error)
		return error;
	a.of[i] = *value;
	return write_all(stream, &a);
}

int hook_cudaStreamGetAttribute(void *stream, int id, union api_attribute_value *out)
{
	struct attributes a;
	int i = index_of(id), error = out && i >= 0 ? read_all(stream, &a) : cudaErrorInvalidValue;
	if (!error)
		*out = a.of[i];
	return error;
}

int hook_cudaStreamCopyAttributes(void *to, void *stream)
{
	struct attributes a;
	int error = read_all(stream, &a);
	return error ? error : write_all(to, &a);
}
