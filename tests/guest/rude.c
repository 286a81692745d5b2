/*
 * rude - things that programs may do. A library in their process must cope with them.
 *
 *   rude includes       changes an include file between builds of the same source
 *   rude binary         changes an include file after reading a binary, then runs the binary
 *   rude binary-kept    the same without changing it
 *   rude environment    changes its environment all the time while it builds
 *   rude descriptors    closes every descriptor that it does not know, and opens files of its own
 *   rude event          launches many times after a user event before it sets the event
 *   rude huge           launches a million work-items without a local size
 */
#include "guest.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

enum { LAUNCHES = 400 };

static struct guest g;

static const char with_include[] = "#  include \"rude-value.h\"\n__kernel void put(__global int *x) { *x = VALUE; }\n";

static void write_header(int value)
{
	FILE *f = fopen("rude-include/rude-value.h", "w");
	EXPECT(f, "no header");
	fprintf(f, "#define VALUE %d\n", value);
	fclose(f);
}

static int run_put(cl_program program)
{
	cl_kernel kernel = guest_kernel(program, "put");
	int value = -1;
	cl_mem mem = guest_buffer(&g, sizeof value, NULL);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	guest_launch(&g, kernel, 1);
	guest_read(&g, mem, &value, sizeof value);
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	return value;
}

static void includes(void)
{
	cl_program programs[4];
	mkdir("rude-include", 0755);
	for (int i = 0; i < 4; i++) {
		write_header(i + 1);
		programs[i] = guest_build(&g, with_include, "-I rude-include");
	}
	write_header(99);
	for (int i = 0; i < 4; i++) {
		printf("%d\n", run_put(programs[i]));
		OK(clReleaseProgram(programs[i]));
	}
}

static void run_binary(int later_value)
{
	size_t size;
	cl_int err;
	mkdir("rude-include", 0755);
	write_header(7);
	cl_program first = guest_build(&g, with_include, "-I rude-include");
	OK(clGetProgramInfo(first, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
	unsigned char *bytes = malloc(size);
	const unsigned char *in = bytes;
	OK(clGetProgramInfo(first, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
	write_header(later_value);
	cl_program second = clCreateProgramWithBinary(g.context, 1, &g.device, &size, &in, NULL, &err);
	CREATED(err);
	OK(clBuildProgram(second, 1, &g.device, NULL, NULL, NULL));
	printf("%d\n", run_put(second));
	free(bytes);
}

static void binary(void)
{
	run_binary(8);
}

static void binary_kept(void)
{
	run_binary(7);
}

static volatile int stop;

static void *change_environment(void *unused)
{
	char name[32], value[32];
	(void)unused;
	for (unsigned i = 0; !stop; i++) {
		snprintf(name, sizeof name, "RUDE_%u", i % 2000);
		snprintf(value, sizeof value, "%u", i);
		if (i % 4000 < 2000)
			setenv(name, value, 1);
		else
			unsetenv(name);
	}
	return NULL;
}

/* POCL reads its own variables while it builds. So the builds are done before the changes begin. Only we build after that. */
static void environment(void)
{
	cl_program programs[4];
	pthread_t thread;
	char source[128];
	for (int i = 0; i < 4; i++) {
		snprintf(source, sizeof source, "__kernel void put(__global int *x) { *x = %d; }", i);
		programs[i] = guest_build(&g, source, NULL);
	}
	pthread_create(&thread, NULL, change_environment, NULL);
	usleep(300000);
	stop = 1;
	pthread_join(thread, NULL);
	for (int i = 0; i < 4; i++)
		printf("%d\n", run_put(programs[i]));
}

static void descriptors(void)
{
	static const char text[] = "precious\n";
	char name[32], back[64];
	int fds[8];
	cl_program program = guest_build(&g, "__kernel void put(__global int *x) { *x = 3; }", NULL);
	printf("%d\n", run_put(program));
	usleep(400000);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof name, "rude-data-%d", i);
		fds[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
		EXPECT(write(fds[i], text, sizeof text - 1) == sizeof text - 1, "short write");
	}
	printf("%d\n", run_put(program));
	usleep(400000);
	for (int i = 0; i < 8; i++) {
		ssize_t n = pread(fds[i], back, sizeof back, 0);
		EXPECT(n == sizeof text - 1, "file %d has %zd bytes", i, n);
	}
}

static void event(void)
{
	cl_int err, value = 0;
	cl_program program = guest_build(&g, "__kernel void add(__global int *x) { *x += 1; }", NULL);
	cl_kernel kernel = guest_kernel(program, "add");
	cl_mem mem = guest_buffer(&g, sizeof value, &value);
	cl_event gate = clCreateUserEvent(g.context, &err);
	size_t one = 1;
	CREATED(err);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	for (int i = 0; i < LAUNCHES; i++)
		OK(clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &one, &one, i ? 0 : 1, i ? NULL : &gate, NULL));
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	guest_read(&g, mem, &value, sizeof value);
	printf("%d\n", value);
}

static void huge(void)
{
	cl_int value = 0;
	cl_program program = guest_build(&g, "__kernel void sum(__global int *x) { if (get_global_id(0) % 1000 == 7)"
	                                     " atomic_add(x, 1); }", NULL);
	cl_kernel kernel = guest_kernel(program, "sum");
	cl_mem mem = guest_buffer(&g, sizeof value, &value);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	for (int i = 0; i < 20; i++)
		guest_launch(&g, kernel, 1000000);
	guest_read(&g, mem, &value, sizeof value);
	printf("%d\n", value);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } modes[] = {
		{"includes", includes}, {"binary", binary}, {"binary-kept", binary_kept}, {"environment", environment},
		{"descriptors", descriptors}, {"event", event}, {"huge", huge},
	};
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (argc != 2 || strcmp(argv[1], modes[i].name))
			continue;
		guest_open(&g);
		modes[i].run();
		return 0;
	}
	fprintf(stderr, "rude: name a mode\n");
	return 2;
}
