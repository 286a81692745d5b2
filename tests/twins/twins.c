/*
 * Runs every kernel of the given files and prints a checksum of each of its buffers:
 *
 *     twins [-o BUILD_OPTIONS] [-l LOCAL_SIZE]... [-k NAME]... COMMON FILE...
 *
 * -k chooses kernels by name. The data are the same in every run. A kernel is launched twice on its buffers, so that a traced
 * launch and a launch that only counts both matter. The program does not know about gpusim. It must print the same with and
 * without it.
 */
#include "tests/guest/guest.h"

enum { GROUPS = 5, MOST_LOCAL_SIZES = 8, MOST_KERNELS = 64, BUFFERS = 4, LAUNCHES = 5 };

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f)
		guest_fail("cannot read %s", path);
	char *text = calloc(1, 1 << 16);
	if (!text || !fread(text, 1, (1 << 16) - 1, f))
		guest_fail("nothing in %s", path);
	fclose(f);
	return text;
}

static uint32_t next_number(uint32_t *state)
{
	return (*state = *state * 1664525u + 1013904223u) >> 8;
}

/* a: floats from -2 to 2, b: numbers from 0 to 9. o and q: not 0, so that elements that a kernel does not write can be
 * recognised. */
static void fill(uint32_t *words[BUFFERS], size_t count)
{
	uint32_t state = 7;
	for (size_t i = 0; i < count; i++) {
		((float *)words[0])[i] = (float)(int32_t)(next_number(&state) % 4001) / 1000.0f - 2.0f;
		words[1][i] = next_number(&state) % 10;
		((float *)words[2])[i] = -77.25f;
		words[3][i] = 1000;
	}
}

static void launch(struct guest *g, cl_kernel kernel, size_t local, const char *name)
{
	size_t global = GROUPS * local, bytes = global * sizeof(uint32_t);
	uint32_t *words[BUFFERS];
	cl_mem buffers[BUFFERS];
	cl_int n = (cl_int)(global - local), m = 3;
	for (int i = 0; i < BUFFERS; i++)
		if (!(words[i] = malloc(bytes)))
			guest_fail("out of memory");
	fill(words, global);
	for (cl_uint i = 0; i < BUFFERS; i++) {
		buffers[i] = guest_buffer(g, bytes, words[i]);
		OK(clSetKernelArg(kernel, i, sizeof buffers[i], &buffers[i]));
	}
	OK(clSetKernelArg(kernel, BUFFERS, sizeof n, &n));
	OK(clSetKernelArg(kernel, BUFFERS + 1, sizeof m, &m));
	OK(clSetKernelArg(kernel, BUFFERS + 2, 2 * local * sizeof(float), NULL));
	for (int i = 0; i < LAUNCHES; i++) { /* with pauses: a library may treat later launches differently once it has looked at the first */
		OK(clEnqueueNDRangeKernel(g->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
		OK(clFinish(g->queue));
		usleep(3000);
	}
	printf("%s %zu", name, local);
	for (int i = 0; i < BUFFERS; i++) {
		OK(clEnqueueReadBuffer(g->queue, buffers[i], CL_TRUE, 0, bytes, words[i], 0, NULL, NULL));
		printf(" %08x", guest_sum(words[i], bytes));
		OK(clReleaseMemObject(buffers[i]));
		free(words[i]);
	}
	puts("");
	fflush(stdout);
}

static cl_program build(struct guest *g, const char *common, const char *text, const char *options)
{
	const char *texts[] = {common, text};
	cl_int err;
	cl_program program = clCreateProgramWithSource(g->context, 2, texts, NULL, &err);
	CREATED(err);
	OK(clBuildProgram(program, 1, &g->device, options, NULL, NULL));
	return program;
}

struct choice {
	const char *options;
	size_t sizes[MOST_LOCAL_SIZES], size_count;
	const char *names[MOST_KERNELS];
	size_t name_count;
};

static int is_chosen(const struct choice *c, const char *name)
{
	for (size_t i = 0; i < c->name_count; i++)
		if (!strcmp(c->names[i], name))
			return 1;
	return !c->name_count;
}

static void run_file(struct guest *g, const char *common, const char *path, const struct choice *c)
{
	char *text = read_text(path), name[128];
	cl_program program = build(g, common, text, c->options);
	cl_kernel kernels[MOST_KERNELS];
	cl_uint kernel_count;
	OK(clCreateKernelsInProgram(program, MOST_KERNELS, kernels, &kernel_count));
	for (cl_uint i = 0; i < kernel_count; i++) {
		OK(clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
		for (size_t j = 0; j < c->size_count && is_chosen(c, name); j++)
			launch(g, kernels[i], c->sizes[j], name);
		OK(clReleaseKernel(kernels[i]));
	}
	OK(clReleaseProgram(program));
	free(text);
}

static void choose(struct choice *c, int argc, char **argv)
{
	int letter;
	while ((letter = getopt(argc, argv, "o:l:k:")) != -1) {
		if (letter == 'o')
			c->options = optarg;
		else if (letter == 'l' && c->size_count < MOST_LOCAL_SIZES)
			c->sizes[c->size_count++] = strtoul(optarg, NULL, 10);
		else if (letter == 'k' && c->name_count < MOST_KERNELS)
			c->names[c->name_count++] = optarg;
		else
			guest_fail("usage: twins [-o BUILD_OPTIONS] [-l LOCAL_SIZE]... [-k NAME]... COMMON FILE...");
	}
	if (!c->size_count)
		c->sizes[c->size_count++] = 64;
	if (optind + 1 >= argc)
		guest_fail("no file");
}

int main(int argc, char **argv)
{
	struct guest g;
	struct choice c = {.options = ""};
	choose(&c, argc, argv);
	char *common = read_text(argv[optind]);
	guest_open(&g);
	for (int i = optind + 1; i < argc; i++)
		run_file(&g, common, argv[i], &c);
	free(common);
	guest_close(&g);
	return 0;
}
