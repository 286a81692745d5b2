/* printf - kernels that print. Every line appears once, in the driver's order. */
#include "guest.h"

static const char source[] =
	"__kernel void speak(__constant char *who, int number, float4 v)\n"
	"{\n"
	"	if (get_global_id(0) == 0)\n"
	"		printf(\"%s %d: %.1v4hlf 100%%\\n\", \"speaking\", number, v);\n"
	"	else\n"
	"		printf(\"more from %c\\n\", who[get_global_id(0)]);\n"
	"}\n";

int main(void)
{
	struct guest g;
	const char who[] = "abcd";
	cl_float4 v = {{1.5f, 2.5f, -3.0f, 4.0f}};

	guest_open(&g);
	cl_program program = guest_build(&g, source, NULL);
	cl_kernel kernel = guest_kernel(program, "speak");
	cl_mem mem = guest_buffer(&g, sizeof who, who);
	OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
	OK(clSetKernelArg(kernel, 2, sizeof v, &v));
	for (cl_int i = 0; i < 3; i++) {
		size_t one_group = 4;
		OK(clSetKernelArg(kernel, 1, sizeof i, &i));
		OK(clEnqueueNDRangeKernel(g.queue, kernel, 1, NULL, &one_group, &one_group, 0, NULL, NULL));
		OK(clFinish(g.queue));
	}
	OK(clReleaseMemObject(mem));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	guest_close(&g);
	puts("printf done");
	return 0;
}
