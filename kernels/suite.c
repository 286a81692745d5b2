/*
 * suite - runs the cases of cases.txt as an ordinary OpenCL 1.1 program.
 *
 *   suite [-k kernel directory] [-r repeats] [-n] [-b] [-d folder] cases.txt [name...]     (shell patterns: '*-s')
 *
 * It looks for the kernels in the folder of the cases file, unless -k names another directory. It prints one line per case:
 * name,kernel,global,local,checksum,median_ns,min_ns. The times are the device's own (profiling events). -n: no profiling. Every
 * repeat starts from freshly written buffers.
 *
 * -b adds two times of the host's clock: build_ns for clBuildProgram, and first_ns for the first launch. Drivers compile a
 * kernel at its first launch. An empty program is built before all cases, so that these times do not contain the start of the
 * driver.
 *
 * -d writes the buffers after each case to FOLDER/NAME, one after the other.
 *
 * cases.h says what a line of the cases file means.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "cases.h"

#include <CL/cl.h>
#include <libgen.h>
#include <time.h>
#include <unistd.h>

enum { MAX_REPEATS = 64 };

struct suite {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	const char *kernel_dir, *dump_dir;
	int repeats, profile, builds;
	cl_mem mem[MAX_ARGS]; /* of the current case */
};

static void check(cl_int err, const char *what)
{
	if (err)
		fail("failed", what, err);
}

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

static cl_program build_program(const struct suite *s, const char *file, unsigned long long *build_ns)
{
	char path[4096], *source;
	size_t size;
	cl_program program;
	cl_int err;

	snprintf(path, sizeof path, "%s/%s", s->kernel_dir, file);
	source = read_file(path, &size);
	program = clCreateProgramWithSource(s->context, 1, (const char **)&source, &size, &err);
	check(err, "clCreateProgramWithSource");
	free(source);
	*build_ns = now_ns();
	check(clBuildProgram(program, 1, &s->device, "", NULL, NULL), "clBuildProgram");
	*build_ns = now_ns() - *build_ns;
	return program;
}

static void start_compiler(const struct suite *s)
{
	const char *nothing = "__kernel void nothing(void) {}";
	cl_int err;
	cl_program program = clCreateProgramWithSource(s->context, 1, &nothing, NULL, &err);

	check(err, "clCreateProgramWithSource");
	check(clBuildProgram(program, 1, &s->device, "", NULL, NULL), "clBuildProgram");
	clReleaseProgram(program);
}

static void write_image(const struct suite *s, const struct arg *a, cl_mem *mem)
{
	const cl_image_format format = {CL_RGBA, CL_FLOAT};
	const size_t origin[3] = {0}, region[3] = {a->width, a->height, 1};
	cl_int err;

	if (!*mem) {
		*mem = clCreateImage2D(s->context, a->kind == 'w' ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY, &format, a->width, a->height, 0, NULL, &err);
		check(err, "clCreateImage2D");
	}
	check(clEnqueueWriteImage(s->queue, *mem, CL_TRUE, origin, region, 0, 0, a->init, 0, NULL, NULL),
	      "clEnqueueWriteImage");
}

static void set_arg(struct suite *s, cl_kernel kernel, cl_uint index, const struct arg *a)
{
	cl_mem *mem = &s->mem[index];
	cl_int err;

	if (strchr("mw", a->kind)) {
		write_image(s, a, mem);
		check(clSetKernelArg(kernel, index, sizeof *mem, mem), "clSetKernelArg");
	} else if (a->init) {
		if (!*mem) {
			*mem = clCreateBuffer(s->context, CL_MEM_READ_WRITE, a->size_bytes, NULL, &err);
			check(err, "clCreateBuffer");
		}
		check(clEnqueueWriteBuffer(s->queue, *mem, CL_TRUE, 0, a->size_bytes, a->init, 0, NULL, NULL),
		      "clEnqueueWriteBuffer");
		check(clSetKernelArg(kernel, index, sizeof *mem, mem), "clSetKernelArg");
	} else if (a->kind == 'L') {
		check(clSetKernelArg(kernel, index, a->count, NULL), "clSetKernelArg");
	} else {
		check(clSetKernelArg(kernel, index, 4, a->kind == 'F' ? (void *)&a->f : (void *)&a->i), "clSetKernelArg");
	}
}

/* Returns the device's time in ns. 0: without profiling. */
static cl_ulong launch(const struct suite *s, cl_kernel kernel, const struct test_case *c)
{
	cl_event event;
	cl_ulong start = 0, end = 0;

	check(clEnqueueNDRangeKernel(s->queue, kernel, c->dims, NULL, c->global, c->local[0] ? c->local : NULL, 0, NULL,
	                             s->profile ? &event : NULL), "clEnqueueNDRangeKernel");
	check(clFinish(s->queue), "clFinish");
	if (!s->profile)
		return 0;
	clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
	clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
	clReleaseEvent(event);
	return end - start;
}

static uint32_t checksum(const struct suite *s, struct arg *a, cl_mem mem, uint32_t sum)
{
	const size_t origin[3] = {0}, region[3] = {a->width, a->height, 1};

	if (a->kind == 'w')
		check(clEnqueueReadImage(s->queue, mem, CL_TRUE, origin, region, 0, 0, a->init, 0, NULL, NULL), "clEnqueueReadImage");
	else if (a->kind != 'm') /* an image that is read still has its first contents */
		check(clEnqueueReadBuffer(s->queue, mem, CL_TRUE, 0, a->size_bytes, a->init, 0, NULL, NULL),
		      "clEnqueueReadBuffer");
	for (size_t e = 0; e < a->size_bytes / 4; e++)
		sum = sum * 31 + (uint32_t)a->init[e];
	return sum;
}

static int compare_times(const void *a, const void *b)
{
	cl_ulong x = *(const cl_ulong *)a, y = *(const cl_ulong *)b;

	return (x > y) - (x < y);
}

static void print_range(const size_t *range, cl_uint dims)
{
	for (cl_uint d = 0; d < dims && range[0]; d++)
		printf("%s%zu", d ? "x" : "", range[d]);
	fputs(range[0] ? "," : "-,", stdout);
}

static FILE *open_dump(const struct suite *s, const char *name)
{
	char path[4096];
	FILE *f;

	if (!s->dump_dir)
		return NULL;
	snprintf(path, sizeof path, "%s/%s", s->dump_dir, name);
	f = fopen(path, "w");
	if (!f)
		fail("cannot write", path, 0);
	return f;
}

/* Adds up the checksums and releases the memory of the case. */
static uint32_t checksum_all(struct suite *s, struct test_case *c)
{
	uint32_t sum = 0;
	FILE *dump = open_dump(s, c->name);

	for (int i = 0; i < c->arg_count; i++) {
		if (!c->args[i].init)
			continue;
		sum = checksum(s, &c->args[i], s->mem[i], sum);
		if (dump)
			fwrite(c->args[i].init, 1, c->args[i].size_bytes, dump);
		clReleaseMemObject(s->mem[i]);
		s->mem[i] = NULL;
		free(c->args[i].init);
	}
	if (dump)
		fclose(dump);
	return sum;
}

static void run_case(struct suite *s, struct test_case *c)
{
	cl_ulong times[MAX_REPEATS] = {0};
	unsigned long long build_ns, first_ns = 0, begin_ns;
	cl_int err;
	cl_program program = build_program(s, c->file, &build_ns);
	cl_kernel kernel = clCreateKernel(program, c->kernel, &err);

	check(err, "clCreateKernel");
	for (int r = 0; r < s->repeats; r++) {
		for (int i = 0; i < c->arg_count; i++)
			set_arg(s, kernel, (cl_uint)i, &c->args[i]);
		begin_ns = now_ns();
		times[r] = launch(s, kernel, c);
		first_ns = r ? first_ns : now_ns() - begin_ns;
	}
	qsort(times, (size_t)s->repeats, sizeof times[0], compare_times);
	printf("%s,%s,", c->name, c->kernel);
	print_range(c->global, c->dims);
	print_range(c->local, c->dims);
	printf("%08x,%llu,%llu", checksum_all(s, c), (unsigned long long)times[s->repeats / 2],
	       (unsigned long long)times[0]);
	if (s->builds)
		printf(",%llu,%llu", build_ns, first_ns);
	putchar('\n');
	fflush(stdout);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
}

static void open_device(struct suite *s)
{
	cl_platform_id platform;
	cl_int err;

	check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &s->device, NULL))
		check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &s->device, NULL), "clGetDeviceIDs");
	s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &err);
	check(err, "clCreateContext");
	s->queue = clCreateCommandQueue(s->context, s->device, s->profile ? CL_QUEUE_PROFILING_ENABLE : 0, &err);
	check(err, "clCreateCommandQueue");
}

int main(int argc, char **argv)
{
	struct suite s = {.repeats = 1, .profile = 1};
	struct test_case c;
	char *cases, *save, *path;
	size_t size;
	int option;

	while ((option = getopt(argc, argv, "k:r:nbd:")) != -1) {
		if (option == 'k')
			s.kernel_dir = optarg;
		else if (option == 'r')
			s.repeats = atoi(optarg);
		else if (option == 'n')
			s.profile = 0;
		else if (option == 'b')
			s.builds = 1;
		else if (option == 'd')
			s.dump_dir = optarg;
		else
			return 2;
	}
	if (optind >= argc || s.repeats < 1 || s.repeats > MAX_REPEATS) {
		fprintf(stderr, "usage: suite [-k kernel directory] [-r repeats] [-n] [-b] [-d folder] cases.txt [name...]\n");
		return 2;
	}
	path = strdup(argv[optind]);
	if (!s.kernel_dir)
		s.kernel_dir = dirname(path);
	cases = read_file(argv[optind++], &size);
	open_device(&s);
	if (s.builds)
		start_compiler(&s);
	for (char *line = strtok_r(cases, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == '#' || !strcspn(line, " \t") || !wanted(line, argc - optind, argv + optind))
			continue;
		parse_case(&c, line);
		run_case(&s, &c);
	}
	clReleaseCommandQueue(s.queue);
	clReleaseContext(s.context);
	free(cases);
	free(path);
	return 0;
}
