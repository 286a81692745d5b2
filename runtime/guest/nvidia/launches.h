/* launches: what the program launches on a real GPU, from the call to the reports. */
#ifndef GPUSIM_RUNTIME_GUEST_NVIDIA_LAUNCHES_H
#define GPUSIM_RUNTIME_GUEST_NVIDIA_LAUNCHES_H

/* At exit: collects what is still to be measured. */
void nvidia_finish(void);

#endif
