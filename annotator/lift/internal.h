/* What the files of the lifter share beside plans. */
#ifndef GPUSIM_ANNOTATOR_LIFT_INTERNAL_H
#define GPUSIM_ANNOTATOR_LIFT_INTERNAL_H

#include "annotator/lift/plan.h"

/* frame.cl */
extern const char lift_frame_builtins[], lift_frame[], lift_frame_split[], lift_frame_wait[], lift_frame_next[], lift_frame_spin[], lift_frame_meetings[], lift_frame_tracing[];

/* flow.c. The functions that a kernel reaches, itself first. `list` has room for all of the module. */
int reach_functions(const struct lifted *l, uint32_t entry, uint32_t *list, uint32_t *count, struct gs_error *err);
bool is_system_call(const char *name);

/* variables.c: fills variables, image and relocations. */
int lay_out_variables(struct lifted *l, struct gs_error *err);

/* rows.c: the rows of a function, after those that are there. The function has its graph. */
int add_rows(struct lifted *l, uint32_t function, struct gs_error *err);
/* Whether lanes may end in the function, or in one that it calls, without coming back. */
bool may_exit(const struct lifted *l, uint32_t function);

/* sites.c: the sites and loops of a function. */
int add_sites(struct lifted *l, uint32_t function, struct gs_error *err);

/* structure.c: the text of one kernel. */
int write_kernel(const struct kernel_plan *p, enum lift_form form, struct gs_buf *out, struct gs_error *err);

#endif
