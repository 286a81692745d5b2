/* trace_columns: chunks of the columns that traced text with functions of its own writes (runtime/format/traces.h). */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_TRACE_COLUMNS_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_TRACE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

/* Makes a buffer with chunks of a buffer with columns, all of it there up to what trace_columns_used says. blocks, sites: of the program. The
 * caller frees it. NULL: out of memory, or not a buffer with columns. */
uint64_t *columns_to_chunks(const uint64_t *words, size_t word_count, uint32_t blocks, uint32_t sites, size_t *chunks);

#endif
