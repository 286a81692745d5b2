/* Writing JSON: members end with a comma, and what closes an object or a list takes the last one away. */
#ifndef GPUSIM_RUNTIME_REPORT_JSON_H
#define GPUSIM_RUNTIME_REPORT_JSON_H

#include "runtime/model/stats.h"

void json_add_number(struct gs_buf *b, const char *key, double value);
void json_add_number_or_null(struct gs_buf *b, const char *key, double value); /* null for 0: not modelled */
void json_add_count(struct gs_buf *b, const char *key, uint64_t value);
void json_add_string(struct gs_buf *b, const char *key, const char *value);
void json_add_sizes(struct gs_buf *b, const char *key, const uint64_t sizes[3]);
void json_end(struct gs_buf *b, const char *end);

/* ,"cycles_by":{...} and "memory":{...}, of a launch or of all launches of a kernel. */
/* The share of its cycles that each kind of unit is busy for. */
/* "energy": of launches that take so long in all; null where the description has none. */
void json_energy(struct gs_buf *b, const struct gpu *gpu, const struct energy *energy, double time_ns);
void json_unit_use(struct gs_buf *b, const double unit_cycles[RESOURCE_COUNT], double cycles);
void json_cycles_by(struct gs_buf *b, const double by[CYCLE_KIND_COUNT]);
void json_memory(struct gs_buf *b, const struct estimate *e);
/* "flags":[...], */
void json_flags(struct gs_buf *b, flag_set flags);

/* json_kernels.c, with the lock of the statistics held. With `whole`, what is large too: the lines of the sources and, after the
 * kernels, the sources themselves. */
void json_kernels(struct gs_buf *b, const struct simulation *sim, bool whole);
/* What to change, most first; with the lock of stats held. */
void json_advice(struct gs_buf *b, struct simulation *sim);

#endif
