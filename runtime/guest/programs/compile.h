/* compile: runs gpusim-cc, and uses its cache. */
#ifndef GPUSIM_RUNTIME_GUEST_PROGRAMS_COMPILE_H
#define GPUSIM_RUNTIME_GUEST_PROGRAMS_COMPILE_H

#include "runtime/guest/driver/cl.h"
#include "runtime/guest/support/units.h"

/* What the text for a device depends on: its platform, driver, name, and what it can do, a line for each. */
void describe_device(cl_device_id device, struct gs_buf *out);
/* Whether each file still has the hash that its line "HASH PATH" says. */
bool dependencies_hold(const char *lines);
/* The result pack for the units on a device, from the cache or from gpusim-cc. `key` becomes the key of the request. */
int compile_units(const struct unit_list *units, cl_device_id device, struct gs_pack *result, char key[33], struct gs_error *err);
/* The same for the image of a CUDA module (protocol.h: fatbin). */
int compile_module(const void *image, size_t bytes, struct gs_pack *result, char key[33], struct gs_error *err);
/* The environment for gpusim-cc, made from the present one. */
char **make_cc_environment(void);

#endif
