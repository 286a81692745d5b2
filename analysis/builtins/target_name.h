/* The parts of a target's name. */
#ifndef GPUSIM_ANALYSIS_BUILTINS_TARGET_NAME_H
#define GPUSIM_ANALYSIS_BUILTINS_TARGET_NAME_H

#include <stdbool.h>

/* Names of targets are ARCH:LIBRARY, then :ASSEMBLER_ARCH where that is another, then :sass where machine instructions
 * are wanted. The architecture whose assembler's registers a target has, with what follows it. */
const char *target_assembler(const char *name);
bool target_is_machine(const char *name);

#endif
