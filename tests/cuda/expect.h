/* expect: what programs of api/ check that declare the runtime's functions themselves. */
#ifndef GPUSIM_TESTS_CUDA_EXPECT_H
#define GPUSIM_TESTS_CUDA_EXPECT_H

#include <stdio.h>

#define CUDA_FUNCTION extern __attribute__((weak)) cudaError_t

static int failures;
#define EXPECT(is, wanted) \
	do { \
		long expect_is = (long)(is); \
		if (expect_is != (long)(wanted)) \
			failures++, printf("FAIL line %d: %s is %ld\n", __LINE__, #is, expect_is); \
	} while (0)
#define GOOD(call) EXPECT(call, 0)

#endif
