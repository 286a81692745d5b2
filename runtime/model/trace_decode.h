/* trace_decode: a launch's trace on its way to the models. */
#ifndef GPUSIM_RUNTIME_MODEL_TRACE_DECODE_H
#define GPUSIM_RUNTIME_MODEL_TRACE_DECODE_H

#include "runtime/model/launch_record.h"
#include "runtime/model/trace_shapes.h"

/* Puts the words of a trace buffer together. NULL when out of memory. */
struct kept_trace *trace_pack(const uint64_t *words, size_t chunks);
/* Copies the sizes of the memory that arguments point to. False when out of memory. */
bool trace_keep_sizes(struct kept_trace *t, const void *sizes, size_t argument_count);
/* From the bytes and argument_bytes of one that was kept on disk. NULL: they are none, or memory is short. */
struct kept_trace *trace_from_bytes(const void *bytes, size_t length, const void *sizes, size_t argument_count);
/* Finds the trace for a launch whose profile is filled: the one that it brought, which this takes, else one that was kept. Where
 * there is none r->trace stays NULL; else trace_let_go is due. */
void trace_of(struct launch_result *r);

/* A trace that was decoded, for all who need it at a time. */
struct decoded_trace;
/* NULL: it cannot be read. */
struct decoded_trace *trace_decode(const struct simulation *sim, struct artifact *a, const struct kept_trace *t);
void decoded_trace_release(struct decoded_trace *d); /* NULL: nothing */
/* Its groups that are among the first `groups`: the trace of a launch with other sizes may have more. False: there are none. */
bool decoded_trace_part(const struct decoded_trace *d, uint64_t groups, struct launch_trace *out);
/* Whether those in use leave room for one more. */
bool trace_decode_has_room(const struct simulation *sim);

#endif
