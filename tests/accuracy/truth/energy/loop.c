/*
 * Loaded before an OpenCL program: repeats its launches. With NVML, each distinct launch runs for LOOP_SECONDS while the GPU's energy is read; a row
 * per launch goes to LOOP_OUT. With LOOP_COUNT, each runs so many times and nothing is read (for the run under gpusim).
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include "nvml.h"
typedef cl_int (*enqueue_fn)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint, const cl_event *, cl_event *);
static int started;
/* NVIDIA's platform first: the machine may have others. */
cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *out, cl_uint *count)
{
	cl_int (*real)(cl_uint, cl_platform_id *, cl_uint *) = (cl_int (*)(cl_uint, cl_platform_id *, cl_uint *))dlsym(RTLD_NEXT, "clGetPlatformIDs");
	cl_platform_id all[16];
	cl_uint found = 0;
	if (!getenv("LOOP_OUT"))
		return real(n, out, count);
	cl_int rc = real(16, all, &found);
	for (cl_uint i = 0; !rc && i < found; i++) {
		char name[256] = "";
		clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
		fprintf(stderr, "platform %u: %s\n", i, name);
		if (strncmp(name, "NVIDIA", 6))
			continue;
		if (n && out)
			out[0] = all[i];
		if (count)
			*count = 1;
		return CL_SUCCESS;
	}
	fprintf(stderr, "no NVIDIA platform (%d)\n", rc);
	exit(3);
}
cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, cl_uint n, const cl_event *w, cl_event *e)
{
	enqueue_fn real = (enqueue_fn)dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
	const char *count = getenv("LOOP_COUNT"), *path = getenv("LOOP_OUT");
	double seconds = getenv("LOOP_SECONDS") ? atof(getenv("LOOP_SECONDS")) : 2;
	cl_int rc = real(q, k, d, o, g, l, n, w, e);
	if (rc || (!count && !path))
		return rc;
	if (count) {
		for (int i = 1; i < atoi(count); i++)
			real(q, k, d, o, g, l, 0, NULL, NULL);
		return rc;
	}
	if (!started++ && nvml_start())
		return rc;
	clFinish(q);
	double t = now_s();
	for (int i = 0; i < 50; i++)
		real(q, k, d, o, g, l, 0, NULL, NULL);
	clFinish(q);
	double one = (now_s() - t) / 50;
	long batch = (long)(0.02 / one) + 1, launches = 0, at_from = 0, at_to = 0;
	double begin = now_s(), from = 0, to = 0;
	cl_event done[4] = {0};
	/* four batches in the queue at all times */
	for (long b = 0;; b++) {
		cl_event *ev = &done[b % 4];
		if (*ev) {
			clWaitForEvents(1, ev);
			clReleaseEvent(*ev);
			launches += batch;
			double now = now_s();
			if (!from && now > begin + 0.4) { from = now; at_from = launches; }
			if (now > begin + seconds) { to = now; at_to = launches; break; }
		}
		for (long i = 0; i < batch; i++)
			if ((rc = real(q, k, d, o, g, l, 0, NULL, i + 1 == batch ? ev : NULL)))
				return rc;
		clFlush(q);
	}
	clFinish(q);
	char name[256] = "";
	clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
	FILE *f = fopen(path, "a");
	if (f) {
		fprintf(f, "%s,%zu,%.6g,%ld,", name, g[0], (to - from) / (at_to - at_from), at_to - at_from);
		nvml_report(f, from, to);
		fputc('\n', f);
		fclose(f);
	}
	return 0;
}
