/*
 * references: textures and surfaces that are variables of a module (.texref, .surfref), as programs of CUDA 11 and before have them.
 *
 * The variable has the object that is bound to it. Kernels that were enqueued before keep what was bound then: binding waits for them.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_TEXTURES_REFERENCES_H
#define GPUSIM_INTERPOSER_CUDA_TEXTURES_REFERENCES_H

#include "interposer/cuda/interposer.h"

/* Binds an object to the variable at this address, and destroys the one before; or the object itself, if that fails. 0: none. */
int reference_bind(void *variable, uint64_t object);

#endif
