/* What PPT-GPU's tracer leaves, as the text of a task list. */
#ifndef GPUSIM_RUNTIME_CMD_TASK_PPT_GPU_H
#define GPUSIM_RUNTIME_CMD_TASK_PPT_GPU_H

#include "runtime/base/base.h"

/* Appends the list of a folder with app_config.py. */
int ppt_gpu_list(const char *folder, struct gs_buf *out, struct gs_error *err);

#endif
