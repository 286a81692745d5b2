/* copies: copies as commands that can be kept. Return error numbers. */
#ifndef GPUSIM_INTERPOSER_CUDA_COPIES_H
#define GPUSIM_INTERPOSER_CUDA_COPIES_H

#include "interposer/cuda/interposer.h"

/* Checks a copy, and fills in its kind. */
int copy_line_check(void *to, const void *from, size_t bytes, int direction, struct cuda_copy *out);
int copy_box_check(const struct api_copy3d *p, struct cuda_copy *out);
/* The same for a fill. */
int fill_check(struct cuda_copy *shape);

#endif
