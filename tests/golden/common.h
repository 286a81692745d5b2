/*
 * What tests share that give kernel files to gpusim-cc and run what it makes: a file with comments that say what to do
 * (golden.c, tests/traces/traces.c), the request, the device. Whatever fails ends the test.
 */
#ifndef GPUSIM_TESTS_GOLDEN_COMMON_H
#define GPUSIM_TESTS_GOLDEN_COMMON_H

#include "runtime/base/base.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { INTS = 256 };

enum { MOST_UNITS = 4 };

/* The file in parts, each with as many empty lines before it as keep its line numbers. */
struct source {
	struct gs_buf all, units[MOST_UNITS];
	size_t unit_count;
	char options[128];
};

extern cl_context context;
extern cl_device_id device;
extern cl_command_queue queue;

void check(int good, const char *what);
void read_source(struct source *s, const char *path); /* and changes to its folder */
void annotate(const char *cc, const struct source *source, struct gs_pack *result);
/* The texts of all units, from sections of this name; they live as long as the result. */
size_t texts_of(const struct gs_pack *result, const char *section, const char **texts);
void open_device(void);
cl_kernel build(const char *const *texts, size_t count, const char *options, const char *name);
/* Those after the ints, as the file says. Returns the index of the next one. */
cl_uint set_arguments(cl_kernel kernel, const char *source);

#endif
