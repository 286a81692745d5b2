/*
 * Library functions that access memory, and the marks around their arguments in traced text.
 */
#ifndef GPUSIM_ANNOTATOR_SITES_SITE_CALLS_H
#define GPUSIM_ANNOTATOR_SITES_SITE_CALLS_H

#include "annotator/sites/sites.h"

enum { MOST_MARKED = 4 };
struct call_marks {
	struct site_marks arguments[MOST_MARKED];
};
int mark_call(struct edit_pass *pass, CXCursor call, const struct children *c, struct place_in_flow flow,
              struct call_marks *marks);

#endif
