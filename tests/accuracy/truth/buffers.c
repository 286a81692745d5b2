/*
 * buffers - where an OpenCL driver puts buffers of a device.
 *
 *   buffers      prints bench,what,a,b,c,value: a: the buffer's number, b: its bytes, value: where it begins, beside the first one
 *
 * written: each is written to as soon as it was made; used: a kernel is the first to use them, in their order
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/accuracy/truth/device.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 32 };

static const size_t sizes[] = {32,       32, 32,       512, 513,      32, 4096,     65536,    32,      65536, 1 << 20, 1 << 20, 32, (1 << 20) + 4,
                               32, 2 << 20, 32, 3 << 20, 32, 16 << 20, 32,       16 << 20, 33 << 20, 32};
static const char source[] = "kernel void where(global ulong *out, global uint *p, uint n) { out[n] = (ulong)p; }\n";

static void print_places(struct measured_device *d, cl_kernel where, cl_mem found, bool written)
{
	const size_t count = sizeof sizes / sizeof *sizes, one = 1;
	static char zeros[64 << 20];
	cl_mem made[MOST];
	cl_ulong at[MOST] = {0};
	cl_int err;
	for (size_t i = 0; i < count; i++) {
		made[i] = d->clCreateBuffer(d->context, CL_MEM_READ_WRITE, sizes[i], NULL, &err);
		if (!succeeded(err, "creating a buffer"))
			exit(1);
		if (written)
			d->clEnqueueWriteBuffer(d->queue, made[i], CL_TRUE, 0, sizes[i], zeros, 0, NULL, NULL);
	}
	for (cl_uint i = 0; i < count; i++) {
		d->clSetKernelArg(where, 0, sizeof found, &found);
		d->clSetKernelArg(where, 1, sizeof made[i], &made[i]);
		d->clSetKernelArg(where, 2, sizeof i, &i);
		if (!succeeded(d->clEnqueueNDRangeKernel(d->queue, where, 1, NULL, &one, &one, 0, NULL, NULL), "a launch"))
			exit(1);
	}
	d->clEnqueueReadBuffer(d->queue, found, CL_TRUE, 0, sizeof at, at, 0, NULL, NULL);
	for (size_t i = 0; i < count; i++) {
		printf("buffer,%s,%zu,%zu,%llu,%.0f\n", written ? "written" : "used", i + 1, sizes[i], (unsigned long long)(at[i] >> 21),
		       (double)at[i] - (double)at[0]);
		d->clReleaseMemObject(made[i]);
	}
}

int main(void)
{
	static struct measured_device d;
	const char *text = source;
	cl_int err;
	if (!open_measured_device(&d))
		return 1;
	cl_program program = d.clCreateProgramWithSource(d.context, 1, &text, NULL, &err);
	if (!succeeded(err, "a program") || !succeeded(d.clBuildProgram(program, 1, &d.id, "", NULL, NULL), "building"))
		return 1;
	cl_kernel where = d.clCreateKernel(program, "where", &err);
	cl_mem found = d.clCreateBuffer(d.context, CL_MEM_READ_WRITE, MOST * sizeof(cl_ulong), NULL, &err);
	print_places(&d, where, found, true);
	print_places(&d, where, found, false);
	return 0;
}
