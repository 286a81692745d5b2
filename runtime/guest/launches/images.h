/* images: what a launch knows of its image arguments. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_IMAGES_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_IMAGES_H

#include "runtime/guest/driver/cl.h"

#include <stdbool.h>
#include <stdint.h>

/* The shape of an image in place of its bytes (models/accesses/image.h). 0: it is none, or the driver does not tell. */
uint64_t image_argument_shape(cl_mem mem, bool written);

#endif
