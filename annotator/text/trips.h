/*
 * Text that counts the trips that annotation_want_trips asked for.
 */
#ifndef GPUSIM_ANNOTATOR_TEXT_TRIPS_H
#define GPUSIM_ANNOTATOR_TEXT_TRIPS_H

#include "annotator/edits/edits.h"

bool has_trip_numbers(const struct annotation *a, unsigned block);
void write_trip_numbers(const struct annotation *a, unsigned block, const char *separator, struct gs_buf *out);
void write_trips(const struct annotation *a, const struct edit *loop, struct gs_buf *out);

#endif
