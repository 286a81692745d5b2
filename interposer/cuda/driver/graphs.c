/* Graphs in the driver's structs. Where they are those of the runtime, the table of entry points calls its functions. */
#include "interposer/cuda/driver/driver.h"

#include <string.h>

/* A function, or a kernel of a library: both are the same thing here. */
static struct api_kernel_node kernel_of(const struct driver_kernel_node *p, bool second_form)
{
	struct api_kernel_node what = p->what;
	if (second_form && !what.function)
		what.function = p->kernel;
	return what;
}

int graph_add_kernel(void **node, void *graph, void *const *after, size_t count, const struct driver_kernel_node *p, bool second_form)
{
	if (!p)
		return cudaErrorInvalidValue;
	struct api_kernel_node what = kernel_of(p, second_form);
	return hook_cudaGraphAddKernelNode(node, graph, after, count, &what);
}

int graph_set_kernel(void *exec, void *node, const struct driver_kernel_node *p, bool second_form)
{
	if (!p)
		return cudaErrorInvalidValue;
	struct api_kernel_node what = kernel_of(p, second_form);
	return exec ? hook_cudaGraphExecKernelNodeSetParams(exec, node, &what) : hook_cudaGraphKernelNodeSetParams(node, &what);
}

/* The driver's handle of the function, not the host's address of it. */
int graph_get_kernel(void *node, struct driver_kernel_node *out, bool second_form)
{
	struct registered_function *f = NULL;
	int error = out ? hook_cudaGraphKernelNodeGetParams(node, &out->what) : cudaErrorInvalidValue;
	if (!error)
		error = function_find(out->what.function, &f);
	if (error)
		return error;
	out->what.function = f;
	if (second_form) {
		out->kernel = NULL;
		out->context = context_current();
	}
	return cudaSuccess;
}

int graph_add_copy(void **node, void *graph, void *const *after, size_t count, const struct driver_copy3d *p)
{
	struct api_copy3d what;
	int error = box_of(p, &what);
	return error ? error : hook_cudaGraphAddMemcpyNode(node, graph, after, count, &what);
}

int graph_set_copy(void *exec, void *node, const struct driver_copy3d *p)
{
	struct api_copy3d what;
	int error = box_of(p, &what);
	if (error)
		return error;
	return exec ? hook_cudaGraphExecMemcpyNodeSetParams(exec, node, &what) : hook_cudaGraphMemcpyNodeSetParams(node, &what);
}

/* All addresses are of one space. */
static struct driver_side3d unified_side(const struct api_pitched *p)
{
	return (struct driver_side3d){.kind = KIND_UNIFIED, .device = p->address, .pitch = p->pitch, .height = p->height};
}

int graph_get_copy(void *node, struct driver_copy3d *out)
{
	struct api_copy3d what;
	int error = out ? hook_cudaGraphMemcpyNodeGetParams(node, &what) : cudaErrorInvalidValue;
	if (!error)
		*out = (struct driver_copy3d){unified_side(&what.from), unified_side(&what.to), what.extent.width, what.extent.height, what.extent.depth};
	return error;
}

/* Parameters of any kind as the runtime has them. */
static int node_of(const struct driver_node *p, struct api_node *out)
{
	enum { KERNEL, COPY }; /* kinds whose structs differ */
	if (!p)
		return cudaErrorInvalidValue;
	_Static_assert(sizeof *p == sizeof *out, "both have room for all kinds");
	memcpy(out, p, sizeof *out);
	if (p->kind == KERNEL)
		out->of.kernel = kernel_of(&p->of.kernel, true);
	return p->kind == COPY ? box_of(&p->of.copy.what, &out->of.copy.what) : cudaSuccess;
}

int graph_add_any(void **node, void *graph, void *const *after, size_t count, const struct driver_node *p)
{
	struct api_node what;
	int error = node_of(p, &what);
	return error ? error : hook_cudaGraphAddNode_v2(node, graph, after, NULL, count, &what);
}

int graph_set_any(void *exec, void *node, const struct driver_node *p)
{
	struct api_node what;
	int error = node_of(p, &what);
	if (error)
		return error;
	return exec ? hook_cudaGraphExecNodeSetParams(exec, node, &what) : hook_cudaGraphNodeSetParams(node, &what);
}
