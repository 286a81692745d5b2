/* What the driver made of a text of ours; see built.h. */
#include "runtime/guest/programs/built.h"

#include "runtime/config/cache.h"
#include "runtime/config/log.h"
#include "runtime/guest/driver/device.h"
#include "runtime/guest/programs/compile.h"

#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "twin"

extern char **environ;

/* Settings of the driver change what it makes of a text. Where it keeps that does not. */
static void add_settings(struct gs_buf *out)
{
	static const char ours[] = "POCL_", folder[] = "POCL_CACHE_DIR=";
	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, ours, sizeof ours - 1) && strncmp(*e, folder, sizeof folder - 1))
			gs_buf_printf(out, "%s\n", *e);
}

bool built_key(cl_device_id device, const char *text, const char *options, char key[33])
{
	struct gs_buf all = {0};
	if (!cache_is_on() || !device_is_cpu(device))
		return false;
	describe_device(device, &all);
	bool known = all.data && strstr(all.data, "platform=Portable Computing Language\n");
	add_settings(&all);
	gs_buf_printf(&all, "options=%s\n", options);
	gs_buf_puts(&all, text);
	known &= !all.failed;
	if (known)
		gs_hash_hex(all.data, all.len, key);
	gs_buf_free(&all);
	return known;
}

cl_program built_find(cl_context context, cl_device_id device, const char *options, const char key[33])
{
	struct gs_pack pack = {0};
	cl_program program = NULL;
	const struct gs_section *kept = cache_get_pack(CACHE_BUILT, key, &pack, NULL) ? NULL : gs_pack_find(&pack, "program");
	if (kept) {
		const unsigned char *binary = (const unsigned char *)kept->data;
		cl_int code;
		program = cl.clCreateProgramWithBinary(context, 1, &device, &kept->len, &binary, NULL, &code);
		if (program && cl.clBuildProgram(program, 1, &device, options, NULL, NULL) != CL_SUCCESS) {
			cl.clReleaseProgram(program);
			program = NULL;
		}
	}
	gs_pack_free(&pack);
	log_debug("a program %s", program ? "comes from the cache" : "is built from its text");
	return program;
}

void built_keep(cl_program program, const char key[33])
{
	size_t length = 0;
	struct gs_pack pack = {0};
	if (cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof length, &length, NULL) != CL_SUCCESS || !length)
		return;
	unsigned char *binary = malloc(length);
	if (binary && cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS) {
		gs_pack_add(&pack, "program", binary, length);
		cache_put_pack(CACHE_BUILT, key, &pack, NULL);
	}
	gs_pack_free(&pack);
	free(binary);
}
