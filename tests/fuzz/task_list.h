/* What fuzz targets do with a task list. */
#ifndef GPUSIM_TESTS_FUZZ_TASK_LIST_H
#define GPUSIM_TESTS_FUZZ_TASK_LIST_H

#include <stddef.h>

/* Reads a list and carries out its kernels, as far as a bounded number of instructions. path: where files that it names are looked for. The text ends with a zero. */
void fuzz_task_list(const char *path, const char *text, size_t size);

#endif
