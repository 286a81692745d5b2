/* What the files that write the text of a kernel share. */
#ifndef GPUSIM_ANNOTATOR_LIFT_STRUCTURE_H
#define GPUSIM_ANNOTATOR_LIFT_STRUCTURE_H

#include "annotator/lift/segments.h"

uint32_t pc_of_block(const struct planned_function *f, int32_t block);
void write_count(struct kernel_writer *w, uint32_t row, const char *mask); /* counts the lanes of the mask, if the row is counted */
void write_edge(struct kernel_writer *w, uint32_t edge);
/* Lanes that have the same value of o as the first lane go on, with it in `which`; others come back to pc. */
int write_same_lanes(struct kernel_writer *w, const struct ptx_operand *o, const char *type, uint32_t block, uint32_t pc);

/* stops.c: barriers, and what a warp keeps while it waits. */
int write_barrier(struct kernel_writer *w, const struct kernel_part *part, const struct ptx_instruction *i, uint32_t pc);
int write_resumption(struct kernel_writer *w, const struct kernel_part *part); /* the rest of a barrier or call */
/* Registers that are not always in the state of the warp: those of all lanes, wherever they are. */
void write_saves(struct kernel_writer *w);
void write_restores(struct kernel_writer *w);

/* meetings.c: lanes that wait for others of their warp. */
void write_meeting_macros(struct kernel_writer *w);
void write_meeting_begin(struct kernel_writer *w);  /* of a warp: none waits */
void write_meeting_labels(struct kernel_writer *w);

/* calls.c */
int write_call(struct kernel_writer *w, const struct kernel_part *part, const struct ptx_instruction *i, uint32_t pc);
int write_return(struct kernel_writer *w, const struct ptx_instruction *i);

/* tracing.c: nothing in text that only counts. */
void trace_block(struct kernel_writer *w, uint32_t block, const char *mask);
void trace_edge(struct kernel_writer *w, uint32_t edge, const char *mask);
void write_traced_begin(struct kernel_writer *w);

#endif
