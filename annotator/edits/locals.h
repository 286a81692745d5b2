/*
 * __local variables of kernels that are called.
 */
#ifndef GPUSIM_ANNOTATOR_EDITS_LOCALS_H
#define GPUSIM_ANNOTATOR_EDITS_LOCALS_H

#include "annotator/edits/edits.h"

bool is_local_variable(CXCursor cursor);
uint64_t local_bytes(CXCursor variable); /* its size with padding; 0: not known */
/* A kernel that is called and has __local variables. Its clone takes a pointer to them, as does every function that calls it. */
bool owns_locals(const struct function *f);
void place_locals(struct annotation *a);
int edit_locals(struct edit_pass *pass, CXCursor kernel); /* after all other edits of the kernel */
void write_room_for_locals(const struct annotation *a, struct gs_buf *out);

#endif
