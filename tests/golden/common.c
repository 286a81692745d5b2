/* See common.h. */
#include "common.h"

#include "runtime/format/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE "type=cpu\naddress_bits=64\nc_version=120\ncl_version=120\nimage_support=1\nlittle_endian=1\n" \
	"platform=Test\nextensions=cl_khr_fp64\nfeatures=\ncounters=%s\n"

cl_context context;
cl_device_id device;
cl_command_queue queue;

void check(int good, const char *what)
{
	if (good)
		return;
	printf("FAILED: %s\n", what);
	exit(1);
}

/* ---- the file ---- */

static void split(struct source *s)
{
	const char *options = strstr(s->all.data, "// options ");
	size_t lines = 0;
	if (options)
		snprintf(s->options, sizeof s->options, "%.*s", (int)strcspn(options + 11, "\n"), options + 11);
	s->unit_count = 1;
	for (const char *line = s->all.data, *end; *line; line = end, lines++) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		if (!strncmp(line, "// unit\n", 8)) {
			check(s->unit_count < MOST_UNITS, "too many units");
			s->unit_count++;
			for (size_t i = 0; i < lines; i++)
				gs_buf_puts(&s->units[s->unit_count - 1], "\n");
		}
		gs_buf_add(&s->units[s->unit_count - 1], line, (size_t)(end - line));
	}
}

void read_source(struct source *s, const char *path)
{
	check(!gs_read_file(path, &s->all, NULL), "reading the file");
	gs_buf_puts(&s->all, "");
	split(s);
	char *folder = strdup(path), *slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	check(!slash || !chdir(folder), "no such folder");
	free(folder);
}

/* ---- gpusim-cc ---- */

static void add_trips(struct gs_pack *request, const char *text)
{
	struct gs_buf trips = {0};
	for (const char *at = text; (at = strstr(at, "// trips ")); at++) {
		unsigned loop;
		char wanted[64];
		check(sscanf(at, "// trips %u %63s", &loop, wanted) == 2, "a trips line");
		gs_buf_printf(&trips, "%u %s\n", loop, wanted);
	}
	if (trips.len)
		gs_pack_puts(request, "trips", trips.data);
	gs_buf_free(&trips);
}

static void make_request(const struct source *source, struct gs_buf *bytes)
{
	struct gs_pack request = {0};
	struct gs_buf text = {0};
	char *cwd = getcwd(NULL, 0);
	gs_pack_puts(&request, "version", GPUSIM_CC_VERSION);
	gs_buf_printf(&text, DEVICE, source->atomic || strstr(source->all.data, "// atomic") ? "atomic" : "plain");
	gs_pack_puts(&request, "device", text.data);
	gs_pack_puts(&request, "targets", "");
	add_trips(&request, source->all.data);
	if (strstr(source->options, "-I"))
		gs_pack_puts(&request, "cwd", cwd);
	for (size_t i = 0; i < source->unit_count; i++) {
		gs_pack_puts(&request, "options", source->options);
		gs_pack_add(&request, "source", source->units[i].data, source->units[i].len);
	}
	gs_pack_encode(&request, bytes, NULL);
	gs_pack_free(&request);
	gs_buf_free(&text);
	free(cwd);
}

void annotate(const char *cc, const struct source *source, struct gs_pack *result)
{
	char folder[] = "/tmp/golden.XXXXXX", request_path[64], result_path[64];
	struct gs_buf bytes = {0}, answer = {0};
	check(mkdtemp(folder) != NULL, "mkdtemp");
	snprintf(request_path, sizeof request_path, "%s/request", folder);
	snprintf(result_path, sizeof result_path, "%s/result", folder);
	make_request(source, &bytes);
	check(!gs_write_file(request_path, bytes.data, bytes.len, NULL), "writing the request");
	pid_t pid = fork();
	if (!pid) {
		execl(cc, cc, request_path, result_path, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	check(!gs_read_file(result_path, &answer, NULL) && !gs_pack_decode(result, answer.data, answer.len, NULL),
	      "reading the result");
	unlink(request_path);
	unlink(result_path);
	rmdir(folder);
	gs_buf_free(&bytes);
	gs_buf_free(&answer);
}

size_t texts_of(const struct gs_pack *result, const char *section, const char **texts)
{
	size_t count = 0;
	for (size_t i = 0; i < result->count && count < MOST_UNITS; i++)
		if (!strcmp(result->sections[i].name, section))
			texts[count++] = result->sections[i].data;
	return count;
}

/* ---- the device ---- */

void open_device(void)
{
	cl_platform_id platform;
	check(!clGetPlatformIDs(1, &platform, NULL) && !clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
	      "no device");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = context ? clCreateCommandQueue(context, device, 0, NULL) : NULL;
	check(queue != NULL, "no queue");
}

static void check_build(cl_program program, cl_int code)
{
	char log[8192] = "";
	if (!code)
		return;
	if (program)
		clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
	printf("%s\n", log);
	check(0, "building");
}

static cl_program link_units(const char *const *texts, size_t count, const char *options)
{
	cl_program parts[MOST_UNITS];
	cl_int code;
	for (size_t i = 0; i < count; i++) {
		parts[i] = clCreateProgramWithSource(context, 1, (const char **)&texts[i], NULL, &code);
		check_build(parts[i], clCompileProgram(parts[i], 1, &device, options, 0, NULL, NULL, NULL, NULL));
	}
	cl_program program = clLinkProgram(context, 1, &device, "", (cl_uint)count, parts, NULL, NULL, &code);
	check_build(program, code);
	return program;
}

cl_kernel build(const char *const *texts, size_t count, const char *options, const char *name)
{
	char all[256];
	cl_program program;
	cl_int code;
	snprintf(all, sizeof all, "%s%s -w", strstr(options, "-cl-std") ? "" : "-cl-std=CL1.2 ", options);
	if (count > 1) {
		program = link_units(texts, count, all);
	} else {
		program = clCreateProgramWithSource(context, 1, (const char **)texts, NULL, &code);
		check_build(program, clBuildProgram(program, 1, &device, all, NULL, NULL));
	}
	cl_kernel kernel = clCreateKernel(program, name, &code);
	check(kernel != NULL, "no such kernel");
	return kernel;
}

static cl_mem make_image(void)
{
	cl_uchar pixels[16];
	cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	cl_image_desc size = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 2};
	for (int i = 0; i < 16; i++)
		pixels[i] = (cl_uchar)i;
	return clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &size, pixels, NULL);
}

cl_uint set_arguments(cl_kernel kernel, const char *source)
{
	const char *kinds = strstr(source, "// arguments");
	cl_uint index = 1;
	char kind[16];
	for (int skip = 12; kinds && sscanf(kinds += skip, "%*[ ]%15[a-z]%n", kind, &skip) == 1; index++) {
		cl_mem image = make_image();
		cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, NULL);
		if (!strcmp(kind, "image"))
			check(!clSetKernelArg(kernel, index, sizeof image, &image), "an image");
		else if (!strcmp(kind, "sampler"))
			check(!clSetKernelArg(kernel, index, sizeof sampler, &sampler), "a sampler");
		else
			check(!clSetKernelArg(kernel, index, INTS * sizeof(int), NULL), "local memory");
	}
	return index;
}
