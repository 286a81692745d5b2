/*
 * Preprocessing of one unit with the macros of the host device.
 */
#ifndef GPUSIM_RUNTIME_CC_PREPROCESS_H
#define GPUSIM_RUNTIME_CC_PREPROCESS_H

#include "runtime/cc/device.h"

/* The name of the application's source in line markers. */
#define SOURCE_NAME "program.cl"

struct preprocess_unit {
	const struct build_options *options;
	const struct gs_section *headers; /* the text of each is "NAME\n" and the header */
	size_t header_count;
	const char *source;
	size_t source_length;
	const char *cwd; /* working directory of the guest, or NULL */
};

struct preprocessed {
	struct gs_buf text;
	struct words files; /* absolute paths of the files that #include has read, without the embedded headers */
	char *resource_folder; /* where clang keeps opencl-c-base.h */
	char *headers, *source; /* the folder of the embedded headers; the source in it, which begins with a #line directive */
};

/* `folder` is an empty folder for the files of this unit. The caller removes it. */
int preprocess(const struct host_device *d, const struct preprocess_unit *unit, const char *folder,
               struct preprocessed *out, struct gs_error *err);
/* Parsing the source itself needs these arguments besides those for preprocessed text. */
void preprocess_source_args(const struct host_device *d, const struct preprocess_unit *unit, const char *headers,
                            struct words *args);
void preprocessed_free(struct preprocessed *p);

#endif
