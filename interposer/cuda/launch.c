/* Launches: what CUDA checks of their sizes, and their parameters. */
#include "interposer/cuda/launch.h"

#include "interposer/cuda/device/limits.h"
#include "interposer/cuda/registration.h"
#include "interposer/cuda/streams.h"
#include "interposer/cuda/ways/caller.h"

#include <stdlib.h>
#include <string.h>

/* ---- the configuration between <<< and >>> ---- */

/* On the heap: what a library has per thread takes of a small space that all libraries share, or it cannot be loaded as a layer. */
static __thread struct call_configuration {
	struct call_configuration *outer; /* parameters of a launch may be computed by functions that launch */
	struct api_size3 grid, block;
	size_t dynamic_shared;
	void *stream;
} *configuration;

unsigned hook___cudaPushCallConfiguration(struct api_size3 grid, struct api_size3 block, size_t dynamic_shared, void *stream)
{
	struct call_configuration *c = malloc(sizeof *c);
	if (!c)
		return 1;
	*c = (struct call_configuration){configuration, grid, block, dynamic_shared, stream};
	configuration = c;
	return 0;
}

int hook___cudaPopCallConfiguration(struct api_size3 *grid, struct api_size3 *block, size_t *dynamic_shared, void **stream)
{
	struct call_configuration *c = configuration;
	if (!c)
		return error_note(cudaErrorMissingConfiguration);
	*grid = c->grid;
	*block = c->block;
	*dynamic_shared = c->dynamic_shared;
	*stream = c->stream;
	configuration = c->outer;
	free(c);
	return cudaSuccess;
}

/* ---- launches ---- */

static bool is_within(struct api_size3 size, struct size_limits most)
{
	return size.x && size.y && size.z && size.x <= most.x && size.y <= most.y && size.z <= most.z;
}

/* The program may not look at errors, and another GPU may allow it. */
static int not_possible(const struct registered_function *f, int error, const char *what)
{
	error_say_once(f->name, "kernel %s was not launched: %s on %s, the first GPU (GPUSIM_GPU)", f->name, what, cuda_gpu()->name);
	return error;
}

/* What the runtime returns for sizes that no kernel may have: CUDA 13 another number than those before. */
static int size_error(const void *function)
{
	return caller_version(function) < 13 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
}

static int check_sizes(const void *function, const struct registered_function *f, struct api_size3 grid, struct api_size3 block, size_t dynamic_shared)
{
	const struct gpu *g = cuda_gpu();
	const struct cuda_kernel_facts *facts = cuda_kernel_facts(f->kernel);
	uint64_t threads = (uint64_t)block.x * block.y * block.z;
	struct size_limits most = limit_grid(g);
	most.x = INT32_MAX; /* GPUs that allow less are too old for the PTX of today, so this is not what makes them fail */
	if (!is_within(grid, most) || !is_within(block, limit_block(g)) || threads > g->max_threads_per_block)
		return not_possible(f, size_error(function), "its grid or its blocks have a size that is not possible");
	if ((threads + g->warp_size - 1) / g->warp_size * g->warp_size * facts->registers > limit_registers(g))
		return not_possible(f, cudaErrorLaunchOutOfResources, "its blocks need more registers than there are");
	if (threads > facts->max_threads)
		return not_possible(f, cudaErrorInvalidValue, "its blocks are larger than its launch bounds or registers allow");
	size_t allowed = limit_dynamic_shared(g, facts->shared_bytes, f->max_dynamic_shared);
	return dynamic_shared > allowed ? not_possible(f, cudaErrorInvalidValue, "its blocks need more shared memory than there is") : cudaSuccess;
}

int launch_enqueue(const struct registered_function *f, const struct cuda_launch *l, void *stream)
{
	struct ordered_command c;
	int error = ordered_begin(&c, stream, false, NULL);
	if (error)
		return error;
	int result = ordered_launch(&c, f, l);
	if (result == -ENOTSUP && *c.err.text)
		error_say_once(f->name, "%s", c.err.text);
	return ordered_end(&c, result, result == -EINVAL ? cudaErrorInvalidConfiguration : cudaErrorLaunchFailure);
}

/* Blocks that may wait for one another must all be resident at once. */
static int check_together(const struct registered_function *f, struct api_size3 grid, struct api_size3 block, size_t dynamic_shared)
{
	uint64_t most = (uint64_t)cuda_occupancy(f->kernel, block.x * block.y * block.z, dynamic_shared) * cuda_gpu()->sm_count;
	return (uint64_t)grid.x * grid.y * grid.z > most ? not_possible(f, cudaErrorCooperativeLaunchTooLarge, "not all its blocks can be resident at once")
	                                                 : cudaSuccess;
}

/* The kernel of a launch, if the launch is possible. */
static int find_kernel(const void *function, struct api_size3 grid, struct api_size3 block, void **args, size_t dynamic_shared, bool cooperative,
                       struct registered_function **out)
{
	int error = function_prepare(function, out);
	if (!error)
		error = check_sizes(function, *out, grid, block, dynamic_shared);
	if (!error && cooperative)
		error = check_together(*out, grid, block, dynamic_shared);
	if (!error && cuda_kernel_facts((*out)->kernel)->parameter_count && !args)
		error = cudaErrorInvalidValue;
	return error;
}

int launch_cluster(const struct registered_function *f, const struct api_launch_config *config, unsigned size[3])
{
	const uint32_t *fixed = cuda_kernel_facts(f->kernel)->cluster;
	memcpy(size, fixed, 3 * sizeof *size);
	for (unsigned i = 0; config && i < config->attribute_count; i++)
		if (config->attributes[i].id == API_LAUNCH_CLUSTER) {
			const unsigned *asked = config->attributes[i].value.size;
			if (fixed[0] && memcmp(asked, fixed, 3 * sizeof *size))
				return not_possible(f, cudaErrorInvalidClusterSize, "its clusters have another size than the kernel fixes");
			if (!asked[0] || !asked[1] || !asked[2])
				return not_possible(f, cudaErrorInvalidClusterSize, "its clusters have no blocks");
			memcpy(size, asked, 3 * sizeof *size);
		}
	uint64_t blocks = size[0] ? (uint64_t)size[0] * size[1] * size[2] : 1;
	return !blocks || blocks > limit_cluster(cuda_gpu(), f->large_clusters)
	               ? not_possible(f, cudaErrorInvalidClusterSize, "its clusters have a size that is not possible")
	               : cudaSuccess;
}

/* A grid consists of whole clusters. */
static int find_cluster(const struct registered_function *f, const struct api_launch_config *config, struct api_size3 grid, unsigned size[3])
{
	int error = launch_cluster(f, config, size);
	if (!error && size[0] && (grid.x % size[0] || grid.y % size[1] || grid.z % size[2]))
		error = not_possible(f, cudaErrorInvalidClusterSize, "its grid does not consist of whole clusters");
	return error;
}

/* Arguments, laid out as the kernel expects them. */
static void gather(const struct cuda_kernel_facts *facts, void **args, char *parameters)
{
	memset(parameters, 0, facts->parameter_bytes);
	for (unsigned i = 0; i < facts->parameter_count; i++)
		memcpy(parameters + facts->parameters[i].offset, args[i], facts->parameters[i].bytes);
}

static struct cuda_launch launch_of(const struct registered_function *f, struct api_size3 grid, struct api_size3 block, size_t dynamic_shared,
                                    const void *parameters, const unsigned cluster[3])
{
	return (struct cuda_launch){f->kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, dynamic_shared, parameters, false,
	                            {cluster[0], cluster[1], cluster[2]}};
}

static int launch(const void *function, const struct api_launch_config *c, void **args, bool cooperative)
{
	char few[1024];
	unsigned cluster[3];
	struct registered_function *f;
	int error = find_kernel(function, c->grid, c->block, args, c->dynamic_shared, cooperative, &f);
	if (!error)
		error = find_cluster(f, c, c->grid, cluster);
	if (error)
		return error;
	const struct cuda_kernel_facts *facts = cuda_kernel_facts(f->kernel);
	char *parameters = facts->parameter_bytes > sizeof few ? malloc(facts->parameter_bytes) : few;
	if (!parameters)
		return cudaErrorMemoryAllocation;
	gather(facts, args, parameters);
	struct cuda_launch l = launch_of(f, c->grid, c->block, c->dynamic_shared, parameters, cluster);
	l.cooperative = cooperative;
	error = launch_enqueue(f, &l, c->stream);
	if (parameters != few)
		free(parameters);
	return error;
}

int launch_command(const void *function, struct api_size3 grid, struct api_size3 block, void **args, size_t dynamic_shared,
                   struct graph_command *out)
{
	struct registered_function *f;
	unsigned cluster[3];
	int error = find_kernel(function, grid, block, args, dynamic_shared, false, &f);
	if (!error)
		error = find_cluster(f, NULL, grid, cluster);
	if (error)
		return error;
	const struct cuda_kernel_facts *facts = cuda_kernel_facts(f->kernel);
	char *parameters = malloc(facts->parameter_bytes + 1);
	if (!parameters)
		return cudaErrorMemoryAllocation;
	gather(facts, args, parameters);
	*out = (struct graph_command){.kind = NODE_KERNEL};
	out->function = f;
	out->launch = launch_of(f, grid, block, dynamic_shared, parameters, cluster);
	return cudaSuccess;
}

/* ---- parameters in one piece ---- */

/* What follows `extra` names: pairs of these and a value, up to the first. */
enum { EXTRA_END, EXTRA_BUFFER, EXTRA_BYTES };

/* That buffer, laid out as the kernel expects it. NULL: there is none. */
static char *find_buffer(void **extra, size_t *bytes)
{
	char *buffer = NULL;
	*bytes = 0;
	for (; extra && (uintptr_t)*extra != EXTRA_END; extra += 2)
		if ((uintptr_t)*extra == EXTRA_BUFFER)
			buffer = extra[1];
		else if ((uintptr_t)*extra == EXTRA_BYTES)
			*bytes = *(size_t *)extra[1];
		else
			return NULL;
	return buffer;
}

void **launch_arguments(const struct cuda_kernel_facts *facts, void **extra)
{
	size_t bytes;
	char *buffer = find_buffer(extra, &bytes);
	void **args = buffer ? malloc((facts->parameter_count + 1) * sizeof *args) : NULL;
	for (unsigned i = 0; args && i < facts->parameter_count; i++) {
		const struct cuda_parameter *p = &facts->parameters[i];
		if (p->offset + (size_t)p->bytes > bytes) {
			free(args);
			return NULL;
		}
		args[i] = buffer + p->offset;
	}
	return args;
}

/* ---- the calls ---- */

static int launch_plainly(const void *function, struct api_size3 grid, struct api_size3 block, void **args, size_t dynamic_shared, void *stream,
                          bool cooperative)
{
	struct api_launch_config c = {grid, block, dynamic_shared, stream, NULL, 0};
	return launch(function, &c, args, cooperative);
}

int hook_cudaLaunchKernel(const void *function, struct api_size3 grid, struct api_size3 block, void **args, size_t dynamic_shared,
                          void *stream)
{
	return launch_plainly(function, grid, block, args, dynamic_shared, stream, false);
}

int hook___cudaLaunchKernel(const void *kernel, struct api_size3 grid, struct api_size3 block, void **args, size_t dynamic_shared,
                            void *stream)
{
	return launch_plainly(kernel, grid, block, args, dynamic_shared, stream, false);
}

int hook_cudaLaunchCooperativeKernel(const void *function, struct api_size3 grid, struct api_size3 block, void **args,
                                     size_t dynamic_shared, void *stream)
{
	return launch_plainly(function, grid, block, args, dynamic_shared, stream, true);
}

static int launch_with(const struct api_launch_config *config, const void *function, void **args, void *default_stream)
{
	bool cooperative = false;
	if (!config)
		return cudaErrorInvalidValue;
	for (unsigned i = 0; i < config->attribute_count; i++)
		cooperative |= config->attributes[i].id == API_LAUNCH_COOPERATIVE && config->attributes[i].value.number;
	struct api_launch_config c = *config;
	c.stream = c.stream ? c.stream : default_stream;
	return launch(function, &c, args, cooperative);
}

int hook_cudaLaunchKernelExC(const struct api_launch_config *config, const void *function, void **args)
{
	return launch_with(config, function, args, NULL);
}

int hook_cudaLaunchKernelExC_ptsz(const struct api_launch_config *config, const void *function, void **args)
{
	return launch_with(config, function, args, API_THREAD_STREAM);
}
