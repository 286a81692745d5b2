/*
 * Shared by tests that give kernel files to gpusim-cc and run its output (golden.c, tests/traces/traces.c): a file with comments
 * that say what to do, the request, the device. Every failure ends the test.
 */
#ifndef GPUSIM_TESTS_GOLDEN_COMMON_H
#define GPUSIM_TESTS_GOLDEN_COMMON_H

#include "runtime/base/base.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { INTS = 256 };

enum { MOST_UNITS = 4 };

/* The parts of the file. Empty lines before each part keep its line numbers. */
struct source {
	struct gs_buf all, units[MOST_UNITS];
	size_t unit_count;
	char options[128];
	bool atomic; /* text for devices that run work-items at the same time; the comment // atomic asks for it, too */
};

extern cl_context context;
extern cl_device_id device;
extern cl_command_queue queue;

void check(int good, const char *what);
void read_source(struct source *s, const char *path); /* also changes to its folder */
void annotate(const char *cc, const struct source *source, struct gs_pack *result);
/* The texts of all units, from sections of this name. They live as long as the result. */
size_t texts_of(const struct gs_pack *result, const char *section, const char **texts);
void open_device(void);
cl_kernel build(const char *const *texts, size_t count, const char *options, const char *name);
/* Sets the arguments after the ints, as the file says. Returns the index of the next argument. */
cl_uint set_arguments(cl_kernel kernel, const char *source);

#endif
