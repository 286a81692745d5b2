/*
 * A stencil on GPUs: stencil [SIZE [STEPS [ROWS]]]. Each MPI process has a slab of a square grid on its OpenCL device. In every step, it computes a step of
 * Jacobi's method, reads its edges from the device, exchanges them with its neighbours, and writes what it got back.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static const char source[] =
	"kernel void jacobi(global const float *from, global float *to, int width, int rows) {\n"
	"	int x = get_global_id(0), y = get_global_id(1) + 1;\n"
	"	if (x > 0 && x < width - 1 && y <= rows)\n"
	"		to[y * width + x] = 0.25f * (from[y * width + x - 1] + from[y * width + x + 1] + from[(y - 1) * width + x] + from[(y + 1) * width + x]);\n"
	"}\n";

static void check(cl_int result, const char *what)
{
	if (result != CL_SUCCESS) {
		fprintf(stderr, "stencil: %s: %d\n", what, result);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

struct slab {
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem grids[2];
	int width, rows;
	float *edges; /* sent up, sent down, from above, from below */
};

static void start(struct slab *s)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_int result;
	check(clGetPlatformIDs(1, &platform, NULL), "platform");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
	check(result, "context");
	s->queue = clCreateCommandQueue(context, device, 0, &result);
	check(result, "queue");
	const char *text = source;
	cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &result);
	check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
	s->kernel = clCreateKernel(program, "jacobi", &result);
	check(result, "kernel");
	size_t bytes = (size_t)s->width * (size_t)(s->rows + 2) * sizeof(float);
	float *zeros = calloc(1, bytes);
	zeros[s->width / 2] = 1000;
	for (int i = 0; i < 2; i++) {
		s->grids[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &result);
		check(result, "buffer");
		check(clEnqueueWriteBuffer(s->queue, s->grids[i], CL_TRUE, 0, bytes, zeros, 0, NULL, NULL), "write");
	}
	s->edges = calloc(4 * (size_t)s->width, sizeof(float));
	free(zeros);
}

static void step(struct slab *s, int i, int above, int below)
{
	size_t row = (size_t)s->width * sizeof(float), global[2] = {(size_t)s->width, (size_t)s->rows}, local[2] = {64, 4};
	cl_mem from = s->grids[i % 2], to = s->grids[1 - i % 2];
	float *up = s->edges, *down = up + s->width, *from_above = down + s->width, *from_below = from_above + s->width;
	MPI_Request requests[4];
	clSetKernelArg(s->kernel, 0, sizeof from, &from);
	clSetKernelArg(s->kernel, 1, sizeof to, &to);
	clSetKernelArg(s->kernel, 2, sizeof s->width, &s->width);
	clSetKernelArg(s->kernel, 3, sizeof s->rows, &s->rows);
	check(clEnqueueNDRangeKernel(s->queue, s->kernel, 2, NULL, global, local, 0, NULL, NULL), "launch");
	check(clEnqueueReadBuffer(s->queue, to, CL_TRUE, row, row, up, 0, NULL, NULL), "read");
	check(clEnqueueReadBuffer(s->queue, to, CL_TRUE, row * (size_t)s->rows, row, down, 0, NULL, NULL), "read");
	MPI_Irecv(from_above, s->width, MPI_FLOAT, above, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(from_below, s->width, MPI_FLOAT, below, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(up, s->width, MPI_FLOAT, above, 1, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(down, s->width, MPI_FLOAT, below, 0, MPI_COMM_WORLD, &requests[3]);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
	if (above != MPI_PROC_NULL)
		check(clEnqueueWriteBuffer(s->queue, to, CL_TRUE, 0, row, from_above, 0, NULL, NULL), "write");
	if (below != MPI_PROC_NULL)
		check(clEnqueueWriteBuffer(s->queue, to, CL_TRUE, row * (size_t)(s->rows + 1), row, from_below, 0, NULL, NULL), "write");
}

int main(int argc, char **argv)
{
	int rank, ranks, size = argc > 1 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 8;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	struct slab s = {.width = size, .rows = argc > 3 ? atoi(argv[3]) : size / ranks}; /* or so many of each process */
	start(&s);
	for (int i = 0; i < steps; i++)
		step(&s, i, rank ? rank - 1 : MPI_PROC_NULL, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL);
	double own = s.edges[s.width / 2], sum;
	MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %.6f\n", sum);
	MPI_Finalize();
	return 0;
}
