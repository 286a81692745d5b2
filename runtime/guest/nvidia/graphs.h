/* graphs: which kernels a graph launches. The driver executes it as a whole, so these are named in reports, and not modelled. */
#ifndef GPUSIM_RUNTIME_GUEST_NVIDIA_GRAPHS_H
#define GPUSIM_RUNTIME_GUEST_NVIDIA_GRAPHS_H

/* The driver has made `executable`, a CUgraphExec, of a CUgraph. */
void graphs_made(const void *executable, void *graph);
void graphs_gone(const void *executable);
void graphs_launched(const void *executable);

#endif
