#include "runtime/guest/cuda/copies.h"

#include <stdlib.h>
#include <string.h>

uint64_t copy_bytes(const struct cuda_copy *c)
{
	return (uint64_t)c->width * c->height * c->depth;
}

void copy_execute(const struct cuda_copy *c)
{
	bool rows_touch = c->to_pitch == c->width && c->from_pitch == c->width;
	for (size_t z = 0; z < c->depth; z++) {
		char *to = (char *)c->to + z * c->to_slice;
		const char *from = (const char *)c->from + z * c->from_slice;
		if (rows_touch || c->height == 1)
			memmove(to, from, c->width * c->height);
		else
			for (size_t y = 0; y < c->height; y++)
				memmove(to + y * c->to_pitch, from + y * c->from_pitch, c->width);
	}
}

static void fill_row(char *to, size_t bytes, uint32_t value, unsigned unit)
{
	if (unit == 1) {
		memset(to, (int)(value & 0xff), bytes);
		return;
	}
	for (size_t at = 0; at + unit <= bytes; at += unit)
		memcpy(to + at, &value, unit); /* the low bytes come first */
}

void fill_execute(const struct cuda_copy *shape, uint32_t value, unsigned unit)
{
	for (size_t z = 0; z < shape->depth; z++)
		for (size_t y = 0; y < shape->height; y++)
			fill_row((char *)shape->to + z * shape->to_slice + y * shape->to_pitch, shape->width, value, unit);
}

bool copy_stage(struct cuda_copy *c, void **staged)
{
	struct cuda_copy in = *c;
	*staged = malloc(copy_bytes(c) + 1);
	if (!*staged)
		return false;
	in.to = *staged;
	in.to_pitch = c->width;
	in.to_slice = c->width * c->height;
	copy_execute(&in);
	c->from = *staged;
	c->from_pitch = in.to_pitch;
	c->from_slice = in.to_slice;
	return true;
}
