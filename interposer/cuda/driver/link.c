/*
 * The driver's linker. Its inputs are PTX, or fat binaries with PTX. What it makes is no machine code: a fat binary with all of them, which binary_load
 * takes like one that nvcc has linked. gpusim-cc resolves the names.
 */
#include "interposer/cuda/driver/driver.h"

#include "interposer/cuda/driver/compiler_options.h"

#include "runtime/base/base.h"
#include "runtime/format/fatbin.h"

#include <stdio.h>
#include <stdlib.h>

enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBIN, INPUT_OBJECT, INPUT_LIBRARY };

struct driver_link {
	struct gs_buf image; /* containers in a row, after a header of their own */
	unsigned registers;  /* at most, of a thread; 0: as many as it needs */
};

int link_create(struct driver_link **out, unsigned registers)
{
	if (!out)
		return cudaErrorInvalidValue;
	*out = calloc(1, sizeof **out);
	if (!*out)
		return cudaErrorMemoryAllocation;
	(*out)->registers = registers;
	gs_buf_add(&(*out)->image, &(struct fatbin_header){FATBIN_MAGIC, FATBIN_ROW, sizeof(struct fatbin_header), 0}, sizeof(struct fatbin_header));
	return cudaSuccess;
}

/* The architecture that a text of PTX names: 90 of ".target sm_90". */
static uint32_t target_of(const char *text)
{
	const char *at = strstr(text, ".target");
	unsigned arch = 0;
	if (!at || sscanf(at, ".target sm_%u", &arch) != 1)
		return 0;
	return arch;
}

/* A container with one image. */
static int add_text(struct gs_buf *image, const struct gs_buf *from)
{
	const struct gs_buf text = *from;
	uint32_t arch = text.failed ? 0 : target_of(text.data ? text.data : "");
	size_t padded = (text.len + 8) / 8 * 8; /* it ends with a zero */
	struct fatbin_image_header i = {
		.kind = FATBIN_PTX, .version = 0x101, .header_bytes = sizeof i, .bytes = padded, .arch = arch};
	struct fatbin_header h = {FATBIN_MAGIC, 1, sizeof h, sizeof i + padded};
	if (arch) {
		gs_buf_add(image, &h, sizeof h);
		gs_buf_add(image, &i, sizeof i);
		gs_buf_add(image, text.data, text.len);
		for (size_t k = text.len; k < padded; k++)
			gs_buf_add(image, "", 1);
	}
	return arch ? cudaSuccess : cudaErrorInvalidPtx;
}

static int add_ptx(struct gs_buf *image, const char *data, size_t bytes, unsigned registers)
{
	struct gs_buf text = {0}, bounded = {0};
	gs_buf_add(&text, data, strnlen(data, bytes));
	gs_buf_add(&text, "", 1);
	text.len--;
	if (registers && !text.failed)
		bound_registers(&bounded, text.data, registers);
	int error = bounded.failed ? cudaErrorMemoryAllocation : add_text(image, registers ? &bounded : &text);
	gs_buf_free(&bounded);
	gs_buf_free(&text);
	return error;
}

int link_add(struct driver_link *l, int kind, const void *data, size_t bytes, unsigned registers)
{
	if (!l || !data || !bytes)
		return cudaErrorInvalidValue;
	if (kind == INPUT_PTX)
		return add_ptx(&l->image, data, bytes, registers ? registers : l->registers);
	if (kind != INPUT_FATBIN) {
		error_say_once("cuLinkAddData", "the linker takes PTX and fat binaries with PTX alone, not machine code");
		return kind == INPUT_CUBIN ? cudaErrorNoKernelImageForDevice : cudaErrorNotSupported;
	}
	if (bytes < sizeof(struct fatbin_header) || fatbin_bytes(data) > bytes || !fatbin_bytes(data))
		return cudaErrorInvalidKernelImage;
	gs_buf_add(&l->image, data, fatbin_bytes(data));
	return cudaSuccess;
}

int link_add_file(struct driver_link *l, int kind, const char *path, unsigned registers)
{
	struct gs_error err;
	struct gs_buf data = {0};
	if (!l || !path)
		return cudaErrorInvalidValue;
	if (gs_read_file(path, &data, &err))
		return cudaErrorFileNotFound;
	int error = link_add(l, kind, data.data, data.len, registers);
	gs_buf_free(&data);
	return error;
}

/* The image lives as long as the link. Whether all names are found is known now, as it is for the driver. */
int link_complete(struct driver_link *l, void **image, size_t *bytes)
{
	struct registered_binary *b;
	if (!l || !image)
		return cudaErrorInvalidValue;
	if (l->image.failed)
		return cudaErrorMemoryAllocation;
	struct fatbin_header *h = (struct fatbin_header *)l->image.data;
	h->bytes = l->image.len - sizeof *h;
	if (!h->bytes)
		return cudaErrorInvalidValue;
	int error = binary_load(l->image.data, l->image.len, &b);
	if (error)
		return error;
	binary_unload(b);
	*image = l->image.data;
	if (bytes)
		*bytes = l->image.len;
	return cudaSuccess;
}

int link_destroy(struct driver_link *l)
{
	if (!l)
		return cudaErrorInvalidValue;
	gs_buf_free(&l->image);
	free(l);
	return cudaSuccess;
}
