/*
 * The form of fat binaries, in which CUDA programs carry their kernels: a container with images, each of them machine code or PTX for one
 * architecture. All numbers are little endian. Sizes are in bytes.
 *
 *   container   magic (32 bits), version (16), bytes of this header (16), bytes that follow it (64); then images
 *   image       struct fatbin_image_header, perhaps more header, then its data, up to the next image
 *
 * A program registers a wrapper, which points to a container. A wrapper of version 2 is that of relocatable device code (nvcc -rdc=true).
 */
#ifndef GPUSIM_RUNTIME_FORMAT_FATBIN_H
#define GPUSIM_RUNTIME_FORMAT_FATBIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FATBIN_WRAPPER_MAGIC = 0x466243b1, FATBIN_WRAPPER_PLAIN = 1, FATBIN_WRAPPER_RELOCATABLE = 2 };
#define FATBIN_MAGIC 0xba55ed50u
/* Our own version of a container's header: that of containers in a row, which cuLinkComplete makes. They follow it, and it counts their bytes. */
enum { FATBIN_ROW = 0x4753 };

struct fatbin_wrapper {
	uint32_t magic, version;
	const void *container;
	const void *parts; /* version 2: the containers of the objects that were linked; else not used */
};

struct fatbin_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
};

enum fatbin_image_kind { FATBIN_PTX = 1, FATBIN_ELF = 2 };
enum fatbin_flags {
	FATBIN_LZ4 = 0x2000,
	FATBIN_ZSTD = 0x8000,
	FATBIN_SPECIFIC = 0x100000, /* sm_90a: only for exactly that architecture */
	FATBIN_FAMILY = 0x200000,   /* sm_100f: only for its family */
};

struct fatbin_image_header {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t bytes;        /* of the data, padded */
	uint32_t packed_bytes; /* of compressed data; else 0 */
	uint32_t options_at, reserved;
	uint32_t arch; /* 75 of sm_75 */
	uint32_t unknown[2];
	uint64_t flags;
	uint64_t reserved_too;
	uint64_t plain_bytes; /* of compressed data, unpacked */
};

/* Bytes of the container that begins here, with its header; 0: it is none. At least 16 bytes must be readable. */
static inline size_t fatbin_bytes(const void *container)
{
	struct fatbin_header h;
	memcpy(&h, container, sizeof h);
	if (h.magic != FATBIN_MAGIC || h.header_bytes < sizeof h || h.bytes > SIZE_MAX / 2)
		return 0;
	return h.header_bytes + (size_t)h.bytes;
}

#endif
