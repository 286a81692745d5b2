/*
 * Places of blocks in the files that the user wrote.
 */
#ifndef GPUSIM_ANNOTATOR_SOURCE_ORIGINS_H
#define GPUSIM_ANNOTATOR_SOURCE_ORIGINS_H

#include "annotator/source/state.h"

/* Gives the blocks of a unit their places in the user's files, wherever these are found. */
int find_origins(struct annotation *a, size_t unit, const struct annotator_original *original, struct gs_error *err);

#endif
