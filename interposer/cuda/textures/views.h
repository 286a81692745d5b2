/*
 * views: another way to look at the array or the mipmap of a texture: as elements of another format, and as some of its levels and layers.
 *
 * Only what is read changes, never the array. The format must have elements of the same size. Compressed ones are refused, with a line.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_TEXTURES_VIEWS_H
#define GPUSIM_INTERPOSER_CUDA_TEXTURES_VIEWS_H

#include "interposer/cuda/interposer.h"

struct lifted_texture;
/* The channels that a view's format has. False: it has none of its own, or they are not known. */
bool view_channel(const struct api_view *v, struct api_channel *out);
/* An error number: a view that does not fit its resource, whose array is this one, or which has so many levels, the first of which it is. */
int view_check(const struct api_view *v, const struct api_resource *r, void *array, unsigned levels);
/* What a level of the resource is in the view, which was checked. False: it has not these layers. */
bool view_apply(const struct api_view *v, struct lifted_texture *t);

#endif
