/* Texture and surface references of the driver. What is set may not fit together before all of it is: what is bound changes when it does. */
#include "interposer/cuda/driver/driver.h"

#include "interposer/cuda/memory.h"
#include "interposer/cuda/textures/references.h"

#include <pthread.h>
#include <stdlib.h>

struct module_reference {
	void *variable;
	bool bound, surface;
	int format;
	unsigned channels;
	struct driver_resource resource;
	struct driver_texture texture;
	struct module_reference *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all of them */
static struct module_reference *references; /* they stay */

int reference_find(struct module_reference **out, struct registered_binary *b, const char *name)
{
	enum { CLAMP = 1, FLOATS = 0x20 };
	void *variable;
	size_t bytes;
	int error = out ? module_global(&variable, &bytes, b, name) : cudaErrorInvalidValue;
	if (error)
		return error;
	pthread_mutex_lock(&lock);
	struct module_reference *t = references;
	while (t && t->variable != variable)
		t = t->next;
	if (!t && (t = calloc(1, sizeof *t))) {
		*t = (struct module_reference){.variable = variable, .format = FLOATS, .channels = 1, .texture.modes = {CLAMP, CLAMP, CLAMP}, .next = references};
		references = t;
	}
	pthread_mutex_unlock(&lock);
	*out = t;
	return t ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* With the lock held, and for a handle that is one. */
static int apply(struct module_reference *t)
{
	struct driver_resource r = t->resource;
	struct driver_texture texture = t->texture;
	uint64_t object;
	if (!t->bound)
		return cudaSuccess;
	if (t->surface)
		return surface_create(&object, &r) ? cudaErrorInvalidValue : reference_bind(t->variable, object);
	if (r.kind == API_RESOURCE_LINEAR) {
		r.of.linear.format = t->format;
		r.of.linear.channels = t->channels;
		texture.flags &= ~2u; /* its coordinates are numbers of elements */
		texture.filter = 0;
	}
	return texture_create(&object, &r, &texture, NULL) ? cudaSuccess : reference_bind(t->variable, object);
}

/* The reference that a handle is of, or NULL. With the lock held. */
static struct module_reference *known(struct module_reference *handle)
{
	struct module_reference *t = handle ? references : NULL;
	while (t && t != handle)
		t = t->next;
	return t;
}

/* Changes the reference that a handle is of, and binds what it has. */
static int change(struct module_reference *handle, void (*set)(struct module_reference *t, const void *to), const void *to)
{
	pthread_mutex_lock(&lock);
	struct module_reference *t = known(handle);
	if (t)
		set(t, to);
	int error = t ? apply(t) : cudaErrorInvalidValue;
	pthread_mutex_unlock(&lock);
	return error;
}

static void set_resource(struct module_reference *t, const void *to)
{
	t->resource = *(const struct driver_resource *)to;
	t->bound = true;
}

static void set_texture(struct module_reference *t, const void *to)
{
	const struct reference_setting *s = to;
	switch (s->what) {
	case REFERENCE_MODE: t->texture.modes[s->dimension] = (int)s->value; break;
	case REFERENCE_FILTER: t->texture.filter = (int)s->value; break;
	case REFERENCE_FLAGS: t->texture.flags = s->value; break;
	case REFERENCE_FORMAT:
		t->format = (int)s->value;
		t->channels = s->dimension;
		break;
	}
}

int reference_set(struct module_reference *t, struct reference_setting s)
{
	return s.what == REFERENCE_MODE && s.dimension > 2 ? cudaErrorInvalidValue : change(t, set_texture, &s);
}

int reference_array(struct module_reference *t, void *array)
{
	struct driver_resource r = {.kind = API_RESOURCE_ARRAY, .of.array = array};
	return array ? change(t, set_resource, &r) : cudaErrorInvalidResourceHandle;
}

static void set_surface(struct module_reference *t, const void *to)
{
	set_resource(t, to);
	t->surface = true;
}

int reference_surface(struct module_reference *t, void *array)
{
	struct driver_resource r = {.kind = API_RESOURCE_ARRAY, .of.array = array};
	return array_of(array) ? change(t, set_surface, &r) : cudaErrorInvalidResourceHandle;
}

int reference_address(size_t *offset, struct module_reference *t, void *address, size_t bytes)
{
	struct driver_resource r = {.kind = API_RESOURCE_LINEAR};
	r.of.linear.address = address;
	r.of.linear.bytes = bytes;
	if (offset)
		*offset = 0;
	return change(t, set_resource, &r);
}

int reference_rows(struct module_reference *t, const struct driver_plane *shape, void *address, size_t pitch)
{
	struct driver_resource r = {.kind = API_RESOURCE_PITCHED};
	if (!shape)
		return cudaErrorInvalidValue;
	r.of.pitched.address = address;
	r.of.pitched.format = shape->format;
	r.of.pitched.channels = shape->channels;
	r.of.pitched.width = shape->width;
	r.of.pitched.height = shape->height;
	r.of.pitched.pitch = pitch;
	return change(t, set_resource, &r);
}

/* ---- questions ---- */

static int value_of(const struct module_reference *t, struct reference_setting which)
{
	switch (which.what) {
	case REFERENCE_MODE: return t->texture.modes[which.dimension];
	case REFERENCE_FILTER: return t->texture.filter;
	case REFERENCE_FLAGS: return (int)t->texture.flags;
	default: return t->format;
	}
}

int reference_get(struct module_reference *handle, struct reference_setting which, int *value, int *channels)
{
	if (!value || (which.what == REFERENCE_MODE && which.dimension > 2))
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&lock);
	const struct module_reference *t = known(handle);
	if (t)
		*value = value_of(t, which);
	if (t && channels)
		*channels = (int)t->channels;
	pthread_mutex_unlock(&lock);
	return t ? cudaSuccess : cudaErrorInvalidValue;
}

/* Of a reference that something of one of these kinds is bound to. */
static int bound_to(struct module_reference *handle, int first, int second, struct driver_resource *out)
{
	pthread_mutex_lock(&lock);
	const struct module_reference *t = known(handle);
	bool is = t && t->bound && (t->resource.kind == first || t->resource.kind == second);
	if (is)
		*out = t->resource;
	pthread_mutex_unlock(&lock);
	return is ? cudaSuccess : cudaErrorInvalidValue;
}

int reference_get_array(void **array, struct module_reference *t)
{
	struct driver_resource r;
	int error = array ? bound_to(t, API_RESOURCE_ARRAY, API_RESOURCE_ARRAY, &r) : cudaErrorInvalidValue;
	if (!error)
		*array = r.of.array;
	return error;
}

int reference_get_address(void **address, struct module_reference *t)
{
	struct driver_resource r;
	int error = address ? bound_to(t, API_RESOURCE_LINEAR, API_RESOURCE_PITCHED, &r) : cudaErrorInvalidValue;
	if (!error)
		*address = r.kind == API_RESOURCE_LINEAR ? r.of.linear.address : r.of.pitched.address;
	return error;
}
