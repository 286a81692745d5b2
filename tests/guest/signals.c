/*
 * signals - what a program does with SIGINT, SIGTERM and SIGHUP after it has used OpenCL.
 *
 *   signals query          looks what is set, and finds SIG_DFL where it has set nothing
 *   signals raise SIGNAL   raises it, which ends the program
 *   signals own            has a handler of its own, which leaves with exit()
 *   signals own-first      the same, set before the first use of OpenCL
 *   signals again          its handler sets SIG_DFL and raises the signal once more
 *   signals fork           a child is ended by a signal, and the program goes on
 *   signals loop           launches until it is ended, and prints "ready" after the first launch
 *   signals threads        the same with four threads, each of which allocates memory all the time
 *   signals stuck          waits in the driver for a user event that never comes
 *   signals crash MS       launches, and writes to address 0 after so many milliseconds
 *   signals open           leaves a line open on stderr
 */
#include "guest.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

enum { COUNT = 1024 };

static const char source[] =
	"__kernel void put(__global int *out, int n)\n"
	"{\n"
	"	out[get_global_id(0)] = (int)get_global_id(0) * n;\n"
	"}\n";

static const int all[] = {SIGINT, SIGTERM, SIGHUP};
static struct guest g;
static cl_program program;

static void launch(cl_command_queue queue, cl_kernel kernel)
{
	size_t global = COUNT;
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
}

static cl_kernel prepare(void)
{
	cl_kernel kernel = guest_kernel(program, "put");
	cl_mem mem = guest_buffer(&g, COUNT * sizeof(int), NULL);
	cl_int n = 3;
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	OK(clSetKernelArg(kernel, 1, sizeof n, &n));
	return kernel;
}

static void use_opencl(void)
{
	guest_open(&g);
	program = guest_build(&g, source, NULL);
	launch(g.queue, prepare());
	OK(clFinish(g.queue));
}

static void *launch_forever(void *data)
{
	cl_kernel kernel = prepare();
	cl_int err;
	cl_command_queue queue = clCreateCommandQueue(g.context, g.device, 0, &err);
	CREATED(err);
	for (;;) {
		launch(queue, kernel);
		for (int i = 0; data && i < 1000; i++)
			free(malloc((size_t)i * 16 + 1));
		OK(clFinish(queue));
	}
	return NULL;
}

static void leave(int sig)
{
	static const char text[] = "own handler\n";
	if (write(1, text, sizeof text - 1) < 0)
		_exit(2);
	exit(10 + (sig == SIGTERM));
}

static void do_again(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static void query(void)
{
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct sigaction a = {.sa_flags = -1}, b;
		EXPECT(!sigaction(all[i], NULL, &a) && a.sa_handler == SIG_DFL && !a.sa_flags, "signal %d has a handler", all[i]);
		EXPECT(signal(all[i], SIG_IGN) == SIG_DFL, "signal() of %d finds a handler", all[i]);
		EXPECT(signal(all[i], SIG_DFL) == SIG_IGN, "signal() of %d finds what was not set", all[i]);
		EXPECT(!sigaction(all[i], &(struct sigaction){.sa_handler = leave}, &a) && a.sa_handler == SIG_DFL, "a handler of %d", all[i]);
		EXPECT(!sigaction(all[i], &a, &b) && b.sa_handler == leave, "not the handler of %d", all[i]);
		EXPECT(sysv_signal(all[i], SIG_DFL) == SIG_DFL, "a handler of %d in the end", all[i]);
	}
	puts("all default");
}

static void fork_child(void)
{
	int status;
	pid_t child = fork();
	if (!child) {
		raise(SIGTERM);
		_exit(1);
	}
	EXPECT(waitpid(child, &status, 0) == child, "no child");
	printf("the child got %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void *crash(void *data)
{
	usleep((useconds_t)(atof(data) * 1000));
	*(volatile int *)0 = 1;
	return NULL;
}

static void start(void *(*body)(void *), void *data)
{
	pthread_t thread;
	EXPECT(!pthread_create(&thread, NULL, body, data), "no thread");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "query";

	if (!strcmp(mode, "own-first"))
		signal(SIGINT, leave);
	if (!strcmp(mode, "query")) { /* before the driver's LLVM sets handlers of its own */
		OK(clGetPlatformIDs(1, &g.platform, NULL));
		query();
		return 0;
	}
	use_opencl();
	if (!strcmp(mode, "own"))
		signal(SIGINT, leave);
	if (!strcmp(mode, "again"))
		signal(SIGINT, do_again);
	if (!strcmp(mode, "fork"))
		fork_child();
	else if (!strcmp(mode, "raise") && argc > 2)
		raise(atoi(argv[2]));
	else if (!strcmp(mode, "open"))
		fputs("the program's own line", stderr);
	else if (!strcmp(mode, "crash") && argc > 2)
		start(crash, argv[2]);
	else if (strcmp(mode, "loop") && strcmp(mode, "threads") && strcmp(mode, "stuck"))
		raise(SIGINT);
	if (!strcmp(mode, "threads"))
		for (int i = 0; i < 3; i++)
			start(launch_forever, &g);
	if (!strcmp(mode, "fork") || !strcmp(mode, "open"))
		return 0;
	puts("ready");
	fflush(stdout);
	if (!strcmp(mode, "stuck")) {
		cl_event event = clCreateUserEvent(g.context, NULL);
		clWaitForEvents(1, &event);
	}
	launch_forever(strcmp(mode, "threads") ? NULL : &g);
}
