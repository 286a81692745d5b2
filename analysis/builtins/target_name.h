/* The parts of a target's name. */
#ifndef GPUSIM_ANALYSIS_BUILTINS_TARGET_NAME_H
#define GPUSIM_ANALYSIS_BUILTINS_TARGET_NAME_H

#include <stdbool.h>

/* A target's name is ARCH:LIBRARY. :ASSEMBLER_ARCH follows if the assembler's architecture is another one. :sass follows if
 * machine instructions are wanted, :machine:sass if those of the target's own assembler are, where that is found. Returns a pointer to the architecture whose assembler decides the registers, and to the text
 * after it. */
const char *target_assembler(const char *name);
bool target_is_machine(const char *name);
bool target_is_assembled(const char *name); /* :machine:sass */

#endif
