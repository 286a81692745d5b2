#include "interposer/cuda/textures/views.h"

#include "interposer/cuda/memory.h"
#include "runtime/format/lifted.h"

/* The formats of CUDA, from number 1 on: three each, of one, two and four channels. */
static const struct {
	int bits, kind; /* kind: 0 signed, 1 unsigned, 2 real */
} formats[] = {{8, 1}, {8, 0}, {16, 1}, {16, 0}, {32, 1}, {32, 0}, {16, 2}, {32, 2}};
enum { LAST_COMPRESSED = 0x22 };

bool view_channel(const struct api_view *v, struct api_channel *out)
{
	if (v->format < 1 || v->format > (int)(3 * GS_ARRAY_LEN(formats)))
		return false;
	int bits = formats[(v->format - 1) / 3].bits, which = (v->format - 1) % 3;
	int two = which > 0 ? bits : 0, four = which > 1 ? bits : 0;
	*out = (struct api_channel){bits, two, four, four, formats[(v->format - 1) / 3].kind};
	return true;
}

static bool same_shape(const struct api_view *v, const struct api_extent *e)
{
	return v->width == e->width && v->height == e->height && v->depth == e->depth;
}

static int check_format(const struct api_view *v, const struct api_channel *own)
{
	struct api_channel channel;
	if (!v->format)
		return cudaSuccess;
	if (view_channel(v, &channel))
		return channel_bytes(&channel) == channel_bytes(own) ? cudaSuccess : cudaErrorInvalidValue;
	if (v->format < 0 || v->format > LAST_COMPRESSED)
		return cudaErrorInvalidValue;
	error_say_once("view", "views of textures: compressed formats are not implemented yet");
	return cudaErrorNotSupported;
}

int view_check(const struct api_view *v, const struct api_resource *r, void *array, unsigned levels)
{
	struct api_channel own;
	struct api_extent extent;
	bool arrays = r->kind == API_RESOURCE_ARRAY || r->kind == API_RESOURCE_MIPMAPS;
	if (!arrays || v->first_level > v->last_level || v->last_level >= levels || hook_cudaArrayGetInfo(&own, &extent, NULL, array))
		return cudaErrorInvalidValue;
	return same_shape(v, &extent) ? check_format(v, &own) : cudaErrorInvalidValue;
}

static bool apply_layers(const struct api_view *v, struct lifted_texture *t)
{
	if (!t->layers)
		return !v->first_layer && !v->last_layer;
	if (v->first_layer > v->last_layer || v->last_layer >= t->layers)
		return false;
	t->address += v->first_layer * t->slice;
	t->layers = t->depth = v->last_layer - v->first_layer + 1;
	return true;
}

bool view_apply(const struct api_view *v, struct lifted_texture *t)
{
	struct api_channel c;
	if (view_channel(v, &c)) {
		t->channels = channels_of(&c);
		t->bits = (uint32_t)c.x;
		t->kind = (uint32_t)c.kind;
	}
	return apply_layers(v, t);
}
