/* What driver.c and program.c both know. */
#ifndef GPUSIM_TESTS_CUDA_HOST_SHARED_H
#define GPUSIM_TESTS_CUDA_HOST_SHARED_H

enum { OTHER_GPU = 12344 };

/* As CUipcMemHandle: passed by value. */
struct shared_handle {
	char bytes[64];
};

#endif
