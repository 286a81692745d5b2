/*
 * notes: what a run's estimates assume, each thing once, as a sentence that a reader understands alone. Text, JSON and page have them all.
 */
#ifndef GPUSIM_RUNTIME_REPORT_NOTES_H
#define GPUSIM_RUNTIME_REPORT_NOTES_H

#include "runtime/model/stats.h"

/* about: a word for scripts: the flag that it explains (models/flags.def), or another one. */
typedef void note_fn(const char *about, const char *text, void *data);

/* With the lock of the statistics held. most: lines of one kind that are about single kernels; more of them become one. */
void notes_tell(const struct simulation *sim, size_t most, note_fn *say, void *data);

#endif
