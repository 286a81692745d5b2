/*
 * faults: kernels with one fault each, and the same without it (faults.cl). Advice is tested with them.
 *
 *   faults DIR NAME...     runs these kernels once: coalescing_bad, coalescing_good, ...
 *   faults DIR --time      times all of them by events, best of 20, after some seconds of other work; prints NAME, NS with what it
 *                          touches out of all caches, NS with it there
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 22, FLUSHED = 1 << 26, TIMES = 20 };

static const struct fault {
	const char *name;
	size_t items, local;
	int launches;
} faults[] = {
	{"coalescing_bad", N, 256, 1},   {"coalescing_good", N, 256, 1},
	{"conflicts_bad", N / 4, 256, 1}, {"conflicts_good", N / 4, 256, 1},
	{"groups_bad", 33 * 256, 256, 1}, {"groups_good", 1056 * 256, 256, 1},
	{"divergence_bad", N / 4, 256, 1}, {"divergence_good", N / 4, 256, 1},
	{"atomics_bad", N / 4, 256, 1},  {"atomics_good", N / 4, 256, 1},
	{"vectors_bad", N / 4, 256, 1},  {"vectors_good", N / 4, 256, 1},
	{"local_bad", N / 16, 128, 1},   {"local_good", N / 16, 128, 1},
	{"sizes_bad", N / 16, 32, 1},    {"sizes_good", N / 16, 256, 1},
	{"doubles_bad", N / 4, 256, 1},  {"doubles_good", N / 4, 256, 1},
	{"instructions_bad", N / 4, 256, 1}, {"instructions_good", N / 4, 256, 1},
	{"launches_bad", 4096, 256, 64}, {"launches_good", 4096, 256, 1},
};

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_mem in, out, large;

static void must(cl_int code, const char *what)
{
	if (code == CL_SUCCESS)
		return;
	fprintf(stderr, "faults: %s: %d\n", what, code);
	exit(1);
}

static char *read_source(const char *dir)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/faults.cl", dir);
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 65536);
	if (!f || !text || !fread(text, 1, 65535, f)) {
		fprintf(stderr, "faults: %s cannot be read\n", path);
		exit(1);
	}
	fclose(f);
	return text;
}

static void open_device(const char *dir)
{
	cl_platform_id platforms[8];
	cl_device_id device = NULL;
	cl_uint count = 0;
	cl_int code;
	must(clGetPlatformIDs(8, platforms, &count), "platforms");
	for (cl_uint i = 0; i < count && i < 8 && !device; i++)
		clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, NULL);
	for (cl_uint i = 0; i < count && i < 8 && !device; i++)
		clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	must(code, "context");
	queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
	must(code, "queue");
	char *text = read_source(dir);
	program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &code);
	must(code, "program");
	must(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
	free(text);
	float *data = malloc(N * sizeof *data);
	for (size_t i = 0; i < N; i++)
		data[i] = (float)(i * 2654435761u % 1000) / 1000;
	in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, N * sizeof *data, data, &code);
	must(code, "buffer");
	out = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, N * sizeof *data, data, &code);
	must(code, "buffer");
	free(data);
}

static void flush(void)
{
	cl_int n = FLUSHED, code;
	size_t items = 132 * 2048, local = 256;
	if (!large) {
		large = clCreateBuffer(context, CL_MEM_READ_WRITE, FLUSHED * sizeof(float), NULL, &code);
		must(code, "buffer");
	}
	cl_kernel k = clCreateKernel(program, "flush", &code);
	must(code, "flush");
	clSetKernelArg(k, 0, sizeof large, &large);
	clSetKernelArg(k, 1, sizeof out, &out);
	clSetKernelArg(k, 2, sizeof n, &n);
	must(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &local, 0, NULL, NULL), "flush");
	clFinish(queue);
	clReleaseKernel(k);
}

/* The time of all its launches. */
static double run(const struct fault *f)
{
	cl_int code, n = N;
	cl_ulong begin, end;
	double ns = 0;
	cl_kernel k = clCreateKernel(program, f->name, &code);
	must(code, f->name);
	clSetKernelArg(k, 0, sizeof in, &in);
	clSetKernelArg(k, 1, sizeof out, &out);
	clSetKernelArg(k, 2, sizeof n, &n);
	for (int i = 0; i < f->launches; i++) {
		cl_event event;
		must(clEnqueueNDRangeKernel(queue, k, 1, NULL, &f->items, &f->local, 0, NULL, &event), f->name);
		must(clWaitForEvents(1, &event), f->name);
		clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
		clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
		clReleaseEvent(event);
		ns += (double)(end - begin);
	}
	clReleaseKernel(k);
	return ns;
}

static const struct fault *find(const char *name)
{
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		if (!strcmp(faults[i].name, name))
			return &faults[i];
	fprintf(stderr, "faults: there is no %s\n", name);
	exit(1);
}

static double best_of(const struct fault *f, bool cold)
{
	double best = 0;
	run(f);
	for (int n = 0; n < TIMES; n++) {
		if (cold)
			flush();
		double ns = run(f);
		best = !n || ns < best ? ns : best;
	}
	return best;
}

/* Brings the clock up first. */
static void time_all(void)
{
	time_t begin = time(NULL);
	while (time(NULL) - begin < 3)
		run(find("doubles_good"));
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		printf("%s,%.0f,%.0f\n", faults[i].name, best_of(&faults[i], true), best_of(&faults[i], false));
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: faults DIR NAME...|--time\n");
		return 2;
	}
	open_device(argv[1]);
	if (!strcmp(argv[2], "--time"))
		time_all();
	else
		for (int i = 2; i < argc; i++)
			run(find(argv[i]));
	return 0;
}
