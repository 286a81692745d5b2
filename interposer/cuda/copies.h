/* copies: copies as commands that can be kept. Return error numbers. */
#ifndef GPUSIM_INTERPOSER_CUDA_COPIES_H
#define GPUSIM_INTERPOSER_CUDA_COPIES_H

#include "interposer/cuda/interposer.h"

/* Copies of one call. Wish i is for those from firsts[i] to that before firsts[i + 1]. */
struct copies {
	void *const *to;
	const void *const *from;
	const size_t *bytes;
	size_t count;
	const struct api_copy_wishes *wishes;
	const size_t *firsts;
	size_t wish_count;
};

/* Makes them in the stream's order, which any order is. Writes to `failed`, if given, which one was wrong; those before it are made. */
int copy_batch(struct copies b, size_t *failed, void *stream);
/* Checks a copy, and fills in its kind. */
int copy_line_check(void *to, const void *from, size_t bytes, int direction, struct cuda_copy *out);
int copy_box_check(const struct api_copy3d *p, struct cuda_copy *out);
/* The same for a fill. */
int fill_check(struct cuda_copy *shape);

#endif
