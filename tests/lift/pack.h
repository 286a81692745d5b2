/* Packs images as nvcc does: fat binaries for tests, on machines that have no nvcc. */
#ifndef GPUSIM_TESTS_LIFT_PACK_H
#define GPUSIM_TESTS_LIFT_PACK_H

#include "runtime/base/base.h"
#include "runtime/format/fatbin.h"

enum pack_form {
	PACK_PLAIN,
	PACK_LZ4, /* a block without matches */
	PACK_ZSTD,
};

struct pack_image {
	uint16_t kind;  /* enum fatbin_image_kind */
	uint32_t arch;  /* 75 of sm_75 */
	uint64_t flags; /* FATBIN_SPECIFIC or FATBIN_FAMILY */
	enum pack_form form;
	const void *data; /* PTX is text with a NUL, which nvcc packs as well */
	size_t bytes;
};

/* Appends a container with these images. */
void pack_fatbin(const struct pack_image *images, size_t count, struct gs_buf *out);
/* The same with one image of PTX. */
void pack_ptx(const char *text, uint32_t arch, enum pack_form form, struct gs_buf *out);

#endif
