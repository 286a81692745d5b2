/* unsized: launches whose local size the program leaves to the driver. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_UNSIZED_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_UNSIZED_H

#include "runtime/guest/launches/launch.h"

/*
 * Gives the twins of such a launch the size that the first target's driver would choose, unless the kernel asks for one itself, or might not stand
 * another. The kernel itself is launched as the program says. l->regrouped: the kernel can tell, so that its twins must run on copies and are
 * not compared with it.
 */
void choose_local_size(struct launch *l, const struct kernel *k, const struct request *r, const struct kernel_twin *t, cl_device_id device);

/* The request for a twin of the launch. */
struct request twin_request(const struct request *r, const struct launch *l);

#endif
