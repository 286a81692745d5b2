/*
 * The host device of a request, and arguments with which clang compiles as the device's own compiler does.
 */
#ifndef GPUSIM_RUNTIME_CC_DEVICE_H
#define GPUSIM_RUNTIME_CC_DEVICE_H

#include "annotator/annotator.h"
#include "runtime/cc/options.h"

struct host_device {
	bool cpu, images, little_endian;
	bool quotes_of_shells; /* build options are quoted as in a shell, whatever the platform does */
	unsigned address_bits, c_version, cl_version;
	unsigned clang[3]; /* version of the clang in the driver; 0: it has none, or it is not known */
	char *platform;
	struct words extensions, features;
	enum marker_form counters;
};

int device_read(const char *text, struct host_device *out, struct gs_error *err);
void device_free(struct host_device *d);

enum option_quotes device_quotes(const struct host_device *d); /* how words are quoted in its compiler's options */
/* For example "CL1.2": from the application's options, or the default of the device's compiler. */
const char *device_standard(const struct host_device *d, const struct build_options *options);
/* "-cl-ext=-all,+cl_khr_fp64,...": exactly what this device has. */
void device_extensions_option(const struct host_device *d, struct gs_buf *out);
/* Arguments that make clang see programs as the device's compiler does: language, machine, extensions, -cl- options. */
void device_language_args(const struct host_device *d, const struct build_options *options, struct words *args);
/* More arguments, for preprocessing: the macros of the device. */
void device_macro_args(const struct host_device *d, const struct build_options *options, struct words *args);

#endif
