/*
 * Functions that traced text calls and that are compiled C in the guest's process: runtime/guest/support/trace_native.c has them, and
 * annotator/text/tracer.cl declares them. Built with NATIVE_MACRO defined, traced text has declarations only.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_NATIVE_H
#define GPUSIM_RUNTIME_FORMAT_NATIVE_H

#define NATIVE_MACRO "__GPUSIM_NATIVE"
#define NATIVE_PREFIX "llvm.gpusim." /* of their symbols */

#endif
