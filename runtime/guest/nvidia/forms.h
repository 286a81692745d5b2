/* forms: the PTX of a kernel that counts or traces, as the driver builds it, and the variables of its module. */
#ifndef GPUSIM_RUNTIME_GUEST_NVIDIA_FORMS_H
#define GPUSIM_RUNTIME_GUEST_NVIDIA_FORMS_H

#include "runtime/guest/nvidia/kernels.h"

/* The form of a kernel for groups of so many threads, in the current context. -1: the driver does not build it, or it needs too many registers. */
int form_for(struct gpu_kernel *k, bool traces, unsigned long long context, unsigned threads);
bool form_has_traces(const struct gpu_kernel *k); /* there is PTX that traces this kernel */

/* Variables of the program's own module may be reached by pointers as well: they are part of what is copied and put back. */
void variables_note(const struct gpu_module *m);
/* Those of the twin's module get what they are now. */
bool variables_copy(const struct gpu_module *m, const struct gpu_twin *twin, void *stream);

#endif
