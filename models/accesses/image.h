/*
 * image: where the texels of an image lie in a GPU's memory.
 *
 * A launch's argument that is an image has a shape where others have the number of bytes that they point to (argument_bytes). A shape is
 * one word, so that traces, profiles and memos keep it as they keep sizes.
 */
#ifndef GPUSIM_MODELS_ACCESSES_IMAGE_H
#define GPUSIM_MODELS_ACCESSES_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Who says whether a read weighs neighbours: the place of the program, whose sampler it has (OpenCL); or the texture has a sampler of its own (CUDA). */
enum image_sampler { IMAGE_SAMPLER_OF_SITE, IMAGE_NEAREST, IMAGE_LINEAR };

struct image_shape {
	uint64_t width, height, depth; /* texels; layers of an array are its depth; height 1 for images of one dimension */
	uint32_t texel_bytes;          /* up to 16; with a sampler of its own, a power of two */
	enum image_sampler sampler;
	bool written;                  /* the kernel may write it */
	bool by_rows;                  /* it is a buffer's memory, row after row; else in blocks */
};

/* 0: too large to be told. */
uint64_t image_shape_pack(const struct image_shape *s);
/* False: what was given is a number of bytes. */
bool image_shape_of(uint64_t argument_bytes, struct image_shape *out);
/* The bytes of an argument's memory, image or not. */
uint64_t argument_memory(uint64_t argument_bytes);

/* The offset of a texel from the image's begin; texels are counted row after row. And back. */
uint64_t image_place(const struct image_shape *s, uint64_t texel);
uint64_t image_texel(const struct image_shape *s, uint64_t place);

/* Addresses of images are those of traces (models/trace/trace.h): each argument has 2^40 bytes. */
uint64_t image_begin(uint64_t address);
/* The address of a group that is so far apart from the one of `address`, by dimension. step: bytes of texels, row after row, from group to
 * group; grid: of the launch. What would leave a row, a plane or the image is at its border: samplers clamp it there, or fetch nothing. */
uint64_t image_moved(uint64_t shape, uint64_t address, const int64_t step[3], const int64_t apart[3], const uint64_t grid[3]);
/* The address as if texels lay row after row. */
uint64_t image_flat(const struct image_shape *s, uint64_t address);

/* The offsets of the texels that a filter between texels weighs, from the lowest one: 2 of a row, 4 of a plane (of volumes, too: their planes are far apart). At the border of the
 * image those beyond are the border's. */
enum { IMAGE_MOST_WEIGHED = 4 };
uint32_t image_weighed(const struct image_shape *s, uint64_t place, uint64_t out[IMAGE_MOST_WEIGHED]);

#endif
