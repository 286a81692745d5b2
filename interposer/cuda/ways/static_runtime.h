/*
 * static_runtime: programs and libraries that contain the CUDA runtime (nvcc's default).
 *
 * Their calls do not go through the dynamic loader. If such an object has a symbol table, every function of the runtime is redirected to
 * ours: its first instruction becomes a branch. That happens when this library is loaded, before the program's own code runs. Without a
 * symbol table nothing can be done, and one line says how to link. Libraries that are opened later are not looked at.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_WAYS_STATIC_RUNTIME_H
#define GPUSIM_INTERPOSER_CUDA_WAYS_STATIC_RUNTIME_H

/* Our function of that name, or NULL. */
typedef void *find_entry_fn(const char *name);

/* Redirects what is loaded now and contains a fat binary and the runtime. */
void static_runtime_redirect(find_entry_fn *find);

#endif
