/*
 * Functions that traced text calls and that are compiled C in the guest's process. runtime/guest/support/trace_native.c defines
 * them, and annotator/text/tracer.cl declares them. Built with NATIVE_MACRO defined, traced text only declares them.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_NATIVE_H
#define GPUSIM_RUNTIME_FORMAT_NATIVE_H

#define NATIVE_MACRO "__GPUSIM_NATIVE"
#define NATIVE_PREFIX "llvm.gpusim." /* their symbols begin with this */

#endif
