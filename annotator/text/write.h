/*
 * Writing a unit with its edits. annotation_write is in annotator.h.
 */
#ifndef GPUSIM_ANNOTATOR_TEXT_WRITE_H
#define GPUSIM_ANNOTATOR_TEXT_WRITE_H

#include "annotator/source/state.h"

/* Gives the sites their columns in the text that is compiled for targets. */
int place_sites(struct annotation *a, struct gs_error *err);

#endif
