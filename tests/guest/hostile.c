/* A program whose source, names and command line would do harm in a report that does not treat them as text. It prints the times
 * of its event, so that tests can look at simulated ones: "SECOND_AFTER_FIRST NANOSECONDS". */
#include "guest.h"

static const char source[] =
	"/* </script><script>document.title='HARM'</script> <img src=x onerror=document.title='HARM'> */\n"
	"// \x1b[31m red \x07 \xe2\x80\xae backwards & <b>bold</b> \"quotes\" 'single' @DATA@ @JS@\n"
	"#define NAME_WITH_\\\n"
	"HARM 1\n"
	"__kernel void script_alert_1_script(__global int *p)\n"
	"{\n"
	"	p[get_global_id(0)] += 1; // --><!-- ]]>\n"
	"}\n";

int main(void)
{
	struct guest g;
	guest_open(&g);
	cl_command_queue queue = clCreateCommandQueue(g.context, g.device, CL_QUEUE_PROFILING_ENABLE, NULL);
	cl_program program = guest_build(&g, source, "");
	cl_kernel kernel = clCreateKernel(program, "script_alert_1_script", NULL);
	cl_mem mem = clCreateBuffer(g.context, CL_MEM_READ_WRITE, 4096 * sizeof(int), NULL, NULL);
	cl_int zero = 0;
	size_t global = 4096, local = 64;
	cl_event events[2];
	cl_ulong start[2], end[2];
	clEnqueueFillBuffer(queue, mem, &zero, sizeof zero, 0, 4096 * sizeof(int), 0, NULL, NULL);
	clSetKernelArg(kernel, 0, sizeof mem, &mem);
	for (int i = 0; i < 2; i++)
		if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &events[i]))
			return 1;
	clFinish(queue);
	for (int i = 0; i < 2; i++) {
		clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start[i], &start[i], NULL);
		clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end[i], &end[i], NULL);
	}
	printf("%d %llu\n", start[1] >= end[0], (unsigned long long)(end[0] - start[0]));
	clReleaseCommandQueue(queue);
	guest_close(&g);
	return 0;
}
