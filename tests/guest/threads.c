/*
 * threads - eight threads launch at once. Two threads share each queue. The threads use their own kernel objects, and one that
 * all share under a lock.
 *
 *   threads [launches per thread, default 1000]
 */
#include "guest.h"

#include <pthread.h>

enum { THREADS = 8, QUEUES = 4, COUNT = 128 };

static const char source[] =
	"__kernel void add(__global uint *out, uint value) { out[get_global_id(0)] += value * (get_global_id(0) + 1); }\n";

struct worker {
	pthread_t thread;
	cl_uint index, launches;
	cl_command_queue queue;
	cl_uint sum; /* of the values added */
};

static struct guest g;
static cl_program program;
static cl_kernel shared;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static void launch(struct worker *w, cl_kernel kernel, cl_mem mem, cl_uint value)
{
	size_t global = COUNT, local = 64;

	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	OK(clSetKernelArg(kernel, 1, sizeof value, &value));
	OK(clEnqueueNDRangeKernel(w->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
	w->sum += value;
}

static void check_sum(struct worker *w, cl_mem mem)
{
	cl_uint out[COUNT];

	OK(clEnqueueReadBuffer(w->queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
	for (cl_uint i = 0; i < COUNT; i++)
		EXPECT(out[i] == w->sum * (i + 1), "thread %u: element %u is %u", w->index, i, out[i]);
}

/* Every fourth launch uses the shared kernel. Every hundredth uses a kernel that is made only for it. */
static void *work(void *data)
{
	struct worker *w = data;
	static const cl_uint zero[COUNT];
	cl_kernel own = guest_kernel(program, "add");
	cl_mem mem = guest_buffer(&g, sizeof zero, zero);

	for (cl_uint i = 0; i < w->launches; i++) {
		cl_uint value = (w->index + 1) * 1000003u + i;
		if (i % 4 == 3) {
			pthread_mutex_lock(&shared_lock);
			launch(w, shared, mem, value);
			pthread_mutex_unlock(&shared_lock);
		} else if (i % 100 == 50) {
			cl_kernel brief = guest_kernel(program, "add");
			launch(w, brief, mem, value);
			OK(clReleaseKernel(brief));
		} else {
			launch(w, own, mem, value);
		}
		if (i % 200 == 199)
			check_sum(w, mem);
	}
	check_sum(w, mem);
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(own));
	return NULL;
}

int main(int argc, char **argv)
{
	cl_uint launches = argc > 1 ? (cl_uint)atoi(argv[1]) : 1000;
	cl_command_queue queues[QUEUES];
	struct worker workers[THREADS];
	cl_int err;

	guest_open(&g);
	program = guest_build(&g, source, NULL);
	shared = guest_kernel(program, "add");
	for (int i = 0; i < QUEUES; i++) {
		queues[i] = clCreateCommandQueue(g.context, g.device, 0, &err);
		CREATED(err);
	}
	for (cl_uint i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.index = i, .launches = launches, .queue = queues[i % QUEUES]};
		EXPECT(!pthread_create(&workers[i].thread, NULL, work, &workers[i]), "no thread");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("thread %d: %08x\n", i, workers[i].sum);
	}
	for (int i = 0; i < QUEUES; i++)
		OK(clReleaseCommandQueue(queues[i]));
	OK(clReleaseKernel(shared));
	OK(clReleaseProgram(program));
	guest_close(&g);
	return 0;
}
