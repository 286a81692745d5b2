/* Copies and fills in the driver's shapes, arrays, and what an address is. */
#include "interposer/cuda/driver/driver.h"
#include "interposer/cuda/copies.h"
#include "interposer/cuda/memory.h"
#include "interposer/cuda/streams.h"

/* ---- copies ---- */

/* A side as the runtime's copies have it. Positions are in bytes; in arrays the runtime has elements. */
static bool take_side(const struct driver_side3d *s, size_t width, size_t height, void **array, struct api_position *at, struct api_pitched *memory,
                      size_t *element)
{
	*at = (struct api_position){s->x, s->y, s->z};
	if (s->level || s->kind < KIND_HOST || s->kind > KIND_UNIFIED)
		return false;
	if (s->kind == KIND_ARRAY) {
		const struct cuda_array_record *a = array_of(s->array);
		size_t bytes = a ? array_element_bytes(a) : 0;
		if (!bytes || s->x % bytes || width % bytes)
			return false;
		*array = s->array;
		at->x /= bytes;
		*element = bytes;
		return true;
	}
	size_t pitch = s->pitch ? s->pitch : s->x + width, rows = s->height ? s->height : s->y + height;
	*memory = (struct api_pitched){s->kind == KIND_HOST ? s->host : s->device, pitch, pitch, rows};
	return true;
}

static int direction_of(int from, int to)
{
	static const int directions[2][2] = {{API_HOST_TO_HOST, API_HOST_TO_DEVICE}, {API_DEVICE_TO_HOST, API_DEVICE_TO_DEVICE}};
	if (from == KIND_UNIFIED || to == KIND_UNIFIED)
		return API_BY_ADDRESSES;
	return directions[from != KIND_HOST][to != KIND_HOST];
}

int box_of(const struct driver_copy3d *c, struct api_copy3d *out)
{
	size_t element = 1;
	*out = (struct api_copy3d){0};
	if (!c || c->from.reserved || c->to.reserved)
		return cudaErrorInvalidValue;
	if (!take_side(&c->from, c->width, c->height, &out->from_array, &out->from_position, &out->from, &element) ||
	    !take_side(&c->to, c->width, c->height, &out->to_array, &out->to_position, &out->to, &element))
		return cudaErrorInvalidValue;
	out->extent = (struct api_extent){c->width / element, c->height, c->depth};
	out->direction = direction_of(c->from.kind, c->to.kind);
	return cudaSuccess;
}

int copy_box(const struct driver_copy3d *c, bool synchronous, void *stream)
{
	struct api_copy3d what;
	int error = box_of(c, &what);
	if (error)
		return error;
	return synchronous ? hook_cudaMemcpy3D(&what, stream) : hook_cudaMemcpy3DAsync(&what, stream);
}

static struct driver_side3d side_of(const struct driver_side2d *s)
{
	return (struct driver_side3d){.x = s->x, .y = s->y, .kind = s->kind, .host = s->host, .device = s->device, .array = s->array, .pitch = s->pitch};
}

int copy_rows(const struct driver_copy2d *c, bool synchronous, void *stream)
{
	if (!c)
		return cudaErrorInvalidValue;
	struct driver_copy3d box = {side_of(&c->from), side_of(&c->to), c->width, c->height, 1};
	return copy_box(&box, synchronous, stream);
}

int copy_between(void *to, const struct driver_context *to_context, const void *from, const struct driver_context *from_context, size_t bytes, bool synchronous, void *stream)
{
	int to_device = context_device(to_context), from_device = context_device(from_context);
	if (to_device < 0 || from_device < 0)
		return cudaErrorDeviceUninitialized;
	return synchronous ? hook_cudaMemcpyPeer(to, to_device, from, from_device, bytes, stream) : hook_cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
}

/* Memory of an array, or of the host, belongs to no context here. */
static bool takes_context(struct driver_side3d *s)
{
	bool known = (s->kind != KIND_DEVICE && s->kind != KIND_UNIFIED) || context_device(s->reserved) >= 0;
	s->reserved = NULL;
	return known;
}

int copy_box_between(const struct driver_copy3d *c, bool synchronous, void *stream)
{
	if (!c)
		return cudaErrorInvalidValue;
	struct driver_copy3d box = *c;
	bool from = takes_context(&box.from), to = takes_context(&box.to);
	return from && to ? copy_box(&box, synchronous, stream) : cudaErrorDeviceUninitialized;
}

/* ---- fills ---- */

int fill_units(void *to, size_t pitch, unsigned value, unsigned unit, size_t width, size_t height, bool synchronous, void *stream)
{
	struct ordered_command c;
	struct cuda_copy shape = {.to = to, .width = width * unit, .height = height, .depth = 1, .to_pitch = pitch};
	if (!width || !height)
		return stream_exists(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
	if (width > SIZE_MAX / unit || (uintptr_t)to % unit || pitch % unit || (height > 1 && shape.width > pitch))
		return cudaErrorInvalidValue;
	int error = fill_check(&shape);
	if (!error)
		error = ordered_begin(&c, stream, synchronous && address_kind_of(to, NULL) != ADDRESS_DEVICE, NULL);
	return error ? error : ordered_end(&c, ordered_fill(&c, &shape, value, unit), cudaErrorInvalidValue);
}

/* ---- questions ---- */

int allocation_range(void **begin, size_t *bytes, const void *address)
{
	struct cuda_allocation a;
	if (!cuda_find_allocation(address, &a))
		return cudaErrorSymbolNotFound;
	if (begin)
		*begin = a.address;
	if (bytes)
		*bytes = a.bytes;
	return cudaSuccess;
}

enum pointer_attribute {
	POINTER_CONTEXT = 1,
	POINTER_KIND = 2,
	POINTER_DEVICE_ADDRESS = 3,
	POINTER_HOST_ADDRESS = 4,
	POINTER_SYNC = 6,
	POINTER_ID = 7,
	POINTER_MANAGED = 8,
	POINTER_DEVICE = 9,
	POINTER_BEGIN = 11,
	POINTER_BYTES = 12,
	POINTER_MAPPED = 13,
};

int pointer_attribute(void *value, int attribute, const void *address)
{
	struct cuda_allocation a;
	if (!value)
		return cudaErrorInvalidValue;
	if (!cuda_find_allocation(address, &a))
		return cudaErrorInvalidValue;
	bool host = a.kind == CUDA_HOST_MEMORY || a.kind == CUDA_REGISTERED_MEMORY;
	switch (attribute) {
	case POINTER_CONTEXT:
		*(void **)value = context_current();
		break;
	case POINTER_KIND:
		*(unsigned *)value = host ? KIND_HOST : KIND_DEVICE;
		break;
	case POINTER_HOST_ADDRESS:
		if (a.kind == CUDA_DEVICE_MEMORY)
			return cudaErrorInvalidValue;
		*(const void **)value = address;
		break;
	case POINTER_DEVICE_ADDRESS:
		*(const void **)value = address;
		break;
	case POINTER_SYNC:
		*(unsigned *)value = 0;
		break;
	case POINTER_ID: /* no two live allocations have the same */
		*(uint64_t *)value = (uintptr_t)a.address;
		break;
	case POINTER_MANAGED:
		*(unsigned *)value = a.kind == CUDA_MANAGED_MEMORY;
		break;
	case POINTER_DEVICE:
		*(int *)value = 0;
		break;
	case POINTER_BEGIN:
		*(void **)value = a.address;
		break;
	case POINTER_BYTES:
		*(size_t *)value = a.bytes;
		break;
	case POINTER_MAPPED:
		*(int *)value = 1;
		break;
	default:
		error_say_once("cuPointerGetAttribute", "cuPointerGetAttribute does not know attribute %d yet", attribute);
		return cudaErrorNotSupported;
	}
	return cudaSuccess;
}

/* Of an address that is not known, all are 0. */
int pointer_attributes(unsigned count, const int *attributes, void **values, const void *address)
{
	struct cuda_allocation a;
	if (!count || !attributes || !values)
		return cudaErrorInvalidValue;
	bool known = cuda_find_allocation(address, &a);
	for (unsigned i = 0; i < count; i++) {
		bool wide = attributes[i] == POINTER_CONTEXT || attributes[i] == POINTER_DEVICE_ADDRESS || attributes[i] == POINTER_HOST_ADDRESS ||
		            attributes[i] == POINTER_ID || attributes[i] == POINTER_BEGIN || attributes[i] == POINTER_BYTES;
		bool none = !known || (attributes[i] == POINTER_HOST_ADDRESS && a.kind == CUDA_DEVICE_MEMORY);
		int error = none ? cudaSuccess : pointer_attribute(values[i], attributes[i], address);
		if (error)
			return error;
		if (none && wide)
			*(uint64_t *)values[i] = 0;
		else if (none)
			*(unsigned *)values[i] = attributes[i] == POINTER_DEVICE ? (unsigned)-2 : 0;
	}
	return cudaSuccess;
}
