/*
 * fork - processes that fork before and after they used OpenCL.
 *
 *   fork after     uses OpenCL, forks a child that does not use it and exits normally, runs a shell, goes on
 *   fork before    forks first; parent and child use OpenCL, each for itself
 *   fork exec      forks first; the child executes this program again, both use OpenCL
 *   fork child     what that child does
 */
#include "guest.h"

#include <sys/wait.h>

enum { COUNT = 512 };

static const char source[] =
	"__kernel void put(__global int *out, int value) { out[get_global_id(0)] = value ^ (int)get_global_id(0); }\n";

static void launch(const struct guest *g, cl_program program, cl_int value, const char *who)
{
	cl_int out[COUNT];
	cl_kernel kernel = guest_kernel(program, "put");
	cl_mem mem = guest_buffer(g, sizeof out, NULL);

	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	OK(clSetKernelArg(kernel, 1, sizeof value, &value));
	guest_launch(g, kernel, COUNT);
	guest_read(g, mem, out, sizeof out);
	for (int i = 0; i < COUNT; i++)
		EXPECT(out[i] == (value ^ i), "%s: element %d is %d", who, i, out[i]);
	printf("%s: %08x\n", who, guest_sum(out, sizeof out));
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
}

static void use_opencl(cl_int value, const char *who)
{
	struct guest g;

	guest_open(&g);
	cl_program program = guest_build(&g, source, NULL);
	launch(&g, program, value, who);
	OK(clReleaseProgram(program));
	guest_close(&g);
}

/* Returns 0 in the child. Buffered output is written only once. */
static pid_t split(void)
{
	fflush(stdout);
	pid_t pid = fork();
	EXPECT(pid >= 0, "fork: %m");
	return pid;
}

static void await(pid_t pid)
{
	int status;

	EXPECT(waitpid(pid, &status, 0) == pid, "waitpid: %m");
	printf("child: %s %d\n", WIFEXITED(status) ? "exit" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : status);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child did not end as it should");
}

static void after(void)
{
	struct guest g;

	guest_open(&g);
	cl_program program = guest_build(&g, source, NULL);
	launch(&g, program, 1, "before the fork");
	pid_t pid = split();
	if (pid == 0) {
		puts("child without OpenCL");
		exit(7);
	}
	await(pid);
	pid = split();
	if (pid == 0) {
		puts("child that leaves by _exit");
		fflush(stdout);
		_exit(7);
	}
	await(pid);
	fflush(stdout);
	EXPECT(system("echo a shell") == 0, "system: %m");
	launch(&g, program, 2, "after the fork");
	OK(clReleaseProgram(program));
	guest_close(&g);
}

int main(int argc, char **argv)
{
	const char *mode = argc == 2 ? argv[1] : "after";

	if (!strcmp(mode, "after")) {
		after();
	} else if (!strcmp(mode, "child")) {
		use_opencl(4, "child");
		return 7;
	} else if (!strcmp(mode, "before") || !strcmp(mode, "exec")) {
		pid_t pid = split();
		if (pid == 0 && !strcmp(mode, "exec"))
			execl("/proc/self/exe", argv[0], "child", (char *)NULL);
		if (pid == 0) {
			use_opencl(3, "child");
			exit(7);
		}
		await(pid);
		use_opencl(5, "parent");
	} else {
		guest_fail("usage: fork [after|before|exec]");
	}
	return 0;
}
