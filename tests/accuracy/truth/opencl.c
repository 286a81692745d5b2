/*
 * opencl - how long cases take on an OpenCL device, with the clock of its SMs beside every figure.
 *
 *   opencl [-k kernel directory] [-p folder for PTX] [-q] cases.txt [name...]     (shell patterns: '*-s')
 *   opencl -c
 *
 * A line per case. Clocks are brought up first. Times are in ns, of profiling events unless said otherwise:
 *   clock_before, clock_after   MHz of one SM before the first launch, and behind the launches of row_ns
 *   first_ns                    the first launch of this kernel with this data; the clocks are up, the data was just copied
 *   warm_ns, warm_min, warm_max median, least and most of launches that each find what the one before left
 *   nothing_ns                  median of launches that do nothing, some before and some after each few of those: what is around a launch
 *                               drifts by microseconds while a process runs
 *   row_ns                      one of several that were queued together, from START of the first to END of the last
 *   stamp_ns                    between two work-items that read the GPU's timer, one launched before and one after; median
 *   cold_ns, cold_min           with caches full of something else
 * local is what the driver chose where the case leaves it the choice. -c: which local sizes the driver chooses. -q: everything once, to
 * try this on a CPU.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernels/cases.h"
#include "tests/accuracy/truth/device.h"

#include <libgen.h>
#include <unistd.h>

enum { MOST_REPEATS = 21, ROUNDS = 7, OF_ROUND = 7, CHECKED_BYTES = 64 << 20 };

struct measurement {
	struct measured_device device;
	const char *kernel_dir, *ptx_dir;
};

struct case_times {
	double clock_before, clock_after, first, warm, warm_min, warm_max, nothing, row, stamp, cold, cold_min;
	uint32_t checksum;
	size_t local[3]; /* what the driver chose, or the case's */
	int repeats;
};

static bool create(struct measured_device *d, const struct arg *a, cl_mem *mem)
{
	const cl_image_format format = {CL_RGBA, CL_FLOAT};
	cl_int err;
	if (strchr("mw", a->kind))
		*mem = d->clCreateImage2D(d->context, a->kind == 'w' ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY, &format, a->width, a->height, 0, NULL, &err);
	else
		*mem = d->clCreateBuffer(d->context, CL_MEM_READ_WRITE, a->size_bytes, NULL, &err);
	return succeeded(err, "creating a buffer or image");
}

static bool move(struct measured_device *d, struct arg *a, cl_mem mem, bool back)
{
	const size_t origin[3] = {0}, region[3] = {a->width, a->height, 1};
	cl_int err;
	if (strchr("mw", a->kind))
		err = back ? d->clEnqueueReadImage(d->queue, mem, CL_TRUE, origin, region, 0, 0, a->init, 0, NULL, NULL)
		           : d->clEnqueueWriteImage(d->queue, mem, CL_TRUE, origin, region, 0, 0, a->init, 0, NULL, NULL);
	else
		err = back ? d->clEnqueueReadBuffer(d->queue, mem, CL_TRUE, 0, a->size_bytes, a->init, 0, NULL, NULL)
		           : d->clEnqueueWriteBuffer(d->queue, mem, CL_TRUE, 0, a->size_bytes, a->init, 0, NULL, NULL);
	return succeeded(err, back ? "reading" : "writing");
}

static bool set_arguments(struct measured_device *d, cl_kernel kernel, struct test_case *c, cl_mem *mem)
{
	for (int i = 0; i < c->arg_count; i++) {
		struct arg *a = &c->args[i];
		const void *value = a->kind == 'F' ? (void *)&a->f : (void *)&a->i;
		size_t size = 4;
		if (a->init) {
			if (!create(d, a, &mem[i]) || !move(d, a, mem[i], false))
				return false;
			value = &mem[i];
			size = sizeof mem[i];
		} else if (a->kind == 'L') {
			value = NULL;
			size = a->count;
		}
		if (!succeeded(d->clSetKernelArg(kernel, (cl_uint)i, size, value), "clSetKernelArg"))
			return false;
	}
	return true;
}

/* Of all buffers and images, unless they are large. A case without a local size tells in its first argument which one it had. */
static bool check_results(struct measured_device *d, struct test_case *c, cl_mem *mem, struct case_times *t)
{
	size_t bytes = 0;
	for (int i = 0; i < c->arg_count; i++)
		bytes += c->args[i].size_bytes;
	for (int i = 0; i < c->arg_count; i++) {
		struct arg *a = &c->args[i];
		if (!a->init || (bytes > CHECKED_BYTES && (i || c->local[0])))
			continue;
		if (a->kind != 'm' && !move(d, a, mem[i], true))
			return false;
		for (size_t e = 0; e < a->size_bytes / 4 && bytes <= CHECKED_BYTES; e++)
			t->checksum = t->checksum * 31 + (uint32_t)a->init[e];
	}
	for (int k = 0; k < 3; k++)
		t->local[k] = c->local[0] ? c->local[k] : (size_t)c->args[0].init[k];
	return true;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

typedef bool timed_fn(struct measured_device *d, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, double *ns);

static bool cold_launch(struct measured_device *d, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local, double *ns)
{
	return flush_caches(d) && timed_launch(d, kernel, dims, global, local, ns);
}

static void summarise(double *ns, int count, double out[3])
{
	qsort(ns, (size_t)count, sizeof *ns, ascending);
	out[0] = ns[count / 2];
	out[1] = ns[0];
	out[2] = ns[count - 1];
}

/* Median, least and most. */
static bool repeat(struct measured_device *d, timed_fn *launch, cl_kernel kernel, const struct test_case *c, int repeats, double out[3])
{
	double ns[MOST_REPEATS];
	for (int i = 0; i < repeats; i++)
		if (!launch(d, kernel, c->dims, c->global, c->local[0] ? c->local : NULL, &ns[i]))
			return false;
	summarise(ns, repeats, out);
	return true;
}

/* Some that do nothing, some of the kernel, and so on. The first of each does not count: it follows the other one. */
static bool alternate(struct measured_device *d, cl_kernel kernel, const struct test_case *c, int repeats, double warm[3], double nothing[3])
{
	const size_t one = 32;
	double of[2][ROUNDS * OF_ROUND];
	int rounds = d->is_quick ? 1 : repeats < MOST_REPEATS ? 1 : ROUNDS, each = repeats < OF_ROUND ? repeats : OF_ROUND;
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < 2 * (each + 1); i++) {
			bool own = i > each;
			double ns;
			if (!timed_launch(d, own ? kernel : d->nothing, own ? c->dims : 1, own ? c->global : &one, !own ? &one : c->local[0] ? c->local : NULL, &ns))
				return false;
			if (i % (each + 1))
				of[own][r * each + i % (each + 1) - 1] = ns;
		}
	summarise(of[0], rounds * each, nothing);
	summarise(of[1], rounds * each, warm);
	return true;
}

static bool measure(struct measured_device *d, cl_kernel kernel, struct test_case *c, cl_mem *mem, struct case_times *t)
{
	double warm[3], nothing[3], cold[3], stamp[3];
	const size_t *local = c->local[0] ? c->local : NULL;
	if (!spin_up(d, d->is_quick ? 0 : 20))
		return false;
	t->clock_before = sm_clock_mhz(d);
	if (!timed_launch(d, kernel, c->dims, c->global, local, &t->first) || !check_results(d, c, mem, t))
		return false;
	t->repeats = d->is_quick ? 1 : t->first < 1e6 ? MOST_REPEATS : t->first < 1e7 ? 11 : 3;
	int row = d->is_quick ? 1 : t->first < 1e6 ? 12 : 4;
	if (!spin_up(d, d->is_quick ? 0 : 10) || !repeat(d, timed_launch, kernel, c, d->is_quick ? 1 : 3, warm) ||
	    !alternate(d, kernel, c, t->repeats, warm, nothing) ||
	    !launch_row(d, kernel, c->dims, c->global, local, row, &t->row, &t->clock_after) ||
	    !repeat(d, stamped_launch, kernel, c, t->repeats < 9 ? t->repeats : 9, stamp) ||
	    !repeat(d, cold_launch, kernel, c, t->repeats < 9 ? t->repeats : 9, cold))
		return false;
	t->warm = warm[0], t->warm_min = warm[1], t->warm_max = warm[2];
	t->nothing = nothing[0];
	t->stamp = stamp[0];
	t->cold = cold[0], t->cold_min = cold[1];
	return true;
}

static void print_range(const size_t *range, uint32_t dims)
{
	for (uint32_t d = 0; d < dims; d++)
		printf("%s%zu", d ? "x" : "", range[d]);
	putchar(',');
}

static void print_times(const struct test_case *c, const struct case_times *t)
{
	printf("%s,%s,", c->name, c->kernel);
	print_range(c->global, c->dims);
	print_range(t->local, c->dims);
	printf("%08x,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%d,%.0f\n", t->checksum, t->clock_before, t->clock_after, t->first, t->warm,
	       t->warm_min, t->warm_max, t->row, t->stamp, t->cold, t->cold_min, t->repeats, t->nothing);
	fflush(stdout);
}

static bool run_case(struct measurement *m, struct test_case *c)
{
	struct measured_device *d = &m->device;
	cl_mem mem[MAX_ARGS] = {0};
	struct case_times times = {0};
	cl_int err = 0;
	cl_program program = built_program(d, m->kernel_dir, c->file, m->ptx_dir);
	cl_kernel kernel = program ? d->clCreateKernel(program, c->kernel, &err) : NULL;
	bool done = kernel && set_arguments(d, kernel, c, mem) && measure(d, kernel, c, mem, &times);
	if (done)
		print_times(c, &times);
	else
		fprintf(stderr, "error: %s was not measured\n", c->name);
	for (int i = 0; i < c->arg_count; i++) {
		if (mem[i])
			d->clReleaseMemObject(mem[i]);
		free(c->args[i].init);
	}
	if (kernel)
		d->clReleaseKernel(kernel);
	return done;
}

/* ---- which local sizes the driver chooses ---- */

/* The same work with few registers, with many, and with local memory. */
static const char choice_source[] =
	"void tell(global int *chosen)\n"
	"{\n"
	"	if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)\n"
	"		for (int d = 0; d < 3; d++)\n"
	"			chosen[d] = get_local_size(d);\n"
	"}\n"
	"kernel void plain(global int *chosen, int never) { tell(chosen); }\n"
	"kernel void registers(global int *chosen, int never)\n"
	"{\n"
	"	int v[96], sum = 0;\n"
	"	for (int i = 0; i < 96; i++)\n"
	"		v[i] = ((volatile global int *)chosen)[8 + i];\n"
	"	for (int i = 0; i < 96; i++)\n"
	"		sum = sum * v[95 - i] + v[i];\n"
	"	if (sum == never)\n"
	"		chosen[4] = sum;\n"
	"	tell(chosen);\n"
	"}\n"
	"kernel void local_memory(global int *chosen, int never)\n"
	"{\n"
	"	local int room[4096];\n"
	"	room[get_local_id(0)] = never;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	if (room[get_local_id(0) ^ 1 & 31] == never + 1)\n"
	"		chosen[4] = never;\n"
	"	tell(chosen);\n"
	"}\n";

static bool print_choice(struct measured_device *d, cl_kernel kernel, const char *name, cl_uint dims, const size_t *global, cl_mem mem)
{
	int chosen[3] = {0};
	double ns;
	if (!timed_launch(d, kernel, dims, global, NULL, &ns) ||
	    !succeeded(d->clEnqueueReadBuffer(d->queue, mem, CL_TRUE, 0, sizeof chosen, chosen, 0, NULL, NULL), "clEnqueueReadBuffer"))
		return false;
	const size_t local[3] = {(size_t)chosen[0], (size_t)chosen[1], (size_t)chosen[2]};
	printf("%s,", name);
	print_range(global, dims);
	print_range(local, dims);
	printf("%.0f\n", ns);
	return true;
}

static bool print_choices(struct measured_device *d)
{
	static const size_t flat[] = {1,    7,    31,   32,   33,   48,   64,    96,    100,   127,    128,    192,     250,     256,    257,     384,     500,
	                              512,  640,  768,  1000, 1001, 1024, 1025,  1536,  2000,  2048,   3072,   4096,    6144,    10000,  10007,   65536,   99999,
	                              100000, 131072, 1000000, 1000003, 1048576, 3 << 20, 16777216};
	static const size_t square[][3] = {{16, 16}, {32, 32}, {64, 64}, {100, 100}, {128, 128}, {200, 150}, {256, 256}, {640, 480}, {1000, 1000},
	                                   {1021, 1019}, {1024, 1024}, {1024, 1}, {1, 1024}, {1920, 1080}, {512, 8}, {33, 77}, {2048, 3}, {3, 2048}, {96, 96},
	                                   {48, 20}, {7, 1024}, {4096, 4096}, {36, 1000}, {500, 2}, {17, 17}};
	static const size_t cube[][3] = {{8, 8, 8}, {16, 16, 16}, {32, 32, 32}, {64, 64, 64}, {100, 100, 100}, {7, 9, 11}, {128, 64, 2}, {1, 1, 512},
	                                 {2, 2, 2048}, {256, 256, 128}, {20, 30, 40}};
	static const char *const names[] = {"plain", "registers", "local_memory"};
	const char *text = choice_source;
	cl_int err, zero = -12345;
	cl_mem mem = d->clCreateBuffer(d->context, CL_MEM_READ_WRITE, 4096, NULL, &err);
	cl_program program = err ? NULL : d->clCreateProgramWithSource(d->context, 1, &text, NULL, &err);
	if (err || !succeeded(d->clBuildProgram(program, 1, &d->id, "", NULL, NULL), "clBuildProgram"))
		return false;
	printf("kernel,global,local,ns\n");
	for (int k = 0; k < 3; k++) {
		cl_kernel kernel = d->clCreateKernel(program, names[k], &err);
		if (!succeeded(err, "clCreateKernel") || !succeeded(d->clSetKernelArg(kernel, 0, sizeof mem, &mem), "clSetKernelArg") ||
		    !succeeded(d->clSetKernelArg(kernel, 1, sizeof zero, &zero), "clSetKernelArg"))
			return false;
		for (size_t i = 0; i < (d->is_quick ? 2 : sizeof flat / sizeof *flat); i++)
			if (!print_choice(d, kernel, names[k], 1, &flat[i], mem))
				return false;
		for (size_t i = 0; i < (d->is_quick ? 1 : sizeof square / sizeof *square); i++)
			if (!print_choice(d, kernel, names[k], 2, square[i], mem))
				return false;
		for (size_t i = 0; i < (d->is_quick ? 1 : sizeof cube / sizeof *cube); i++)
			if (!print_choice(d, kernel, names[k], 3, cube[i], mem))
				return false;
	}
	return true;
}

static int run_cases(struct measurement *m, int argc, char **argv)
{
	struct test_case c;
	char *path = strdup(argv[0]), *save, *cases;
	size_t size;
	int lost = 0;
	if (!m->kernel_dir)
		m->kernel_dir = dirname(path);
	cases = read_file(argv[0], &size);
	printf("case,kernel,global,local,checksum,clock_before,clock_after,first_ns,warm_ns,warm_min,warm_max,row_ns,stamp_ns,cold_ns,cold_min,repeats,nothing_ns\n");
	for (char *line = strtok_r(cases, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == '#' || !strcspn(line, " \t") || !wanted(line, argc - 1, argv + 1))
			continue;
		parse_case(&c, line);
		lost += !run_case(m, &c);
	}
	return lost ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct measurement m;
	bool choices = false;
	int option;
	while ((option = getopt(argc, argv, "k:p:qc")) != -1) {
		if (option == 'k')
			m.kernel_dir = optarg;
		else if (option == 'p')
			m.ptx_dir = optarg;
		else if (option == 'q')
			m.device.is_quick = true;
		else if (option == 'c')
			choices = true;
		else
			return 2;
	}
	if (!choices && optind >= argc) {
		fprintf(stderr, "usage: opencl [-k kernel directory] [-p folder for PTX] [-q] cases.txt [name...]\n       opencl -c\n");
		return 2;
	}
	if (!open_measured_device(&m.device))
		return 1;
	if (!spin_up(&m.device, m.device.is_quick ? 0 : 500))
		return 1;
	return choices ? !print_choices(&m.device) : run_cases(&m, argc - optind, argv + optind);
}
