/* arrays: the types of CUDA's arrays and of copies to and from them, where no header of CUDA is used (program.h). */
#ifndef GPUSIM_TESTS_CUDA_PROGRAMS_ARRAYS_H
#define GPUSIM_TESTS_CUDA_PROGRAMS_ARRAYS_H

#include <stddef.h>

typedef void *cudaArray_t;
struct cudaChannelFormatDesc { int x, y, z, w, f; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaMemcpy3DParms {
	cudaArray_t srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	struct cudaExtent extent;
	int kind;
};

#endif
