/*
 * Parsing a unit with libclang, and places in its text and in the user's files.
 */
#ifndef GPUSIM_ANNOTATOR_SOURCE_PARSE_H
#define GPUSIM_ANNOTATOR_SOURCE_PARSE_H

#include "annotator/source/state.h"

int parse_unit(struct annotation *a, const struct annotator_unit *source, size_t index, struct gs_error *err);
unsigned offset_of(CXSourceLocation location); /* in the unit's text */
/* The place in the user's file. Returns -ENOMEM if its name cannot be kept. */
int place_of(struct annotation *a, CXSourceLocation location, struct source_place *out);
/* Refuses a construct: -ENOTSUP, with its place in the user's file. */
int refuse(CXSourceLocation location, struct gs_error *err, const char *what);

#endif
