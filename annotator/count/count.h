/*
 * count: PTX that counts and traces. The PTX of a module with instructions of ours in it, for a real GPU that executes it (runtime/nvidia.h).
 *
 * It counts the rows that lifted text counts (annotator/lift/lift.h), one word for each thread and row, so that everything that follows from counters
 * is the same. Where it traces, too, threads of chosen groups write the blocks that they execute and the addresses that they access, loops in windows,
 * as traced text of OpenCL does on GPUs. runtime/format/counted.h says where the words are.
 *
 * Kernels whose text cannot be changed safely stay as they are: those that call functions or jump by tables, those with textures or surfaces that are
 * variables, and text that is not a line for each instruction. Fewer kernels are traced than are counted: not those with textures.
 */
#ifndef GPUSIM_ANNOTATOR_COUNT_COUNT_H
#define GPUSIM_ANNOTATOR_COUNT_COUNT_H

#include "annotator/lift/lift.h"

enum count_form { COUNT_ROWS, COUNT_AND_TRACE };

/* Writes the module's text, with instructions that count, or count and trace, in the kernels that `kernels` gets the names of, a line for each. `ptx`
 * is the text that the module was read from, or one with the same instructions on the same lines. */
int count_write(const struct lifted *l, enum count_form form, const char *ptx, size_t length, struct gs_buf *out, struct gs_buf *kernels,
                struct gs_error *err);

#endif
