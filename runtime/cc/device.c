/* The host device as arguments for clang; see device.h. POCL's own log (POCL_DEBUG=llvm) shows what POCL does. */
#include "runtime/cc/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_list(struct words *out, char *value)
{
	for (char *word; (word = strsep(&value, " \t"));)
		if (*word)
			words_add(out, word);
}

static void read_key(struct host_device *d, const char *key, char *value)
{
	if (!strcmp(key, "type"))
		d->cpu = !strcmp(value, "cpu");
	else if (!strcmp(key, "address_bits"))
		d->address_bits = (unsigned)strtoul(value, NULL, 10);
	else if (!strcmp(key, "c_version"))
		d->c_version = (unsigned)strtoul(value, NULL, 10);
	else if (!strcmp(key, "cl_version"))
		d->cl_version = (unsigned)strtoul(value, NULL, 10);
	else if (!strcmp(key, "clang"))
		sscanf(value, "%u.%u.%u", &d->clang[0], &d->clang[1], &d->clang[2]);
	else if (!strcmp(key, "image_support"))
		d->images = *value == '1';
	else if (!strcmp(key, "little_endian"))
		d->little_endian = *value != '0';
	else if (!strcmp(key, "quotes"))
		d->quotes_of_shells = !strcmp(value, "shell");
	else if (!strcmp(key, "counters"))
		d->counters = strcmp(value, "atomic") ? MARK_COUNT_PLAIN : MARK_COUNT_ATOMIC;
	else if (!strcmp(key, "extensions"))
		read_list(&d->extensions, value);
	else if (!strcmp(key, "features"))
		read_list(&d->features, value);
	else if (!strcmp(key, "platform") && !d->platform)
		d->platform = strdup(value);
}

int device_read(const char *text, struct host_device *out, struct gs_error *err)
{
	char *copy = strdup(text), *rest = copy, *line;
	*out = (struct host_device){
	    .cpu = true, .little_endian = true, .address_bits = 64, .c_version = 120, .cl_version = 120};
	while (copy && (line = strsep(&rest, "\n"))) {
		char *value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = 0;
		read_key(out, line, value);
	}
	free(copy);
	if (!copy || out->extensions.failed || out->features.failed)
		return gs_fail(err, ENOMEM, "out of memory");
	return 0;
}

void device_free(struct host_device *d)
{
	free(d->platform);
	words_free(&d->extensions);
	words_free(&d->features);
	*d = (struct host_device){0};
}

static bool platform_is(const struct host_device *d, const char *name)
{
	return d->platform && strcasestr(d->platform, name);
}

enum option_quotes device_quotes(const struct host_device *d)
{
	return platform_is(d, "Portable Computing") && !d->quotes_of_shells ? QUOTES_OF_POCL : QUOTES_OF_SHELLS;
}

const char *device_standard(const struct host_device *d, const struct build_options *options)
{
	/* POCL compiles as OpenCL C 3.0 on a device of version 3.0, although it reports OpenCL C 1.2. */
	unsigned version = platform_is(d, "Portable Computing") && d->cl_version >= 300 ? 300 : d->c_version;
	if (options->standard)
		return options->standard;
	return version >= 300   ? "CL3.0"
	       : version >= 200 ? "CL2.0"
	       : version >= 120 ? "CL1.2"
	       : version >= 110 ? "CL1.1"
	                        : "CL1.0";
}

static bool has(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->count; i++)
		if (!strcmp(w->items[i], word))
			return true;
	return false;
}

void device_extensions_option(const struct host_device *d, struct gs_buf *out)
{
	/* The same ability under two names. clang requires that both are on or both are off. */
	static const char *const pairs[][2] = {
		{"cl_khr_fp64", "__opencl_c_fp64"},
		{"cl_khr_3d_image_writes", "__opencl_c_3d_image_writes"},
	};
	gs_buf_puts(out, "-cl-ext=-all");
	for (size_t i = 0; i < d->extensions.count; i++)
		gs_buf_printf(out, ",+%s", d->extensions.items[i]);
	for (size_t i = 0; i < d->features.count; i++)
		gs_buf_printf(out, ",+%s", d->features.items[i]);
	for (size_t i = 0; i < GS_ARRAY_LEN(pairs); i++)
		if (has(&d->extensions, pairs[i][0]) || has(&d->features, pairs[i][1]))
			gs_buf_printf(out, ",+%s,+%s", pairs[i][0], pairs[i][1]);
	if (d->images)
		gs_buf_puts(out, ",+__opencl_c_images");
}

void device_language_args(const struct host_device *d, const struct build_options *options, struct words *args)
{
	struct gs_buf extensions = {0};
	device_extensions_option(d, &extensions);
	words_add(args, "-xcl");
	words_printf(args, "-cl-std=%s", device_standard(d, options));
	if (!d->cpu)
		words_printf(args, "--target=spir%s-unknown-unknown", d->address_bits == 32 ? "" : "64");
#ifdef __x86_64__
	else
		words_add(args,
		          "-march=native"); /* POCL compiles for the CPU that it runs on, and so defines __AVX2__ and the like */
#endif
	words_add(args, "-Xclang");
	words_add(args, extensions.data ? extensions.data : "");
	for (size_t i = 0; i < options->code.count; i++)
		words_add(args, options->code.items[i]);
	/* A newer clang makes errors of these warnings. The device's own compiler accepted the program. */
	words_add(args, "-w");
	words_add(args, "-Wno-int-conversion");
	words_add(args, "-Wno-incompatible-pointer-types");
	words_add(args, "-Wno-implicit-int");
	if (extensions.failed)
		args->failed = true;
	gs_buf_free(&extensions);
}

/* clang's driver defines some macros that POCL does not, because POCL does not use that driver. POCL defines some others. Its
 * empty `inline` is left out, because the target's compiler needs to see which functions are inline. */
static void pocl_macro_args(const struct host_device *d, struct words *args)
{
	words_add(args, "-fgnuc-version=0");
	words_add(args, "-fPIE");
	words_add(args, "-Dcl_khr_int64");
	words_add(args, "-D__USE_CLANG_OPENCL_C_H");
	words_printf(args, "-DPOCL_DEVICE_ADDRESS_BITS=%u", d->address_bits);
	if (!has(&d->features, "__opencl_c_program_scope_global_variables"))
		words_add(args, "-DCL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE=0");
}

static void clang_macro_args(const struct host_device *d, struct words *args)
{
	static const char *const names[] = {"major", "minor", "patchlevel"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names) && d->clang[0]; i++) {
		words_printf(args, "-U__clang_%s__", names[i]);
		words_printf(args, "-D__clang_%s__=%u", names[i], d->clang[i]);
	}
}

void device_macro_args(const struct host_device *d, const struct build_options *options, struct words *args)
{
	bool features = !strcmp(device_standard(d, options), "CL3.0");
	if (!d->cpu) {
		words_add(args, "-U__SPIR__");
		words_add(args, d->address_bits == 32 ? "-U__SPIR32__" : "-U__SPIR64__");
	}
	words_printf(args, "-D__OPENCL_VERSION__=%u", d->cl_version);
	words_add(args, "-U__IMAGE_SUPPORT__");
	if (d->images)
		words_add(args, "-D__IMAGE_SUPPORT__=1");
	words_add(args, "-U__ENDIAN_LITTLE__");
	if (d->little_endian)
		words_add(args, "-D__ENDIAN_LITTLE__=1");
	clang_macro_args(d, args);
	if (platform_is(d, "Portable Computing"))
		pocl_macro_args(d, args);
	if (platform_is(d, "NVIDIA"))
		words_printf(args, "-D__NV_CL_C_VERSION=%u", d->c_version);
	for (size_t i = 0; i < d->extensions.count; i++)
		words_printf(args, "-D%s=1", d->extensions.items[i]);
	for (size_t i = 0; i < d->features.count && features; i++)
		words_printf(args, "-D%s=1", d->features.items[i]);
}
