/*
 * host: what our OpenCL programs need on the host: one device and queue, buffers, arguments, launches, and the same random
 * data everywhere. A failed call ends the program.
 */
#ifndef GPUSIM_KERNELS_HOST_H
#define GPUSIM_KERNELS_HOST_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

extern unsigned long launches;                     /* so far */
extern unsigned long long kernels_ns, launched_ns; /* of a timed queue: the device's time; host's time from first launch to last result */

void open_device(const char *kernel_dir, bool timed);
void *allocate(size_t count, size_t size); /* filled with 0 */
cl_program build(const char *file, const char *options);
cl_kernel kernel(cl_program program, const char *name);
cl_mem buffer(size_t bytes, const void *from); /* from: NULL for no contents */
void put(cl_mem m, size_t bytes, const void *from);
void put_at(cl_mem m, size_t offset, size_t bytes, const void *from);
void get(cl_mem m, size_t bytes, void *to);
void arg(cl_kernel k, cl_uint index, size_t size, const void *value);
void mem_args(cl_kernel k, const cl_mem *mems, cl_uint count);
/* All arguments, by kind: 'm' cl_mem, 'i' int, 'l' bytes of local memory (int). */
void args(cl_kernel k, const char *kinds, ...);
/* Work-items beyond x, y and z fill up the last groups. */
void launch(cl_kernel k, size_t x, size_t y, size_t local_x, size_t local_y);
void launch3(cl_kernel k, const size_t items[3], const size_t local[3]);
void swap_mem(cl_mem *a, cl_mem *b);

unsigned next_random(void);               /* 24 bits */
float *random_floats(size_t count);       /* in [0, 1) */
unsigned *random_words(size_t count, unsigned below);
unsigned long sum_of(const void *data, size_t bytes);
unsigned long sum_of_buffer(cl_mem m, size_t bytes);

#endif
