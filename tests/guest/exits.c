/*
 * exits - the ways in which a program can end after it used OpenCL. None of them releases anything.
 *
 *   exits return        returns from main
 *   exits thread        calls exit() in a second thread while main waits
 *   exits _exit         ends without any exit handler
 *   exits quick         quick_exit()
 *   exits unfinished    exit() with work that was enqueued but neither flushed nor waited for
 *   exits abort         abort() while a kernel runs
 *   exits atexit        an exit handler, registered after the first use of OpenCL, launches once more
 *   exits atexit-first  the same with a handler that was registered before the first use
 *   exits detached      returns from main while a second thread still launches
 */
#include "guest.h"

#include <pthread.h>

enum { COUNT = 1024 };

static const char source[] =
	"__kernel void put(__global int *out, int rounds)\n"
	"{\n"
	"	int x = (int)get_global_id(0);\n"
	"	for (int i = 0; i < rounds; i++)\n"
	"		x = x * 1103515245 + 12345;\n"
	"	out[get_global_id(0)] = x;\n"
	"}\n";

static struct guest g;
static cl_kernel kernel;
static cl_mem out;

static void launch(cl_int rounds)
{
	OK(clSetKernelArg(kernel, 1, sizeof rounds, &rounds));
	guest_launch(&g, kernel, COUNT);
}

static void launch_and_check(const char *who)
{
	static int result[COUNT];

	launch(1);
	guest_read(&g, out, result, sizeof result);
	for (unsigned i = 0; i < COUNT; i++)
		EXPECT((unsigned)result[i] == i * 1103515245u + 12345u, "%s: element %u is %d", who, i, result[i]);
	printf("%s: right\n", who);
	fflush(stdout);
}

static void at_exit(void)
{
	launch_and_check("exit handler");
}

static void at_quick_exit_(void)
{
	puts("quick exit handler");
	fflush(stdout);
}

static void *leave(void *data)
{
	(void)data;
	launch_and_check("second thread");
	exit(5);
}

static void *keep_launching(void *data)
{
	while (!data) {
		launch(1000);
		clFinish(g.queue);
	}
	return NULL;
}

static void setup(void)
{
	guest_open(&g);
	kernel = guest_kernel(guest_build(&g, source, NULL), "put");
	out = guest_buffer(&g, COUNT * sizeof(int), NULL);
	OK(clSetKernelArg(kernel, 0, sizeof out, &out));
	launch_and_check("first launch");
}

static void start_thread(void *(*body)(void *))
{
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, body, NULL), "no thread");
}

int main(int argc, char **argv)
{
	const char *mode = argc == 2 ? argv[1] : "return";

	if (!strcmp(mode, "atexit-first"))
		atexit(at_exit);
	setup();
	if (!strcmp(mode, "return"))
		return 3;
	if (!strcmp(mode, "thread")) {
		start_thread(leave);
		for (;;)
			pause();
	}
	if (!strcmp(mode, "_exit"))
		_exit(4);
	if (!strcmp(mode, "quick")) {
		at_quick_exit(at_quick_exit_);
		quick_exit(6);
	}
	if (!strcmp(mode, "unfinished")) {
		for (int i = 0; i < 20; i++)
			launch(200);
		exit(7);
	}
	if (!strcmp(mode, "abort")) {
		launch(1000000);
		OK(clFlush(g.queue));
		abort();
	}
	if (!strcmp(mode, "atexit"))
		atexit(at_exit);
	else if (!strcmp(mode, "detached"))
		start_thread(keep_launching);
	else if (strcmp(mode, "atexit-first"))
		guest_fail("no mode %s", mode);
	return 8;
}
