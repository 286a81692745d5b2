/* The parts of a target's name. */
#ifndef GPUSIM_ANALYSIS_BUILTINS_TARGET_NAME_H
#define GPUSIM_ANALYSIS_BUILTINS_TARGET_NAME_H

#include <stdbool.h>

/* A target's name is ARCH:LIBRARY. :ASSEMBLER_ARCH follows if the assembler's architecture is another one. :sass follows if
 * machine instructions are wanted: those of the target's own assembler for PTX that a program brings (CUDA), selected ones for PTX that clang makes
 * here (OpenCL). :machine:sass is the assembler's for both, :selected:sass selected ones for both. */

/* Returns a pointer to the architecture whose assembler decides the registers, and to the text after it. */
const char *target_assembler(const char *name);
bool target_is_machine(const char *name);
/* Whether an assembler's code is wanted, where there is some. of_program: of PTX that a program brings. */
bool target_wants_assembled(const char *name, bool of_program);

#endif
