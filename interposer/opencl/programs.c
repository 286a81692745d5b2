/* Programs: their sources, and their builds. */
#include "interposer/opencl/interposer.h"

#include <stdlib.h>
#include <string.h>

cl_program hook_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                          const size_t *lengths, cl_int *error)
{
	cl_program program = cl.clCreateProgramWithSource(context, count, strings, lengths, error);
	if (program)
		TELL(program_created(program, context, FROM_SOURCE); program_source(program, count, strings, lengths));
	return program;
}

cl_program hook_clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                          const size_t *lengths, const unsigned char **binaries, cl_int *status,
                                          cl_int *error)
{
	cl_program program = cl.clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, error);
	if (program)
		TELL(program_created(program, context, FROM_BINARY);
		     for (cl_uint i = 0; i < count; i++) program_binary(program, binaries[i], lengths[i]));
	return program;
}

cl_program hook_clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id *devices,
                                                  const char *names, cl_int *error)
{
	cl_program program = cl.clCreateProgramWithBuiltInKernels(context, count, devices, names, error);
	if (program)
		TELL(program_created(program, context, FROM_BUILT_IN));
	return program;
}

cl_program hook_clCreateProgramWithIL(cl_context context, const void *il, size_t length, cl_int *error)
{
	cl_program program = cl.clCreateProgramWithIL(context, il, length, error);
	if (program)
		TELL(program_created(program, context, FROM_IL));
	return program;
}

/*
 * A build with a callback may end on another thread. The ticket carries what we need until then. Our own callback reports the
 * build to the runtime first, so that the application's callback can already create kernels.
 */
struct build_ticket {
	void(CL_CALLBACK *notify)(cl_program, void *);
	void *data;
	struct build *build; /* clBuildProgram */
	cl_device_id *devices;
	cl_uint device_count;
	/* clLinkProgram */
	cl_context context;
	cl_program *inputs;
	cl_uint input_count;
};

static void ticket_free(struct build_ticket *t)
{
	if (!t)
		return;
	free(t->devices);
	free(t->inputs);
	free(t);
}

/* A copy of `size` bytes; NULL if there are none. */
static void *copy_of(const void *from, size_t size)
{
	void *to = from && size ? malloc(size) : NULL;
	return to ? memcpy(to, from, size) : NULL;
}

static struct build_ticket *ticket_new(void(CL_CALLBACK *notify)(cl_program, void *), void *data, cl_uint count,
                                       const cl_device_id *devices)
{
	struct build_ticket *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->notify = notify;
	t->data = data;
	t->devices = copy_of(devices, count * sizeof *devices);
	t->device_count = t->devices ? count : 0;
	return t;
}

static bool build_succeeded(cl_program program)
{
	enum { MAX_DEVICES = 64 };
	cl_device_id devices[MAX_DEVICES];
	size_t size = 0;
	if (!program || cl.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices, &size) != CL_SUCCESS)
		return false;
	for (size_t i = 0; i < size / sizeof *devices; i++) {
		cl_build_status status;
		if (cl.clGetProgramBuildInfo(program, devices[i], CL_PROGRAM_BUILD_STATUS, sizeof status, &status,
		                             NULL) == CL_SUCCESS &&
		    status == CL_BUILD_SUCCESS)
			return true;
	}
	return false;
}

static void CL_CALLBACK build_finished(cl_program program, void *data)
{
	struct build_ticket *t = data;
	TELL(program_built(program, t->build, build_succeeded(program)));
	t->notify(program, t->data);
	ticket_free(t);
}

cl_int hook_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                           void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	struct build_ticket *t = notify ? ticket_new(notify, data, 0, NULL) : NULL;
	struct build *build;
	uint64_t begin = call_begins();
	TELL(build = program_build_begins(program, options, count, devices));
	if (t) { /* the callback frees the ticket, so nothing here may use it after the call */
		t->build = build;
		return cl.clBuildProgram(program, count, devices, options, build_finished, t);
	}
	cl_int result = cl.clBuildProgram(program, count, devices, options, notify, data);
	TELL(program_built(program, build, result == CL_SUCCESS));
	TELL(timeline_setup(begin));
	return result;
}

cl_int hook_clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                             cl_uint header_count, const cl_program *headers, const char **header_names,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	/* A compile matters only once it is linked, and a link needs a compile that succeeded. So the runtime hears of it at
	 * once. */
	TELL(program_compile_begins(program, options, count, devices, header_count, headers, header_names));
	return cl.clCompileProgram(program, count, devices, options, header_count, headers, header_names, notify, data);
}

static void CL_CALLBACK link_finished(cl_program program, void *data)
{
	struct build_ticket *t = data;
	if (build_succeeded(program))
		TELL(program_linked(program, t->context, t->input_count, t->inputs, t->device_count, t->devices));
	t->notify(program, t->data);
	ticket_free(t);
}

cl_program hook_clLinkProgram(cl_context context, cl_uint count, const cl_device_id *devices, const char *options,
                              cl_uint input_count, const cl_program *inputs,
                              void(CL_CALLBACK *notify)(cl_program, void *), void *data, cl_int *error)
{
	struct build_ticket *t = notify ? ticket_new(notify, data, count, devices) : NULL;
	if (t) {
		t->context = context;
		t->inputs = copy_of(inputs, input_count * sizeof *inputs);
		t->input_count = t->inputs ? input_count : 0;
		return cl.clLinkProgram(context, count, devices, options, input_count, inputs, link_finished, t, error);
	}
	cl_program program = cl.clLinkProgram(context, count, devices, options, input_count, inputs, notify, data, error);
	if (build_succeeded(program))
		TELL(program_linked(program, context, input_count, inputs, count, devices));
	return program;
}

cl_int hook_clRetainProgram(cl_program program)
{
	cl_int result = cl.clRetainProgram(program);
	if (result == CL_SUCCESS)
		TELL(program_retained(program));
	return result;
}

cl_int hook_clReleaseProgram(cl_program program)
{
	/* Before the driver's release: after it, another thread may get the same handle for a new program. */
	TELL(program_released(program));
	return cl.clReleaseProgram(program);
}

/* An application that keeps binaries will later create programs from them (clCreateProgramWithBinary). */
static void tell_binaries(cl_program program, unsigned char *const *binaries, size_t room)
{
	enum { MAX_DEVICES = 64 };
	size_t sizes[MAX_DEVICES], written = 0;
	if (cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, &written) != CL_SUCCESS)
		return;
	for (size_t i = 0; i < written / sizeof *sizes && i < room / sizeof *binaries; i++)
		if (binaries[i] && sizes[i])
			program_binary_read(program, binaries[i], sizes[i]);
}

cl_int hook_clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *value, size_t *size)
{
	cl_int result = cl.clGetProgramInfo(program, what, room, value, size);
	if (result == CL_SUCCESS && what == CL_PROGRAM_BINARIES && value)
		TELL(tell_binaries(program, value, room));
	return result;
}
