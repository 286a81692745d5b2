/* properties: what a program is told of the device, made of the description of the target. */
#ifndef GPUSIM_INTERPOSER_CUDA_DEVICE_PROPERTIES_H
#define GPUSIM_INTERPOSER_CUDA_DEVICE_PROPERTIES_H

#include "models/gpu/gpu.h"

enum { DEVICE_PCI_BUS = 1 }; /* on domain 0, in slot 0 */

/* Fills a cudaDeviceProp as CUDA `version` (11, 12 or 13 and later) declares it. Members that are reserved stay as they are. */
void properties_fill(void *out, int version, const struct gpu *g, size_t memory_bytes);
/* The offset of a member in that version, or -1: it has none. For tests. */
long properties_offset(const char *member, int version);
/* What cudaDeviceGetAttribute answers. False: there is no such number. */
bool properties_attribute(int number, const struct gpu *g, int *out);

#endif
