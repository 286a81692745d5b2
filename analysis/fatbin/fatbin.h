/*
 * fatbin: the images of a fat binary, and the PTX and the machine code that a target takes. Start reading here.
 */
#ifndef GPUSIM_ANALYSIS_FATBIN_FATBIN_H
#define GPUSIM_ANALYSIS_FATBIN_FATBIN_H

#include "runtime/base/base.h"
#include "runtime/format/fatbin.h"

/* One image. It refers to the bytes that it was found in. */
struct fatbin_image {
	uint16_t kind;  /* enum fatbin_image_kind, or another one that is not known */
	uint32_t container; /* number of its container: a program has one per module */
	uint32_t arch;  /* 75 of sm_75; 0: not known */
	uint64_t flags; /* enum fatbin_flags */
	const uint8_t *data;
	size_t bytes;       /* as they are stored */
	size_t plain_bytes; /* unpacked */
};

struct fatbin {
	struct fatbin_image *images;
	size_t count;
};

/* What there is in a fat binary (one container or more in a row), in a cubin, in PTX text, or in an executable file with fat binaries in
 * it. -EINVAL: the bytes are none of that. -EBADMSG: they are damaged. The caller frees *out with fatbin_free. */
int fatbin_read(const void *data, size_t bytes, struct fatbin *out, struct gs_error *err);
void fatbin_free(struct fatbin *f);

/* The images of one container: a part of *f. It has none: there is no such container. */
struct fatbin fatbin_container(const struct fatbin *f, uint32_t number);

/* The contents of an image. PTX has no NUL at its end. -EBADMSG: they cannot be unpacked. */
int fatbin_unpack(const struct fatbin_image *image, struct gs_buf *out, struct gs_error *err);

/* The PTX for a target: that of the highest architecture not above the target's. PTX of sm_90a is only for sm_90, that of sm_100f only for
 * its family. Where there is no such PTX, it is that of the lowest architecture, and *note says so in one line; else *note is empty.
 * -ENOENT: there is no PTX; *err says what there is, and how to compile. */
int fatbin_choose(const struct fatbin *f, uint32_t arch, struct gs_buf *ptx, struct gs_buf *note, struct gs_error *err);

/* The machine code for a target, as a driver chooses it: of the same major architecture, the highest not above the target's. That of sm_90a is
 * only for sm_90. -ENOENT: there is none. */
int fatbin_choose_code(const struct fatbin *f, uint32_t arch, struct gs_buf *cubin, struct gs_error *err);

/* The number of an architecture: 90 of "sm_90a:vendor". 0: it has none. */
uint32_t fatbin_arch(const char *name);

#endif
