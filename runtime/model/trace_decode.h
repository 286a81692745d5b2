/* trace_decode: a launch's trace on its way to the models, on the thread that models. */
#ifndef GPUSIM_RUNTIME_MODEL_TRACE_DECODE_H
#define GPUSIM_RUNTIME_MODEL_TRACE_DECODE_H

#include "runtime/model/launch_record.h"
#include "runtime/model/trace_shapes.h"

/* Puts the words of a trace buffer together. NULL when out of memory. */
struct kept_trace *trace_pack(const uint64_t *words, size_t chunks);
/* From the bytes and argument_bytes of one that was kept on disk. NULL: they are none, or memory is short. */
struct kept_trace *trace_from_bytes(const void *bytes, size_t length, const void *sizes, size_t argument_count);
/* Finds the trace for a launch whose profile is filled: the one that it brought, which this takes, else one that was kept. Where
 * there is none r->trace stays NULL. */
void trace_of(struct launch_result *r);
/* r->trace decoded; it stays until another one is. NULL: it cannot be read. */
const struct launch_trace *trace_decoded(const struct launch_result *r);

#endif
