/* Contexts. The devices have one memory, and what it holds belongs to all contexts, so that one is little more than something
 * to be current: its device is the thread's then. */
#include "interposer/cuda/driver/driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct driver_context {
	unsigned flags;
	unsigned long long id;
	struct driver_context *next;
	int device;
};

/* The contexts of a thread, the current one first. */
struct context_stack {
	struct driver_context *context;
	struct context_stack *below;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below but the stacks */
static struct driver_context *contexts;
static struct driver_context primary[CUDA_MOST_DEVICES]; /* ids from 1 on */
static unsigned primary_users[CUDA_MOST_DEVICES];
static unsigned long long context_count = CUDA_MOST_DEVICES;
static atomic_bool initialised;
static __thread struct context_stack *stack;

int driver_init(unsigned flags)
{
	int error = flags ? cudaErrorInvalidValue : entry_start();
	if (!error)
		initialised = true;
	return error;
}

/* The runtime starts the driver itself. */
int driver_needs_start(void)
{
	if (!initialised && !entry_runtime_used())
		return cudaErrorInitializationError;
	return entry_start();
}

int driver_needs_context(void)
{
	int error = driver_needs_start();
	return error ? error : context_current() ? cudaSuccess : cudaErrorDeviceUninitialized;
}

static bool is_listed(const struct driver_context *c)
{
	const struct driver_context *at = contexts;
	while (at && at != c)
		at = at->next;
	return c && (at || (c >= primary && c < primary + CUDA_MOST_DEVICES));
}

bool context_exists(const struct driver_context *c)
{
	pthread_mutex_lock(&lock);
	bool exists = is_listed(c);
	pthread_mutex_unlock(&lock);
	return exists;
}

static struct driver_context *primary_of(int device)
{
	primary[device].id = 1 + (unsigned long long)device;
	primary[device].device = device;
	return &primary[device];
}

/* The thread's device is that of its current context. */
static int use_current(void)
{
	if (stack && stack->context)
		cuda_set_device((uint32_t)stack->context->device);
	return cudaSuccess;
}

/* A thread that has used the runtime has the primary context. */
struct driver_context *context_current(void)
{
	if (!stack)
		return entry_runtime_used() ? primary_of((int)cuda_current_device()) : NULL;
	return stack->context && context_exists(stack->context) ? stack->context : NULL;
}

static int check_flags(unsigned flags)
{
	unsigned schedule = flags & API_DEVICE_SCHEDULE;
	return (flags & ~(unsigned)API_DEVICE_FLAGS) || (schedule & (schedule - 1)) ? cudaErrorInvalidValue : cudaSuccess;
}

int context_push(struct driver_context *c)
{
	struct context_stack *s = context_exists(c) ? malloc(sizeof *s) : NULL;
	if (!s)
		return context_exists(c) ? cudaErrorMemoryAllocation : cudaErrorDeviceUninitialized;
	*s = (struct context_stack){c, stack};
	stack = s;
	return use_current();
}

int context_pop(struct driver_context **out)
{
	struct context_stack *s = stack;
	if (!s)
		return cudaErrorDeviceUninitialized;
	if (out)
		*out = s->context;
	stack = s->below;
	free(s);
	return use_current();
}

/* Replaces the current one. */
int context_set(struct driver_context *c)
{
	if (c && !context_exists(c))
		return cudaErrorDeviceUninitialized;
	if (stack && c)
		stack->context = c;
	else if (stack)
		return context_pop(NULL);
	return c && !stack ? context_push(c) : use_current();
}

int context_create(struct driver_context **out, unsigned flags, int device)
{
	int error = !out ? cudaErrorInvalidValue : !is_device(device) ? cudaErrorInvalidDevice : check_flags(flags);
	if (error)
		return error;
	struct driver_context *c = calloc(1, sizeof *c);
	if (!c)
		return cudaErrorMemoryAllocation;
	pthread_mutex_lock(&lock);
	*c = (struct driver_context){flags, ++context_count, contexts, device};
	contexts = c;
	pthread_mutex_unlock(&lock);
	*out = c;
	return context_push(c);
}

int context_destroy(struct driver_context *c)
{
	pthread_mutex_lock(&lock);
	struct driver_context **at = &contexts;
	while (*at && *at != c)
		at = &(*at)->next;
	bool known = *at;
	if (known)
		*at = c->next;
	pthread_mutex_unlock(&lock);
	if (!known)
		return cudaErrorDeviceUninitialized;
	int error = hook_cudaDeviceSynchronize();
	if (stack && stack->context == c)
		context_pop(NULL);
	free(c);
	return error;
}

int context_flags(const struct driver_context *c, unsigned *flags)
{
	c = c ? c : context_current();
	if (!flags || !c)
		return flags ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue;
	*flags = c->flags | API_DEVICE_MAP_HOST;
	return cudaSuccess;
}

int context_id(const struct driver_context *c, unsigned long long *id)
{
	c = c ? c : context_current();
	if (!id || !context_exists(c))
		return id ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue;
	*id = c->id;
	return cudaSuccess;
}

int context_device(const struct driver_context *c)
{
	pthread_mutex_lock(&lock);
	int device = is_listed(c) ? c->device : -1;
	pthread_mutex_unlock(&lock);
	return device;
}

static const struct driver_context *known_or_current(const struct driver_context *c)
{
	return context_exists(c) ? c : context_current();
}

int context_get_device(int *device, const struct driver_context *c)
{
	c = known_or_current(c);
	if (!device || !c)
		return device ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue;
	*device = context_device(c);
	return cudaSuccess;
}

/* Of another context's device, too: commands of all devices are waited for. */
int context_synchronize(const struct driver_context *c)
{
	return known_or_current(c) ? hook_cudaDeviceSynchronize() : cudaErrorDeviceUninitialized;
}

/* ---- peers ---- */

int context_enable_peer(const struct driver_context *peer, unsigned flags)
{
	int device = context_device(peer);
	if (device < 0 || peer == context_current())
		return cudaErrorDeviceUninitialized;
	return flags ? cudaErrorInvalidValue : (uint32_t)device == cuda_current_device() ? cudaErrorPeerAccessUnsupported : hook_cudaDeviceEnablePeerAccess(device, flags);
}

int context_disable_peer(const struct driver_context *peer)
{
	int device = context_device(peer);
	return device < 0 ? cudaErrorDeviceUninitialized : hook_cudaDeviceDisablePeerAccess(device);
}

/* ---- the primary context ---- */

int primary_retain(struct driver_context **out, int device)
{
	if (!out || !is_device(device))
		return out ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	pthread_mutex_lock(&lock);
	primary_users[device]++;
	pthread_mutex_unlock(&lock);
	*out = primary_of(device);
	return cudaSuccess;
}

int primary_release(int device)
{
	if (!is_device(device))
		return cudaErrorInvalidDevice;
	pthread_mutex_lock(&lock);
	bool used = primary_users[device] > 0;
	primary_users[device] -= used;
	pthread_mutex_unlock(&lock);
	return used ? cudaSuccess : cudaErrorDeviceUninitialized;
}

int primary_set_flags(int device, unsigned flags)
{
	int error = !is_device(device) ? cudaErrorInvalidDevice : check_flags(flags);
	if (error)
		return error;
	pthread_mutex_lock(&lock);
	primary[device].flags = flags;
	pthread_mutex_unlock(&lock);
	return cudaSuccess;
}

int primary_state(int device, unsigned *flags, int *active)
{
	if (!is_device(device) || !flags || !active)
		return !is_device(device) ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	pthread_mutex_lock(&lock);
	*flags = primary[device].flags;
	*active = primary_users[device] > 0 || entry_runtime_used();
	pthread_mutex_unlock(&lock);
	return cudaSuccess;
}

/* ---- the device ---- */

int device_name(char *name, int room, int device)
{
	if (!is_device(device) || !name || room < 1)
		return !is_device(device) ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	snprintf(name, (size_t)room, "%s", cuda_gpu()->title);
	return cudaSuccess;
}

/* As in the properties (device/properties.c). */
int device_uuid(void *uuid, int device)
{
	const struct gpu *g = cuda_gpu();
	uint64_t words[2] = {gs_hash(g->name, strlen(g->name)), gs_hash(g->title, strlen(g->title)) + (uint64_t)device};
	if (!is_device(device) || !uuid)
		return !is_device(device) ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	memcpy(uuid, words, sizeof words);
	return cudaSuccess;
}

int device_memory(size_t *bytes, int device)
{
	return !is_device(device) || !bytes ? !is_device(device) ? cudaErrorInvalidDevice : cudaErrorInvalidValue : hook_cudaMemGetInfo(NULL, bytes);
}

int device_capability(int *major, int *minor, int device)
{
	enum { MAJOR = 75, MINOR = 76 }; /* numbers of attributes */
	if (!major || !minor)
		return cudaErrorInvalidValue;
	int error = hook_cudaDeviceGetAttribute(major, MAJOR, device);
	return error ? error : hook_cudaDeviceGetAttribute(minor, MINOR, device);
}
