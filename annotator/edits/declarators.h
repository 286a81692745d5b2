/*
 * The edits where functions are declared or defined.
 */
#ifndef GPUSIM_ANNOTATOR_EDITS_DECLARATORS_H
#define GPUSIM_ANNOTATOR_EDITS_DECLARATORS_H

#include "annotator/edits/edits.h"

int edit_declarator(struct edit_pass *pass, CXCursor cursor); /* declares pass->function */
int edit_own_name(struct edit_pass *pass, CXCursor definition); /* replaces __func__ */
int edit_foreign_declarator(struct edit_pass *pass, CXCursor cursor); /* a function without a definition, perhaps in a list of ours */
int edit_inner_declaration(struct edit_pass *pass, CXCursor cursor); /* a declaration among statements */

#endif
