/* several: the GPUs of the program, where GPUSIM_DEVICES asks for more than one, and the links between them. */
#ifndef GPUSIM_RUNTIME_GUEST_DRIVER_SEVERAL_H
#define GPUSIM_RUNTIME_GUEST_DRIVER_SEVERAL_H

#include "runtime/guest/driver/cl.h"

#include <stdbool.h>
#include <stdint.h>

/* Asks POCL for as many devices, and reads GPUSIM_TOPOLOGY; before the program first calls OpenCL. */
void several_start(void (*complain)(const char *line));
bool several_wanted(void);
/* Which of the GPUs a queue is of: devices get numbers in the order in which they are used. 0 where there is one. */
uint32_t several_of_queue(cl_command_queue queue);

#endif
