/* Arrays of the driver: the runtime's, with other descriptions; and copies of a row of them. */
#include "interposer/cuda/driver/driver.h"

/* Formats by their numbers: bits of a channel, and what the runtime calls them: signed 0, unsigned 1, float 2. */
static const struct {
	int format, bits, kind;
} formats[] = {{0x01, 8, 1}, {0x02, 16, 1}, {0x03, 32, 1}, {0x08, 8, 0}, {0x09, 16, 0}, {0x0a, 32, 0}, {0x10, 16, 2}, {0x20, 32, 2}};

bool channel_of(int format, unsigned channels, struct api_channel *out)
{
	if (channels != 1 && channels != 2 && channels != 4)
		return false;
	for (size_t i = 0; i < GS_ARRAY_LEN(formats); i++)
		if (formats[i].format == format) {
			int bits = formats[i].bits, two = channels > 1 ? bits : 0, four = channels > 2 ? bits : 0;
			*out = (struct api_channel){bits, two, four, four, formats[i].kind};
			return true;
		}
	return false;
}

int format_of(const struct api_channel *c, unsigned *channels)
{
	*channels = 1 + (c->y > 0) + (c->z > 0) + (c->w > 0);
	for (size_t i = 0; i < GS_ARRAY_LEN(formats); i++)
		if (formats[i].bits == c->x && formats[i].kind == c->kind)
			return formats[i].format;
	return 0;
}

int array_create(void **out, const struct driver_array *a)
{
	struct api_channel channel;
	if (!out || !a || !channel_of(a->format, a->channels, &channel))
		return cudaErrorInvalidValue;
	return hook_cudaMalloc3DArray(out, &channel, (struct api_extent){a->width, a->height, a->depth}, a->flags);
}

int mipmap_create(void **out, const struct driver_array *a, unsigned levels)
{
	struct api_channel channel;
	if (!out || !a || !channel_of(a->format, a->channels, &channel))
		return cudaErrorInvalidValue;
	return hook_cudaMallocMipmappedArray(out, &channel, (struct api_extent){a->width, a->height, a->depth}, levels, a->flags);
}

int array_describe(struct driver_array *out, void *array)
{
	struct api_channel c;
	struct api_extent extent;
	unsigned flags;
	if (!out)
		return cudaErrorInvalidValue;
	if (hook_cudaArrayGetInfo(&c, &extent, &flags, array))
		return cudaErrorInvalidResourceHandle;
	*out = (struct driver_array){.width = extent.width, .height = extent.height, .depth = extent.depth, .flags = flags};
	out->format = format_of(&c, &out->channels);
	return cudaSuccess;
}

int array_describe_plane(struct driver_plane *out, void *array)
{
	struct driver_array a;
	int error = out ? array_describe(&a, array) : cudaErrorInvalidValue;
	if (!error)
		*out = (struct driver_plane){a.width, a.height, a.format, a.channels};
	return error;
}

/* ---- copies of one row ---- */

struct driver_side3d side_of_array(void *array, size_t offset)
{
	return (struct driver_side3d){.x = offset, .kind = KIND_ARRAY, .array = array};
}

struct driver_side3d side_of_host(const void *address)
{
	return (struct driver_side3d){.kind = KIND_HOST, .host = (void *)address};
}

struct driver_side3d side_of_device(const void *address)
{
	return (struct driver_side3d){.kind = KIND_DEVICE, .device = (void *)address};
}

int copy_row(struct driver_side3d to, struct driver_side3d from, size_t bytes, bool synchronous, void *stream)
{
	struct driver_copy3d box = {from, to, bytes, 1, 1};
	return copy_box(&box, synchronous, stream);
}
