/* verify: one launch on its way to a verdict on its twin. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_VERIFY_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_VERIFY_H

#include "runtime/guest/driver/cl.h"

#include <stdbool.h>

struct attempt;
struct verification;

/* With the kernel's lock held: keeps everything that the verdict may need. NULL when out of memory. Takes references to
 * the copies. */
struct verification *verification_new(struct attempt *a);
/* The launch has completed, with success or without, and took so long. Gives the verdict and frees *v. */
void verification_end(struct verification *v, const char *kernel, bool completed, uint64_t took_ns);
/* The application builds this program again. Drivers refuse that while kernels of the program exist, so ours are released. */
void verifications_abandon(cl_program program);

#endif
