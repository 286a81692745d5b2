/*
 * Block-linear images, as NVIDIA's GPUs have them (Tegra X1 technical reference manual, "Block linear"; nouveau and envytools call it tiled):
 *
 *   a GOB is 64 bytes by 8 rows, 512 bytes; GOBs lie row after row
 *   in a GOB: (x % 64 / 32) * 256 + (y % 8 / 2) * 64 + (x % 32 / 16) * 32 + (y % 2) * 16 + x % 16, x in bytes
 * So a sector of 32 bytes is 16 bytes of two rows, and a line of 128 is 32 bytes of four. On an H200 groups of 16x16 write an image of float4 in two
 * thirds of the time that those of 32x8 take, whose warps have one row (72 and 107 us, tests/reference/h200-truth/micro.csv). A block may be several
 * GOBs high; here it is one, which moves lines to other places and leaves what they hold.
 */
#include "models/accesses/image.h"

#include "models/accesses/requests.h"
#include "models/util/minmax.h"

#include <stdlib.h>

enum { WIDTH_BITS = 28, HEIGHT_BITS = 16, DEPTH_BITS = 12, TEXEL_BITS = 5 };
/* The five bits for texels: 1 to 16 are bytes. Then come the powers of two from 1 to 16 with one sampler, and with the other. */
enum { MOST_TEXEL = 16, TEXEL_POWERS = 5 };
enum { GOB_WIDTH = 64, GOB_HEIGHT = 8, GOB_BYTES = GOB_WIDTH * GOB_HEIGHT };

#define IS_IMAGE (UINT64_C(1) << 63)
#define IS_BY_ROWS (UINT64_C(1) << 62)
#define IS_WRITTEN (UINT64_C(1) << 61)

/* 0: there is none. */
static uint64_t texel_code(const struct image_shape *s)
{
	if (!s->texel_bytes || s->texel_bytes > MOST_TEXEL || s->sampler == IMAGE_SAMPLER_OF_SITE)
		return s->texel_bytes > MOST_TEXEL ? 0 : s->texel_bytes;
	uint32_t power = (uint32_t)__builtin_ctz(s->texel_bytes);
	return s->texel_bytes & (s->texel_bytes - 1) ? 0 : MOST_TEXEL + 1 + (s->sampler == IMAGE_LINEAR ? TEXEL_POWERS : 0) + power;
}

uint64_t image_shape_pack(const struct image_shape *s)
{
	uint64_t depth = min_u64(s->depth, (1u << DEPTH_BITS) - 1), texel = texel_code(s);
	if (!s->width || !s->height || !texel || s->width >> WIDTH_BITS || s->height >> HEIGHT_BITS)
		return 0;
	return IS_IMAGE | (s->by_rows ? IS_BY_ROWS : 0) | (s->written ? IS_WRITTEN : 0) |
	       ((texel << DEPTH_BITS | depth) << HEIGHT_BITS | s->height) << WIDTH_BITS | s->width;
}

static void read_texel(uint32_t code, struct image_shape *out)
{
	uint32_t power = code - MOST_TEXEL - 1;
	out->texel_bytes = code <= MOST_TEXEL ? code : power < 2 * TEXEL_POWERS ? 1u << power % TEXEL_POWERS : 0;
	out->sampler = code <= MOST_TEXEL ? IMAGE_SAMPLER_OF_SITE : power < TEXEL_POWERS ? IMAGE_NEAREST : IMAGE_LINEAR;
}

bool image_shape_of(uint64_t argument_bytes, struct image_shape *out)
{
	uint64_t rest = argument_bytes >> WIDTH_BITS;
	*out = (struct image_shape){.width = argument_bytes & ((1u << WIDTH_BITS) - 1), .height = rest & ((1u << HEIGHT_BITS) - 1),
	                            .depth = rest >> HEIGHT_BITS & ((1u << DEPTH_BITS) - 1), .by_rows = argument_bytes & IS_BY_ROWS, .written = argument_bytes & IS_WRITTEN};
	read_texel((uint32_t)(rest >> (HEIGHT_BITS + DEPTH_BITS)) & ((1u << TEXEL_BITS) - 1), out);
	return argument_bytes & IS_IMAGE && out->width && out->height && out->texel_bytes;
}

static uint64_t gobs_of_row(const struct image_shape *s)
{
	return (s->width * s->texel_bytes + GOB_WIDTH - 1) / GOB_WIDTH;
}

static uint64_t slice_bytes(const struct image_shape *s)
{
	return s->by_rows ? s->width * s->height * s->texel_bytes : gobs_of_row(s) * ((s->height + GOB_HEIGHT - 1) / GOB_HEIGHT) * GOB_BYTES;
}

uint64_t argument_memory(uint64_t argument_bytes)
{
	struct image_shape s;
	if (!(argument_bytes & IS_IMAGE))
		return argument_bytes;
	return image_shape_of(argument_bytes, &s) ? slice_bytes(&s) * max_u64(s.depth, 1) : 0;
}

uint64_t image_place(const struct image_shape *s, uint64_t texel)
{
	if (s->by_rows)
		return texel * s->texel_bytes;
	uint64_t x = texel % s->width * s->texel_bytes, y = texel / s->width % s->height, z = texel / s->width / s->height;
	uint64_t gob = y / GOB_HEIGHT * gobs_of_row(s) + x / GOB_WIDTH;
	return z * slice_bytes(s) + gob * GOB_BYTES + x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
}

uint64_t image_texel(const struct image_shape *s, uint64_t place)
{
	if (s->by_rows)
		return place / s->texel_bytes;
	uint64_t z = place / slice_bytes(s), in = place % slice_bytes(s), gob = in / GOB_BYTES;
	in %= GOB_BYTES;
	uint64_t x = gob % gobs_of_row(s) * GOB_WIDTH + in / 256 * 32 + in % 64 / 32 * 16 + in % 16;
	uint64_t y = gob / gobs_of_row(s) * GOB_HEIGHT + in % 256 / 64 * 2 + in % 32 / 16;
	return (z * s->height + min_u64(y, s->height - 1)) * s->width + min_u64(x / s->texel_bytes, s->width - 1);
}

uint32_t image_weighed(const struct image_shape *s, uint64_t place, uint64_t out[IMAGE_MOST_WEIGHED])
{
	uint64_t texel = image_texel(s, place), x = texel % s->width, y = texel / s->width % s->height, z = texel / s->width / s->height;
	uint32_t count = 0;
	for (uint32_t dy = 0; dy < (s->height > 1 ? 2 : 1); dy++)
		for (uint32_t dx = 0; dx < 2; dx++)
			out[count++] = image_place(s, (z * s->height + min_u64(y + dy, s->height - 1)) * s->width + min_u64(x + dx, s->width - 1));
	return count;
}

uint64_t image_begin(uint64_t address)
{
	return address >> ARGUMENT_BITS << ARGUMENT_BITS;
}

uint64_t image_flat(const struct image_shape *s, uint64_t address)
{
	uint64_t begin = image_begin(address);
	return begin + image_texel(s, address - begin) * s->texel_bytes;
}

/* Whether a launch's steps, all in one direction, stay in a row. */
static bool stay_within(int64_t step, uint64_t width, uint64_t grid)
{
	return grid < 2 || (uint64_t)llabs(step) <= (width - 1) / (grid - 1);
}

/* Of a step's texels, those that lead from row to row; the rest is within one. False: even the rest leaves it, the kernel counts texels as if
 * there were no rows. */
static bool rows_of(int64_t texels, uint64_t width, uint64_t grid, int64_t *rows, int64_t *rest)
{
	int64_t half = (int64_t)width / 2;
	*rows = stay_within(texels, width, grid) ? 0 : (texels + (texels < 0 ? -half : half)) / (int64_t)width;
	*rest = texels - *rows * (int64_t)width;
	return stay_within(*rest, width, grid);
}

static int64_t within(int64_t at, uint64_t size)
{
	return at < 0 ? 0 : at < (int64_t)size ? at : (int64_t)size - 1;
}

uint64_t image_moved(uint64_t shape, uint64_t address, const int64_t step[3], const int64_t apart[3], const uint64_t grid[3])
{
	struct image_shape s;
	uint64_t begin = image_begin(address);
	if (!image_shape_of(shape, &s))
		return address + (uint64_t)(step[0] * apart[0] + step[1] * apart[1] + step[2] * apart[2]);
	uint64_t texel = image_texel(&s, address - begin), depth = max_u64(s.depth, 1);
	int64_t x = (int64_t)(texel % s.width), y = (int64_t)(texel / s.width % s.height), z = (int64_t)(texel / s.width / s.height), flat = 0;
	for (int d = 0; d < 3; d++) {
		int64_t texels = step[d] / (int64_t)s.texel_bytes, columns, rows, planes;
		if (!rows_of(texels, s.width, grid[d], &rows, &columns) || !rows_of(rows, s.height, grid[d], &planes, &rows)) {
			flat += texels * apart[d];
			continue;
		}
		x += columns * apart[d];
		y += rows * apart[d];
		z += planes * apart[d];
	}
	int64_t to = (within(z, depth) * (int64_t)s.height + within(y, s.height)) * (int64_t)s.width + within(x, s.width) + flat;
	return begin + image_place(&s, (uint64_t)within(to, s.width * s.height * depth));
}
