/* prints: what kernels print (struct lifted_prints of runtime/format/lifted.h), as text. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_PRINTS_H
#define GPUSIM_RUNTIME_GUEST_CUDA_PRINTS_H

#include "runtime/base/base.h"
#include "runtime/format/lifted.h"

/*
 * Appends the text of all records. Formats and strings are C strings at the addresses that the records name. A conversion that C's printf
 * does not have, or that needs something else than a number or a string (%n, %s with no string), is printed as it stands. A record that
 * does not fit ends everything.
 */
void prints_format(const struct lifted_prints *p, struct gs_buf *out);

/* Text that was printed and not written yet. Kernels print when they end; programs see it when they wait. */
void prints_keep(const struct lifted_prints *p);
/* Writes it to stdout, by the application's own stdio. */
void prints_write(void);

#endif
