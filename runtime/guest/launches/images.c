#include "runtime/guest/launches/images.h"

#include "models/accesses/image.h"

static size_t ask(cl_mem mem, cl_image_info what)
{
	size_t value = 0;
	return cl.clGetImageInfo(mem, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : 0;
}

/* Where memory is a buffer's, or of one dimension, there are no blocks. */
static bool is_by_rows(cl_mem mem, cl_mem_object_type type)
{
	cl_mem buffer = NULL;
	cl.clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof buffer, &buffer, NULL);
	return buffer || type == CL_MEM_OBJECT_IMAGE1D || type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

uint64_t image_argument_shape(cl_mem mem, bool written)
{
	cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
	if (cl.clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof type, &type, NULL) != CL_SUCCESS || type == CL_MEM_OBJECT_BUFFER)
		return 0;
	size_t height = ask(mem, CL_IMAGE_HEIGHT), depth = ask(mem, CL_IMAGE_DEPTH), layers = ask(mem, CL_IMAGE_ARRAY_SIZE);
	struct image_shape s = {.width = ask(mem, CL_IMAGE_WIDTH), .height = height ? height : 1, .depth = depth > layers ? depth : layers,
	                        .texel_bytes = (uint32_t)ask(mem, CL_IMAGE_ELEMENT_SIZE), .written = written, .by_rows = is_by_rows(mem, type)};
	return image_shape_pack(&s);
}
